"""Ten public tables with what dl-preprocess table and its --network choose, beside
scikit-learn.

Each table of statsmodels, scikit-learn and vega_datasets goes through the commands that
a user types, without an option that a table would need of its own:

  dl-preprocess table --label X --network net.json TRAIN.csv | dl-shard --shuffle -o train
  dl-master --net net.json --data train-000.dls --local 1, with the epochs and the
      mini-batch that dl-preprocess names

and is judged by `dl-eval --raw` on the fold that is held out.  scikit-learn has
MLPClassifier, MLPRegressor and HistGradientBoosting with their defaults behind a
ColumnTransformer of SimpleImputer, StandardScaler and OneHotEncoder; dates become days,
month and weekday, and targets are standardized.  Scores are accuracy or R2, means over the
folds, the perceptron's with its standard error: ours is BELOW it where it is less by more.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import warnings

import numpy as np
import pandas as pd
import statsmodels.api as statsmodels
from sklearn import datasets
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from vega_datasets import local_data

from table import show

PARTS = 5


def of_sklearn(name):
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    table = bunch.frame.rename(columns=lambda column: column.replace(" ", "_"))
    if name == "breast_cancer":
        table["target"] = [bunch.target_names[i] for i in bunch.target]
    return table, "target"


def of_statsmodels(name):
    return getattr(statsmodels.datasets, name).load_pandas().data


def anes96():
    table = of_statsmodels("anes96")
    return table.assign(vote=table.vote.map({0: "Clinton", 1: "Dole"})), "vote"


def fair():
    table = of_statsmodels("fair")
    return table.drop(columns="affairs").assign(affair=np.where(table.affairs > 0, "yes", "no")), "affair"


# Each gives a table and its label.
TABLES = {
    "iris": lambda: (local_data.iris(), "species"),
    "breast_cancer": lambda: of_sklearn("breast_cancer"),
    "digits": lambda: of_sklearn("digits"),
    "diabetes": lambda: of_sklearn("diabetes"),
    "cars": lambda: (local_data.cars().dropna(subset=["Miles_per_Gallon"]), "Miles_per_Gallon"),
    "seattle-weather": lambda: (local_data("seattle-weather"), "weather"),
    "barley": lambda: (local_data.barley(), "yield"),
    "anes96": anes96,
    "fair": fair,
    "randhie": lambda: (of_statsmodels("randhie"), "mdvis"),
}


def is_numeric(column):
    return pd.api.types.is_numeric_dtype(column)


def is_class(target):
    return not is_numeric(target) or target.nunique() <= 20


def run(command):
    done = subprocess.run(command, shell=True, check=False, executable="/bin/bash",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stderr}")
    return done


def ours(train, test, label):
    train.to_csv("train.csv", index=False)
    test.to_csv("test.csv", index=False)
    said = run(f"set -o pipefail; dl-preprocess table --label {label} --network net.json train.csv | "
               "dl-shard -q --shuffle --force -o train").stderr
    training = re.search(r"--epochs \d+ --batch \d+", said).group()
    run(f"dl-master -q --net net.json --data train-000.dls --local 1 {training} --fresh -o m.safetensors")
    report = json.loads(run("dl-eval --model m.safetensors --json --raw test.csv").stdout)
    metrics = report["evaluations"][0]["metrics"]
    return metrics["accuracy" if is_class(train[label]) else "r2"]


def with_parts_of_dates(table):
    table = table.copy()
    for name in table.columns:
        column = table[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            table[f"{name}.days"] = (column - pd.Timestamp(0)).dt.days
            table[f"{name}.month"] = column.dt.month
            table[f"{name}.weekday"] = column.dt.dayofweek
            table = table.drop(columns=name)
    return table


def theirs(model, train, test, label):
    x, x_test = (with_parts_of_dates(part.drop(columns=label)) for part in (train, test))
    numbers = [name for name in x if is_numeric(x[name])]
    words = [name for name in x if name not in numbers]
    columns = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        ("words", make_pipeline(SimpleImputer(strategy="most_frequent"),
                                OneHotEncoder(handle_unknown="ignore", sparse_output=False)), words)])
    whole = make_pipeline(columns, model)
    if not is_class(train[label]):
        whole = TransformedTargetRegressor(whole, transformer=StandardScaler())
    return whole.fit(x, train[label]).score(x_test, test[label])


def row_of(name, folds, seed_of_folds):
    table, label = TABLES[name]()
    classes = is_class(table[label])
    mlp, trees = ((MLPClassifier, HistGradientBoostingClassifier) if classes else
                  (MLPRegressor, HistGradientBoostingRegressor))
    cut = (StratifiedKFold if classes else KFold)(PARTS, shuffle=True, random_state=seed_of_folds)
    scores = []
    for seed, (first, second) in list(enumerate(cut.split(table, table[label])))[:folds]:
        train, test = table.iloc[first], table.iloc[second]
        scores.append([ours(train, test, label),
                       theirs(mlp(random_state=seed), train, test, label),
                       theirs(trees(random_state=seed), train, test, label)])
    scores = np.array(scores)
    own, peer, other = scores.mean(axis=0)
    error = np.std(scores[:, 1], ddof=1) / len(scores) ** 0.5
    return [name, str(len(table)), "accuracy" if classes else "R2", f"{own:.3f}",
            f"{peer:.3f} +- {error:.3f}", f"{other:.3f}", "ok" if own >= peer - error else "BELOW"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--folds", type=int, default=PARTS, help="2 to 5 of the five parts, in turn")
    parser.add_argument("--seed", type=int, default=0, help="of the parts; the settings were chosen with 0")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")  # of sklearn: 200 epochs are too few
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = [row_of(name, options.folds, options.seed) for name in options.tables.split(",")]
    show(f"tables: scores of {options.folds} folds",
         ["table", "rows", "", "ours", "MLP", "trees", ""], rows)


main()
