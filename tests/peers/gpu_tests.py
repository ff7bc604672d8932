"""Tests of a Catch2 program, each in a process of its own and as many at a time as there
are cores: one that breaks the GPU or hangs hides no other.  Shows what the failing ones
said, and counts.  scripts/gpu-check runs it.

Status 0: all passed; 1: something failed, or nothing ran; 124: there was no time for all."""

import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import time

MOST = 14  # at a time: each has a context on the GPU
SECONDS = 100  # of a test
LINES = 12  # of a failing one, of either end
SHOWN = 20  # failing ones


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, required=True, help="for all")
    parser.add_argument("--under", default="", help="a command that runs the program, and "
                        "may need more time than a test has")
    parser.add_argument("program")
    parser.add_argument("tests", help="by name, as Catch2 takes them")
    return parser.parse_args()


def names_of(program, tests):
    listed = subprocess.run([program, "--list-test-names-only", tests], stdout=subprocess.PIPE,
                            text=True, check=False)  # its status is how many there are
    return [name.strip() for name in listed.stdout.splitlines() if name.strip()]


def run(under, program, name, until):
    """State and output of a test."""
    seconds = min(SECONDS, until - time.monotonic())
    if seconds <= 0:
        return "not run", ""
    escaped = re.sub(r'([\\,\[\]"])', r"\\\1", name)
    try:
        done = subprocess.run([*under, program, escaped], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        state = "failed" if seconds == SECONDS and not under else "not run"
        return state, (late.stdout or b"").decode(errors="replace") + f"\nafter {seconds:.0f} s\n"
    text = done.stdout.decode(errors="replace")
    if done.returncode == 0 and re.search("^All tests passed", text, re.MULTILINE):
        return "passed", text
    # compute-sanitizer: it passed, and never called the GPU.
    if under and "before first instrumented API call" in text:
        return "skipped", text
    # Nothing was asserted: it is not for this device.
    if done.returncode == 0 and re.search("^assertions: - none -", text, re.MULTILINE):
        return "skipped", text
    return "failed", text + f"\nstatus {done.returncode}\n"


def show(name, text):
    lines = text.strip().splitlines()
    if len(lines) > 2 * LINES:
        lines = lines[:LINES] + ["..."] + lines[-LINES:]
    print("----", name, *lines, sep="\n", flush=True)


def main():
    args = parse()
    until = time.monotonic() + args.seconds - 3
    names = names_of(args.program, args.tests)
    counts = dict.fromkeys(["passed", "failed", "skipped", "not run"], 0)
    with concurrent.futures.ThreadPoolExecutor(min(MOST, len(os.sched_getaffinity(0)))) as pool:
        under = shlex.split(args.under)
        results = pool.map(lambda name: run(under, args.program, name, until), names)
        for name, (state, text) in zip(names, results):
            counts[state] += 1
            if state == "failed" and counts["failed"] <= SHOWN:
                show(name, text)
    if counts["passed"] + counts["skipped"] == len(names) and counts["passed"] > 0:
        print(f"All tests passed ({counts['passed']}, {counts['skipped']} skipped)")
        return 0
    print(f"test cases: {len(names)}", *(f"{n} {state}" for state, n in counts.items()), sep=" | ")
    return 124 if counts["not run"] > 0 and counts["failed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
