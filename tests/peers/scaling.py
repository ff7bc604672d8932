"""What 1, 2 and 4 hosts do, beside what --estimate says of them after it has seen one:
the mean of what it says before and after, as a virtual machine is not always as fast.

Each worker has a host of its own, a network namespace with a share of a core
(control group); the master has another, with no limit.  Shares must leave the
master what it needs: 4 of 0.35 on two cores.
usage: scaling [--network lenet] [--hosts 1,2,4] [--cores 0.35] [--mbit 1000]
       [--modes sharing,averaging,sync] [--seconds 30] [OPTION of dl-master...]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import data
from history import History
from hosts import Hosts, why_not
from table import number, say, show

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "share" / "examples"
NETWORKS = {"cifar": ("cifar10.json", data.cifar),
            "lenet": ("lenet.json", lambda folder: data.mnist(folder, 60000))}
BOUND = 0.15  # of what was estimated


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--network", default="lenet", choices=NETWORKS)
    parser.add_argument("--hosts", default="1,2,4")
    parser.add_argument("--cores", type=float, default=0.35)
    parser.add_argument("--mbit", type=int, default=1000)
    parser.add_argument("--modes", default="sharing,averaging,sync")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--json", type=pathlib.Path)
    args, options = parser.parse_known_args()
    args.hosts = [int(n) for n in args.hosts.split(",")]
    args.modes = args.modes.split(",")
    return args, options


class Bench:
    def __init__(self, args, options, folder):
        self.args, self.options, self.folder = args, options, folder
        network, make = NETWORKS[args.network]
        self.net = EXAMPLES / network
        self.shard, _ = make(folder)

    def start(self, hosts, count, name, *options, **how):
        """A master on the last host, and workers on `count` others; the master's process."""
        master_file = self.folder / f"{name}.json"
        at = len(hosts.names) - 1
        log = open(self.folder / f"{name}.err", "w", encoding="utf-8")
        master = hosts.start(
            at, ["dl-master", "-q", "--net", self.net, "--data", self.shard, "--insecure",
                 "--bind", f"tcp://{hosts.address(at)}:0", "--master-file", master_file,
                 "--min-workers", count, "-o", self.folder / f"{name}.safetensors",
                 *options, *self.options], stderr=log, **how)
        for i in range(count):
            hosts.start(i, ["dl-worker", "-q", "--master-file", master_file, "--insecure",
                            "--threads", 1, "--name", f"host{i}"], stderr=log)
        return master

    def hosts(self, count):
        return Hosts(count + 1, self.args.mbit, [self.args.cores] * count + [None])

    def estimate(self):
        """{hosts: {mode: examples/s}}"""
        with self.hosts(1) as hosts:
            master = self.start(hosts, 1, "estimate", "--estimate", "--json",
                                stdout=subprocess.PIPE)
            said = json.loads(master.communicate()[0])
        say(json.dumps(said["measured"]))
        return {row["hosts"]: row for row in said["expected"]}

    def measure(self, mode, count):
        name = f"{mode}-{count}"
        run = self.folder / name
        with self.hosts(count) as hosts:
            self.start(hosts, count, name, "--mode", mode, "--epochs", 1000000, "--run", run,
                       "--checkpoint-every", "1h",
                       *(() if mode == "sharing" else ("--workers", count)))
            history = History(run / "events.jsonl", self.folder / f"{name}.err")
            history.wait_for_all(count)
            first = history.read()
            time.sleep(self.args.seconds)
            return history.rate(first, history.read())[1]


def main():
    reason = why_not()
    if reason:
        print(f"peers: skipped: {reason}")
        return
    args, options = parse()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, options, pathlib.Path(folder))
        rows = []
        for mode in args.modes:
            said = [bench.estimate()]
            measured = {}
            for count in args.hosts:
                say(f"{mode}, {count} hosts, load {os.getloadavg()[0]:.1f}")
                measured[count] = bench.measure(mode, count)
            said.append(bench.estimate())
            rows += [{"mode": mode, "hosts": count, "measured": measured[count],
                      "expected": statistics.mean(each[count][mode] for each in said)}
                     for count in args.hosts]
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    lines = []
    for row in rows:
        one = next(r["measured"] for r in rows if r["mode"] == row["mode"])
        off = row["measured"] / row["expected"] - 1
        lines.append([row["mode"], str(row["hosts"]), number(row["measured"]),
                      f"{100 * row['measured'] / one / row['hosts'] * args.hosts[0]:.0f} %",
                      number(row["expected"]),
                      f"{100 * off:+.0f} % ({'ok' if abs(off) <= BOUND else 'want 15'})"])
    show(f"{args.network}, hosts of {args.cores} cores, {args.mbit} Mbit/s: examples/s, share "
         "of linear, and what --estimate said of them with one host",
         ["", "hosts", "examples/s", "of linear", "estimated", ""], lines)


main()
