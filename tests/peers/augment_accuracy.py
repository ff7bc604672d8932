"""Accuracy on CIFAR-10's test pictures with and without flip and crop, beside PyTorch, which
trains the same network from weights of the same distribution, for the same epochs.

The means of the seeds are to lie within the spread that the seeds have.
usage: augment_accuracy.py [--examples N] [--epochs N] [--seeds N]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn

import data
from files import records

BATCH, RATE, PADDING = 64, 0.001, 4
STEPS = [{"type": "flip"}, {"type": "crop", "padding": PADDING}]
CONV = {"type": "conv2d", "kernel": [3, 3], "padding": "same", "activation": "relu"}
POOL = {"type": "max_pool2d", "kernel": [2, 2]}
FILTERS = [16, 32, 64]


def network(seed, augmented):
    layers = [layer for filters in FILTERS for layer in (CONV | {"filters": filters}, POOL)]
    layers += [{"type": "output", "units": 10, "activation": "softmax", "loss": "negative_log_likelihood"}]
    return {"seed": seed, "input": {"shape": [32, 32, 3]}, "updater": {"type": "adam", "learning_rate": RATE},
            "weight_init": "he_uniform", "layers": layers} | ({"augment": STEPS} if augmented else {})


def ours(folder, train, test, seed, augmented, epochs):
    source, model = folder / "net.json", folder / "model.safetensors"
    source.write_text(json.dumps(network(seed, augmented)))
    command = ["dl-master", "-q", "--net", source, "--data", train, "--batch", BATCH, "--local", 1, "--threads", 1,
               "--epochs", epochs, "--normalize", "scale", "--lr-warmup", 0, "--fresh", "-o", model]
    subprocess.run([str(word) for word in command], check=True)
    answer = subprocess.run(["dl-eval", "-q", "--json", "--model", model, test], check=True, stdout=subprocess.PIPE)
    return accuracy_in(json.loads(answer.stdout))


def accuracy_in(report):
    """The first number of that name, wherever the report has it."""
    if isinstance(report, dict):
        if isinstance(report.get("accuracy"), float):
            return report["accuracy"]
        report = list(report.values())
    found = [accuracy_in(part) for part in report] if isinstance(report, list) else []
    return next((value for value in found if value is not None), None)


def pictures(shard):
    parts = list(records(shard))
    x = np.concatenate([part["features"] for part in parts]).transpose(0, 3, 1, 2)
    y = np.concatenate([part["labels"] for part in parts])
    return torch.from_numpy(np.ascontiguousarray(x)), torch.from_numpy(y).long()


def torch_network():
    layers, channels = [], 3
    for filters in FILTERS:
        layers += [nn.Conv2d(channels, filters, 3, padding="same"), nn.ReLU(), nn.MaxPool2d(2)]
        channels = filters
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * 4 * 4, 10))
    for module in model:
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
            nn.init.zeros_(module.bias)
    return model


def augmented_batch(x):
    flips = torch.rand(len(x)) < 0.5
    x = torch.where(flips[:, None, None, None], x.flip(-1), x)
    x = nn.functional.pad(x, (PADDING,) * 4)
    places = torch.randint(0, 2 * PADDING + 1, (len(x), 2)).tolist()
    return torch.stack([picture[:, r:r + 32, c:c + 32] for picture, (r, c) in zip(x, places)])


def theirs(train, test, seed, augmented, epochs):
    torch.manual_seed(seed)
    model = torch_network()
    updater = torch.optim.Adam(model.parameters(), lr=RATE)
    (x, y), (test_x, test_y) = train, test
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(BATCH):
            pixels = x[batch]
            if augmented:
                pixels = augmented_batch(pixels)
            updater.zero_grad()
            nn.functional.cross_entropy(model(pixels / 255), y[batch]).backward()
            updater.step()
    with torch.no_grad():
        answers = torch.cat([model(part / 255).argmax(1) for part in test_x.split(1000)])
    return (answers == test_y).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=10000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3, help="2 or more")
    options = parser.parse_args()
    torch.set_num_threads(1)
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        train, what = data.cifar(folder, "train", options.examples)
        test, _ = data.cifar(folder, "test", 10000)
        own, others = pictures(train), pictures(test)
        for augmented in (False, True):
            seeds = range(1, options.seeds + 1)
            found = {"ours": [ours(folder, train, test, seed, augmented, options.epochs) for seed in seeds],
                     "torch": [theirs(own, others, seed, augmented, options.epochs) for seed in seeds]}
            means = {side: statistics.mean(values) for side, values in found.items()}
            spread = max(statistics.stdev(values) for values in found.values())
            gap = abs(means["ours"] - means["torch"])
            good &= gap <= spread
            print(json.dumps({"data": what, "examples": options.examples, "epochs": options.epochs, "augmented": augmented}
                             | {side: [round(value, 4) for value in values] for side, values in found.items()}
                             | {"gap of means": round(gap, 4), "standard deviation": round(spread, 4)}), flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
