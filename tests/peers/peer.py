"""The processes that are compared, and how they are asked in turn."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROUND_SECONDS = 0.4  # a turn takes about this long


class Peer:
    """A process that does steps when it is asked to."""

    def __init__(self, command, cell, *flags):
        command = [*command, "--model", cell["model"], "--data", cell["data"],
                   "--batch", str(cell["batch"]), "--threads", str(cell["threads"]), *flags]
        threads = str(cell["threads"])
        environment = dict(os.environ, OMP_NUM_THREADS=threads, MKL_NUM_THREADS=threads,
                           OPENBLAS_NUM_THREADS=threads, PYTHONWARNINGS="ignore")
        # A session of its own, as some start processes that outlive them.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, env=environment,
                                        start_new_session=True)
        self.batch = cell["batch"]
        self.ready = self.answer()
        self.seconds, self.rates, self.peak_kib, self.turn = [], [], 0, 1

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"peers: {' '.join(self.process.args)}: stopped with status "
                             f"{self.process.wait()}")
        return json.loads(line)

    def ask(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return self.answer()

    def warm_up(self):
        """The outputs of the first step; sets how many steps a turn has."""
        first = self.ask(1)
        for _ in range(2):
            seconds = self.ask(self.turn)["seconds"]
            self.turn = max(1, min(2000, round(ROUND_SECONDS / statistics.median(seconds))))
        return first.get("outputs")

    def take_turn(self):
        answer = self.ask(self.turn)
        self.seconds += answer["seconds"]
        self.rates.append(self.batch * len(answer["seconds"]) / sum(answer["seconds"]))
        self.peak_kib = answer["peak_kib"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def kill(self):
        """With what it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def figures(self):
        return {"examples_per_second": statistics.median(self.rates),
                "step_seconds": statistics.median(self.seconds),
                "peak_mib": self.peak_kib / 1024, "rounds": self.rates}


def python(script):
    return [sys.executable, str(HERE / script)]


def torch_variants(image):
    """What a user of PyTorch may try, by name; the better layout counts."""
    layouts = [(), ("--channels-last",)] if image else [()]
    return [(name, [*flags, *layout]) for name, flags in (("eager", []), ("compile", ["--compile"]))
            for layout in layouts]


def sides_of(cell, predict, by_all):
    """[(name, process)]; by_all: also those who know fewer layers."""
    common = ["--predict"] if predict else []
    sides = [("ours", Peer(["peer-step"], cell, *common))]
    for name, flags in torch_variants(cell["image"]):
        sides.append((name, Peer(python("torch_side.py"), cell, *common, *flags)))
    if by_all:
        sides.append(("tf", Peer(python("tensorflow_side.py"), cell, *common)))
        sides.append(("xla", Peer(python("tensorflow_side.py"), cell, *common, "--xla")))
    if predict:
        sides.append(("onnx", Peer(python("onnx_side.py"), cell)))
        sides.append(("openvino", Peer(python("openvino_side.py"), cell)))
    return sides


def compare(cell, predict, rounds, by_all):
    """{side: figures}, sides asked in turn; of PyTorch's layouts the faster."""
    sides = sides_of(cell, predict, by_all)
    try:
        outputs = [peer.warm_up() for _, peer in sides]
        if predict:
            check_outputs([name for name, _ in sides], outputs)
        for _ in range(rounds):
            for _, peer in sides:
                peer.take_turn()
    finally:
        for _, peer in sides:
            peer.close()
    result = {}
    for name, peer in sides:
        figures = peer.figures()
        best = result.get(name)
        if best is None or figures["examples_per_second"] > best["examples_per_second"]:
            result[name] = figures
    flops = sides[0][1].ready["flops"]
    result["ours"]["gflops"] = flops / result["ours"]["step_seconds"] / 1e9
    return result


def check_outputs(names, outputs):
    for name, theirs in zip(names[1:], outputs[1:]):
        worst = max(abs(a - b) for a, b in zip(outputs[0], theirs))
        if not worst <= 1e-3:
            raise SystemExit(f"peers: {name} predicts otherwise, by {worst:.1e}")
