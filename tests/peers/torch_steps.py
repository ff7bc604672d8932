"""A step of training by PyTorch's optimizers, made to start and to divide as
dl-network(5) says; with schedules, decoupled decay and constraints."""

import math

import torch

import torch_updaters
from torch_updaters import rate_of


class Belief(torch.optim.Optimizer):
    """AdaBelief, which PyTorch has not."""

    def __init__(self, parameters, betas, eps):
        super().__init__(parameters, {"lr": 1.0, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                t = state["step"] = state.get("step", 0) + 1
                m = state.setdefault("m", torch.zeros_like(p))
                s = state.setdefault("s", torch.zeros_like(p))
                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                s.mul_(beta2).add_((p.grad - m) ** 2, alpha=1 - beta2).add_(group["eps"])
                scale = group["lr"] * math.sqrt(1 - beta2 ** t) / (1 - beta1 ** t)
                p.sub_(scale * m / (s.sqrt() + group["eps"]))


def optimizer(group):
    """Of torch.optim, and whether epsilon stands beside a root that is not yet
    corrected for its start, where PyTorch's stands beside one that is."""
    u, p, kind = group.updater, group.parameters, group.updater["type"]
    betas, eps = (u.get("beta1"), u.get("beta2")), u.get("epsilon")
    start, beside = u.get("start", eps), u.get("epsilon_at", "root") == "root"
    if kind == "sgd":
        return torch.optim.SGD(p), False
    if kind == "nesterov":
        return Nesterov(p, u["momentum"]), False
    if kind == "momentum":
        return torch.optim.SGD(p, momentum=u["momentum"]), False
    if kind in ("adam", "adamw", "amsgrad"):
        return torch.optim.Adam(p, betas=betas, eps=eps, amsgrad=kind == "amsgrad"), beside
    if kind == "adamax":
        return torch.optim.Adamax(p, betas=betas, eps=eps), False
    if kind == "nadam":
        return torch.optim.NAdam(p, betas=betas, eps=eps), beside
    if kind == "adabelief":
        return Belief(p, betas, eps), False
    if kind == "adagrad":
        return torch.optim.Adagrad(p, eps=eps, initial_accumulator_value=start), False
    if kind == "adadelta":
        return torch.optim.Adadelta(p, rho=u["decay"], eps=eps), False
    assert kind == "rmsprop", kind
    made = torch.optim.RMSprop(p, alpha=u["decay"], eps=eps)
    for each in p:
        made.state[each] = {"step": torch.tensor(0.0), "square_avg": torch.full_like(each, start)}
    return made, False


class Nesterov(torch.optim.SGD):
    """PyTorch keeps the velocity without the learning rate; where rate and
    momentum change from step to step, the page's keeps what it was made with."""

    def __init__(self, parameters, momentum):
        start = 0.5 if isinstance(momentum, dict) else momentum
        super().__init__(parameters, lr=1.0, momentum=start, nesterov=True)

    @torch.no_grad()
    def moved(self, lr, momentum):
        for p in self.param_groups[0]["params"]:
            before = self.state[p].setdefault("v", torch.zeros_like(p))
            after = momentum * before - lr * p.grad
            p.sub_(momentum * before - (1 + momentum) * after)
            self.state[p]["v"] = after


def bring(norm, low, high, rate):
    """What to multiply rows of these norms with."""
    bound = norm.clamp(low, high)
    factor = (rate * bound + (1 - rate) * norm) / norm
    return torch.where((bound == norm) | (norm < 1e-6), torch.ones_like(norm), factor)


@torch.no_grad()
def constrain(layer, group):
    c = layer.get("constraints", {})
    if not c or group.role == "other" or (group.role == "bias" and not c.get("biases")):
        return
    for p in group.parameters:
        if c.get("non_negative"):
            p.clamp_min_(0)
        rows = p.view(1, -1) if group.role == "bias" else p.flatten(1)
        norm = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        rows.mul_(bring(norm, c.get("min_norm", 0), c.get("max_norm", math.inf),
                        c.get("rate", 1)))


def changes(group):
    return any(isinstance(group.updater.get(k), dict) for k in ("learning_rate", "momentum"))


def step_of(layers):
    """step(iteration, epoch), which follows the gradients that lie there"""
    made = [(layer, group, *optimizer(group)) for layer, groups in layers for group in groups]

    def step(iteration, epoch):
        torch_updaters.treat(layers, with_l2=True)
        for layer, group, optimizer, scaled in made:
            u = group.updater
            lr = rate_of(u["learning_rate"], iteration, epoch)
            settings = optimizer.param_groups[0]
            settings["lr"] = lr
            if scaled:
                settings["eps"] = u["epsilon"] / math.sqrt(1 - u["beta2"] ** (iteration + 1))
            before = [p.detach().clone() for p in group.parameters]
            if u["type"] == "nesterov" and changes(group):
                optimizer.moved(lr, rate_of(u["momentum"], iteration, epoch))
            else:
                optimizer.step()
            with torch.no_grad():
                for p, old in zip(group.parameters, before):
                    p.sub_(old, alpha=lr * group.decay)
            constrain(layer, group)
    return step


def score(layers):
    """What regularization costs."""
    return sum((g.l1 * p.detach().abs().sum() + g.l2 / 2 * p.detach().square().sum()).item()
               for _, groups in layers for g in groups for p in g.parameters)
