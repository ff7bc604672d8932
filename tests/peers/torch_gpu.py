"""PyTorch's side on a GPU: see peer_step.cpp for the conversation.

--compile: by torch.compile(mode="max-autotune").  Of NumPy and PyTorch alone, as a
machine with a GPU may have no more.  The data are noise, on the GPU already, in the
layout that is faster there; neither side uses TF32."""

import argparse
import json
import math

import numpy as np
import torch

import torch_network
from files import shaped_layers
from serve import serve
from torch_side import training

BATCHES = 4


def model_of(path):
    """(network, tensors) of a model file: a length, JSON, and the bytes."""
    data = bytearray(open(path, "rb").read())  # PyTorch wants what it may write to
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    network = json.loads(header.pop("__metadata__")["network"])
    tensors = {name: np.frombuffer(data, np.float32, math.prod(at["shape"]),
                                   begin + at["data_offsets"][0]).reshape(at["shape"])
               for name, at in header.items() if at["dtype"] == "F32"}
    return network, tensors


def batch_of(shape, classes, args):
    if len(shape) == 3:  # channels first
        shape = [shape[2], *shape[:2]]
    x = torch.randn(args.batch, *shape, device=args.device)
    if len(shape) == 3:
        x = x.contiguous(memory_format=torch.channels_last)
    return x, torch.randint(0, classes, (args.batch,), device=args.device)


def main():
    parser = argparse.ArgumentParser()
    for option in ("--model", "--data", "--device"):
        parser.add_argument(option, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    args.exact = False
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    network, tensors = model_of(args.model)
    model, trained = torch_network.build(network, tensors)
    output = network["layers"][-1]
    shape = next(shape for _, shape, _ in shaped_layers(network))
    model = model.to(args.device)
    if len(shape) == 3:
        model = model.to(memory_format=torch.channels_last)
    batches = [batch_of(shape, output["units"], args) for _ in range(BATCHES)]
    serve(training(args, model, trained, output, batches, "max-autotune"))


main()
