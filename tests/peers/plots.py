"""dl-plot and dl-eval beside TensorBoard and scikit-learn: event files of runs, models and
reports are read by TensorBoard's own reader, equal to float32; the points of ROC curves in
a report of dl-eval are those of roc_curve, within 1e-9; the places of t-SNE are as
trustworthy as scikit-learn's, within 0.02."""

import csv
import json
import os
import tempfile

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE, trustworthiness
from sklearn.metrics import roc_curve
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from tensorboard.util.tensor_util import make_ndarray

from files import records, run

NETWORK = {
    "seed": 1, "input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.05},
    "layers": [{"type": "dense", "units": 4, "activation": "tanh"},
               {"type": "output", "units": 3, "activation": "softmax",
                "loss": "negative_log_likelihood"}]}

PICTURES = {
    "seed": 1, "input": {"shape": [8, 8, 3]}, "updater": {"type": "sgd", "learning_rate": 0.05},
    "layers": [{"type": "conv2d", "filters": 4, "kernel": [3, 3], "activation": "relu"},
               {"type": "output", "units": 2, "activation": "softmax",
                "loss": "negative_log_likelihood"}]}
DIGITS = {
    "seed": 1, "input": {"shape": [64]}, "updater": {"type": "sgd", "learning_rate": 0.01},
    "layers": [{"type": "activation", "activation": "identity"},
               {"type": "output", "units": 10, "activation": "softmax",
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
    for kind in ("gradients", "activations"):
        found = events.Histograms(f"{kind}/dense1")
        wanted = [one for one in summaries if kind in one["layers"]["dense1"]]
        assert found and len(found) == len(wanted)
        for event, summary in zip(found, wanted):
            want, got = summary["layers"]["dense1"][kind], event.histogram_value
            assert got.num == want["count"] and (got.min, got.max) == (want["low"], want["high"])
            assert sum(got.bucket) == want["count"]
            assert list(got.bucket_limit) == sorted(got.bucket_limit)
            assert abs(got.sum_squares - want["rms"] ** 2 * got.num) < 1e-9 * got.sum_squares
    start = events.summary_metadata["_hparams_/session_start_info"].plugin_data
    settings = HParamsPluginData.FromString(start.content).session_start_info.hparams
    assert settings["batch"].number_value == 10 and settings["mode"].string_value == "sharing", settings
    end = events.summary_metadata["_hparams_/session_end_info"].plugin_data
    assert HParamsPluginData.FromString(end.content).session_end_info.status == 1
    print(f"TensorBoard: {len(summaries)} summaries as histograms, {len(settings)} settings as hparams")


def check_graph():
    """The network as a graph: of a run, and of a model with its filters."""
    events = EventAccumulator("logs/m")
    events.Reload()
    graph = GraphDef.FromString(events.Graph().SerializeToString())
    assert [(node.name, node.op, list(node.input)) for node in graph.node] == [
        ("input", "Placeholder", []), ("dense1", "dense", ["input"]),
        ("output1", "output", ["dense1"])], graph
    with open("conv.json", "w", encoding="utf-8") as file:
        json.dump(PICTURES, file)
    random = np.random.default_rng(1)
    pixels = random.integers(0, 255, (40, 8 * 8 * 3))
    np.savetxt("pixels.csv", np.column_stack([pixels, pixels[:, 0] > 127]), "%d", ",")
    run("dl-preprocess csv --label -1 --classes 2 --shape 8,8,3 pixels.csv -o pixels.dls")
    run("dl-master -q --net conv.json --data pixels.dls --local 1 --epochs 1 -o conv.safetensors")
    run("dl-plot conv.safetensors --tensorboard logs")
    run("dl-plot conv.safetensors.run --tensorboard logs")
    for name in ("logs/conv", "logs/conv.safetensors"):
        if not os.path.isdir(name):
            continue
        events = EventAccumulator(name)
        events.Reload()
        image = events.Images("filters/conv2d1/weight")[-1]
        assert image.encoded_image_string.startswith(b"\x89PNG") and image.width == 4 * 3 + 3
    print("TensorBoard: graphs of a run and a model, filters as images")


def check_pr_curves():
    """Counts at each threshold are those of the scores."""
    run("dl-plot roc.report --tensorboard logs")
    events = EventAccumulator("logs/roc", size_guidance={"tensors": 0})
    events.Reload()
    with open("roc.report", encoding="utf-8") as file:
        report = json.load(file)
    scores = np.concatenate([record["labels"] for record in records("predicted.dls")])
    truth = np.concatenate([record["labels"] for record in records("test.dls")])
    for output in range(3):
        name = f"roc/{report['evaluations'][0]['names'][output] if report['evaluations'][0]['names'] else output}"
        assert events.SummaryMetadata(name).plugin_data.plugin_name == "pr_curves"
        got = make_ndarray(events.Tensors(name)[0].tensor_proto)
        at = np.linspace(0, 1, got.shape[1])
        yes, positive = scores[:, [output]] >= at, (truth == output)[:, None]
        want = [(yes & positive).sum(0), (yes & ~positive).sum(0), (~yes & ~positive).sum(0),
                (~yes & positive).sum(0)]
        assert np.array_equal(got[:4], np.array(want, np.float32)), output
    print(f"TensorBoard: PR curves of 3 outputs at {got.shape[1]} thresholds, equal")


def check_live():
    """An event file that is written while the run lasts has the same in the end."""
    run("dl-master -q --net net.json --data train.dls --mode sharing --local 2 --epochs 3 "
        "--batch 10 --summary 3 --tensorboard live -o l.safetensors")
    run("dl-plot l.safetensors.run --tensorboard after")
    live, after = EventAccumulator("live/l"), EventAccumulator("after/l")
    for events in (live, after):
        events.Reload()
    assert live.Tags() == after.Tags(), (live.Tags(), after.Tags())
    for tag in ("epoch/loss", "norm/dense1"):
        assert ([(one.step, one.value) for one in live.Scalars(tag)] ==
                [(one.step, one.value) for one in after.Scalars(tag)]), tag
    print("TensorBoard: --tensorboard of dl-master has what dl-plot writes afterwards")


def check_places():
    """t-SNE of the digits of scikit-learn, by a network that leaves them as they are."""
    digits = load_digits()
    np.savetxt("digits.csv", np.column_stack([digits.data, digits.target]), "%d", ",")
    run("dl-preprocess csv --label -1 --classes 10 digits.csv -o digits.dls")
    with open("digits.json", "w", encoding="utf-8") as file:
        json.dump(DIGITS, file)
    run("dl-master -q --net digits.json --data digits.dls --normalize none --local 1 "
        "--epochs 1 -o d.safetensors")
    run("dl-plot d.safetensors --examples digits.dls -o d.html --data d.csv")
    with open("d.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["class"]) for row in rows] == digits.target.tolist()
    ours = np.array([[row["tsne_x"], row["tsne_y"]] for row in rows], float)
    theirs = TSNE(random_state=0).fit_transform(digits.data)
    trust = [trustworthiness(digits.data, places) for places in (ours, theirs)]
    assert trust[0] > trust[1] - 0.02, trust
    centered = digits.data - digits.data.mean(0)
    components = np.linalg.svd(centered, full_matrices=False)[2][:2]
    pca = np.array([[row["pca_x"], row["pca_y"]] for row in rows], float)
    assert np.allclose(np.abs(pca), np.abs(centered @ components.T), atol=1e-6 * np.abs(pca).max())
    print(f"scikit-learn: trustworthiness of t-SNE {trust[0]:.4f}, theirs {trust[1]:.4f}; PCA equal")


def check_curves():
    text = run("dl-eval --model m.safetensors -e roc --json test.dls")
    with open("roc.report", "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else text.decode())
    report = json.loads(text)
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
        check_graph()
        check_pr_curves()
        check_live()
        check_places()


main()
