"""Training on a GPU beside PyTorch's, eager and by torch.compile(mode="max-autotune"):
examples a second, and ratios; with --mnist the seconds to 99 % of its test set, too.
Of Python's standard library alone; where PyTorch does not see the GPU, ours are
measured by themselves.  scripts/gpu-check runs it."""

import argparse
import array
import concurrent.futures
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
EXAMPLES = HERE.parents[1] / "scripts" / "share" / "examples"
CLASSES = 10
BATCHES = 4  # of data, used over and over
ROUNDS = 5
MEASURING = 15  # seconds of a row that are kept for it, or half the time
START = 0.8  # of these, for what does not compile to become ready
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

SIDES = ["eager", "max-autotune"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=300, help="for all")
    parser.add_argument("--only", help="rows, as lenet-1024-float32,mlp-128-float32")
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
    """A side that is stopped where it does not answer before a time."""

    def __init__(self, command, cell, flags, until):
        self.until = until
        super().__init__(command, cell, *flags)

    def answer(self):
        timer = threading.Timer(max(0, self.until - time.monotonic()), self.kill)
        timer.start()
        try:
            return super().answer()
        except SystemExit as stopped:
            late = time.monotonic() >= self.until
            raise Gone("its time was over" if late else str(stopped)) from stopped
        except BaseException:
            self.end()
            raise
        finally:
            timer.cancel()

    def ask(self, steps):
        try:
            return super().ask(steps)
        except OSError as error:
            raise Gone(str(error)) from error

    def end(self):
        self.kill()
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


def commands_of(args, folder, precision):
    """{side: (command, flags)}"""
    common = ["--precision", precision]
    theirs = ["--device", args.torch_device, *common]
    return {"ours": (["peer-step"], ["--device", args.device, *common]),
            "eager": (python("torch_gpu.py"), theirs),
            "max-autotune": (python("torch_gpu.py"),
                             [*theirs, "--compile", str(folder.parent / "turn")])}


def speeds_of(args, folder, network, shape, batch, precision):
    """What each side is begun with: {side: (command, cell, flags, steps)}.
    One that compiles does so then, with the steps that it is compiled for."""
    folder.mkdir()
    cell = cell_of(folder, network, shape, batch)
    return {name: (command, cell, flags, BATCHES + 1 if "--compile" in flags else 0)
            for name, (command, flags) in commands_of(args, folder, precision).items()}


def begin(command, cell, flags, steps, until):
    side = Limited(command, cell, flags, until)
    if steps:
        side.ask(steps)
    return side


def begun(starts):
    """(sides by name, why others are missing) of {side: what pool.submit() returned}"""
    sides, missing = {}, {}
    for name, start in starts.items():
        try:
            sides[name] = start.result()
        except (Gone, OSError) as why:
            missing[name] = f"it did not become ready: {why}"
    return sides, missing


def compile_all(pool, contests, until):
    """[{side: its start}]: of all contests at once, as it takes minutes."""
    starts = [{name: pool.submit(begin, *what, until) for name, what in contest.items()
               if "--compile" in what[2]} for contest in contests]
    concurrent.futures.wait([start for row in starts for start in row.values()])
    return starts


def begin_all(pool, contest, compiled, until):
    return begun({name: compiled.get(name) or pool.submit(begin, *what, until)
                  for name, what in contest.items()})


def end_all(sides):
    for side in sides.values():
        side.end()


def measure(sides, missing, until):
    """Figures by side, asked in turn while all others wait."""
    for side in sides.values():
        side.until = until
    try:
        for turn in [Limited.warm_up] + ROUNDS * [Limited.take_turn]:
            for name in list(sides):
                try:
                    turn(sides[name])
                except Gone as why:
                    missing[name] = str(why)
                    sides.pop(name).end()
    finally:
        end_all(sides)
    return {name: side.figures() for name, side in sides.items()}


def digits_of(folder, name, mnist):
    """The shard of one of MNIST's sets."""
    shard = folder / name
    subprocess.run(f"dl-preprocess idx --classes {CLASSES} --shape 28,28,1 "
                   f"{mnist}/{name}-images-idx3-ubyte.gz {mnist}/{name}-labels-idx1-ubyte.gz | "
                   f"dl-shard -q -o {shard}", shell=True, check=True)
    return f"{shard}-000.dls"


def race_of(args, folder):
    """As speeds_of: LeNet and MNIST."""
    folder.mkdir()
    train, test = (digits_of(folder, part, args.mnist) for part in ("train", "t10k"))
    # Its own updater takes longer than anybody's patience.
    network = json.loads((EXAMPLES / "lenet.json").read_text())
    network |= {"updater": {"type": "adam", "learning_rate": 0.001}, "regularization": {}}
    cell = {"model": new_model(folder, network, train), "batch": 64, "threads": 1}
    commands = commands_of(args, folder, "float32")
    command, flags = commands.pop("ours")
    return {"ours": (command, cell | {"data": train}, flags + ["--test", test], 0),
            **{name: (command, cell | {"data": str(args.mnist)}, flags, 0)
               for name, (command, flags) in commands.items()}}


def seconds_to_target(side):
    """Of training alone, epoch by epoch; None where ten do not do."""
    seconds = 0
    for _ in range(10):
        answer = side.ask(60_000 // side.batch)
        seconds += sum(answer["seconds"])
        if answer["accuracy"] >= TARGET:
            return seconds
    return None


def race(sides, missing, until):
    """{side: seconds of training to TARGET of the test set}"""
    times = {}
    for name, side in sides.items():
        side.until = until
        try:
            times[name] = seconds_to_target(side)
        except Gone as why:
            missing[name] = str(why)
        side.end()
    return {"seconds": times, "missing": missing}


def coding(args):
    """How fast the residual of 100 million parameters is coded."""
    elements = 1000 if args.tiny else 100_000_000
    done = subprocess.run(["peer-encode", "--device", args.device, "--elements", str(elements)],
                          check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return answer | {"elements": elements,
                     "of_copy": answer["copy_seconds"] / answer["encode_seconds"]}


def show_head():
    print(f"\n{'training':<10} {'batch':>6} {'precision':>9} {'ours':>9} {'step':>9}"
          + "".join(f" {name:>13} {'step':>9} {'ratio':>6}" for name in SIDES)
          + "   examples a second, step: median", flush=True)


def show(row):
    line = f"{row['network']:<10} {row['batch']:>6} {row['precision']:>9}"
    for name, width in {"ours": 9, **dict.fromkeys(SIDES, 13)}.items():
        side = row["sides"].get(name)
        line += (f" {side['examples_per_second']:>{width}.0f} {side['step_seconds'] * 1e6:>6.0f} us"
                 if side else f" {'-':>{width}} {'-':>9}")
        if name in SIDES:
            line += f" {row['ratios'][name]:>6.2f}" if name in row["ratios"] else f" {'-':>6}"
    print(line, flush=True)


def show_missing(rows):
    for why in sorted({f"{name}: {why}" for row in rows
                       for name, why in row["missing"].items()}):
        print(f"  - {why}")


def row_of(name, batch, precision, sides, missing):
    rates = {side: figures["examples_per_second"] for side, figures in sides.items()}
    return {"network": name, "batch": batch, "precision": precision, "sides": sides,
            "missing": missing,
            "ratios": {side: rates["ours"] / rate for side, rate in rates.items()
                       if side != "ours" and "ours" in rates}}


def settings_of(args):
    """(name, network, shape, batch, precision) of each row."""
    rows = [(name, network, shape, *kind)
            for name, network, shape, kinds in (TINY if args.tiny else NETWORKS) for kind in kinds]
    wanted = args.only.split(",") if args.only else None
    names = [f"{name}-{batch}-{precision}" for name, _, _, batch, precision in rows]
    for name in wanted or []:
        if name not in names:
            raise SystemExit(f"gpu-check: --only: no row '{name}'; there are {', '.join(names)}")
    return [row for row, name in zip(rows, names) if wanted is None or name in wanted]


def compare(args, folder, pool):
    """What is written to --json.  When all that compiles is ready, or the time for it is
    over, one row after the other is measured."""
    end = time.monotonic() + args.seconds
    why = torch_sees(args.torch_device)
    torch_is_missing = why and f"no PyTorch with this GPU: {why}"
    settings = settings_of(args)
    contests = list(pool.map(lambda i: speeds_of(args, folder / str(i), *settings[i][1:]),
                             range(len(settings))))
    if args.mnist:
        contests.append(race_of(args, folder / "mnist"))
    missing_in_all = dict.fromkeys(SIDES, torch_is_missing) if torch_is_missing else {}
    if torch_is_missing:
        contests = [{"ours": contest["ours"]} for contest in contests]
    kept = min(MEASURING * len(contests), args.seconds / 2)
    compiled = compile_all(pool, contests, end - kept)
    rows = []
    show_head()

    def sides_of_next():
        """(sides, why others are missing, until when)"""
        i = len(rows)
        now = time.monotonic()
        share = (end - now) / (len(contests) - i)
        sides, missing = begin_all(pool, contests[i], compiled[i], now + START * share)
        return sides, missing | missing_in_all, now + share
    for name, _, _, batch, precision in settings:
        sides, missing, until = sides_of_next()
        rows.append(row_of(name, batch, precision, measure(sides, missing, until), missing))
        show(rows[-1])
    show_missing(rows)
    found = {"training": rows, "coding": coding(args)}
    print(f"coding {found['coding']['elements']} parameters: "
          f"{found['coding']['of_copy']:.2f} of the speed of copying")
    if args.mnist:
        found["mnist"] = race(*sides_of_next())
        print(f"LeNet to {TARGET:.0%} of MNIST's test set: " +
              ", ".join(f"{side} {seconds:.1f} s" if seconds else f"{side} never"
                        for side, seconds in found["mnist"]["seconds"].items()))
    return found


def main():
    args = parse()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(64) as pool:
        found = compare(args, pathlib.Path(folder), pool)
    pathlib.Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    if not all("ours" in row["sides"] for row in found["training"]):
        raise SystemExit("gpu-check: some of ours could not be measured")


if __name__ == "__main__":
    main()
