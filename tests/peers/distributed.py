"""Training over slow lines: ours beside PyTorch's DistributedDataParallel (plain,
fp16 and PowerSGD hooks, on gloo), on the same hosts (network namespaces), the
same lines, network, data and mini-batches, in one run.

Each host has one process with one thread; the mini-batch is divided over the
hosts.  The rate counts once everybody is at work; what is sent is what the
hosts' lines carried meanwhile, protocol and all.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import data
from history import History
from hosts import Hosts, sent_bytes, why_not
from table import number, say, show

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "scripts" / "share" / "examples"
NETWORKS = {"cifar": (EXAMPLES / "cifar10.json", data.cifar),
            "lenet": (EXAMPLES / "lenet.json", data.mnist)}
HOOKS = ("plain", "fp16", "powersgd")
# Ours: the ways that are compared, as options of dl-master.
WAYS = {
    "sharing": ["--mode", "sharing", "--threshold", "quantile:1e-3", "--in-flight", "4"],
    "synchronous": ["--mode", "sharing", "--threshold", "quantile:1e-3", "--staleness", "0"],
    "local": ["--mode", "averaging", "--frequency", "50", "--delta", "sparse:0.01:2",
              "--updater-state", "keep", "--overlap"],
    "sync": ["--mode", "sync"],
}
# Ratios of our examples/s to DDP's that are aimed at, by way and Mbit/s.
WANTED = {("sharing", 100): {"plain": 20, "fp16": 10, "powersgd": 2},
          ("sharing", 1000): {"plain": 3, "fp16": 2, "powersgd": 1.2},
          # As many bytes.
          ("sync", 1000): {"plain": 1.2},
          ("sync", 10000): {"plain": 1.2}}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", default="cifar", choices=NETWORKS)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--mbit", default="100,1000,10000")
    parser.add_argument("--batch", type=int, default=32, help="of all hosts together")
    parser.add_argument("--steps", type=int, default=5, help="of DDP, measured")
    parser.add_argument("--seconds", type=float, default=30, help="of ours, measured")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--hooks", default=",".join(HOOKS))
    parser.add_argument("--json", default="build/peers-distributed.json")
    args = parser.parse_args()
    args.mbit = [int(n) for n in args.mbit.split(",")]
    args.ways = [w for w in args.ways.split(",") if w]
    args.hooks = [h for h in args.hooks.split(",") if h]
    return args


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        network, make = NETWORKS[args.network]
        self.net = network
        self.shard, self.what = make(folder)
        self.model = folder / "start.safetensors"
        subprocess.run(["peer-step", "--net", network, "--data", self.shard, "--write-model",
                        self.model], check=True)
        self.share = args.batch // args.hosts  # of a host

    def ddp(self, mbit, hook):
        with Hosts(self.args.hosts, mbit) as hosts:
            ranks = []
            for i in range(self.args.hosts):
                environment = dict(os.environ, MASTER_ADDR=hosts.address(0), MASTER_PORT="29500",
                                   RANK=str(i), WORLD_SIZE=str(self.args.hosts),
                                   GLOO_SOCKET_IFNAME="eth0", OMP_NUM_THREADS="1",
                                   PYTHONWARNINGS="ignore")
                ranks.append(hosts.start(
                    i, [sys.executable, HERE / "torch_ddp.py", "--model", self.model, "--data",
                        self.shard, "--batch", self.share, "--hook", hook, "--steps",
                        self.args.steps, "--warmup", 4 if hook == "powersgd" else 2],
                    env=environment, stdout=subprocess.PIPE, text=True))
            answers = []
            for rank in ranks:
                line = rank.stdout.readline()
                if not line:
                    raise SystemExit(f"peers: a rank of DDP ({hook}) stopped with {rank.wait()}")
                answers.append(json.loads(line))
        # The slowest rank's; ranks wait for each other.
        seconds = max(statistics.mean(answer["seconds"]) for answer in answers)
        sent = statistics.mean(answer["sent"] for answer in answers)
        return {"examples_per_second": self.share * self.args.hosts / seconds,
                "sent_per_step": sent / self.args.steps}

    def ours(self, mbit, way):
        run = self.folder / f"{way}-{mbit}"
        master_file = run.with_suffix(".json")
        with Hosts(self.args.hosts, mbit) as hosts:
            log = open(run.with_suffix(".err"), "w", encoding="utf-8")
            hosts.start(0, ["dl-master", "--net", self.net, "--data", self.shard, *WAYS[way],
                            "--batch", self.share, "--epochs", 1000000,
                            *(() if way == "sharing" else ("--workers", self.args.hosts)),
                            "--min-workers", self.args.hosts, "--insecure",
                            "--bind", f"tcp://{hosts.address(0)}:0", "--master-file",
                            master_file, "--checkpoint-every", "1h", "--run", run, "-o",
                            run.with_suffix(".safetensors")], stderr=log)
            workers = [hosts.start(i, ["dl-worker", "--master-file", master_file, "--insecure",
                                       "--threads", 1, "--name", f"host{i}"], stderr=log)
                       for i in range(self.args.hosts)]
            history = History(run / "events.jsonl", log.name)
            history.wait_for_all(self.args.hosts)
            before = [sent_bytes(worker.pid) for worker in workers]
            first = history.read()
            time.sleep(self.args.seconds)
            last = history.read()
            sent = sum(sent_bytes(worker.pid) - b for worker, b in zip(workers, before))
        commits, rate = history.rate(first, last)
        batches = sum(c["count"] for c in commits[1:])
        return {"examples_per_second": rate,
                # A step is one mini-batch of every host.
                "sent_per_step": sent / batches,
                "payload_per_batch": sum(c["bytes"] for c in commits[1:]) / batches,
                "waited": history.waited()}


def measure(args, bench):
    rows = []
    for mbit in args.mbit:
        row = {"mbit": mbit, "ours": {}, "ddp": {}}
        for way in args.ways:
            say(f"{way} at {mbit} Mbit/s")
            row["ours"][way] = bench.ours(mbit, way)
        for hook in args.hooks:
            say(f"DDP, {hook}, at {mbit} Mbit/s")
            row["ddp"][hook] = bench.ddp(mbit, hook)
        rows.append(row)
    return rows


def kilobytes(figures):
    return number(figures["sent_per_step"] / 1e3)


def print_report(report):
    print("; ".join(f"{key} {value}" for key, value in report["setting"].items()))
    for row in report["rows"]:
        lines = []
        for way, ours in row["ours"].items():
            cells = []
            for hook in HOOKS:
                theirs = row["ddp"].get(hook)
                if not theirs:
                    cells.append("")
                    continue
                ratio = ours["examples_per_second"] / theirs["examples_per_second"]
                wanted = WANTED.get((way, row["mbit"]), {}).get(hook)
                cells.append(f"{ratio:.2f}" + (
                    f" ({'ok' if ratio >= wanted else 'want'} {wanted:g})" if wanted else ""))
            waited = ours["waited"]
            lines.append([way, number(ours["examples_per_second"]), kilobytes(ours),
                          "" if waited is None else f"{100 * waited:.1f} %", *cells])
        for hook, theirs in row["ddp"].items():
            lines.append([f"DDP {hook}", number(theirs["examples_per_second"]),
                          kilobytes(theirs), "", "", "", ""])
        show(f"{row['mbit']} Mbit/s: examples/s, kB that a host sends a step, time waited, "
             "ratios of examples/s",
             ["", "examples/s", "kB/step", "waited", *(f"/{hook}" for hook in HOOKS)], lines)
    dense = 4 * report["setting"]["parameters"]
    for row in report["rows"]:
        for way, ours in row["ours"].items():
            print(f"  {way}, {row['mbit']} Mbit/s: {ours['payload_per_batch']:.0f} B of update a "
                  f"mini-batch, {dense / ours['payload_per_batch']:.0f} times fewer than dense")


def parameters_of(model):
    from safetensors import safe_open
    with safe_open(model, framework="numpy") as file:
        return sum(file.get_tensor(name).size for name in file.keys())


def main():
    reason = why_not()
    if reason:
        print(f"peers: skipped: {reason}")
        return
    args = parse()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, pathlib.Path(folder))
        setting = {"network": args.network, "data": bench.what, "hosts": args.hosts,
                   "batch": args.batch, "cores": os.cpu_count(),
                   "load": round(os.getloadavg()[0], 1),
                   "parameters": parameters_of(bench.model)}
        report = {"setting": setting, "rows": measure(args, bench)}
    pathlib.Path(args.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print_report(report)


main()
