"""A graph of dl-network(5) of one input and one output in PyTorch, as its users
write it: NCHW modules, logits out, the loss apart.

Where a window with stride is padded on one side alone, the padding of both sides
that PyTorch's users take is as much work; `exact` pads as the page says."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from files import window
from torch_network import Lstm, Pad, activation


class Attention(nn.Module):
    """Multi-head self-attention by PyTorch's own kernel, over [batch, steps, width]."""

    def __init__(self, width, layer):
        super().__init__()
        self.heads, size = layer["heads"], layer["heads"] * layer["head_size"]
        self.query, self.key, self.value = (nn.Linear(width, size) for _ in range(3))
        self.output = nn.Linear(size, width)
        self.causal = layer["causal"]

    def forward(self, x):
        n, steps, _ = x.shape
        split = [f(x).view(n, steps, self.heads, -1).transpose(1, 2)
                 for f in (self.query, self.key, self.value)]
        seen = F.scaled_dot_product_attention(*split, is_causal=self.causal)
        return self.output(seen.transpose(1, 2).reshape(n, steps, -1))


class Positions(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(*shape))

    def forward(self, x):
        return x + self.weight


class Apply(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *x):
        return self.f(*x)


def padded(layer, shape, exact):
    """(modules before, padding)"""
    _, pads = window(layer, shape)
    (top, bottom), (left, right) = pads
    if (top, left) == (bottom, right) or not exact:
        return [], (max(top, bottom), max(left, right))
    return [Pad(pads)], 0


def convolution(layer, shapes, exact):
    shape = shapes[0]
    extents, _ = window(layer, shape)
    before, padding = padded(layer, shape, exact)
    deep = layer["type"] == "depthwise_conv2d"
    filters = shape[2] * layer["depth_multiplier"] if deep else layer["filters"]
    conv = nn.Conv2d(shape[2], filters, tuple(layer["kernel"]), stride=tuple(layer["stride"]),
                     padding=padding, bias=layer["bias"], groups=shape[2] if deep else 1)
    return [*before, conv, *activation(layer)], conv, [*extents, filters]


def transposed(layer, shapes, _):
    height, width, channels = shapes[0]
    assert layer["stride"] == layer["kernel"], layer
    conv = nn.ConvTranspose2d(channels, layer["filters"], tuple(layer["kernel"]),
                              stride=tuple(layer["stride"]), bias=layer["bias"])
    shape = [height * layer["stride"][0], width * layer["stride"][1], layer["filters"]]
    return [conv, *activation(layer)], conv, shape


def dense(layer, shapes, _):
    shape = shapes[0]
    linear = nn.Linear(shape[-1], layer["units"], bias=layer["bias"])
    # The output's activation belongs to the loss.
    after = activation(layer) if layer["type"] == "dense" else []
    return [linear, *after], linear, [*shape[:-1], layer["units"]]


def batch_norm(layer, shapes, _):
    kind = nn.BatchNorm2d if len(shapes[0]) == 3 else nn.BatchNorm1d
    norm = kind(shapes[0][-1], eps=layer["epsilon"], momentum=1 - layer["decay"])
    return [norm], norm, shapes[0]


def layer_norm(layer, shapes, _):
    norm = nn.LayerNorm(shapes[0][-1], eps=layer["epsilon"])
    return [norm], norm, shapes[0]


def max_pool(layer, shapes, _):
    extents, pads = window(layer, shapes[0])
    assert not np.any(pads), layer
    return [nn.MaxPool2d(tuple(layer["kernel"]), tuple(layer["stride"]))], None, \
        [*extents, shapes[0][2]]


def global_pool(layer, shapes, _):
    assert layer["kind"] == "average", layer
    axes = (2, 3) if len(shapes[0]) == 3 else 1
    return [Apply(lambda x: x.mean(axes))], None, [shapes[0][-1]]


def embedding(layer, shapes, _):
    table = nn.Embedding(layer["rows"], layer["units"])
    return [Apply(lambda x: x.long()), table], table, [*shapes[0], layer["units"]]


def lstm(layer, shapes, _):
    module = Lstm(shapes[0][1], layer)
    shape = [shapes[0][0], layer["units"]] if layer["return_sequences"] else [layer["units"]]
    return [module], module, shape


def attention(layer, shapes, _):
    module = Attention(shapes[0][1], layer)
    return [module], module, shapes[0]


def positions(layer, shapes, _):
    assert not layer["sinusoidal"], layer
    module = Positions(shapes[0])
    return [module], module, shapes[0]


def merge(layer, shapes, _):
    axis = 1 if len(shapes[0]) == 3 else -1
    return [Apply(lambda *x: torch.cat(x, axis))], None, \
        [*shapes[0][:-1], sum(s[-1] for s in shapes)]


def same(f):
    return lambda layer, shapes, exact: (f(layer), None, shapes[0])


TYPES = {"conv2d": convolution, "depthwise_conv2d": convolution,
         "conv2d_transpose": transposed, "dense": dense, "output": dense,
         "batch_norm": batch_norm, "layer_norm": layer_norm, "max_pool2d": max_pool,
         "global_pool": global_pool, "embedding": embedding, "lstm": lstm,
         "multi_head_attention": attention, "positional_embedding": positions,
         "merge": merge, "activation": same(activation), "loss": same(lambda layer: []),
         "add": same(lambda layer: [Apply(lambda a, b: a + b)])}


class Graph(nn.Module):
    def __init__(self, network, exact):
        super().__init__()
        shapes = {i["name"]: list(i["shape"]) for i in network["inputs"]}
        self.input, self.output = network["inputs"][0]["name"], network["outputs"][0]
        self.steps, self.trained, parts = [], [], []
        for layer in network["nodes"]:
            names = layer["from"] if isinstance(layer["from"], list) else [layer["from"]]
            modules, module, shape = TYPES[layer["type"]](layer, [shapes[n] for n in names],
                                                          exact)
            parts.append(modules[0] if len(modules) == 1 else nn.Sequential(*modules))
            self.steps.append((layer["name"], names))
            shapes[layer["name"]] = shape
            if module is not None:
                self.trained.append((layer, module))
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        values = {self.input: x}
        for (name, sources), part in zip(self.steps, self.parts):
            values[name] = part(*[values[s] for s in sources])
        return values[self.output]


def copy_weights(module, name, tensors):
    """Ours into a module, where their layouts are not the same."""
    with torch.no_grad():
        for key, value in tensors.items():
            layer, tensor = key.rsplit("/", 1)
            if layer != name:
                continue
            if isinstance(module, nn.ConvTranspose2d) and value.ndim == 4:
                value = value.transpose(3, 0, 1, 2)
            elif value.ndim == 4:
                value = value.transpose(0, 3, 1, 2)
            if isinstance(module, Attention):
                part, tensor = tensor.rsplit("_", 1)
                target = getattr(getattr(module, part), tensor)
            elif hasattr(module, "lstm"):
                target = getattr(module.lstm, {"weight": "weight_ih_l0", "bias": "bias_ih_l0",
                                               "recurrent_weight": "weight_hh_l0"}[tensor])
            else:
                target = getattr(module, {"gamma": "weight", "beta": "bias",
                                          "running_variance": "running_var"}.get(tensor, tensor))
            target.copy_(torch.from_numpy(value.copy()))


def build(network, tensors, exact):
    """(model, [(layer, module with parameters)])"""
    graph = Graph(network, exact)
    for layer, module in graph.trained:
        copy_weights(module, layer["name"], tensors)
    return graph, graph.trained
