"""The activations and losses of dl-network(5) by PyTorch's functions."""

import math

import torch
import torch.nn.functional as F


def capped(x, s):
    above = torch.where(x >= s["threshold"], x, s["negative_slope"] * (x - s["threshold"]))
    return torch.where(x >= s["max"], torch.full_like(x, s["max"]), above)


def rational_tanh(x):
    v = (2 * x / 3).abs()
    return 1.7159 * torch.sign(x) * (1 - 1 / (1 + v + v ** 2 + 1.41645 * v ** 4))


ACTIVATIONS = {
    "identity": lambda x, s: x,
    "relu": lambda x, s: F.relu(x),
    "leaky_relu": lambda x, s: F.leaky_relu(x, s.get("alpha", 0.01)),
    "elu": lambda x, s: F.elu(x, s.get("alpha", 1.0)),
    "gelu": lambda x, s: F.gelu(x, approximate="tanh" if s.get("approximate") else "none"),
    "sigmoid": lambda x, s: torch.sigmoid(x),
    "tanh": lambda x, s: torch.tanh(x),
    "softplus": lambda x, s: F.softplus(x),
    "softmax": lambda x, s: F.softmax(x, -1),
    "relu6": lambda x, s: F.relu6(x),
    "capped_relu": capped,
    "thresholded_relu": lambda x, s: F.threshold(x, s.get("theta", 1.0), 0.0),
    "selu": lambda x, s: F.selu(x),
    "swish": lambda x, s: (F.silu(x) if s.get("beta", 1) == 1 else
                           x * torch.sigmoid(s["beta"] * x)),
    "mish": lambda x, s: F.mish(x),
    "softsign": lambda x, s: F.softsign(x),
    "cube": lambda x, s: x ** 3,
    # PyTorch's F.hardsigmoid has the slope 1/6.
    "hard_sigmoid": lambda x, s: (F.hardsigmoid(x) if s.get("slope") == 1 / 6 else
                                  (s.get("slope", 0.2) * x + 0.5).clamp(0, 1)),
    "hard_tanh": lambda x, s: F.hardtanh(x),
    "rational_tanh": lambda x, s: rational_tanh(x),
    "rectified_tanh": lambda x, s: F.relu(torch.tanh(x)),
    "exp": lambda x, s: torch.exp(x),
    "log_softmax": lambda x, s: F.log_softmax(x, -1),
}


def spelt(spec):
    """(type, the object)"""
    return (spec, {}) if isinstance(spec, str) else (spec["type"], spec)


def activate(spec, x):
    kind, settings = spelt(spec)
    return ACTIVATIONS[kind](x, settings)


def outputs_of(layer, z):
    """What a layer with a loss gives of the numbers before its activation."""
    y = activate(layer["activation"], z)
    return y[..., :layer["units"]] if spelt(layer["loss"])[0] == "gaussian" else y


def bounded(y):
    return y.clamp(1e-10, 1 - 1e-10)


def elementwise(mean, f):
    def loss(layer, s, z, t, w):
        terms = f(activate(layer["activation"], z), t, s) * w
        return terms.mean(-1) if mean else terms.sum(-1)
    return loss


def cross_entropy(layer, s, z, t, w):
    places = z.flatten(0, -2)
    loss = F.cross_entropy(places, t.flatten(0, -2), w, reduction="none",
                           label_smoothing=layer.get("label_smoothing", 0.0))
    return loss.reshape(z.shape[:-1])


def binary(layer, t):
    smoothing = layer.get("label_smoothing", 0.0)
    return (1 - smoothing) * t + smoothing / 2


def binary_weights(w, t):
    """A single output has the weights of the classes 0 and 1."""
    return (t * w[1] + (1 - t) * w[0]) if t.shape[-1] == 1 and len(w) == 2 else w


def binary_cross_entropy(layer, s, z, t, w):
    if t.shape[-1] == 1 and len(w) == 2:
        t = binary(layer, t)
        return -(w[1] * t * F.logsigmoid(z) + w[0] * (1 - t) * F.logsigmoid(-z)).sum(-1)
    return F.binary_cross_entropy_with_logits(z, binary(layer, t), w.expand_as(z),
                                              reduction="none").sum(-1)


def kl_divergence(layer, s, z, t, w):
    log_y = (F.log_softmax(z, -1) if spelt(layer["activation"])[0] == "softmax" else
             bounded(activate(layer["activation"], z)).log())
    return (F.kl_div(log_y, t, reduction="none") * w).sum(-1)


def poisson(layer, s, z, t, w):
    if spelt(layer["activation"])[0] == "exp":
        return (F.poisson_nll_loss(z, t, log_input=True, reduction="none") * w).sum(-1)
    y = activate(layer["activation"], z)
    return ((y - t * y.log()) * w).sum(-1)


def signs(t):
    return torch.where(t > 0, 1.0, -1.0).to(t.dtype)


def categorical_hinge(layer, s, z, t, w):
    y = activate(layer["activation"], z)
    others = y.masked_fill(t > 0, -math.inf).amax(-1)
    return F.relu(1 + others - (y * t).sum(-1))


def cosine_proximity(layer, s, z, t, w):
    return -F.cosine_similarity(activate(layer["activation"], z), t, -1)


def focal(layer, s, z, t, w):
    smoothing = layer.get("label_smoothing", 0.0)
    t = (1 - smoothing) * t + smoothing / t.shape[-1]
    log_y = F.log_softmax(z, -1)
    return -s.get("alpha", 1.0) * (w * t * (1 - log_y.exp()) ** s.get("gamma", 2.0) *
                                   log_y).sum(-1)


def binary_focal(layer, s, z, t, w):
    t, y, gamma = binary(layer, t), torch.sigmoid(z), s.get("gamma", 2.0)
    ones, zeros = (s["alpha"], 1 - s["alpha"]) if "alpha" in s else (1, 1)
    if t.shape[-1] == 1 and len(w) == 2:
        zeros, ones, w = zeros * w[0], ones * w[1], 1
    return -(w * (ones * t * (1 - y) ** gamma * F.logsigmoid(z) +
                  zeros * (1 - t) * y ** gamma * F.logsigmoid(-z))).sum(-1)


def multi_label(layer, s, z, t, w):
    y, result = activate(layer["activation"], z), []
    for row, labels in zip(y.flatten(0, -2), t.flatten(0, -2)):
        inside, outside = row[labels > 0], row[labels <= 0]
        pairs = torch.exp(outside[None, :] - inside[:, None])
        result.append(pairs.mean() if pairs.numel() else row.sum() * 0)
    return torch.stack(result).reshape(z.shape[:-1])


def gaussian(layer, s, z, t, w):
    mean, log_variance = activate(layer["activation"], z).chunk(2, -1)
    return (F.gaussian_nll_loss(mean, t, log_variance.exp(), full=True, eps=0,
                                reduction="none") * w).sum(-1)


def exponential(layer, s, z, t, w):
    if spelt(layer["activation"])[0] == "exp":
        return ((z + t * torch.exp(-z)) * w).sum(-1)
    y = activate(layer["activation"], z)
    return ((y.log() + t / y) * w).sum(-1)


LOSSES = {
    "negative_log_likelihood": cross_entropy,
    "binary_cross_entropy": binary_cross_entropy,
    "mean_squared_error": elementwise(True, lambda y, t, s: F.mse_loss(y, t, reduction="none")),
    "mean_absolute_error": elementwise(True, lambda y, t, s: F.l1_loss(y, t, reduction="none")),
    "l1": elementwise(False, lambda y, t, s: F.l1_loss(y, t, reduction="none")),
    "l2": elementwise(False, lambda y, t, s: F.mse_loss(y, t, reduction="none")),
    "huber": elementwise(True, lambda y, t, s: F.huber_loss(
        y, t, reduction="none", delta=s.get("delta", 1.0))),
    # log(cosh(e)) itself overflows.
    "log_cosh": elementwise(True, lambda y, t, s: (y - t) + F.softplus(-2 * (y - t)) -
                            math.log(2)),
    "mean_absolute_percentage_error": elementwise(True, lambda y, t, s: 100 * (
        (y - t) / t).abs()),
    "mean_squared_logarithmic_error": elementwise(True, lambda y, t, s: (
        torch.log1p(F.relu(y)) - torch.log1p(t)) ** 2),
    "kl_divergence": kl_divergence,
    "poisson": poisson,
    "hinge": elementwise(False, lambda y, t, s: F.relu(1 - signs(t) * y)),
    "squared_hinge": elementwise(False, lambda y, t, s: F.relu(1 - signs(t) * y) ** 2),
    "categorical_hinge": categorical_hinge,
    "cosine_proximity": cosine_proximity,
    "wasserstein": elementwise(True, lambda y, t, s: t * y),
    "focal": focal,
    "binary_focal": binary_focal,
    "multi_label": multi_label,
    "gaussian": gaussian,
    "exponential": exponential,
}


def loss_of(layer, z, t, mask):
    """The mean over examples of the sum over their places, each times its mask
    [n, ...] or 1.  t: class numbers, or reals; those of copies, behind a stack,
    are the same."""
    units = layer["units"]
    t = t.repeat(len(z) // len(t), *[1] * (t.ndim - 1))
    if not t.is_floating_point():
        classes = units > 1 and t.ndim < z.ndim
        t = (F.one_hot(t.long(), units) if classes else t).to(z.dtype)
    kind, settings = spelt(layer["loss"])
    weights = torch.tensor(layer.get("class_weights", [1.0] * units), dtype=z.dtype)
    t = t.reshape(*z.shape[:-1], units)
    places = LOSSES[kind](layer, settings, z, t, weights)
    if mask is not None:
        places = places * mask.reshape(*mask.shape, *[1] * (places.ndim - mask.ndim))
    return places.sum() / len(z) * layer.get("loss_weight", 1.0)
