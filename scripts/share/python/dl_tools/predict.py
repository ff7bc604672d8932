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
    ("--output-of", "dense1").  Several outputs of a network are a dict by their names.
    """
    stream = shards.write_shard(None, array)
    said = tools.run("dl-infer", "-q", "--model", getattr(model, "path", model), "--format", "dls",
                     "--no-provenance", *options, input=stream)
    records = [arrays for _, arrays in shards.read_records(bytes(said))]
    wanted = "features" if "--output-of" in options else "labels"
    found = {name.partition("/")[2]: np.concatenate([arrays[name] for arrays in records])
             for name in records[0] if name.partition("/")[0] == wanted}
    return found[""] if list(found) == [""] else found


class Evaluation(dict):
    """A report of dl-eval; a notebook shows its page."""

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
