"""Figures of dl-preprocess on raw data, in ratios of one run, programs in turns.

csv: 100 MB of numbers beside pandas and DuckDB, user time of one thread, and of two threads.
mixed: a CSV of mixed types beside pandas, Polars and DuckDB, see mixed.py.
training: from pictures that stay JPEG beside pixels. folder: memory, and the time to the first
record, of many files in one folder. bytes: the same for 1, 2 and 4 threads and for parts that are
joined, and each input once after 20 kills with a ledger.
usage: raw_data.py [csv] [mixed] [training] [folder] [bytes] [--files N] [--megabytes N]
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PANDAS = "import pandas, sys; pandas.read_csv(sys.argv[1], header=None).to_numpy('float32')"
DUCKDB = """
import duckdb, sys
query = duckdb.connect(config={"threads": 1}).sql(f"select * from read_csv('{sys.argv[1]}', header=false)")
query.fetchnumpy()
"""


NOTHING_LEARNT = 79  # of dl-master: so few epochs do not matter here


def show(**figures):
    print(json.dumps(figures), flush=True)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


# A process that is small itself, as the peak of memory begins at that of the one that starts it.
LAUNCHER = """
import os, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
"""


def measure(*command):
    """(user and system time, wall time, peak memory in MB) of a process."""
    begin = time.perf_counter()
    done = run(sys.executable, "-S", "-c", LAUNCHER, *command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall = time.perf_counter() - begin
    status, cpu, memory = done.stderr.splitlines()[-1].split()
    if int(status) not in (0, NOTHING_LEARNT):
        sys.exit(f"{command} ended with status {int(status)}: {done.stderr.decode()}")
    return float(cpu), wall, int(memory) / 1024


def in_turns(programs, rounds=3):
    """The least of each figure."""
    best = {}
    for _ in range(rounds):
        for name, command in programs.items():
            found = measure(*command)
            best[name] = tuple(map(min, found, best.get(name, found)))
    return best


def picture(path, seed, side=8):
    pixels = np.random.default_rng(seed).integers(0, 256, (side, side, 3), np.uint8)
    path.write_bytes(b"P6 %d %d 255\n" % (side, side) + pixels.tobytes())


def csv(folder):
    path = folder / "numbers.csv"
    rows = np.random.default_rng(1).standard_normal((20000, 20))
    text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in rows) + "\n"
    with path.open("w") as file:
        while file.tell() < 100e6:
            file.write(text)
    ours = ["dl-preprocess", "csv", "-q", "--regression", "--label", "-1", path]
    times = in_turns({
        "ours": [*ours, "--threads", 1],
        "ours, 2 threads": [*ours, "--threads", 2],
        "pandas": [sys.executable, "-c", PANDAS, path],
        "pandas starts": [sys.executable, "-c", "import pandas"],
        "DuckDB": [sys.executable, "-c", DUCKDB, path],
        "DuckDB starts": [sys.executable, "-c", "import duckdb, numpy"],
    })
    own = times["ours"][0]
    for peer in ("pandas", "DuckDB"):
        took = times[peer][0] - times[f"{peer} starts"][0]
        show(figure="csv, 100 MB, one thread", peer=peer, seconds=round(own, 2),
             of_peer=round(took, 2), share_of_its_time=round(own / took, 2))
    show(figure="csv, 2 threads beside one", times=round(times["ours"][1] / times["ours, 2 threads"][1], 2),
         cpu_time=round(times["ours, 2 threads"][0] / own, 2))


def training(folder):
    from data import real_pictures

    classes = folder / "classes"
    from PIL import Image
    for i, (label, pixels) in enumerate(real_pictures("test", 1000)):
        (classes / str(label)).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(classes / str(label) / f"{i}.jpg", quality=95)
    programs = {}
    for store in ("u8", "jpeg"):
        stream = folder / f"{store}.dls"
        run("dl-preprocess", "images", "-q", "--size", "32x32", "--store", store, classes, "-o", stream)
        programs[store] = ["dl-master", "-q", "--net", ROOT / "scripts/share/examples/cifar10.json", "--data", stream,
                           "--local", 1, "--threads", 2, "--epochs", 1, "--fresh", "-o", folder / f"{store}.safetensors"]
    times = in_turns(programs, 2)
    show(figure="training from JPEG beside pixels, 2 threads", rate=round(times["u8"][1] / times["jpeg"][1], 2),
         rate_by_cpu_time=round(times["u8"][0] / times["jpeg"][0], 2))


def folder_of(path, count):
    """Links of a few small pictures: no file system lets one have a million."""
    path.mkdir()
    each = 50000
    for i in range(count):
        own = path / f"{i:07d}.ppm"
        if i % each == 0:
            first = own
            picture(first, i)
        else:
            os.link(first, own)


def many_files(folder, count):
    few, many = folder / "few", folder / "many"
    folder_of(few, 10000)
    folder_of(many, count)
    command = ["dl-preprocess", "images", "-q", "--no-labels", "--size", "8x8", "--threads", "2"]
    begin = time.perf_counter()
    with subprocess.Popen([*command, str(many)], stdout=subprocess.PIPE) as process:
        read = 0
        while read < 20000:  # beyond the metadata
            read += len(os.read(process.stdout.fileno(), 65536))
        first = time.perf_counter() - begin
        process.kill()
    figures = {name: measure(*command, path) for name, path in (("few", few), ("many", many))}
    show(figure="files in one folder", files=count, seconds_to_first_record=round(first, 2),
         memory_MB=round(figures["many"][2]), memory_MB_of_10000=round(figures["few"][2]),
         cpu_seconds=round(figures["many"][0], 1))


def ids(*streams):
    lines = run("dl-shard", "--head", 10**9, "--json", *streams, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line)["id"] for line in lines.splitlines()]


def same_bytes(folder):
    pictures = folder / "photos"
    for i in range(2000):
        (pictures / str(i % 4)).mkdir(parents=True, exist_ok=True)
        picture(pictures / str(i % 4) / f"{i}.ppm", i, 24)
    make = ["dl-preprocess", "images", "-q", "--no-provenance", "--size", "16x16", "--batch", "64"]
    digests = [run(*make, pictures, "--threads", n, stdout=subprocess.PIPE).stdout for n in (1, 2, 4)]
    whole = folder / "whole.dls"
    whole.write_bytes(digests[0])
    parts = [folder / f"{i}.dls" for i in (1, 2, 3)]
    for i, part in enumerate(parts, 1):
        run(*make, pictures, "--part", f"{i}/3", "-o", part)
    show(figure="same bytes for 1, 2 and 4 threads", equal=len(set(digests)) == 1)
    show(figure="parts 1/3 to 3/3 joined", equal=sorted(ids(*parts)) == sorted(ids(whole)))

    ledger, outputs, kills, runs = folder / "ledger", [], 0, 0
    delays = random.Random(1)
    took = measure(*make, pictures, "-o", folder / "timing.dls")[1]
    stored = folder / "stored"
    stored.mkdir()
    waiting = sorted(pictures.rglob("*.ppm"))
    while kills < 20 or waiting:
        for path in waiting[:100]:  # more inputs come between two runs
            target = stored / path.relative_to(pictures)
            target.parent.mkdir(exist_ok=True)
            os.link(path, target)
        waiting = waiting[100:]
        outputs.append(folder / f"run-{runs}.dls")
        runs += 1
        process = subprocess.Popen([*make, "--classes", "4", str(stored), "--ledger", str(ledger), "-o", str(outputs[-1])],
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(delays.random() * took if kills < 20 else None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    run(*make, "--classes", "4", stored, "--ledger", ledger, "-o", folder / "last.dls")
    there = [path for path in [*outputs, folder / "last.dls"] if path.exists()]
    found = ids(*there)
    show(figure="each input once after kills", kills=kills, runs=runs + 1, outputs=len(there),
         inputs=2000, examples=len(found), once=len(found) == len(set(found)) == 2000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["csv", "mixed", "training", "folder", "bytes", []])
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=1000)
    options = parser.parse_args()
    from mixed import mixed
    parts = {"csv": csv, "mixed": lambda folder: mixed(folder, options.megabytes), "training": training,
             "bytes": same_bytes, "folder": lambda folder: many_files(folder, options.files)}
    for name, part in parts.items():
        if not options.what or name in options.what:
            with tempfile.TemporaryDirectory() as scratch:
                part(pathlib.Path(scratch))


if __name__ == "__main__":
    main()
