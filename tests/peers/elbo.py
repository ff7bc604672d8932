"""A variational autoencoder on MNIST beside PyTorch's: the mean of the negative
evidence lower bound over the last of so many epochs, for several seeds.  Both
sides start from the same weights and see the same mini-batches; what they draw
differs, so their means are to lie within the spread of the seeds."""

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


def last_epoch(peer, steps, epochs):
    losses = peer.ask(steps * epochs)["losses"]
    peer.close()
    return statistics.mean(losses[-steps:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3, help="2 or more")
    parser.add_argument("--examples", type=int, default=60000)
    args = parser.parse_args()
    bounds = {"ours": [], "torch": []}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shard, what = data.mnist(folder, args.examples)
        for seed in range(1, args.seeds + 1):
            say(f"seed {seed}")
            network = json.loads((EXAMPLES / "vae.json").read_text()) | {"seed": seed}
            source, model = folder / "vae.json", folder / f"vae-{seed}.safetensors"
            source.write_text(json.dumps(network))
            subprocess.run(["peer-step", "--net", source, "--data", shard, "--write-model", model],
                           check=True)
            cell = {"model": str(model), "data": shard, "batch": BATCH, "threads": 1}
            for side, command in (("ours", ["peer-step"]), ("torch", python("torch_side.py"))):
                bounds[side].append(last_epoch(Peer(command, cell), args.examples // BATCH,
                                               args.epochs))
    means = {side: statistics.mean(values) for side, values in bounds.items()}
    spread = max(statistics.stdev(values) for values in bounds.values())
    show(f"negative ELBO in epoch {args.epochs} on {what}, by seed",
         ["side", *map(str, range(1, args.seeds + 1)), "mean"],
         [[side, *(f"{v:.3f}" for v in values), f"{means[side]:.3f}"]
          for side, values in bounds.items()])
    gap = abs(means["ours"] - means["torch"])
    print(f"  the means differ by {gap:.3f}, the seeds by {spread:.3f} (standard deviation)")


main()
