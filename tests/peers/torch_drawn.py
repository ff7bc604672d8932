"""Networks of PyTorch, drawn at random: of images, volumes, series, sequences, tokens
and vectors, with branches.  The same number gives the same network."""

import random

import torch
from torch import nn

ACTIVATIONS = [nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.GELU, lambda: nn.GELU("tanh"), nn.Sigmoid, nn.Tanh,
               nn.Softplus, nn.SELU, nn.SiLU, nn.Mish, nn.Softsign, nn.Hardswish, nn.Hardsigmoid, nn.Hardtanh,
               nn.PReLU]


class Sum(nn.Module):
    """x + f(x)"""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Gate(nn.Module):
    """Squeeze and excite."""

    def __init__(self, channels):
        super().__init__()
        self.down = nn.Conv2d(channels, 4, 1)
        self.up = nn.Conv2d(4, channels, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.up(torch.relu(self.down(x.mean((2, 3), keepdim=True)))))


class Beside(nn.Module):
    """Branches side by side."""

    def __init__(self, *branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class Recurrent(nn.Module):
    def __init__(self, cell, last, batch_first):
        super().__init__()
        self.cell, self.last = cell, last
        self.batch_first = batch_first

    def forward(self, x):
        x = x if self.batch_first else x.transpose(0, 1)
        y, state = self.cell(x)
        y = y if self.batch_first else y.transpose(0, 1)
        if self.last == "state":
            return (state[0] if isinstance(state, tuple) else state)[-1]
        return y[:, -1] if self.last == "step" else y


class Attend(nn.Module):
    def __init__(self, width, heads, batch_first):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=batch_first)
        self.batch_first = batch_first

    def forward(self, x):
        x = x if self.batch_first else x.transpose(0, 1)
        y = self.attention(x, x, x, need_weights=False)[0]
        return y if self.batch_first else y.transpose(0, 1)


class Attention(nn.Module):
    """Of timm's kind: one matrix for queries, keys and values."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, steps, width = x.shape
        q, k, v = self.qkv(x).reshape(n, steps, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(n, steps, width))


class Positions(nn.Module):
    def __init__(self, steps, width):
        super().__init__()
        self.table = nn.Parameter(torch.randn(1, steps, width))

    def forward(self, x):
        return x + self.table


class Mean(nn.Module):
    def forward(self, x):
        return x.mean(1)


class Patches(nn.Module):
    """An image as a sequence."""

    def __init__(self, channels, width):
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 4, 4)

    def forward(self, x):
        return self.conv(x).flatten(2).transpose(1, 2)


class Normalized(nn.Module):
    """Of each example by itself, in parts."""

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + 1e-5)


class Upscale(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        return nn.functional.interpolate(x, scale_factor=2, mode=self.mode)


def activation(draw):
    return draw.choice(ACTIVATIONS)()


def convolution(draw, axes, channels, out, same=False):
    make = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[axes - 1]
    kernel = draw.choice((1, 3, 3, 5) if axes < 3 else (1, 3))
    groups = draw.choice((1, 1, 1, 2, channels)) if channels % 2 == 0 and out % channels == 0 else 1
    if groups == channels and axes == 3:
        groups = 1
    dilation = draw.choice((1, 1, 2)) if kernel == 3 else 1
    return make(channels, out, kernel, 1 if same else draw.choice((1, 1, 2)),
                (kernel - 1) * dilation // 2 if same else draw.choice((0, (kernel - 1) // 2, (kernel - 1) * dilation // 2)),
                dilation, groups, bias=draw.random() < 0.7)


def image_layers(draw, channels, size):
    """Of images that become smaller; (layers, channels)"""
    layers = []
    for _ in range(draw.randint(2, 5)):
        kind = draw.choice(("conv", "conv", "conv", "residual", "gate", "beside", "pool", "norm", "up", "transposed",
                            "shuffle", "pad", "dropout"))
        if kind == "conv":
            out = draw.choice((channels, 2 * channels, 6))
            layers += [convolution(draw, 2, channels, out), activation(draw)]
            channels = out
        elif kind == "residual":
            layers.append(Sum(nn.Sequential(convolution(draw, 2, channels, channels, True), nn.BatchNorm2d(channels),
                                            activation(draw), convolution(draw, 2, channels, channels, True))))
        elif kind == "gate":
            layers.append(Gate(channels))
        elif kind == "beside":
            layers.append(Beside(convolution(draw, 2, channels, 4, True), nn.Identity(),
                                 nn.MaxPool2d(3, 1, 1)))
            channels = 2 * channels + 4
        elif kind == "pool":
            layers.append(draw.choice((nn.MaxPool2d(2), nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2), nn.AvgPool2d(3, 2, 1),
                                       nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, 1, count_include_pad=False))))
        elif kind == "norm":
            layers += [draw.choice((nn.BatchNorm2d(channels), nn.GroupNorm(2 if channels % 2 == 0 else 1, channels),
                                    nn.InstanceNorm2d(channels), nn.LocalResponseNorm(3))), activation(draw)]
        elif kind == "up":
            layers.append(Upscale(draw.choice(("nearest", "bilinear"))))
        elif kind == "transposed":
            kernel, stride, padding = draw.choice(((2, 2, 0), (3, 2, 1), (4, 2, 1), (3, 1, 1)))
            more = 1 if (kernel, stride) == (3, 2) and draw.random() < 0.5 else 0
            layers.append(nn.ConvTranspose2d(channels, 6, kernel, stride, padding, more))
            channels = 6
        elif kind == "shuffle" and channels % 4 == 0:
            layers.append(nn.PixelShuffle(2))
            channels //= 4
        elif kind == "pad":
            layers.append(nn.ZeroPad2d((1, 2, 0, 1)))
        elif kind == "dropout":
            layers.append(nn.Dropout(0.3))
    return layers, channels


def dense_head(draw, inputs):
    layers = []
    for _ in range(draw.randint(0, 2)):
        out = draw.choice((5, 8, 12))
        layers += [nn.Linear(inputs, out, bias=draw.random() < 0.8),
                   draw.choice((nn.Identity(), nn.BatchNorm1d(out), nn.LayerNorm(out), Sum(nn.Linear(out, out)))),
                   activation(draw)]
        inputs = out
    return [*layers, nn.Linear(inputs, 4), *draw.choice(([], [nn.Softmax(1)], [nn.Sigmoid()], [nn.LogSoftmax(1)]))]


def sized(layers, x):
    """Numbers of an example after the layers."""
    with torch.no_grad():
        return nn.Sequential(*layers).eval()(x).flatten(1).shape[1]


def of_images(draw):
    channels, size = draw.choice((1, 3, 4)), draw.choice((16, 21, 24))
    x = torch.randn(2, channels, size, size + draw.choice((0, 3)))
    layers, channels = image_layers(draw, channels, size)
    end = draw.choice(("flatten", "flatten", "mean", "max", "none"))
    if end == "none":
        return nn.Sequential(*layers), [x]
    if end != "flatten":
        layers.append((nn.AdaptiveAvgPool2d if end == "mean" else nn.AdaptiveMaxPool2d)(1))
    layers.append(nn.Flatten())
    return nn.Sequential(*layers, *dense_head(draw, sized(layers, x))), [x]


def of_volumes(draw):
    x = torch.randn(2, 2, 8, 9, 10)
    layers = [convolution(draw, 3, 2, 4), activation(draw), draw.choice((nn.MaxPool3d(2), nn.AvgPool3d(2), nn.BatchNorm3d(4)))]
    layers += [draw.choice((nn.Flatten(), nn.Sequential(nn.AdaptiveAvgPool3d(1), nn.Flatten())))]
    return nn.Sequential(*layers, *dense_head(draw, sized(layers, x))), [x]


def of_series(draw):
    x = torch.randn(2, 4, 20)
    layers = []
    channels = 4
    for _ in range(draw.randint(1, 3)):
        out = draw.choice((channels, 8))
        layers += [convolution(draw, 1, channels, out),
                   draw.choice((nn.Identity(), nn.BatchNorm1d(out), nn.MaxPool1d(2), nn.AvgPool1d(2))), activation(draw)]
        channels = out
    layers += [draw.choice((nn.Flatten(), nn.Sequential(nn.AdaptiveMaxPool1d(1), nn.Flatten())))]
    return nn.Sequential(*layers, *dense_head(draw, sized(layers, x))), [x]


def of_sequences(draw):
    x = torch.randn(2, 7, 5)
    make = draw.choice((nn.LSTM, nn.GRU, nn.RNN))
    both, layers = draw.random() < 0.4, draw.choice((1, 1, 2))
    first = draw.random() < 0.5
    last = draw.choice(("step", "state", "all"))
    cell = make(5, 6, layers, bidirectional=both, batch_first=first, bias=draw.random() < 0.8)
    width = 6 if last == "state" or not both else 12
    if last == "all":
        return nn.Sequential(Recurrent(cell, last, first), nn.Linear(width, 4), *draw.choice(([], [nn.Softmax(-1)]))), [x]
    return nn.Sequential(Recurrent(cell, last, first), *dense_head(draw, width)), [x]


def block(draw, width, causal):
    heads = draw.choice((1, 2, 4))
    attention = Attention(width, heads, causal) if draw.random() < 0.5 else Attend(width, heads, draw.random() < 0.5)
    inner = nn.Sequential(nn.Linear(width, 2 * width), draw.choice((nn.ReLU, nn.GELU))(), nn.Linear(2 * width, width))
    norm = draw.choice((nn.LayerNorm(width), Normalized()))
    if draw.random() < 0.5:
        return [Sum(nn.Sequential(norm, attention)), Sum(nn.Sequential(nn.LayerNorm(width), inner))]
    return [Sum(attention), norm, Sum(inner), nn.LayerNorm(width)]


def of_tokens(draw):
    x = torch.randint(0, 11, (2, 6))
    width = draw.choice((8, 12))
    layers = [nn.Embedding(11, width), Positions(6, width)]
    for _ in range(draw.randint(1, 2)):
        layers += block(draw, width, draw.random() < 0.3)
    if draw.random() < 0.3:
        return nn.Sequential(*layers, nn.Linear(width, 11)), [x]
    return nn.Sequential(*layers, draw.choice((Mean(), nn.Flatten())), nn.LazyLinear(4)), [x]


def of_patches(draw):
    x = torch.randn(2, 3, 12, 16)
    layers = [Patches(3, 8), Positions(12, 8), *block(draw, 8, False), *block(draw, 8, False)]
    return nn.Sequential(*layers, Mean(), *dense_head(draw, 8)), [x]


def of_vectors(draw):
    return nn.Sequential(*dense_head(draw, 9)), [torch.randn(3, 9)]


class Two(nn.Module):
    """Two inputs and outputs."""

    def __init__(self, a, b):
        super().__init__()
        self.a, self.b, self.out = a, b, nn.Linear(8, 3)

    def forward(self, x, y):
        both = torch.cat((self.a(x), self.b(y)), 1)
        return self.out(both), both * 2 + 1


def of_two(draw):
    a = nn.Sequential(nn.Conv2d(2, 3, 3), activation(draw), nn.Flatten(), nn.Linear(108, 4))
    return Two(a, nn.Sequential(nn.Linear(5, 4), activation(draw))), [torch.randn(2, 2, 8, 8), torch.randn(2, 5)]


KINDS = (of_images, of_images, of_images, of_images, of_volumes, of_series, of_sequences, of_sequences, of_tokens,
         of_tokens, of_patches, of_vectors, of_two)


def drawn_network(number):
    """(model, inputs); a network whose images become too small is drawn anew."""
    draw = random.Random(number)
    torch.manual_seed(number)
    while True:
        try:
            model, inputs = KINDS[number % len(KINDS)](draw)
            with torch.no_grad():
                model.eval()(*inputs)
            return model, inputs
        except (RuntimeError, ValueError):
            continue
