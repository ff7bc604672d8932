"""Reads what dl-tools write, with nothing but the public libraries: models and
DataSet streams, and what follows from a network's JSON."""

import json
import subprocess

import numpy as np


def run(command):
    return subprocess.run(command, shell=True, check=True, executable="/bin/bash",
                          stdout=subprocess.PIPE).stdout


def records(path):
    """The data records of a DataSet stream: `zstd -dc` and safetensors."""
    from safetensors.numpy import load as load_blob
    blob = run(f"zstd -qdc {path}")
    while blob:
        size = int.from_bytes(blob[:8], "little")
        header = json.loads(blob[8:8 + size])
        data = max((t["data_offsets"][1] for name, t in header.items()
                    if name != "__metadata__"), default=0)
        tensors = load_blob(blob[:8 + size + data])
        if tensors:
            yield tensors
        blob = blob[8 + size + data:]


def read_model(path):
    """(network, normalizer, tensors) of a model file."""
    from safetensors import safe_open
    with safe_open(path, framework="numpy") as model:
        metadata = model.metadata()
        tensors = {name: model.get_tensor(name) for name in model.keys()}
    return json.loads(metadata["network"]), json.loads(metadata["normalizer"]), tensors


def read_batches(path, batch, normalizer):
    """The full mini-batches of a shard in their order, as (x, y): x [n, ...] in
    float32 and normalized, y as stored."""
    parts = list(records(path))
    x = np.concatenate([part["features"] for part in parts])
    y = np.concatenate([part["labels"] for part in parts])
    shift, scale = np.array(normalizer["shift"]), np.array(normalizer["scale"])
    x = ((x - shift) * scale).astype(np.float32)
    return [(x[i:i + batch], y[i:i + batch]) for i in range(0, len(x) - batch + 1, batch)]


def channels_first(x):
    """[n, height, width, channels] to [n, channels, height, width]; rows stay."""
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if x.ndim == 4 else x


def window(layer, shape):
    """Extents after a window has slid over [height, width, ...] (or of a series or
    volume), and what is padded: [[top, bottom], [left, right]]."""
    extents, pads = [], []
    for i, kernel in enumerate(layer["kernel"]):
        stride = layer["stride"][i]
        reach = (kernel - 1) * layer.get("dilation", [1, 1, 1])[i] + 1
        if layer["padding"] == "same":
            extent = -(-shape[i] // stride)
            total = max(0, (extent - 1) * stride + reach - shape[i])
        else:
            extent, total = (shape[i] - reach) // stride + 1, 0
        extents.append(extent)
        pads.append([total // 2, total - total // 2])
    return extents, pads


def shaped_layers(network):
    """(layer, shape of its input, its padding or None), shapes being of one
    example, [height, width, channels] for an image."""
    shape = list(network["input"]["shape"])
    for layer in network["layers"]:
        before, pads, kind = list(shape), None, layer["type"]
        if kind in ("conv2d", "max_pool2d", "average_pool2d"):
            extents, pads = window(layer, shape)
            shape = extents + [layer["filters"] if kind == "conv2d" else shape[2]]
        elif kind in ("dense", "output"):
            shape = [layer["units"]]
        elif kind == "gaussian_latent":
            shape = [shape[0] // 2]
        elif kind == "lstm":
            shape = [shape[0], layer["units"]] if layer["return_sequences"] else [layer["units"]]
        elif kind == "flatten":
            shape = [int(np.prod(shape))]
        yield layer, before, pads


def dense_weight(weight, shape):
    """[units, inputs] over the flat [height, width, channels] of its input,
    over the flat [channels, height, width] instead."""
    if len(shape) != 3:
        return weight
    rows = weight.reshape(len(weight), *shape).transpose(0, 3, 1, 2)
    return np.ascontiguousarray(rows.reshape(len(weight), -1))


def activation_of(layer):
    """(name, alpha)"""
    spec = layer["activation"]
    return (spec, None) if isinstance(spec, str) else (spec["type"], spec.get("alpha"))


def peak_kib():
    """Of this process; getrusage() would count what a larger parent had."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
