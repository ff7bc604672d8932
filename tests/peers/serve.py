"""The conversation that all sides of a comparison hold: see peer_step.cpp."""

import argparse
import json
import sys
import time

from files import peak_kib


def arguments(*flags):
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--test")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def serve(step, first_outputs=None, accuracy=None):
    """Answers each line "STEPS" with the seconds and losses of as many steps;
    step(i) returns the loss, or outputs, of which first_outputs() makes those
    for the first example; and with what accuracy() returns."""
    print("{}", flush=True)
    at = 0
    for line in sys.stdin:
        seconds, results = [], []
        for _ in range(int(line)):
            begin = time.perf_counter()
            result = step(at)
            seconds.append(time.perf_counter() - begin)
            results.append(result if first_outputs is None else None)
            at += 1
        answer = {"seconds": seconds, "losses": results, "peak_kib": peak_kib()}
        if first_outputs is not None:
            answer["outputs"] = first_outputs(result)
        if accuracy is not None:
            answer["accuracy"] = accuracy()
        print(json.dumps(answer), flush=True)
