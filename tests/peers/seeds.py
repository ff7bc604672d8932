"""Two networks trained beside PyTorch's, for several seeds: `elbo`, a variational
autoencoder on MNIST, by the mean of the negative evidence lower bound over the
last of so many epochs; `accuracy`, a ResNet-20 on CIFAR-10, by its accuracy on
the pictures kept for tests.  Both sides start from the same weights and see the
same mini-batches; the means are to lie within the spread of the seeds."""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import data
from compare import EXAMPLES
from peer import Peer, python
from table import say, show

BATCH = 128


def elbo(folder, examples):
    shard, what = data.mnist(folder, examples)
    return "vae", shard, what, [], lambda answer, steps: statistics.mean(answer["losses"][-steps:])


def accuracy(folder, examples):
    shard, what = data.cifar(folder, "train", examples)
    test, _ = data.cifar(folder, "test", 10000)
    return "resnet20", shard, what, ["--test", test], lambda answer, _: 100 * answer["accuracy"]


FIGURES = {"elbo": (elbo, 60000, 10, "negative ELBO in epoch"),
           "accuracy": (accuracy, 50000, 3, "accuracy in % after epoch")}


def start(folder, name, shard, seed):
    """A model with weights of such a seed."""
    network = json.loads((EXAMPLES / f"{name}.json").read_text()) | {"seed": seed}
    source, model = folder / f"{name}.json", folder / f"{name}-{seed}.safetensors"
    source.write_text(json.dumps(network))
    subprocess.run(["peer-step", "--net", source, "--data", shard, "--write-model", model],
                   check=True)
    return str(model)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--seeds", type=int, default=3, help="2 or more")
    parser.add_argument("--examples", type=int)
    args = parser.parse_args()
    prepare, examples, epochs, caption = FIGURES[args.figure]
    examples, epochs = args.examples or examples, args.epochs or epochs
    steps = examples // BATCH
    results = {"ours": [], "torch": []}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        name, shard, what, flags, figure = prepare(folder, examples)
        for seed in range(1, args.seeds + 1):
            cell = {"model": start(folder, name, shard, seed), "data": shard, "batch": BATCH,
                    "threads": 1}
            for side, command in (("ours", ["peer-step"]), ("torch", python("torch_side.py"))):
                say(f"seed {seed}, {side}")
                peer = Peer(command, cell, *flags)
                results[side].append(figure(peer.ask(steps * epochs), steps))
                peer.close()
    means = {side: statistics.mean(values) for side, values in results.items()}
    spread = max(statistics.stdev(values) for values in results.values())
    show(f"{caption} {epochs} on {what}, by seed",
         ["side", *map(str, range(1, args.seeds + 1)), "mean"],
         [[side, *(f"{v:.3f}" for v in values), f"{means[side]:.3f}"]
          for side, values in results.items()])
    gap = abs(means["ours"] - means["torch"])
    print(f"  the means differ by {gap:.3f}, the seeds by {spread:.3f} (standard deviation)")


main()
