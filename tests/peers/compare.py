"""Our speed, memory and losses beside those of PyTorch, TensorFlow, ONNX Runtime
and OpenVINO.

One run, the sides in turn, with the same threads, data, network and updater.
The data are in memory; ours are as stored (uint8), theirs normalised already.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

import data
from peer import Peer, compare, python
from table import print_table, say

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "scripts" / "share" / "examples"

# name: network, data, mini-batches of training.  A network of dl-network(5)
# more is a line more here.
NETWORKS = {
    "lenet": (EXAMPLES / "lenet.json", data.mnist, [8, 64, 256]),
    "cifar": (EXAMPLES / "cifar10.json", data.cifar, [32]),
    "mlp": (HERE / "mlp.json", data.mnist, [128]),
    "lstm": (HERE / "lstm.json", data.sequences, [32]),
    "wide": (HERE / "wide.json", data.vectors, [1, 4, 16, 64]),
    "resnet18": (EXAMPLES / "resnet18.json", data.cifar, [32]),
    "mobilenet": (EXAMPLES / "mobilenet.json", data.cifar, [32]),
    "unet": (EXAMPLES / "unet.json", data.masks, [8]),
    "transformer": (EXAMPLES / "transformer.json", data.tokens, [32]),
    "char-lstm": (EXAMPLES / "char-lstm.json", data.letters, [32]),
    "vae": (EXAMPLES / "vae.json", data.mnist, [128]),
    # A little of everything, to compare losses only.
    "mixed": (HERE / "mixed.json", data.mnist, []),
}
# Where losses are compared: mini-batch, factor of the learning rates, most steps.
# Many layers of batch norm enlarge rounding from step to step, too.  At its
# own rates CIFAR's second loss is over 10 000, and what follows is made of
# rounding, as adam enlarges it: even at a hundredth PyTorch's two layouts differ
# by 9e-4 from each other after 12 steps.  The mlp's at a tenth: at its own rate a
# relu that falls on the other side of zero by rounding is enlarged likewise; of
# four seeds two agreed within 2e-5 and two differed by 3e-3 and 6e-3.
CURVES = {"lenet": (64, 1, 50), "cifar": (32, 0.001, 50), "mlp": (128, 0.1, 50),
          "lstm": (32, 1, 50), "resnet18": (32, 0.001, 20), "mobilenet": (32, 0.001, 20),
          "unet": (8, 0.1, 50), "transformer": (32, 1, 50), "char-lstm": (32, 1, 50),
          "mixed": (50, 1, 50)}
# Where predictions are compared, and with TensorFlow: what these sides know the
# layers of.
PREDICTED = ("lenet", "cifar", "mlp", "lstm")
TOLERANCE = 1e-3  # of losses, in each of the steps


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", metavar="WHAT",
                        help="train, infer, start, curves; "
                        f"{', '.join(NETWORKS)} (default: all)")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--batch", default="", help="these mini-batches only")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=50, help="of the loss curves")
    parser.add_argument("--json", default="build/peers.json")
    args = parser.parse_intermixed_args()
    args.threads = [int(n) for n in args.threads.split(",")]
    args.batch = [int(n) for n in args.batch.split(",") if n]
    parts = ("train", "infer", "start", "curves")
    for word in args.what:
        if word not in parts and word not in NETWORKS:
            parser.error(f"'{word}': want {', '.join([*parts, *NETWORKS])}")
    args.parts = [p for p in parts if p in args.what] or parts
    args.networks = [n for n in NETWORKS if n in args.what] or list(NETWORKS)
    return args


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.shards, self.report = {}, {"machine": machine(), "data": {}}

    def shard(self, name):
        make = NETWORKS[name][1]
        if make not in self.shards:
            self.shards[make], self.report["data"][make.__name__] = make(self.folder)
        return self.shards[make]

    def cell(self, name, batch, threads, change=None):
        """A setting to measure; the model is that of the network's seed, after
        change(network)."""
        network = json.loads(NETWORKS[name][0].read_text())
        if change:
            change(network)
        source = self.folder / f"{name}-{'changed' if change else 'whole'}.json"
        model = source.with_suffix(".safetensors")
        shard = self.shard(name)
        if not model.exists():
            source.write_text(json.dumps(network))
            subprocess.run(["peer-step", "--net", source, "--data", shard, "--write-model", model],
                           check=True)
        image = any(layer["type"] == "conv2d" for layer in layers_of(network))
        return {"network": name, "batch": batch, "threads": threads, "model": str(model),
                "data": shard, "image": image}

    def measured(self, part="train"):
        known = NETWORKS if part == "train" else PREDICTED
        return [n for n in self.args.networks if n in known and NETWORKS[n][2]]

    def measure(self, part):
        rows = []
        for name in self.measured(part):
            wanted = NETWORKS[name][2] if part == "train" else [1, 64]
            for batch in [b for b in wanted if not self.args.batch or b in self.args.batch]:
                for threads in self.args.threads:
                    say(f"{part} {name}, batch {batch}, threads {threads}")
                    cell = self.cell(name, batch, threads)
                    sides = compare(cell, part == "infer", self.args.rounds,
                                    name in PREDICTED)
                    rows.append({"network": name, "batch": batch, "threads": threads,
                                 "sides": sides})
        return rows

    def curves(self):
        rows = []
        for name in [n for n in self.args.networks if n in CURVES]:
            say(f"losses of {name}")
            batch, factor, most = CURVES[name]
            steps = min(self.args.steps, most)
            cell = self.cell(name, batch, max(self.args.threads),
                             lambda network: for_curves(network, factor))
            ours = losses(Peer(["peer-step"], cell), steps)
            theirs = losses(Peer(python("torch_side.py"), cell, "--exact"), steps)
            # A sum over pixels has as many times the rounding.
            gaps = [abs(a - b) / max(1, abs(b)) for a, b in zip(ours, theirs)]
            rows.append({"network": name, "batch": batch, "rate_factor": factor,
                         "ours": ours, "torch": theirs, "largest": max(gaps),
                         "within": all(gap <= TOLERANCE for gap in gaps)})
        return rows

    def start(self):
        """Seconds from the start of a process to its end, one prediction made."""
        rows = []
        for name in self.measured("start"):
            cell = self.cell(name, 1, 1)
            one = self.folder / f"one-{name}"
            subprocess.run(f"dl-shard -q --head 1 {cell['data']} | dl-shard -q --force -o {one}",
                           shell=True, check=True)
            one = f"{one}-000.dls"
            script = python("first_result.py")
            sides = {"ours": ["dl-infer", "--threads", "1", "--model", cell["model"], one],
                     "torch": [*script, "torch", cell["model"], one],
                     "onnx": [*script, "onnx", cell["model"], one]}
            say(f"start to first result, {name}")
            taken = {side: [] for side in sides}
            for _ in range(self.args.rounds):
                for side, command in sides.items():
                    begin = time.perf_counter()
                    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                    taken[side].append(time.perf_counter() - begin)
            rows.append({"network": name,
                         "seconds": {s: statistics.median(t) for s, t in taken.items()}})
        return rows


def layers_of(network):
    return network.get("layers") or network["nodes"]


def for_curves(network, factor):
    """No dropout, which draws differently, and other learning rates."""
    for place in [network, *layers_of(network)]:
        for key in ("updater", "bias_updater"):
            if key in place:
                place[key]["learning_rate"] *= factor
        if place.get("type") == "dropout":
            place["rate"] = 0.0


def losses(peer, steps):
    result = peer.ask(steps)["losses"]
    peer.close()
    return result


def machine():
    packages = ["torch", "tensorflow-cpu", "onnxruntime", "openvino"]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file
                      if line.startswith("model name")), platform.machine())
    load = round(os.getloadavg()[0], 1)
    if load > 0.5:
        say(f"warning: others use this machine too (load {load} of {os.cpu_count()} cores); "
            "do not trust what more than one thread gives")
    return {"cpu": model, "cores": os.cpu_count(), "load": load,
            **{package: importlib.metadata.version(package) for package in packages}}


def main():
    args = parse()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, pathlib.Path(folder))
        for part in args.parts:
            run = {"curves": bench.curves, "start": bench.start}.get(
                part, lambda: bench.measure(part))
            bench.report[part] = run()
    pathlib.Path(args.json).write_text(json.dumps(bench.report, indent=1) + "\n")
    print_table(bench.report)
    if not all(row["within"] for row in bench.report.get("curves", [])):
        raise SystemExit(f"peers: losses differ by more than {TOLERANCE}")


if __name__ == "__main__":
    main()
