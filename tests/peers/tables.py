"""Small tables with the defaults of dl-master beside scikit-learn's perceptrons.

The same network on both sides, scikit-learn's default: a hidden layer of 100,
relu, Adam at 0.001, 200 epochs of mini-batches of 200, or of all examples where
there are fewer.  What is raw gets features and targets as they are in the table;
else both are standardized, which dl-master does by itself and scikit-learn in a
pipeline.  Scores on the quarter of each table that is held out: accuracy or R2,
mean and standard error over splits, also of the differences between ours and
scikit-learn's; seconds of training, which for us include all processes.
"""

import argparse
import json
import os
import tempfile
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from files import run
from table import show

EPOCHS, BATCH, HIDDEN = 200, 200, 100
TABLES = {"iris": datasets.load_iris, "wine": datasets.load_wine,
          "breast cancer": datasets.load_breast_cancer, "diabetes": datasets.load_diabetes,
          "diabetes + 10000": datasets.load_diabetes}


def network(inputs, classes, seed):
    last = {"type": "output", "units": classes, "activation": "softmax",
            "loss": "negative_log_likelihood"}
    if classes == 0:
        last = {"type": "output", "units": 1, "activation": "identity",
                "loss": "mean_squared_error"}
    return {"seed": seed, "input": {"shape": [inputs]},
            "updater": {"type": "adam", "learning_rate": 0.001}, "weight_init": "xavier_uniform",
            "layers": [{"type": "dense", "units": HIDDEN, "activation": "relu"}, last]}


def write_table(path, x, y):
    names = ",".join(f"c{i}" for i in range(x.shape[1])) + ",label"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=names, comments="",
               fmt=["%.9g"] * x.shape[1] + ["%d" if y.dtype.kind == "i" else "%.9g"])


def ours(split, classes, seed, options):
    """(score, seconds)"""
    for part, x, y in (("train", *split[0]), ("test", *split[1])):
        write_table(f"{part}.csv", x, y)
        kind = f"--classes {classes}" if classes else "--regression"
        run(f"dl-preprocess csv --header --label label {kind} {part}.csv | dl-shard -q --force -o {part}")
    batch = min(BATCH, len(split[0][0]))
    with open("net.json", "w", encoding="ascii") as file:
        json.dump(network(split[0][0].shape[1], classes, seed), file)
    begin = time.monotonic()
    # 79: what is raw may end worse than it began, which its score says.
    run(f"dl-master -q --net net.json --data train-000.dls --local 1 --epochs {EPOCHS} "
        f"--batch {batch} -o m.safetensors --fresh {options} || [ $? = 79 ]")
    seconds = time.monotonic() - begin
    report = json.loads(run("dl-eval --model m.safetensors --json test-000.dls"))
    return report["evaluations"][0]["metrics"]["accuracy" if classes else "r2"], seconds


def theirs(split, classes, seed, scaled):
    model = (MLPClassifier if classes else MLPRegressor)(
        hidden_layer_sizes=(HIDDEN,), max_iter=EPOCHS, batch_size=min(BATCH, len(split[0][0])),
        random_state=seed, n_iter_no_change=EPOCHS)
    if scaled:
        model = make_pipeline(StandardScaler(), model)
    if scaled and not classes:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    begin = time.monotonic()
    model.fit(*split[0])
    return model.score(*split[1]), time.monotonic() - begin


def split_of(name, seed):
    bunch = TABLES[name]()
    classes = len(set(bunch.target)) if hasattr(bunch, "target_names") else 0
    x, y = bunch.data, bunch.target + (10000 if "10000" in name else 0)
    x_train, x_test, y_train, y_test = train_test_split(
        x, y, test_size=0.25, random_state=seed, stratify=y if classes else None)
    return ((x_train, y_train), (x_test, y_test)), classes


def cell(scores):
    error = np.std(scores, ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else 0
    return f"{np.mean(scores):.3f} +- {error:.3f}"


def row_of(name, seeds):
    raw = "--normalize none --normalize-targets none"
    sides = {}
    for seed in range(seeds):
        split, classes = split_of(name, seed)
        for side, result in (("ours", ours(split, classes, seed, "")),
                             ("averaging", ours(split, classes, seed, "--mode averaging")),
                             ("raw", ours(split, classes, seed, raw)),
                             ("sklearn", theirs(split, classes, seed, True)),
                             ("sklearn raw", theirs(split, classes, seed, False))):
            sides.setdefault(side, []).append(result)
    scores = {side: np.array([score for score, _ in results]) for side, results in sides.items()}
    return [name, "accuracy" if classes else "R2", cell(scores["ours"]), cell(scores["sklearn"]),
            cell(scores["ours"] - scores["sklearn"]), cell(scores["averaging"]),
            cell(scores["raw"]), cell(scores["sklearn raw"]),
            *(f"{np.mean([s for _, s in sides[side]]):.2f}" for side in ("ours", "sklearn"))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", default=",".join(TABLES))
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # of sklearn: 200 epochs are too few
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = [row_of(name, arguments.seeds) for name in arguments.tables.split(",")]
    show(f"tables: scores over {arguments.seeds} splits, seconds of training",
         ["table", "", "ours", "sklearn", "difference", "ours, averaging", "ours raw",
          "sklearn raw", "s", "sklearn s"], rows)


main()
