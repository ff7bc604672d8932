"""What is done to gradients, and the updaters, of dl-network(5) in PyTorch.

treat() normalises gradients layer by layer and adds what l1 (and l2, where the
optimizer does not) costs.  exact_optimizer() has the formulas of the page, for
comparing losses; fast_optimizer() is what a user of PyTorch takes, its fused
optimizers, for comparing times.  (Adam's epsilon is scaled otherwise there.)
"""

import math

import torch


class Group:
    """Parameters of a layer that share updater and regularization."""

    def __init__(self, parameters, updater, l1, l2, decay=0, role="weight"):
        self.parameters, self.updater, self.l1, self.l2 = parameters, updater, l1, l2
        self.decay, self.role = decay, role


def groups_of(trained):
    """[(layer, [Group])]"""
    result = []
    for layer, module in trained:
        cost = layer.get("regularization", {})
        groups = []
        if layer["type"] in ("batch_norm", "layer_norm"):
            groups.append(Group(list(module.parameters()), layer["updater"], 0, 0))
        else:
            named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
            weights = [p for n, p in named if "bias" not in n]
            biases = [p for n, p in named if "bias" in n]
            groups.append(Group(weights, layer["updater"], cost.get("l1", 0),
                                cost.get("l2", 0)))
            if biases:
                groups.append(Group(biases, layer["bias_updater"],
                                    cost.get("l1_bias", 0), cost.get("l2_bias", 0)))
        result.append((layer, groups))
    return result


def normalise(kind, limit, gradients):
    if kind == "none":
        return
    if kind.endswith("_per_parameter"):
        for gradient in gradients:
            normalise(kind.replace("_per_parameter", "_per_layer"), limit, [gradient])
    elif kind == "clip_elementwise":
        torch._foreach_clamp_min_(gradients, -limit)
        torch._foreach_clamp_max_(gradients, limit)
    else:
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
        if kind == "renormalize_l2_per_layer":
            factor = torch.where(norm < 1e-5, torch.ones_like(norm), 1 / norm)
        else:
            assert kind == "clip_l2_per_layer", kind
            factor = torch.where(norm > limit, limit / norm, torch.ones_like(norm))
        torch._foreach_mul_(gradients, factor)


@torch.no_grad()
def treat(layers, with_l2):
    """In place, on the parameters' gradients."""
    for layer, groups in layers:
        normalise(layer.get("gradient_normalization", "none"),
                  layer.get("gradient_threshold", 1.0),
                  [p.grad for group in groups for p in group.parameters])
        for group in groups:
            for p in group.parameters:
                if group.l1:
                    p.grad.add_(torch.sign(p), alpha=group.l1)
                if group.l2 and with_l2:
                    p.grad.add_(p, alpha=group.l2)


def needs_treatment(layers):
    return any(layer.get("gradient_normalization", "none") != "none" or
               any(group.l1 for group in groups) for layer, groups in layers)


def cycle(rate, i):
    """Up, down, and below the start in the last share of its length."""
    length, start = rate["length"], rate["initial"]
    annealing = rate.get("annealing", 0.1) * length
    half, at = (length - annealing) / 2, i % length
    if at < 2 * half:
        return start + (rate["peak"] - start) * (1 - abs(at - half) / half)
    return start * rate.get("decay", 0.1) ** ((at - 2 * half) / annealing)


SCHEDULES = {
    "fixed": lambda r, i: r["initial"],
    "step": lambda r, i: r["initial"] * r["decay"] ** (i // r["every"]),
    "exponential": lambda r, i: r["initial"] * r["decay"] ** i,
    "polynomial": lambda r, i: r["initial"] * max(0.0, 1 - i / r["limit"]) ** r.get("power", 1),
    "inverse": lambda r, i: r["initial"] / (1 + r["decay"] * i) ** r.get("power", 1),
    "sigmoid": lambda r, i: r["initial"] / (1 + math.exp(r["decay"] * (i - r["middle"]))),
    "cosine": lambda r, i: (r.get("final", 0) + (r["initial"] - r.get("final", 0)) *
                            (1 + math.cos(math.pi * min(1, i / r["limit"]))) / 2),
    "cycle": cycle,
    "map": lambda r, i: r["values"][max((k for k in r["values"] if int(k) <= i), key=int)],
}


def rate_of(rate, iteration, epoch):
    """What a learning rate or momentum is at a step."""
    if not isinstance(rate, dict):
        return rate
    i = epoch if rate.get("by", "iteration") == "epoch" else iteration
    warmup = rate.get("warmup", 0)
    return SCHEDULES[rate["schedule"]](rate, i) * min(1, (i + 1) / max(1, warmup))


def exact_update(u, lr, t, gradient, state):
    """What is subtracted from a parameter."""
    kind = u["type"]
    if kind == "sgd":
        return lr * gradient
    if kind == "nesterov":
        before = state.setdefault("v", torch.zeros_like(gradient))
        state["v"] = u["momentum"] * before - lr * gradient
        return u["momentum"] * before - (1 + u["momentum"]) * state["v"]
    if kind == "adam":
        m = state.setdefault("m", torch.zeros_like(gradient))
        v = state.setdefault("v", torch.zeros_like(gradient))
        m.mul_(u["beta1"]).add_(gradient, alpha=1 - u["beta1"])
        v.mul_(u["beta2"]).addcmul_(gradient, gradient, value=1 - u["beta2"])
        scale = lr * math.sqrt(1 - u["beta2"] ** t) / (1 - u["beta1"] ** t)
        return scale * m / (v.sqrt() + u["epsilon"])
    if kind == "adagrad":
        h = state.setdefault("h", torch.full_like(gradient, u["epsilon"]))
        h.addcmul_(gradient, gradient)
        return lr * gradient / (h.sqrt() + u["epsilon"])
    assert kind == "rmsprop", kind
    s = state.setdefault("s", torch.full_like(gradient, u["epsilon"]))
    s.mul_(u["decay"]).addcmul_(gradient, gradient, value=1 - u["decay"])
    return lr * gradient / (s.sqrt() + u["epsilon"])


def exact_optimizer(layers):
    """step(iteration, epoch)"""
    state = {}

    @torch.no_grad()
    def step(iteration, epoch):
        treat(layers, with_l2=True)
        for _, groups in layers:
            for group in groups:
                lr = rate_of(group.updater["learning_rate"], iteration, epoch)
                for p in group.parameters:
                    p.sub_(exact_update(group.updater, lr, iteration + 1, p.grad,
                                        state.setdefault(p, {})))
    return step


def torch_optimizer(kind, groups):
    u = groups[0].updater
    parameters = [{"params": g.parameters, "lr": rate_of(g.updater["learning_rate"], 0, 0), "weight_decay": g.l2}
                  for g in groups]
    if kind == "sgd":
        return torch.optim.SGD(parameters, fused=True)
    if kind == "nesterov":
        return torch.optim.SGD(parameters, momentum=u["momentum"], nesterov=True, fused=True)
    if kind == "adam":
        return torch.optim.Adam(parameters, betas=(u["beta1"], u["beta2"]), eps=u["epsilon"],
                                fused=True)
    if kind == "adagrad":
        on_cpu = groups[0].parameters[0].device.type == "cpu"  # it is fused there alone
        return torch.optim.Adagrad(parameters, eps=u["epsilon"], fused=on_cpu or None,
                                   initial_accumulator_value=u["epsilon"])
    return torch.optim.RMSprop(parameters, alpha=u["decay"], eps=u["epsilon"], foreach=True)


def fast_optimizer(layers, compiled):
    """step(iteration, epoch); groups of one updater go into one optimizer, and
    schedules stand still."""
    kinds = {}
    for _, groups in layers:
        for group in groups:
            # Neighbors of equal settings would be one group in a user's code.
            same = kinds.setdefault(group.updater["type"], [])
            for other in same:
                if (other.updater, other.l2) == (group.updater, group.l2):
                    other.parameters = other.parameters + group.parameters
                    break
            else:
                same.append(Group(list(group.parameters), group.updater, 0, group.l2))
    optimizers = [torch_optimizer(kind, groups) for kind, groups in kinds.items()]
    treatment = torch.compile(treat) if compiled else treat
    treated = needs_treatment(layers)

    def step(iteration, epoch):
        if treated:
            treatment(layers, False)
        for optimizer in optimizers:
            optimizer.step()
    return step
