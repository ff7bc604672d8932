"""Arguments of this package's functions: of the types that they must be, and which
options of the tools a list of more options cannot have."""

import os
import re
from numbers import Integral, Real

from dl_spark.tools import Failure

# Options that functions give by arguments of theirs.
MASTER = {
    "--net": "network=", "--data": "data=", "--eval-data": "evaluation_data=",
    "--output": "directory=", "-o": "directory=", "--run": "directory=",
    "--fresh": "resume=False", "--epochs": "epochs=", "--mode": "training=",
    "--workers": "workers=", "--min-workers": "workers=", "--threads": "threads=",
    "--device": "worker_options=", "--precision": "worker_options=",
    "--bind": "a VoidConfiguration"}
_MODEL = {"--model": "model=", "-m": "model=", "--threads": "threads="}
GIVEN = {"dl-master": MASTER, "dl-worker": {"--threads": "threads="},
         "dl-eval": _MODEL, "dl-infer": _MODEL | {"--top": "top="}}

# Others that they cannot have, and why.
_OTHER_WORK = "it does other work: run the tool itself for that"
_OURS = "dl_spark sees to it"
_INFORMATION = (("-h", "--help", "--version", "--print-config"), _OTHER_WORK)
REFUSED = {
    "dl-master": (
        _INFORMATION,
        (("--local", "--hosts", "--rsh", "--remote", "--restarts"),
         "workers are tasks of Spark's, and workers= says how many"),
        (("--dry-run", "--estimate", "--replay", "--step", "--list"), _OTHER_WORK),
        (("--keys", "--insecure", "--master-file"), _OURS),
        (("--interface", "--network"), "a VoidConfiguration says where dl-master listens")),
    "dl-worker": (
        _INFORMATION,
        (("--master", "--master-file", "--keys", "--insecure", "--name",
          "--exit-on-stdin-eof"), _OURS)),
    "dl-eval": (
        _INFORMATION,
        (("--merge", "--local"), _OURS)),
    "dl-infer": (
        _INFORMATION,
        (("-o", "--output", "--format", "--output-of", "--sample", "--score", "--samples",
          "--seed", "--keep-state", "--keep-features", "--no-provenance"),
         "it changes what is written, which dl_spark reads: run dl-infer itself for that")),
}


def name_of(option):
    """--batch of --batch=8, -o of -ofile; None of what is no option but its value."""
    if option.startswith("--"):
        return option.partition("=")[0]
    return option[:2] if option.startswith("-") else None


def has(options, name):
    return any(name_of(option) == name for option in options)


def check_options(argument, options, tool):
    check_texts(argument, options, '["--patience", "3"]')
    for name in map(name_of, options):
        if name in GIVEN[tool]:
            raise Failure(f"{argument}=: {name} of {tool} is {GIVEN[tool][name]} here")
        for refused, why in REFUSED[tool]:
            if name in refused:
                raise Failure(f"{argument}=: {name} of {tool} cannot be given: {why}")


def in_our_words(said):
    """What dl-master says of its options, by the arguments of fit()."""
    return re.sub(r"(?<![\w-])--[a-z-]+", lambda found: MASTER.get(found[0], found[0]), said)


def check_texts(argument, given, example):
    if isinstance(given, (list, tuple)) and all(isinstance(each, str) for each in given):
        return
    raise Failure(f"{argument}={given!r:.50}: want a list of texts, as {example}")


def check_counts(least=1, **counts):
    """Whole numbers; None is one that was not given."""
    for name, count in counts.items():
        if count is not None and not (is_whole(count) and count >= least):
            raise Failure(f"{name}={count!r:.50}: want a whole number from {least}")


def check_numbers(who, **numbers):
    for name, number in numbers.items():
        if not isinstance(number, Real) or isinstance(number, bool):
            raise Failure(f"{who}: {name}={number!r:.50}: want a number")


def is_whole(number):
    return isinstance(number, Integral) and not isinstance(number, bool)


def path(argument, given):
    """The path as text."""
    try:
        return os.fsdecode(given)
    except TypeError:
        raise Failure(f"{argument}={given!r:.50}: want a path of a file on the driver") from None
