"""Training on a GPU beside PyTorch's, eager and by torch.compile(mode="max-autotune"):
examples a second, and ratios; with --mnist the seconds to 99 % of its test set, too.
Of Python's standard library alone; where PyTorch does not see the GPU, ours are
measured by themselves.  scripts/gpu-check runs it."""

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
TARGET = 0.99

# name, network, an example's shape, (mini-batch, precision) each
NETWORKS = [("lenet", EXAMPLES / "lenet.json", [28, 28, 1],
             [(64, "float32"), (1024, "float32")]),
            ("cifar10", EXAMPLES / "cifar10.json", [32, 32, 3],
             [(512, "tf32"), (512, "bfloat16")]),
            ("resnet18", EXAMPLES / "resnet18.json", [32, 32, 3], [(256, "bfloat16")]),
            ("mlp", HERE / "mlp.json", [28, 28, 1], [(128, "float32")]),
            ("lstm", HERE / "lstm.json", [50, 64], [(64, "float32")])]

TINY = [("tiny", {"input": {"shape": [3]}, "updater": {"type": "adam"}, "layers": [
    {"type": "dense", "units": 4, "activation": "relu"},
    {"type": "output", "units": CLASSES, "loss": "negative_log_likelihood"}]}, [3], [(4, "bfloat16")])]

SIDES = {"eager": [], "max-autotune": ["--compile"]}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=300, help="for all")
    parser.add_argument("--tiny", action="store_true", help="a network for tests")
    parser.add_argument("--torch-device", help="PyTorch's name of it (default: the same)")
    parser.add_argument("--mnist", type=pathlib.Path, help="folder of its four files, packed")
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


def new_model(folder, network, shard):
    source, model = folder / "net.json", folder / "model.safetensors"
    source.write_text(json.dumps(network))
    subprocess.run(["peer-step", "--net", source, "--data", shard, "--write-model", model],
                   check=True)
    return str(model)


def cell_of(folder, network, shape, batch):
    if isinstance(network, pathlib.Path):
        network = json.loads(network.read_text())
    shard = shard_of(folder, shape, BATCHES * batch)
    return {"model": new_model(folder, hardly_learning(network), shard), "data": shard,
            "batch": batch, "threads": 1}


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


def commands_of(args, precision, torch_is_missing):
    """({side: (command, flags)}, why others are missing)"""
    common = ["--precision", precision]
    commands = {"ours": (["peer-step"], ["--device", args.device, *common])}
    if torch_is_missing:
        return commands, dict.fromkeys(SIDES, torch_is_missing)
    for name, flags in SIDES.items():
        commands[name] = (python("torch_gpu.py"),
                          ["--device", args.torch_device, *common, *flags])
    return commands, {}


def measure(args, cell, precision, torch_is_missing, end):
    """(figures by side, why others are missing)"""
    sides = {}
    commands, missing = commands_of(args, precision, torch_is_missing)
    try:
        for name, (command, flags) in commands.items():
            try:
                sides[name] = Limited(command, cell, flags, end - time.monotonic())
                sides[name].attempt(sides[name].warm_up)
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


def digits_of(folder, name, mnist):
    """The shard of one of MNIST's sets."""
    shard = folder / name
    subprocess.run(f"dl-preprocess idx --classes {CLASSES} --shape 28,28,1 "
                   f"{mnist}/{name}-images-idx3-ubyte.gz {mnist}/{name}-labels-idx1-ubyte.gz | "
                   f"dl-shard -q -o {shard}", shell=True, check=True)
    return f"{shard}-000.dls"


def seconds_to_target(side):
    """Of training alone, epoch by epoch; None where ten do not do."""
    seconds = 0
    for _ in range(10):
        answer = {}
        side.attempt(lambda: answer.update(side.ask(60_000 // side.batch)))
        seconds += sum(answer["seconds"])
        if answer["accuracy"] >= TARGET:
            return seconds
    return None


def race(args, torch_is_missing, end):
    """{side: seconds of LeNet's training to TARGET of MNIST's test set}"""
    times, missing = {}, {}
    commands, _ = commands_of(args, "float32", torch_is_missing)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        train, test = (digits_of(folder, part, args.mnist) for part in ("train", "t10k"))
        # Its own updater takes longer than anybody's patience.
        network = json.loads((EXAMPLES / "lenet.json").read_text())
        network |= {"updater": {"type": "adam", "learning_rate": 0.001}, "regularization": {}}
        model = new_model(folder, network, train)
        for name, (command, flags) in commands.items():
            ours = name == "ours"
            cell = {"model": model, "data": train if ours else str(args.mnist), "batch": 64,
                    "threads": 1}
            try:
                side = Limited(command, cell, flags + (["--test", test] if ours else []),
                               end - time.monotonic())
                times[name] = seconds_to_target(side)
                side.end()
            except Gone as why:
                missing[name] = str(why)
    return {"seconds": times, "missing": missing}


def coding(args):
    """How fast the residual of 100 million parameters is coded."""
    elements = 1000 if args.tiny else 100_000_000
    done = subprocess.run(["peer-encode", "--device", args.device, "--elements", str(elements)],
                          check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return answer | {"elements": elements,
                     "of_copy": answer["copy_seconds"] / answer["encode_seconds"]}


def show(rows):
    print(f"\n{'training':<10} {'batch':>6} {'precision':>9} {'ours':>10} {'step':>9}"
          + "".join(f" {name:>13} {'ratio':>6}" for name in SIDES) + "   examples a second")
    for row in rows:
        ours = row["sides"].get("ours")
        line = f"{row['network']:<10} {row['batch']:>6} {row['precision']:>9}"
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
    settings = [(name, network, shape, *kind)
                for name, network, shape, kinds in (TINY if args.tiny else NETWORKS)
                for kind in kinds]
    rows = []
    for i, (name, network, shape, batch, precision) in enumerate(settings):
        # What one does not need, the next may take; the last share is the race's.
        now = time.monotonic()
        until = now + (end - now) / (len(settings) - i + bool(args.mnist))
        with tempfile.TemporaryDirectory() as folder:
            cell = cell_of(pathlib.Path(folder), network, shape, batch)
            sides, missing = measure(args, cell, precision, torch_is_missing, until)
        rates = {side: figures["examples_per_second"] for side, figures in sides.items()}
        rows.append({"network": name, "batch": batch, "precision": precision, "sides": sides,
                     "missing": missing,
                     "ratios": {side: rates["ours"] / rate for side, rate in rates.items()
                                if side != "ours" and "ours" in rates}})
    show(rows)
    found = {"training": rows, "coding": coding(args)}
    print(f"coding {found['coding']['elements']} parameters: "
          f"{found['coding']['of_copy']:.2f} of the speed of copying")
    if args.mnist:
        found["mnist"] = race(args, torch_is_missing, end)
        print(f"LeNet to {TARGET:.0%} of MNIST's test set: " +
              ", ".join(f"{side} {seconds:.1f} s" if seconds else f"{side} never"
                        for side, seconds in found["mnist"]["seconds"].items()))
    pathlib.Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    if not all("ours" in row["sides"] for row in rows):
        raise SystemExit("gpu-check: some of ours could not be measured")


if __name__ == "__main__":
    main()
