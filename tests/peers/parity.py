"""Every layer, activation, loss and updater beside PyTorch's: predictions, the
gradient of the first step, and the losses and parameters of twenty steps.

Both sides compute in float32 from the same parameters.  A difference is that of
two tensors divided by the largest number of PyTorch's; that of losses is divided
by each loss, where all are positive.  "own" is how far PyTorch's float32 lies from its float64 in what
was compared: a bound cannot be asked for that is less, and such cases are compared
with its float64 instead.  usage: parity [--random N] [CASE...]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import save_file

import parity_cases
import torch_trace
from parity_coverage import uncovered
from parity_random import Random

BOUND = 1e-5
COLUMNS = ("outputs", "gradients", "losses", "parameters")


class Failure(Exception):
    """A case could not be compared."""


def ours(case, folder):
    """(tensors, metadata)"""
    net, data, out = (folder / n for n in ("net.json", "data", "trace"))
    net.write_text(json.dumps(case.network))
    save_file({n: t.contiguous() for n, t in case.data.items()}, data)
    command = ["peer-trace", "--net", net, "--data", data, "--batch", str(case.batch),
               "--steps", str(case.steps), "-o", out]
    command += ["--pretrain", case.pretrain] if case.pretrain else []
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failure(done.stderr.strip())
    with safe_open(out, framework="torch") as file:
        return {n: file.get_tensor(n) for n in file.keys()}, file.metadata()


def largest(tensors):
    return max((t.abs().max().item() for t in tensors), default=0.0)


def gap(group, mine, theirs, zero=()):
    """(largest difference of tensors of a group, its tensor): each by its largest
    number; of those named in zero, which are 0 but for rounding, by the group's."""
    worst, all_of = (0.0, ""), largest(t for n, t in theirs.items() if n.startswith(group))
    for name, t in theirs.items():
        if not name.startswith(group):
            continue
        if name not in mine or mine[name].shape != t.shape:
            raise Failure(f"{name} is {tuple(t.shape)} in PyTorch, "
                          f"{tuple(mine[name].shape) if name in mine else 'missing'} here")
        a, b = mine[name].double(), t.double()
        mask = theirs.get(name.replace("/", "_mask/"))
        if mask is not None and "mask" not in name:
            seen = mask.double().reshape(*mask.shape, *[1] * (b.ndim - mask.ndim))
            a, b = a * seen, b * seen
        difference = (a - b).abs().max().item()
        scale = all_of if name[len(group):] in zero else b.abs().max().item()
        worst = max(worst, (difference / max(scale, 1e-30), name))
        if not torch.isfinite(a).all():
            return float("nan"), name
    return worst


def series(mine, theirs):
    """Of losses, each by itself; by the largest where they may be 0 on their way."""
    high = max(map(abs, theirs))
    return max((abs(a - b) / max(abs(b) if min(theirs) > 0 else high, 1e-30), "")
               for a, b in zip(mine, theirs))


def compare(case, mine, theirs):
    """{what: (difference, tensor)}"""
    (tensors, losses, scores), (others, other_losses, other_scores) = mine, theirs
    result = {"outputs": max(gap(g, tensors, others) for g in case.groups)}
    if case.steps:
        result["gradients"] = gap("gradient/", tensors, others, case.zero)
        result["losses"] = max(series(losses, other_losses), series(scores, other_scores))
        result["parameters"] = gap("end/", tensors, others)
    return result


def measure(case, folder):
    tensors, metadata = ours(case, folder)
    mine = tensors, json.loads(metadata["losses"]), json.loads(metadata["scores"])
    single, double = (torch_trace.trace_of(
        tensors, metadata, torch_trace.batches_of(case.data, case.batch, dtype), case.steps,
        dtype) for dtype in (torch.float32, torch.float64))
    return (json.loads(metadata["network"]), compare(case, mine, double if case.double else single),
            compare(case, single, double))


def report(case, folder, networks):
    """Whether the case is within its bounds, after a line of what was found."""
    try:
        network, found, own = measure(case, folder)
    except Failure as failure:
        if case.name.startswith("random") and "layers[" in str(failure):
            return True  # it does not fit together
        print(f"{case.name:36}  {failure}", flush=True)
        return False
    networks += [case.network, network]
    bounds = {c: case.bounds.get(c, BOUND) for c in COLUMNS}
    over = [c for c in found if not found[c][0] <= bounds[c]]
    cells = [f"{found[c][0]:.1e}" if c in found else "-" for c in COLUMNS]
    print(f"{case.name:36}" + "".join(f"{c:>12}" for c in (
        *cells, f"{max(own.values())[0]:.1e}", f"{max(bounds.values()):.0e}")) +
        ("  over: " + ", ".join(f"{c} {found[c][1]}" for c in over) if over else ""), flush=True)
    return not over


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", nargs="*", help="names begin so (default: all)")
    parser.add_argument("--random", type=int, metavar="N", help="N networks at random instead")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    args = parser.parse_args()
    cases = [Random(args.seed + i).case() for i in range(args.random)] if args.random else [c for c in parity_cases.CASES
             if not args.case or any(c.name.startswith(name) for name in args.case)]
    torch.set_num_threads(1)
    networks = []
    print(f"{'':36}" + "".join(f"{c:>12}" for c in (*COLUMNS, "own", "bound")))
    with tempfile.TemporaryDirectory() as folder:
        good = [report(case, pathlib.Path(folder), networks) for case in cases]
    missing = [] if args.case or args.random else uncovered(networks)
    for line in missing:
        print(f"peers: no case has {line}")
    if not all(good):
        print(f"peers: {good.count(False)} of {len(cases)} cases differ by more than their bound")
    sys.exit(0 if all(good) and not missing else 1)


if __name__ == "__main__":
    main()
