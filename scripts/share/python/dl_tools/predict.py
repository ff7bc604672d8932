"""Predictions and evaluations of models, by dl-infer and dl-eval."""

import json
import os
import tempfile

import numpy as np

from dl_tools import shards, tools
from dl_tools.pages import Page


def infer(model, array, *, options=()):
    """What the model says of each example of an array: outputs [examples, ...].

    model: a path, or a Model.  options: further words for dl-infer, as
    ("--output-of", "dense1").  Of several inputs array is a dict by their names, and several
    outputs of a network are one.
    """
    stream = _together(array) if isinstance(array, dict) else shards.write_shard(None, array)
    said = tools.run("dl-infer", "-q", "--model", getattr(model, "path", model), "--format", "dls",
                     "--no-provenance", *options, input=stream)
    records = [arrays for _, arrays in shards.read_records(bytes(said))]
    wanted = "features" if "--output-of" in options else "labels"
    found = {name.partition("/")[2]: np.concatenate([arrays[name] for arrays in records])
             for name in records[0] if name.partition("/")[0] == wanted}
    return found[""] if list(found) == [""] else found


def _together(arrays):
    """A stream of several inputs: an example of each beside the others'."""
    counts = {name: len(array) for name, array in arrays.items()}
    if len(set(counts.values())) != 1:
        raise ValueError(f"want inputs with one number of examples, got {counts}")
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for index, (name, array) in enumerate(arrays.items()):
            path = os.path.join(folder, f"{index}.dls")
            shards.write_shard(path, array)
            words.append(f"features/{name}={path}" if len(arrays) > 1 else f"features={path}")
        whole = os.path.join(folder, "all")
        tools.run("dl-shard", "-q", "--no-provenance", "-n", 1, "-o", whole, "--zip", *words)
        with open(whole + "-000.dls", "rb") as file:
            return file.read()


class Evaluation(dict):
    """A report of dl-eval, with "metrics" by kind; a notebook shows its page."""

    def __missing__(self, key):
        if key == "metrics":
            return self.metrics
        raise KeyError(key)

    @property
    def metrics(self):
        """Numbers by kind of evaluation: metrics["classification"]["accuracy"]."""
        return {"/".join(filter(None, (one["kind"], one.get("name")))): one["metrics"]
                for one in self["evaluations"]}

    def page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self, file)
            return Page.of(path)

    def _repr_html_(self):
        return self.page()._repr_html_()


def evaluate(model, *data, evaluations=(), options=()):
    """Evaluates a model on shards: dl-eval --json.  evaluations: kinds, as "roc"; the default
    is dl-eval's."""
    words = [word for kind in evaluations for word in ("-e", kind)]
    said = tools.run("dl-eval", "-q", "--model", getattr(model, "path", model), "--json", *words,
                     *options, *data)
    return Evaluation(said.json())
