"""dl-plot and dl-eval beside TensorBoard and scikit-learn: event files of a run are read
by TensorBoard's own reader, equal to float32; the points of ROC curves in a report of
dl-eval are those of roc_curve, within 1e-9."""

import csv
import json
import os
import tempfile

import numpy as np
from sklearn.metrics import roc_curve
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from files import records, run

NETWORK = {
    "seed": 1, "input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.05},
    "layers": [{"type": "dense", "units": 4, "activation": "tanh"},
               {"type": "output", "units": 3, "activation": "softmax",
                "loss": "negative_log_likelihood"}]}


def check_event_file():
    run("dl-plot m.safetensors.run --tensorboard logs --data numbers.csv")
    events = EventAccumulator("logs/m", size_guidance={"scalars": 0})
    events.Reload()
    with open("numbers.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for tag, series in (("batch/loss", "commit/loss"), ("epoch/loss", "epoch/loss")):
        want = [row["value"] for row in rows if row["series"] == series]
        got = [scalar.value for scalar in events.Scalars(tag)]
        assert got and np.array_equal(np.float32(got), np.array(want, float).astype(np.float32)), tag
    steps = [scalar.step for scalar in events.Scalars("batch/loss")]
    assert steps == list(range(1, len(steps) + 1)), steps
    print(f"TensorBoard: {len(events.Tags()['scalars'])} tags, {len(steps)} mini-batches, "
          "equal to float32")


def check_summaries():
    """Histograms of --summary, and settings for the plug-in hparams."""
    run("dl-plot m.safetensors.run --tensorboard logs")
    events = EventAccumulator("logs/m", size_guidance={"histograms": 0})
    events.Reload()
    with open("m.safetensors.run/events.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    summaries = [line for line in lines if line["event"] == "summary"]
    assert summaries
    for kind in ("parameters", "change"):
        found = events.Histograms(f"{kind}/dense1")
        assert len(found) == len(summaries)
        for event, summary in zip(found, summaries):
            want, got = summary["layers"]["dense1"][kind], event.histogram_value
            assert event.step == summary["batches"]
            assert list(got.bucket) == want["counts"] and got.num == sum(want["counts"])
            assert (got.min, got.max) == (want["low"], want["high"])
            assert abs(got.sum_squares - want["norm"] ** 2) < 1e-9 * max(1, got.sum_squares)
    start = events.summary_metadata["_hparams_/session_start_info"].plugin_data
    settings = HParamsPluginData.FromString(start.content).session_start_info.hparams
    assert settings["batch"].number_value == 10 and settings["mode"].string_value == "sharing", settings
    end = events.summary_metadata["_hparams_/session_end_info"].plugin_data
    assert HParamsPluginData.FromString(end.content).session_end_info.status == 1
    print(f"TensorBoard: {len(summaries)} summaries as histograms, {len(settings)} settings as hparams")


def check_curves():
    report = json.loads(run("dl-eval --model m.safetensors -e roc --json test.dls"))
    curves = report["evaluations"][0]["metrics"]["curves"]
    run("dl-infer --model m.safetensors --format dls test.dls >predicted.dls")
    scores = np.concatenate([record["labels"] for record in records("predicted.dls")])
    truth = np.concatenate([record["labels"] for record in records("test.dls")])
    if truth.ndim == 2:
        truth = truth.argmax(1)
    for output, curve in enumerate(curves):
        positives = truth == output
        false_rate, true_rate, _ = roc_curve(positives, scores[:, output])
        ours = np.array([curve["false_positives"], curve["true_positives"]], float)
        ours /= [[(~positives).sum()], [positives.sum()]]
        # Theirs are the corners of the curve: each is a point of ours.
        for corner in np.stack([false_rate, true_rate], 1)[1:]:
            assert np.abs(ours.T - corner).max(1).min() < 1e-9, (output, corner)
    print(f"scikit-learn: {len(curves)} ROC curves of {len(truth)} examples, within 1e-9")


def write_data():
    """Three classes of points that overlap."""
    random = np.random.default_rng(1)
    for name, count in (("train", 600), ("test", 300)):
        label = random.integers(0, 3, count)
        points = random.normal(size=(count, 3)) + 1.5 * np.eye(3)[label]
        np.savetxt(name + ".csv", np.column_stack([points, label]), ["%.5f"] * 3 + ["%d"], ",")
        run(f"dl-preprocess csv --label -1 --classes 3 {name}.csv -o {name}.dls")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("net.json", "w", encoding="utf-8") as file:
            json.dump(NETWORK, file)
        write_data()
        run("dl-master -q --net net.json --data train.dls --mode sharing --local 2 --epochs 3 "
            "--batch 10 --summary 3 -o m.safetensors")
        check_event_file()
        check_summaries()
        check_curves()


main()
