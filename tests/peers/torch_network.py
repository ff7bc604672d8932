"""A network of dl-network(5) in PyTorch, as its users write it: NCHW modules,
logits out, the loss apart."""

import torch
import torch.nn.functional as F
from torch import nn

from files import activation_of, dense_weight, shaped_layers


class Pad(nn.Module):
    def __init__(self, pads, value=0.0):
        super().__init__()
        (top, bottom), (left, right) = pads
        self.pads, self.value = (left, right, top, bottom), value

    def forward(self, x):
        return F.pad(x, self.pads, value=self.value)


class AveragePool(nn.Module):
    """Padding does not count for the mean."""

    def __init__(self, kernel, stride, pads):
        super().__init__()
        self.pad, self.window = Pad(pads), (tuple(kernel), tuple(stride))

    def forward(self, x):
        ones = torch.ones_like(x[:1, :1])
        return (F.avg_pool2d(self.pad(x), *self.window) /
                F.avg_pool2d(self.pad(ones), *self.window))


class Lstm(nn.Module):
    """Over [batch, steps, features]; PyTorch adds two biases, ours has one."""

    def __init__(self, inputs, layer):
        super().__init__()
        assert layer["bidirectional"] == "none", layer
        self.lstm = nn.LSTM(inputs, layer["units"], bias=layer["bias"], batch_first=True)
        self.whole = layer["return_sequences"]
        if layer["bias"]:
            nn.init.zeros_(self.lstm.bias_hh_l0)
            self.lstm.bias_hh_l0.requires_grad_(False)

    def forward(self, x):
        states, (last, _) = self.lstm(x)
        return states if self.whole else last[0]


class Latent(nn.Module):
    """Codes drawn from what is encoded; keeps their divergence from N(0, 1)."""

    def forward(self, x):
        mean, log_variance = x.chunk(2, dim=-1)
        self.divergence = 0.5 * (mean.square() + log_variance.exp() - log_variance -
                                 1).sum() / len(x)
        return mean + torch.randn_like(mean) * (0.5 * log_variance).exp()


def activation(layer):
    kind, alpha = activation_of(layer)
    return {
        "identity": lambda: [],
        "relu": lambda: [nn.ReLU()],
        "relu6": lambda: [nn.ReLU6()],
        "leaky_relu": lambda: [nn.LeakyReLU(0.01 if alpha is None else alpha)],
        "elu": lambda: [nn.ELU(1.0 if alpha is None else alpha)],
        "gelu": lambda: [nn.GELU()],
        "sigmoid": lambda: [nn.Sigmoid()],
        "tanh": lambda: [nn.Tanh()],
        "softplus": lambda: [nn.Softplus()],
        "softmax": lambda: [nn.Softmax(dim=-1)],
    }[kind]()


def convolution(layer, shape, pads):
    arguments = {"stride": tuple(layer["stride"]), "dilation": tuple(layer["dilation"]),
                 "bias": layer["bias"]}
    before = []
    if layer["padding"] == "same" and layer["stride"] == [1, 1]:
        arguments["padding"] = "same"
    elif any(map(any, pads)):
        before = [Pad(pads)]
    return before, nn.Conv2d(shape[2], layer["filters"], tuple(layer["kernel"]), **arguments)


def modules(layer, shape, pads):
    """(modules, the one with parameters or None)"""
    kind = layer["type"]
    if kind in ("dense", "output"):
        flat = [nn.Flatten()] if len(shape) > 1 else []
        inputs = 1
        for extent in shape:
            inputs *= extent
        linear = nn.Linear(inputs, layer["units"], bias=layer["bias"])
        # The output's activation belongs to the loss.
        return flat + [linear] + (activation(layer) if kind == "dense" else []), linear
    if kind == "conv2d":
        before, conv = convolution(layer, shape, pads)
        return before + [conv] + activation(layer), conv
    if kind == "max_pool2d":
        before = [Pad(pads, float("-inf"))] if any(map(any, pads)) else []
        return before + [nn.MaxPool2d(tuple(layer["kernel"]), tuple(layer["stride"]))], None
    if kind == "average_pool2d":
        if any(map(any, pads)):
            return [AveragePool(layer["kernel"], layer["stride"], pads)], None
        return [nn.AvgPool2d(tuple(layer["kernel"]), tuple(layer["stride"]))], None
    if kind == "batch_norm":
        norm = nn.BatchNorm2d if len(shape) == 3 else nn.BatchNorm1d
        norm = norm(shape[-1], eps=layer["epsilon"], momentum=1 - layer["decay"])
        return [norm], norm
    if kind == "lstm":
        lstm = Lstm(shape[1], layer)
        return [lstm], lstm
    if kind == "gaussian_latent":
        return [Latent()], None
    if kind == "dropout":
        return ([nn.Dropout(layer["rate"])] if layer["rate"] > 0 else []), None
    if kind == "activation":
        return activation(layer), None
    if kind == "flatten" and len(shape) == 3:
        raise SystemExit("peers: flatten of an image: name a dense layer instead")
    assert kind == "flatten", kind
    return [], None


def copy_weights(module, name, shape, tensors):
    with torch.no_grad():
        if isinstance(module, Lstm):
            for key, to in (("weight", "weight_ih_l0"), ("recurrent_weight", "weight_hh_l0"),
                            ("bias", "bias_ih_l0")):
                if f"{name}/{key}" in tensors:
                    getattr(module.lstm, to).copy_(torch.from_numpy(tensors[f"{name}/{key}"]))
            return
        for key, to in (("weight", "weight"), ("bias", "bias"), ("gamma", "weight"),
                        ("beta", "bias"), ("running_mean", "running_mean"),
                        ("running_variance", "running_var")):
            value = tensors.get(f"{name}/{key}")
            if value is None:
                continue
            if value.ndim == 4:
                value = value.transpose(0, 3, 1, 2)
            elif value.ndim == 2:
                value = dense_weight(value, shape)
            getattr(module, to).copy_(torch.from_numpy(value.copy()))


def build(network, tensors):
    """(model, [(layer, module with parameters)])"""
    chain, trained = [], []
    for layer, shape, pads in shaped_layers(network):
        parts, module = modules(layer, shape, pads)
        chain += parts
        if module is not None:
            copy_weights(module, layer["name"], shape, tensors)
            trained.append((layer, module))
    return nn.Sequential(*chain), trained


def cross_entropy(z, y):
    if z.ndim == 3:  # of steps
        z = z.transpose(1, 2)
    return F.cross_entropy(z, y, reduction="sum") / len(z)


def loss_of(layer):
    """loss(outputs before the activation, targets), a mean over examples, of
    the sum over their steps or pixels"""
    kind = layer["loss"]
    if kind == "negative_log_likelihood":
        return cross_entropy
    if kind == "binary_cross_entropy":
        return lambda z, y: F.binary_cross_entropy_with_logits(z, y, reduction="sum") / len(z)
    act = nn.Sequential(*activation(layer))
    distance = F.mse_loss if kind == "mean_squared_error" else F.l1_loss
    return lambda z, y: distance(act(z), y)


def own_losses(model):
    return [m for m in model.modules() if isinstance(m, Latent)]


def targets(x, y, layer):
    """Labels as loss_of() wants them; of an autoencoder, what goes in."""
    if layer.get("target", "labels") != "labels":
        return torch.from_numpy(x.reshape(len(x), -1))
    y = torch.from_numpy(y)
    if layer["loss"] == "negative_log_likelihood" and (y.ndim == 1 or y.shape[-1] !=
                                                       layer["units"]):
        return y.long()
    return F.one_hot(y.long(), layer["units"]).float() if y.ndim == 1 else y.float()
