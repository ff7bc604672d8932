"""Forecasts of series that statsmodels has, beside the naive and the seasonal naive forecast and
statsmodels' SARIMAX: monthly carbon dioxide, yearly sunspots, monthly output of electrical
equipment, the monthly ones by differences, as SARIMAX has them.  The last fifth is predicted, a
season at a time, from every step of it on; what a model learned is all before that.  Errors are
means over all these forecasts; of ours over three seeds.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings

import numpy as np
import statsmodels
from statsmodels.tsa.statespace.sarimax import SARIMAX

from table import show

FOLDER = os.path.join(os.path.dirname(statsmodels.__file__), "datasets")
# File, columns of the time and the number, season, window, further options, and SARIMAX's orders.
SERIES = {
    "co2": ("co2/co2.csv", "date", "co2", 12, 36,
            ["--time-format", "%Y%m%d", "--every", "1mo", "--gaps", "interpolate",
             "--difference", "1"],
            ((1, 1, 1), (0, 1, 1, 12))),
    "sunspots": ("sunspots/sunspots.csv", "YEAR", "SUNACTIVITY", 11, 11, [],
                 ((9, 0, 0), (0, 0, 0, 0))),
    "elec_equip": ("elec_equip/elec_equip.csv", "DATE", "STS.M.I7.W.TOVT.NS0016.4.000", 12, 24,
                   ["--time-format", "%b-%d-%Y", "--difference", "1"], ((1, 1, 1), (0, 1, 1, 12))),
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def ours(name, seed):
    file, when, what, season, window, options, _ = SERIES[name]
    run("dl-preprocess", "-q", "series", "--window", str(window), "--horizon", str(season),
        "--season", str(season), "--label", what, "--time", when, *options,
        "--split", "train=0.8,test=0.2", "--network", "net.json", os.path.join(FOLDER, file),
        "-o", "s.dls", "--force")
    run("dl-shard", "-q", "--force", "--shuffle", "-o", "s", "s-train.dls")
    with open("net.json", encoding="utf-8") as file:
        net = json.load(file)
    with open("net.json", "w", encoding="utf-8") as out:
        json.dump({**net, "seed": seed}, out)
    run("dl-master", "-q", "--net", "net.json", "--data", "s-000.dls", "--local", "1", "--batch", "32",
        "--epochs", str(net["updater"]["learning_rate"]["limit"]), "--fresh", "--run", "run",
        "-o", "m.safetensors")
    report = json.loads(run("dl-eval", "--model", "m.safetensors", "--evaluate", "forecast",
                            "--json", "s-test.dls"))
    return report["evaluations"][0]["metrics"]


def values_of(name):
    """All numbers of the series as we take them: of windows one row wide."""
    file, when, what, _, _, options, _ = SERIES[name]
    options = [o for o in options if o not in ("--difference", "1")]
    run("dl-preprocess", "-q", "series", "--window", "1", "--horizon", "0", "--label", what,
        "--time", when, *options, os.path.join(FOLDER, file), "-o", "all.dls", "--force")
    lines = run("dl-shard", "--head", "1000000", "--json", "all.dls").splitlines()
    return np.array([json.loads(line)["labels"][0] for line in lines])


def theirs(name):
    season, orders = SERIES[name][3], SERIES[name][6]
    values = values_of(name)
    border = round(0.8 * len(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = SARIMAX(values[:border], order=orders[0], seasonal_order=orders[1],
                         trend="c" if name == "sunspots" else None).fit(disp=False)
        errors = []
        for end in range(border, len(values) - season + 1):
            made = fitted.append(values[border:end], refit=False) if end > border else fitted
            errors.append(np.abs(made.forecast(season) - values[end:end + season]))
    return float(np.mean(errors))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json")
    args = parser.parse_args()
    rows, results, worse = [], {}, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in SERIES:
            begin = time.monotonic()
            all_ours = [ours(name, seed) for seed in range(1, args.seeds + 1)]
            seconds = (time.monotonic() - begin) / args.seeds
            begin = time.monotonic()
            sarimax = theirs(name)
            last = all_ours[0]
            mae = float(np.mean([one["mae"] for one in all_ours]))
            scale = last["mae"] / last["mase"]
            results[name] = {"ours": mae, "mase": mae / scale, "naive": last["naive_mae"],
                             "seasonal": last["seasonal_mae"], "sarimax": sarimax}
            rows.append([name, f"{mae:.4g}", f"{mae / scale:.3f}", f"{last['naive_mae']:.4g}",
                         f"{last['seasonal_mae']:.4g}", f"{sarimax:.4g}",
                         f"{mae / sarimax:.2f}", f"{seconds:.1f}",
                         f"{time.monotonic() - begin:.1f}"])
            if mae >= min(last["naive_mae"], last["seasonal_mae"]):
                worse.append(name)
    show("mean absolute errors of a season ahead",
         ["series", "mae", "mase", "naive", "seasonal naive", "SARIMAX", "of SARIMAX's",
          "seconds", "SARIMAX's"], rows)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump(results, out)
    if worse:
        raise SystemExit("no better than naive: " + ", ".join(worse))


if __name__ == "__main__":
    main()
