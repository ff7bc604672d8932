"""The layers of dl-layers(5) by PyTorch's functions, as a table by type.

Values and parameters keep our layouts, channels last, so that gradients and
parameters compare by name; what PyTorch wants otherwise is permuted here.  A
function takes (run, layer, parameters by name, values, masks) and returns the
value, or (value, mask) where the mask is not the product of those that go in.
Sequences' own are in torch_sequences.py."""

import torch
import torch.nn.functional as F

from files import window
from torch_losses import activate


def first(x):
    """Channels last to channels first, of images, series and volumes."""
    return x.movedim(-1, 1)


def last(x):
    return x.movedim(1, -1)


def flat_pads(pads):
    """For F.pad, which begins with the last dimension."""
    return [side for pair in reversed(pads) for side in pair]


def as_lists(layer):
    """Extents of series are single numbers."""
    keys = ("kernel", "stride", "dilation")
    return {**layer, **{k: [layer[k]] for k in keys
                        if k in layer and not isinstance(layer[k], list)}}


def windows(layer, x):
    layer = as_lists(layer)
    if layer["padding"] == "causal":
        return layer, [[(layer["kernel"][0] - 1) * layer["dilation"][0], 0]]
    return layer, window(layer, list(x.shape[1:]))[1]


def convolve(layer, x, weight, bias, groups=1):
    layer, pads = windows(layer, x)
    f = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[x.ndim]
    return last(f(F.pad(first(x), flat_pads(pads)), first(weight), bias,
                  stride=layer["stride"], dilation=layer["dilation"], groups=groups))


def convolution(run, layer, p, xs, masks):
    x = convolve(layer, xs[0], p["weight"], p.get("bias"))
    return activate(layer["activation"], x)


def depthwise(run, layer, p, xs, masks):
    x = convolve(layer, xs[0], p["weight"], p.get("bias"), groups=xs[0].shape[-1])
    return activate(layer["activation"], x)


def separable(run, layer, p, xs, masks):
    x = convolve(layer, xs[0], p["depth_weight"], None, groups=xs[0].shape[-1])
    x = F.conv2d(first(x), first(p["point_weight"]), p.get("bias"))
    return activate(layer["activation"], last(x))


def transposed(run, layer, p, xs, masks):
    x = F.conv_transpose2d(first(xs[0]), p["weight"].permute(3, 0, 1, 2), None,
                           stride=layer["stride"], dilation=layer["dilation"])
    if layer["padding"] == "same":
        for axis, (extent, stride) in enumerate(zip(xs[0].shape[1:3], layer["stride"])):
            excess = x.shape[2 + axis] - extent * stride
            if excess >= 0:
                x = x.narrow(2 + axis, excess // 2, extent * stride)
            else:
                x = F.pad(x, [0, 0, 0, -excess] if axis == 0 else [0, -excess])
    x = last(x)
    return activate(layer["activation"], x + p["bias"] if "bias" in p else x)


def pooled(kind, layer, x):
    """Of [n, ..., channels], without masks."""
    layer, pads = windows(layer, x)
    maximum = {3: F.max_pool1d, 4: F.max_pool2d, 5: F.max_pool3d}[x.ndim]
    mean = {3: F.avg_pool1d, 4: F.avg_pool2d, 5: F.avg_pool3d}[x.ndim]
    x, pads, where = first(x), flat_pads(pads), (layer["kernel"], layer["stride"])
    if kind == "max":
        return last(maximum(F.pad(x, pads, value=-torch.inf), *where))
    result = mean(F.pad(x, pads), *where)
    if not layer.get("count_padding", False):
        result = result / mean(F.pad(torch.ones_like(x), pads), *where)
    return last(result)


def pool(kind):
    return lambda run, layer, p, xs, masks: pooled(kind, layer, xs[0])


def pnorm_pool(run, layer, p, xs, masks):
    powers = pooled("average", {**layer, "count_padding": True}, xs[0].abs() ** layer["p"])
    return (powers * (layer["kernel"][0] * layer["kernel"][1])) ** (1 / layer["p"])


def dense(run, layer, p, xs, masks):
    weight = run.parameters[layer["tied_to"] + "/weight"].T if "tied_to" in layer else p["weight"]
    x = xs[0]
    ended = x.ndim != 3 or weight.shape[1] != x.shape[-1]  # it is no sequence, or ends
    x = F.linear(x.flatten(1) if ended else x, weight, p.get("bias"))
    if layer["type"] != "output" and layer["type"] != "center_loss":
        x = activate(layer["activation"], x)  # the output's belongs to the loss
    return (x, None) if ended else x


def center_loss(run, layer, p, xs, masks):
    x = xs[0].flatten(1)
    centres = p["centers"][run.labels[layer["name"]].long()]
    moved = (x.detach() - centres).square().sum() / 2
    run.extra.append(layer["lambda"] / 2 * (x - centres.detach()).square().sum() / len(x))
    run.extra.append(layer["alpha"] * (moved - moved.detach()) / len(x))
    return dense(run, layer, p, xs, masks)


def upsample2d(run, layer, p, xs, masks):
    if layer["interpolation"] == "bilinear":
        return last(F.interpolate(first(xs[0]), scale_factor=layer["size"], mode="bilinear"))
    return last(F.interpolate(first(xs[0]), scale_factor=layer["size"], mode="nearest"))


def zero_pad2d(run, layer, p, xs, masks):
    top, bottom, left, right = layer["padding"]
    return last(F.pad(first(xs[0]), [left, right, top, bottom]))


def crop2d(run, layer, p, xs, masks):
    top, bottom, left, right = layer["cropping"]
    return last(F.pad(first(xs[0]), [-left, -right, -top, -bottom]))


def space_to_depth(run, layer, p, xs, masks):
    channels, block = xs[0].shape[-1], layer["block"]
    x = last(F.pixel_unshuffle(first(xs[0]), block))
    return x.unflatten(-1, (channels, block * block)).transpose(-1, -2).flatten(-2)


def local_response_norm(run, layer, p, xs, masks):
    size = layer["window"]
    return last(F.local_response_norm(first(xs[0]), size, alpha=layer["alpha"] * size,
                                      beta=layer["beta"], k=layer["k"]))


def batch_norm(run, layer, p, xs, masks):
    x, name = xs[0], layer["name"]
    mean, variance = (run.statistics[f"{name}/running_{what}"] for what in ("mean", "variance"))
    counted = x.flatten(0, -2) if masks[0] is None else x[masks[0] > 0]
    if run.training and not layer.get("frozen", False):
        # F.batch_norm's running variance is that of a sample.
        decay = layer["decay"]
        run.moved[f"{name}/running_mean"] = decay * mean + (1 - decay) * counted.detach().mean(0)
        run.moved[f"{name}/running_variance"] = (
            decay * variance + (1 - decay) * counted.detach().var(0, correction=0))
        if masks[0] is None:
            return F.batch_norm(counted, None, None, p["gamma"], p["beta"], True,
                                eps=layer["epsilon"]).reshape(x.shape)
        mean, variance = counted.mean(0), counted.var(0, correction=0)
    return (x - mean) / (variance + layer["epsilon"]).sqrt() * p["gamma"] + p["beta"]


def layer_norm(run, layer, p, xs, masks):
    return F.layer_norm(xs[0], xs[0].shape[-1:], p["gamma"], p["beta"], layer["epsilon"])


def group_norm(run, layer, p, xs, masks):
    x = xs[0]
    if run.is_sequence(x):  # each step by itself
        return F.group_norm(x.flatten(0, 1), layer["groups"], p["gamma"], p["beta"],
                            layer["epsilon"]).reshape(x.shape)
    return last(F.group_norm(first(x), layer["groups"], p["gamma"], p["beta"],
                             layer["epsilon"]))


def rrelu(run, layer, p, xs, masks):
    assert not run.training or layer["lower"] == layer["upper"], layer
    return F.rrelu(xs[0], layer["lower"], layer["upper"], False)


def prelu(run, layer, p, xs, masks):
    slope = p["slope"]
    if layer["slopes"] == "channel":
        return last(F.prelu(first(xs[0]), slope))
    return torch.where(xs[0] > 0, xs[0], slope * xs[0])


def noise(run, layer, p, xs, masks):
    """What draws random numbers in training does nothing in predictions."""
    assert not run.training or layer.get("rate", layer.get("deviation")) == 0, layer
    return xs[0]


def axis_of(layer, x):
    return layer["axis"] + 1 if layer["axis"] >= 0 else layer["axis"]


def merge(run, layer, p, xs, masks):
    x = torch.cat(xs, axis_of(layer, xs[0]))
    return (x, None) if axis_of(layer, x) % x.ndim == 1 else x


def subset(run, layer, p, xs, masks):
    begin, end = layer["begin"], layer["end"]
    return xs[0].narrow(axis_of(layer, xs[0]), begin, end - begin)


def each(f):
    """Of what goes in alone."""
    return lambda run, layer, p, xs, masks: f(layer, *xs)


def activity_regularization(run, layer, p, xs, masks):
    x = xs[0]
    cost = layer["l1"] * x.abs().sum() + layer["l2"] / 2 * x.square().sum()
    run.extra.append(cost / len(x))
    if "sparsity" in layer:
        r, s = x.mean(0), layer["sparsity"]
        divergence = s * torch.log(s / r) + (1 - s) * torch.log((1 - s) / (1 - r))
        run.extra.append(layer["sparsity_weight"] * divergence.sum())
    return x


def gaussian_latent(run, layer, p, xs, masks):
    """With variances of next to nothing, so that no draw matters."""
    mean, log_variance = xs[0].chunk(2, -1)
    assert log_variance.max() < -30 or not run.training, layer
    run.extra.append(layer["kl_weight"] * 0.5 * (
        mean.square() + log_variance.exp() - log_variance - 1).sum() / len(mean))
    return mean


TYPES = {
    "dense": dense, "output": dense, "autoencoder": dense, "center_loss": center_loss,
    "conv2d": convolution, "conv3d": convolution, "depthwise_conv2d": depthwise,
    "separable_conv2d": separable, "conv2d_transpose": transposed,
    "max_pool2d": pool("max"), "max_pool3d": pool("max"), "average_pool2d": pool("average"),
    "average_pool3d": pool("average"), "pnorm_pool2d": pnorm_pool,
    "upsample2d": upsample2d, "zero_pad2d": zero_pad2d, "crop2d": crop2d,
    "space_to_depth": space_to_depth, "local_response_norm": local_response_norm,
    "batch_norm": batch_norm, "layer_norm": layer_norm, "group_norm": group_norm,
    "rrelu": rrelu, "prelu": prelu, "merge": merge, "subset": subset,
    "activity_regularization": activity_regularization, "gaussian_latent": gaussian_latent,
    **dict.fromkeys(("dropout", "spatial_dropout", "stochastic_depth", "alpha_dropout",
                     "gaussian_dropout", "gaussian_noise"), noise),
    "activation": each(lambda layer, x: activate(layer["activation"], x)),
    "loss": each(lambda layer, x: x),
    "flatten": lambda run, layer, p, xs, masks: (xs[0].flatten(1), None),
    "add": each(lambda layer, *xs: sum(xs)),
    "subtract": each(lambda layer, a, b: a - b),
    "multiply": each(lambda layer, *xs: torch.stack(xs).prod(0)),
    "average": each(lambda layer, *xs: torch.stack(xs).mean(0)),
    "max": each(lambda layer, *xs: torch.stack(xs).amax(0)),
    "min": each(lambda layer, *xs: torch.stack(xs).amin(0)),
    "scale": each(lambda layer, x: layer["factor"] * x),
    "shift": each(lambda layer, x: x + layer["amount"]),
    "stack": lambda run, layer, p, xs, masks: (torch.cat(xs), None),
    "unstack": lambda run, layer, p, xs, masks: (
        xs[0].chunk(layer.get("of", 2))[layer["index"]], None),
    "dot": each(lambda layer, a, b: torch.linalg.vecdot(a, b).unsqueeze(-1)),
    "l2_distance": each(lambda layer, a, b: (
        (a - b).square().sum(-1, keepdim=True) + layer["epsilon"]).sqrt()),
    "l2_normalize": each(lambda layer, x: x / (
        x.square().sum(-1, keepdim=True) + layer["epsilon"]).sqrt()),
    "reshape": each(lambda layer, x: x.reshape(len(x), *layer["shape"])),
    "permute": each(lambda layer, x: x.permute(0, *[a + 1 for a in layer["axes"]])),
    "element_multiply": lambda run, layer, p, xs, masks: p["weight"] * xs[0] + p["bias"],
}
