"""What the comparisons print: progress, and the report of compare.py."""

import statistics
import sys

# Ratios of ours to theirs that are aimed at: (network, mini-batch) to (eager,
# compile) in training; mini-batch to (eager, onnx) in predictions.
TRAINING = {("lenet", 8): (4, 2.5), ("lenet", 64): (3, 2), ("cifar", 32): (1.25, 1.15),
            ("mlp", 128): (1.3, 1.2), ("lstm", 32): (1.5, 1.5)}
PREDICTING = {1: (5, 2), 64: (1.5, 1.1)}


def say(text):
    print(f"peers: {text}", file=sys.stderr, flush=True)


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def show(title, header, rows):
    rows = [header, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    print(f"\n{title}")
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))))


def ratio(row, side, wanted=None):
    sides = row["sides"]
    got = sides["ours"]["examples_per_second"] / sides[side]["examples_per_second"]
    text = f"{got:.2f}"
    return text if wanted is None else f"{text} ({'ok' if got >= wanted else 'want'} {wanted:g})"


def setting(row):
    return [row["network"], str(row["batch"]), str(row["threads"])]


def figures(row, names, figure):
    return [number(row["sides"][name][figure]) if name in row["sides"] else "-"
            for name in names]


def rates(row, names):
    return figures(row, names, "examples_per_second")


def peaks(row, names):
    return figures(row, names, "peak_mib")


def to_best(row):
    speeds = {name: side["examples_per_second"] for name, side in row["sides"].items()}
    return speeds.pop("ours") / max(speeds.values())


def say_mean(rows):
    """Of those settings in which all sides take part."""
    for threads in sorted({row["threads"] for row in rows}):
        ratios = [to_best(row) for row in rows
                  if row["threads"] == threads and "tf" in row["sides"]]
        if ratios:
            print(f"  geometric mean to the best, {len(ratios)} settings, threads {threads}: "
                  f"{statistics.geometric_mean(ratios):.2f}")


def training(rows):
    names = ["ours", "eager", "compile", "tf", "xla"]
    table = []
    for row in rows:
        eager, compiled = TRAINING.get((row["network"], row["batch"]), (None, None))
        table.append(setting(row) + rates(row, names) +
                     [ratio(row, "eager", eager), ratio(row, "compile", compiled),
                      f"{to_best(row):.2f}", number(row["sides"]["ours"]["gflops"])] + peaks(row, names))
    show("training: examples/s, ratios of ours to theirs, our GFLOP/s, peak memory in MiB",
         ["network", "batch", "threads", *names, "/eager", "/compile", "/best", "GFLOP/s",
          "MiB", *names[1:]], table)
    say_mean(rows)
    for row in rows:
        for other in rows:
            if setting(row)[:2] == setting(other)[:2] and (row["threads"],
                                                           other["threads"]) == (1, 2):
                gain = {name: other["sides"][name]["examples_per_second"] /
                        row["sides"][name]["examples_per_second"]
                        for name in names if name in row["sides"]}
                print(f"  two threads, {row['network']} batch {row['batch']}: " +
                      ", ".join(f"{name} x {value:.2f}" for name, value in gain.items()))


def predicting(rows):
    names = ["ours", "eager", "compile", "tf", "xla", "onnx", "openvino"]
    table = []
    for row in rows:
        eager, onnx = PREDICTING.get(row["batch"], (None, None))
        table.append(setting(row) +
                     [number(row["sides"]["ours"]["step_seconds"] * 1e6)] + rates(row, names) +
                     [ratio(row, "eager", eager), ratio(row, "compile"),
                      ratio(row, "onnx", onnx), f"{to_best(row):.2f}"] + peaks(row, names))
    show("predictions: our microseconds a mini-batch, examples/s, ratios, peak memory in MiB",
         ["network", "batch", "threads", "us", *names, "/eager", "/compile", "/onnx",
          "/best", "MiB", *names[1:]], table)
    say_mean(rows)


def print_table(report):
    print("; ".join(f"{key} {value}" for key, value in report["machine"].items()))
    print("data: " + "; ".join(f"{key}: {value}" for key, value in report["data"].items()))
    if "train" in report:
        training(report["train"])
    if "infer" in report:
        predicting(report["infer"])
    if "start" in report:
        show("process start to first result: milliseconds",
             ["network", "dl-infer", "torch", "onnx"],
             [[row["network"]] + [number(1e3 * row["seconds"][side])
                                  for side in ("ours", "torch", "onnx")]
              for row in report["start"]])
    if "curves" in report:
        show("losses, identical weights and mini-batches: largest difference",
             ["network", "batch", "rates", "steps", "first", "last", "difference", ""],
             [[row["network"], str(row["batch"]), f"x {row['rate_factor']:g}",
               str(len(row["ours"])),
               f"{row['ours'][0]:.4f}", f"{row['ours'][-1]:.4f}", f"{row['largest']:.1e}",
               "ok" if row["within"] else "TOO LARGE"] for row in report["curves"]])
