"""PyTorch's side on a GPU: see peer_step.cpp for the conversation.

--compile FILE: by torch.compile(mode="max-autotune"); what that chooses between is
measured by one process at a time of those that name the same file.  Of NumPy and
PyTorch alone, as a machine with a GPU may have no more.  The data are noise, or where
--data is a folder the MNIST digits in it, on the GPU already, in the layout that is
faster there.
--precision: as dl-worker's; bfloat16 is autocast."""

import argparse
import fcntl
import gzip
import json
import math
import pathlib
import threading

import numpy as np
import torch

import torch_graph
import torch_network
from files import shaped_layers
from serve import serve
from torch_side import accuracy_on, training

BATCHES = 4


def model_of(path):
    """(network, normalizer, tensors) of a model file: a length, JSON, and the bytes."""
    data = bytearray(open(path, "rb").read())  # PyTorch wants what it may write to
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    metadata = header.pop("__metadata__")
    tensors = {name: np.frombuffer(data, np.float32, math.prod(at["shape"]),
                                   begin + at["data_offsets"][0]).reshape(at["shape"])
               for name, at in header.items() if at["dtype"] == "F32"}
    return json.loads(metadata["network"]), json.loads(metadata["normalizer"]), tensors


def built(path):
    """(model, trained, output layer, an example's shape, normalizer)"""
    network, normalizer, tensors = model_of(path)
    if "nodes" in network:
        model, trained = torch_graph.build(network, tensors, False)
        output = next(n for n in network["nodes"] if n["name"] == network["outputs"][0])
        return model, trained, output, network["inputs"][0]["shape"], normalizer
    model, trained = torch_network.build(network, tensors)
    shape = next(shape for _, shape, _ in shaped_layers(network))
    return model, trained, network["layers"][-1], shape, normalizer


def on_device(x, args):
    x = x.to(args.device)
    return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x


def noise(shape, classes, args):
    if len(shape) == 3:  # channels first
        shape = [shape[2], *shape[:2]]
    return (on_device(torch.randn(args.batch, *shape), args),
            torch.randint(0, classes, (args.batch,), device=args.device))


def digits(folder, name, normalizer, args):
    """The full mini-batches of one of MNIST's sets."""
    def idx(kind, rank):
        with gzip.open(folder / f"{name}-{kind}-idx{rank}-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=4 + 4 * rank)
    y = torch.tensor(idx("labels", 1), dtype=torch.long, device=args.device)
    x = idx("images", 3).reshape(len(y), 1, 28, 28).astype(np.float32)
    shift, scale = np.float32(normalizer["shift"]), np.float32(normalizer["scale"])
    x = on_device(torch.from_numpy((x - shift.reshape(-1, 1, 1)) * scale.reshape(-1, 1, 1)), args)
    return [(x[i:i + args.batch], y[i:i + args.batch])
            for i in range(0, len(y) - args.batch + 1, args.batch)]


def measure_in_turn(path):
    """Those that compile on one GPU disturb each other there, if nowhere else."""
    try:
        from torch._inductor.runtime.benchmarking import benchmarker
    except ImportError:  # another version of PyTorch
        return
    file, mine, depth = path.open("w"), threading.RLock(), 0

    def in_turn(measure):
        def measured(*args, **kwargs):
            nonlocal depth
            with mine:  # by one thread, which may come here again
                if depth == 0:
                    fcntl.flock(file, fcntl.LOCK_EX)
                depth += 1
                try:
                    return measure(*args, **kwargs)
                finally:
                    depth -= 1
                    if depth == 0:
                        fcntl.flock(file, fcntl.LOCK_UN)
        return measured
    for name in ("benchmark", "benchmark_gpu"):
        setattr(benchmarker, name, in_turn(getattr(benchmarker, name)))


class Rounded(torch.nn.Module):
    """In bfloat16 where autocast takes it; the loss in float32."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        with torch.autocast(x.device.type, torch.bfloat16):
            z = self.model(x)
        return z.float()


def main():
    parser = argparse.ArgumentParser()
    for option in ("--model", "--data", "--device"):
        parser.add_argument(option, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--compile", type=pathlib.Path)
    args = parser.parse_args()
    args.exact = False
    tf32 = args.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    if args.compile:
        measure_in_turn(args.compile)
    model, trained, output, shape, normalizer = built(args.model)
    model = model.to(args.device)
    if len(shape) == 3:
        model = model.to(memory_format=torch.channels_last)
    if args.precision == "bfloat16":
        model = Rounded(model)
    folder, accuracy = pathlib.Path(args.data), None
    if folder.is_dir():
        batches = digits(folder, "train", normalizer, args)
        accuracy = accuracy_on(digits(folder, "t10k", normalizer, args), model)
    else:
        batches = [noise(shape, output["units"], args) for _ in range(BATCHES)]
    serve(training(args, model, trained, output, batches, "max-autotune"), accuracy=accuracy)


if __name__ == "__main__":
    main()
