"""Resampling, gaps, lags, differences and the calendar of dl-preprocess series beside pandas: drawn
series of two keys with rows at uneven times and missing numbers; every way to resample with every
way to fill, in steps of minutes to months.
"""

import argparse
import json
import os
import subprocess
import tempfile

import numpy as np
import pandas as pd

STEPS = {"15min": "15min", "1h": "1h", "6h": "6h", "1d": "1D", "1w": "7D", "1mo": "MS"}
WAYS = ("mean", "last", "sum", "interpolate")
GAPS = ("cut", "interpolate", "previous")


def draw(rng, step):
    """Rows of two series, shuffled, some without a number."""
    length = {"1mo": pd.Timedelta(days=30), "1w": pd.Timedelta(days=7)}.get(step)
    length = length or pd.Timedelta(step.replace("d", "D"))
    frames = []
    for key in ("a", "b"):
        n = int(rng.integers(20, 120))
        seconds = np.sort(rng.integers(0, int(40 * length.total_seconds()), n))
        seconds = np.unique(seconds)
        when = pd.Timestamp("2023-01-31") + pd.to_timedelta(
            seconds + int(rng.integers(0, 3 * 86400)), unit="s")
        frames.append(pd.DataFrame({"key": key, "when": when,
                                    "v": rng.normal(10, 5, len(seconds)).round(3)}))
        frames[-1].loc[rng.random(len(seconds)) < 0.15, "v"] = np.nan
    return pd.concat(frames)


def resampled(series, step, way, origin):
    rule = STEPS[step]
    by = {"origin": origin} if rule != "MS" else {}
    steps = series.resample(rule, **by)
    if way == "mean":
        return steps.mean()
    if way == "last":
        return steps.last()
    if way == "sum":
        return steps.sum(min_count=1)
    begins = steps.mean().index
    both = series.index.union(begins)
    return series.reindex(both).interpolate("time", limit_area="inside").reindex(begins)


def filled(series, gaps):
    if gaps == "interpolate":
        return series.interpolate("time", limit_area="inside")
    if gaps == "previous":
        return series.ffill(limit_area="inside")
    return series


def theirs(table, case):
    origin = table["when"].min().normalize()
    made = []
    for key in table["key"].unique():  # in the order of their first rows
        own = table[table["key"] == key].set_index("when")["v"].sort_index()
        own = filled(resampled(own, case["step"], case["way"], origin), case["gaps"])
        if case["difference"]:
            own = own.diff(case["difference"])
        columns = [own] + [own.shift(lag) for lag in case["lags"]]
        for part, period, first in (("month", 12, 1), ("day_of_week", 7, 0), ("hour", 24, 0)):
            angle = 2 * np.pi * (getattr(own.index, part) - first) / period
            columns += [pd.Series(np.sin(angle), own.index), pd.Series(np.cos(angle), own.index)]
        made.append(pd.concat(columns, axis=1).dropna().to_numpy())
    return np.concatenate(made)


def ours(table, case, folder):
    path = os.path.join(folder, "in.csv")
    table.to_csv(path, index=False)
    options = ["--difference", str(case["difference"])] if case["difference"] else []
    if case["lags"]:
        options += ["--lags", ",".join(map(str, case["lags"]))]
    stream = os.path.join(folder, "s.dls")
    subprocess.run(["dl-preprocess", "-q", "series", "--window", "1", "--horizon", "0", "--label",
                    "v", "--time", "when", "--key", "key", "--every", case["step"], "--resample",
                    case["way"], "--gaps", case["gaps"], "--calendar", "month,weekday,hour",
                    *options, path, "-o", stream, "--force"], check=True)
    lines = subprocess.run(["dl-shard", "--head", "1000000", "--json", stream], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    rows = np.array([json.loads(line)["features"][0] for line in lines])
    lags = len(case["lags"])  # the last columns of ours
    return np.concatenate([rows[:, :1], rows[:, rows.shape[1] - lags:],
                           rows[:, 1:rows.shape[1] - lags]], axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=2, help="series a combination")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    cases, wrong, rows = 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            for way in WAYS:
                for gaps in GAPS:
                    for _ in range(args.random):
                        case = {"step": step, "way": way, "gaps": gaps,
                                "difference": int(rng.integers(0, 3)),
                                "lags": [[], [1], [1, 3]][int(rng.integers(0, 3))]}
                        table = draw(rng, step).sample(frac=1, random_state=int(rng.integers(1e9)))
                        want = theirs(table, case)
                        if len(want) == 0:
                            continue
                        got = ours(table, case, folder)
                        cases += 1
                        rows += len(want)
                        if got.shape != want.shape or not np.allclose(got, want, 1e-4, 1e-4):
                            wrong.append(case)
                            print("differs:", case, got.shape, want.shape)
    print(f"{cases} series, {rows} rows: {len(wrong)} are not as pandas has them")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
