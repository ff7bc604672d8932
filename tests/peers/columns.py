"""A recipe of tables beside scikit-learn's ColumnTransformer, to 1e-6: imputed numbers with
indicators, one-hot words, words of truth, clipped and logarithmic numbers, all scales and bins;
parts of dates beside Python's datetime. Rows drawn with a seed, gaps among them, and later rows
with words and numbers that the fit has not seen."""

import argparse
import csv
import datetime
import json
import math
import os
import random
import tempfile

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (FunctionTransformer, KBinsDiscretizer, MinMaxScaler,
                                   OneHotEncoder, QuantileTransformer, RobustScaler,
                                   StandardScaler)

from files import records, run

NAMES = ["number", "integer", "town", "flag", "day", "gap"]
SCALES = {"standardize": StandardScaler, "minmax": MinMaxScaler, "robust": RobustScaler,
          "quantile": lambda: QuantileTransformer(n_quantiles=100, subsample=None),
          "normal": lambda: QuantileTransformer(n_quantiles=100, subsample=None,
                                                output_distribution="normal")}
EPOCH = datetime.datetime(1970, 1, 1)


def drawn_rows(count, draw, towns):
    rows = []
    for _ in range(count):
        day = datetime.datetime(1900, 1, 1) + datetime.timedelta(minutes=draw.randrange(100_000_000))
        rows.append([repr(draw.gauss(0, 1000)), str(draw.randrange(-9, 9)), draw.choice(towns),
                     draw.choice(["yes", "no"]), day.isoformat(),
                     "" if draw.random() < 0.3 else repr(draw.expovariate(0.1))])
    return rows


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NAMES] + rows)


def scaled(scale):
    if scale == "normal":
        return {"scale": "quantile", "quantiles": 100, "distribution": "normal"}
    return {"scale": scale} | ({"quantiles": 100} if scale == "quantile" else {})


def recipe(fill):
    gap = {"type": "number", "from": ["gap"], "missing": fill, "indicator": True}
    return {"source": {"type": "csv"}, "tensors": {"features": [
        {"type": "number", "from": ["number"], "clip": [-500, 800], "log": True},
        {"type": "number", "from": ["integer"]},
        {"type": "category", "from": "town", "encode": "one_hot", "unknown": "zeros", "most": 5},
        {"type": "number", "from": ["flag"], "true": ["yes"], "false": ["no"]},
        gap | ({"value": 7} if fill == "value" else {}),
        {"type": "date", "from": "day", "cyclic": False,
         "parts": ["year", "month", "day", "yearday", "weekday", "hour", "minute", "days"]},
        {"type": "date", "from": "day", "parts": ["month", "weekday", "hour"]},
        *({"type": "number", "from": ["number", "integer", "gap"], "missing": "median"} | scaled(scale)
          for scale in SCALES),
        {"type": "bins", "from": "number", "bins": 7},
        {"type": "bins", "from": "integer", "bins": 6, "strategy": "uniform", "encode": "ordinal"},
        {"type": "bins", "from": "gap", "missing": "own"},
        {"type": "number", "from": ["gap"], "missing": "previous", "value": -1,
         "indicator": True}]}}


def as_numbers(x):
    return np.array([[float(v) if v != "" else np.nan for v in row] for row in x])


class Scaled:
    """Scales of the numbers that are there, also of what stands in for missing ones."""

    def __init__(self, train):
        self.fill = np.nanmedian(train, axis=0)
        self.scales = [make().fit(train) for make in SCALES.values()]

    def transform(self, x):
        filled = np.where(np.isnan(x), self.fill, x)
        return np.hstack([scale.transform(filled) for scale in self.scales])


class Binned:
    def __init__(self, train):
        def bins(count, strategy, encode):
            return KBinsDiscretizer(count, strategy=strategy, encode=encode, subsample=None,
                                    quantile_method="linear")
        self.number = bins(7, "quantile", "onehot-dense").fit(train[:, :1])
        self.integer = bins(6, "uniform", "ordinal").fit(train[:, 1:2])
        gap = train[:, 2:]
        self.gap = bins(5, "quantile", "onehot-dense").fit(gap[~np.isnan(gap[:, 0])])

    def transform(self, x):
        missing = np.isnan(x[:, 2:])
        gap = self.gap.transform(np.where(missing, 0, x[:, 2:])) * ~missing
        return np.hstack([self.number.transform(x[:, :1]), self.integer.transform(x[:, 1:2]),
                          gap, missing])


def previous(x):
    last, out = -1.0, []
    for value in x:
        out.append([last if np.isnan(value) else value, np.isnan(value)])
        last = out[-1][0]
    return np.array(out)


def theirs(fill, train):
    def numbers(x):
        return np.array(x, dtype=object).reshape(len(x), -1)

    def log(x):
        clipped = np.clip(x, -500, 800)
        return np.sign(clipped) * np.log1p(np.abs(clipped))

    parse = FunctionTransformer(as_numbers)
    strategy = "constant" if fill == "value" else fill
    made = ColumnTransformer([
        ("number", make_pipeline(parse, FunctionTransformer(log)), [0]),
        ("integer", parse, [1]),
        ("town", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [2]),
        ("flag", FunctionTransformer(lambda x: (x == "yes").astype(float)), [3]),
        ("gap", make_pipeline(parse, SimpleImputer(strategy=strategy, fill_value=7.0,
                                                   add_indicator=True)), [5])])
    return made.fit(numbers(train)), numbers


def dates(rows):
    out = []
    for row in rows:
        t = datetime.datetime.fromisoformat(row[4])
        plain = [t.year, t.month, t.day, t.timetuple().tm_yday, t.weekday(), t.hour, t.minute,
                 (t - EPOCH) / datetime.timedelta(days=1)]
        for value, period in ((t.month - 1, 12), (t.weekday(), 7), (t.hour, 24)):
            plain += [math.sin(2 * math.pi * value / period), math.cos(2 * math.pi * value / period)]
        out.append(plain)
    return np.array(out)


def difference(fill, seed):
    draw = random.Random(seed)
    train = drawn_rows(400, draw, ["Bern", "Lyon", "Ulm", "Österö", 'a "b", c'])
    later = drawn_rows(100, draw, ["Bern", "Lyon", "Ulm", "Nowhere"])
    write("train.csv", train)
    write("later.csv", later)
    with open("recipe.json", "w", encoding="utf-8") as file:
        json.dump(recipe(fill), file)
    run("dl-preprocess fit recipe.json train.csv -o fitted.json")
    made, numbers = theirs(fill, train)
    columns = [0, 1, 5]
    train_numbers = as_numbers([[row[c] for c in columns] for row in train])
    scaled, binned = Scaled(train_numbers), Binned(train_numbers)
    worst = 0.0
    for path, rows in ("train.csv", train), ("later.csv", later):
        run(f"dl-preprocess -q --recipe fitted.json {path} -f -o out.dls")
        own = np.concatenate([r["features"] for r in records("out.dls")])
        x = as_numbers([[row[c] for c in columns] for row in rows])
        want = np.hstack([made.transform(numbers(rows)), dates(rows), scaled.transform(x),
                          binned.transform(x), previous(x[:, 2])])
        assert own.shape == want.shape, (own.shape, want.shape)
        scale = np.maximum(np.abs(want), 1)
        worst = max(worst, float(np.max(np.abs(own - want) / scale)))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    bad = False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for fill in "mean", "median", "most_frequent", "value":
            worst = max(difference(fill, seed) for seed in range(options.seeds))
            print(f"{fill:14} {worst:.1e}")
            bad = bad or not worst <= 1e-6
    raise SystemExit(1 if bad else 0)


main()
