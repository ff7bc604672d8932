"""Training on a GPU beside PyTorch's, eager and by torch.compile(mode="max-autotune"):
examples a second, and ratios.  Of Python's standard library alone; where PyTorch does
not see the GPU, ours are measured by themselves.  scripts/gpu-check runs it."""

import argparse
import array
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from peer import Peer, python

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "scripts" / "examples"
CLASSES = 10
BATCHES = 4  # of data, used over and over
ROUNDS = 5

# name, network, an example's shape, mini-batches
NETWORKS = [("lenet", EXAMPLES / "lenet.json", [28, 28, 1], [64, 1024]),
            ("cifar10", EXAMPLES / "cifar10.json", [32, 32, 3], [512]),
            ("mlp", HERE / "mlp.json", [28, 28, 1], [128]),
            ("lstm", HERE / "lstm.json", [50, 64], [64])]

TINY = [("tiny", {"input": {"shape": [3]}, "updater": {"type": "adam"}, "layers": [
    {"type": "dense", "units": 4, "activation": "relu"},
    {"type": "output", "units": CLASSES, "loss": "negative_log_likelihood"}]}, [3], [4])]

SIDES = {"eager": [], "max-autotune": ["--compile"]}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=300, help="for all")
    parser.add_argument("--tiny", action="store_true", help="a network for tests")
    parser.add_argument("--torch-device", help="PyTorch's name of it (default: the same)")
    parser.add_argument("--json", required=True)
    args = parser.parse_args()
    args.torch_device = args.torch_device or args.device
    return args


def write_idx(path, extents, values):
    path.write_bytes(bytes([0, 0, 8, len(extents)]) +
                     b"".join(n.to_bytes(4, "big") for n in extents) + values)


def shard_of(folder, shape, count):
    """Random bytes of so many examples."""
    draw = random.Random(1)
    x, y, shard = folder / "x.idx", folder / "y.idx", folder / "data"
    write_idx(x, [count, *shape], draw.randbytes(count * math.prod(shape)))
    write_idx(y, [count], array.array("B", (i % CLASSES for i in range(count))).tobytes())
    subprocess.run(f"dl-preprocess idx --classes {CLASSES} --shape {','.join(map(str, shape))} "
                   f"{x} {y} | dl-shard -q --force -o {shard}", shell=True, check=True)
    return f"{shard}-000.dls"


def hardly_learning(network):
    """At their own rates networks come to infinite losses with noise."""
    updater = network["updater"]
    rate = updater.get("learning_rate", 0.001)
    slow = rate | {"initial": rate["initial"] / 1000} if isinstance(rate, dict) else rate / 1000
    return network | {"updater": updater | {"learning_rate": slow}}


def cell_of(folder, network, shape, batch):
    source, model = folder / "net.json", folder / "model.safetensors"
    if isinstance(network, pathlib.Path):
        network = json.loads(network.read_text())
    source.write_text(json.dumps(hardly_learning(network)))
    shard = shard_of(folder, shape, BATCHES * batch)
    subprocess.run(["peer-step", "--net", source, "--data", shard, "--write-model", model],
                   check=True)
    return {"model": str(model), "data": shard, "batch": batch, "threads": 1}


class Gone(Exception):
    """A side that there is nothing to be learnt of."""


class Limited(Peer):
    """A side that is stopped when its time is over."""

    def __init__(self, command, cell, flags, seconds):
        if seconds <= 0:
            raise Gone("there was no time left")
        self.over, self.process = False, None
        self.timer = threading.Timer(seconds, self.stop)
        self.timer.start()
        self.attempt(lambda: super(Limited, self).__init__(command, cell, *flags))
        self.attempt(self.warm_up)

    def stop(self):
        self.over = True
        if self.process:
            self.process.kill()

    def attempt(self, what):
        try:
            what()
        except (SystemExit, OSError) as error:
            self.end()
            raise Gone("its time was over" if self.over else str(error)) from error

    def end(self):
        self.timer.cancel()
        if self.process:
            self.process.kill()
            self.process.wait()


def torch_sees(device):
    """Why PyTorch cannot take part, or None."""
    index = device.partition(":")[2] or "0"
    check = ("import torch, numpy; raise SystemExit(0 if 'cpu' == '%s' or "
             "torch.cuda.device_count() > int('%s') else 'it sees no GPU')" % (device, index))
    try:
        done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True,
                              timeout=120)
    except subprocess.TimeoutExpired:
        return "it did not start within two minutes"
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def measure(args, cell, torch_is_missing, end):
    """(figures by side, why others are missing)"""
    sides, missing = {}, {}
    commands = {"ours": (["peer-step"], ["--device", args.device])}
    for name, flags in SIDES.items():
        if torch_is_missing:
            missing[name] = torch_is_missing
        else:
            commands[name] = (python("torch_gpu.py"), ["--device", args.torch_device, *flags])
    try:
        for name, (command, flags) in commands.items():
            try:
                sides[name] = Limited(command, cell, flags, end - time.monotonic())
            except Gone as why:
                missing[name] = str(why)
        for _ in range(ROUNDS):
            for name in list(sides):
                try:
                    sides[name].attempt(sides[name].take_turn)
                except Gone as why:
                    missing[name] = str(why)
                    del sides[name]
        return {name: side.figures() for name, side in sides.items()}, missing
    finally:
        for side in sides.values():
            side.end()


def show(rows):
    print(f"\n{'training':<10} {'batch':>6} {'ours':>10} {'step':>9}"
          + "".join(f" {name:>13} {'ratio':>6}" for name in SIDES) + "   examples a second")
    for row in rows:
        ours = row["sides"].get("ours")
        line = f"{row['network']:<10} {row['batch']:>6}"
        line += (f" {ours['examples_per_second']:>10.0f} {ours['step_seconds'] * 1e3:>6.3f} ms"
                 if ours else f" {'-':>10} {'-':>9}")
        for name in SIDES:
            theirs = row["sides"].get(name)
            line += f" {theirs['examples_per_second']:>13.0f}" if theirs else f" {'-':>13}"
            line += f" {row['ratios'][name]:>6.2f}" if name in row["ratios"] else f" {'-':>6}"
        print(line)
    for why in sorted({f"{name}: {why}" for row in rows
                       for name, why in row["missing"].items()}):
        print(f"  - {why}")


def main():
    args = parse()
    end = time.monotonic() + args.seconds
    torch_is_missing = torch_sees(args.torch_device)
    if torch_is_missing:
        torch_is_missing = f"no PyTorch with this GPU: {torch_is_missing}"
    settings = [(name, network, shape, batch)
                for name, network, shape, batches in (TINY if args.tiny else NETWORKS)
                for batch in batches]
    rows = []
    for i, (name, network, shape, batch) in enumerate(settings):
        # What one does not need, the next may take.
        now = time.monotonic()
        until = now + (end - now) / (len(settings) - i)
        with tempfile.TemporaryDirectory() as folder:
            cell = cell_of(pathlib.Path(folder), network, shape, batch)
            sides, missing = measure(args, cell, torch_is_missing, until)
        rates = {side: figures["examples_per_second"] for side, figures in sides.items()}
        rows.append({"network": name, "batch": batch, "sides": sides, "missing": missing,
                     "ratios": {side: rates["ours"] / rate for side, rate in rates.items()
                                if side != "ours" and "ours" in rates}})
    pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    show(rows)
    if not all("ours" in row["sides"] for row in rows):
        raise SystemExit("gpu-check: some of ours could not be measured")


if __name__ == "__main__":
    main()
