"""A CSV of mixed types made into examples beside pandas, Polars and DuckDB, which make arrays of it.

The same steps on all sides: rows of adults, a formula, a word in place of another, numbers with
means and indicators for gaps, parts of dates, one-hot words, all side by side as float32. Time is
that of users and system, and on the wall, less what it takes to start; ours includes the stream
that it writes, and of table the pass that finds the recipe.
"""

import json
import os
import sys

import numpy as np

from raw_data import in_turns, run, show

WORDS = {"city": [f"City{i:02d}" for i in range(20)], "plan": ["basic", "plus", "pro", "trial"],
         "country": sorted(["GB", *(a + b for a in "ABCDEFGH" for b in "KLMNOP")])}
NUMBERS = ["height", "weight", "bmi", "x1", "x2", "x3", "x4", "x5", "x6", "active"]
RECIPE = {
    "source": {"type": "csv"},
    "steps": [{"where": "age >= 18 or is_missing(age)"},
              {"let": "bmi", "be": "weight / (height / 100) ^ 2"},
              {"map": "country", "values": {"UK": "GB"}}],
    "tensors": {
        "features": [
            {"type": "number", "from": ["age", "income"], "missing": "mean", "indicator": True, "na": ["NA"]},
            {"type": "number", "from": NUMBERS},
            {"type": "date", "from": "joined", "parts": ["days", "month", "weekday"]},
            *({"type": "category", "from": column, "encode": "one_hot", "classes": classes}
              for column, classes in WORDS.items())],
        "labels": {"type": "category", "from": "churn", "classes": ["no", "yes"]}}}

PANDAS = """
import numpy as np, pandas as pd
t = pd.read_csv(path, parse_dates=["joined"], usecols=lambda name: name not in ("customer", "note"))
t = t[(t.age >= 18) | t.age.isna()]
t["bmi"] = t.weight / (t.height / 100) ** 2
t["country"] = t.country.replace({"UK": "GB"})
gaps = t[["age", "income"]]
month, day = 2 * np.pi * (t.joined.dt.month - 1) / 12, 2 * np.pi * t.joined.dt.dayofweek / 7
parts = [gaps.fillna(fills).to_numpy("float32"), gaps.isna().to_numpy("float32"), t[NUMBERS].to_numpy("float32"),
         np.stack([(t.joined - pd.Timestamp(0)).dt.days, np.sin(month), np.cos(month), np.sin(day), np.cos(day)],
                  1).astype("float32")]
for column, classes in WORDS.items():
    parts.append(pd.get_dummies(pd.Categorical(t[column], categories=classes), dtype="float32").to_numpy())
x, y = np.hstack(parts), (t.churn == "yes").to_numpy("int32")
"""
POLARS = """
import math, numpy as np, polars as pl
col, f32 = pl.col, pl.Float32
t = pl.scan_csv(path, null_values=["NA"], try_parse_dates=True, schema_overrides={"age": pl.Float64})
t = t.filter((col.age >= 18) | col.age.is_null()).with_columns(
    (col.weight / (col.height / 100) ** 2).alias("bmi"), col.country.replace({"UK": "GB"}))
month = 2 * math.pi * (col.joined.dt.month().cast(pl.Float64) - 1) / 12
day = 2 * math.pi * (col.joined.dt.weekday().cast(pl.Float64) - 1) / 7
made = [col(c).fill_null(fills[c]).cast(f32) for c in fills]
made += [col(c).is_null().cast(f32).alias(c + "=") for c in fills]
made += [col(c).cast(f32) for c in NUMBERS]
made += [col.joined.cast(pl.Int32).cast(f32)]
made += [e.cast(f32).alias(f"part{i}") for i, e in enumerate((month.sin(), month.cos(), day.sin(), day.cos()))]
for column, classes in WORDS.items():
    made += [(col(column) == c).cast(f32).alias(column + c) for c in classes]
t = t.select(*made, (col.churn == "yes").cast(pl.Int32).alias("label")).collect(engine="streaming")
x, y = t.drop("label").to_numpy(), t["label"].to_numpy()
"""
DUCKDB = """
import duckdb, numpy as np
made = [f"coalesce({c}, {fill})" for c, fill in fills.items()] + [f"({c} is null)::int" for c in fills]
made += ["weight / (height / 100) ^ 2" if c == "bmi" else c for c in NUMBERS]
month, day = "2 * pi() * (month(joined) - 1) / 12", "2 * pi() * (isodow(joined) - 1) / 7"
made += ["date_diff('day', date '1970-01-01', joined)", *(f"{f}({e})" for e in (month, day) for f in ("sin", "cos"))]
for column, classes in WORDS.items():
    value = "if(country = 'UK', 'GB', country)" if column == "country" else column
    made += [f"({value} = '{c}')::int" for c in classes]
columns = ", ".join(f"({e})::float as c{i}" for i, e in enumerate(made))
found = duckdb.connect(config={"threads": threads}).sql(
    f"select {columns}, (churn = 'yes')::int as label from read_csv('{path}', nullstr=['NA', '']) "
    "where age >= 18 or age is null").fetchnumpy()
x, y = np.stack([np.ma.getdata(found[f"c{i}"]) for i in range(len(made))], 1), found["label"]
"""
PEERS = {"pandas": PANDAS, "polars": POLARS, "duckdb": DUCKDB}


def generate(path, megabytes, seed=1):
    rows = min(200_000, int(megabytes * 8000))
    draw = np.random.default_rng(seed)
    age = draw.integers(16, 90, rows).astype(str).astype(object)
    age[draw.random(rows) < 0.05] = ""
    income = np.char.mod("%.2f", draw.lognormal(10, 0.5, rows)).astype(object)
    income[draw.random(rows) < 0.1] = "NA"
    countries = np.array([*WORDS["country"], "UK"])
    notes = np.array([f'"note {i}, of {i % 7} words"' for i in range(1000)])
    columns = {
        "customer": np.arange(rows) + 10_000_000,
        "joined": (np.datetime64("2015-01-01") + draw.integers(0, 3650, rows)).astype(str),
        "age": age, "income": income,
        "height": np.char.mod("%.1f", draw.normal(172, 9, rows)),
        "weight": np.char.mod("%.1f", draw.normal(75, 12, rows)),
        **{f"x{i}": np.char.mod("%.6f", draw.standard_normal(rows)) for i in range(1, 7)},
        "city": np.array(WORDS["city"])[draw.integers(0, 20, rows)],
        "plan": np.array(WORDS["plan"])[draw.integers(0, 4, rows)],
        "country": countries[draw.integers(0, len(countries), rows)],
        "active": np.where(draw.random(rows) < 0.5, "true", "false"),
        "note": notes[draw.integers(0, 1000, rows)],
        "churn": np.where(draw.random(rows) < 0.3, "yes", "no")}
    lines = [",".join(map(str, row)) + "\n" for row in zip(*columns.values())]
    body = "".join(lines)
    with open(path, "w", encoding="ascii") as file:
        left = int(megabytes * 1e6) - file.write(",".join(columns) + "\n")
        while left > len(body):
            left -= file.write(body)
        file.write(body[:body.rfind("\n", 0, left) + 1])


def program(name, path, fills, threads, end=""):
    settings = f"path, threads, fills, WORDS, NUMBERS = {str(path)!r}, {threads}, {fills}, {WORDS}, {NUMBERS}\n"
    return [sys.executable, "-W", "ignore", "-c", settings + PEERS[name] + end]


def check_arrays(folder, fitted, fills):
    """That all sides make the same of a small file."""
    from files import records
    path = folder / "small.csv"
    generate(path, 1)
    run("dl-preprocess", "-q", "--recipe", fitted, path, "-o", folder / "small.dls")
    own = np.concatenate([record["features"] for record in records(folder / "small.dls")])
    for name in PEERS:
        run(*program(name, path, fills, 1, f"np.save({str(folder / name)!r}, x)\n"))
        other = np.load(folder / f"{name}.npy")
        far = np.abs(own - other) / np.maximum(np.abs(other), 1)
        show(figure="mixed types, the same arrays", peer=name, shape=own.shape == other.shape,
             largest_difference=float(far.max()))


def mixed(folder, megabytes):
    path, recipe, fitted = folder / "mixed.csv", folder / "recipe.json", folder / "fitted.json"
    generate(path, megabytes)
    recipe.write_text(json.dumps(RECIPE))
    run("dl-preprocess", "-q", "fit", recipe, path, "-o", fitted)
    learned = json.loads(fitted.read_text())["tensors"]["features"][0]
    fills = dict(zip(learned["from"], learned["fills"]))
    check_arrays(folder, fitted, fills)
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    for threads in (1, 2):
        os.environ["POLARS_MAX_THREADS"] = str(threads)
        ours = ["dl-preprocess", "-q", "--recipe", fitted, path, "--threads", threads]
        sides = {"ours": ours, "table": ["dl-preprocess", "table", "-q", "--label", "churn", path, "--threads", threads]}
        for name in PEERS:
            if name != "pandas" or threads == 1:
                sides[name] = program(name, path, fills, threads)
                sides[f"{name} starts"] = [sys.executable, "-c", f"import {name}, numpy"]
        times = in_turns(sides)
        own = times["ours"]
        show(figure=f"mixed types, {megabytes} MB, threads: {threads}", seconds=round(own[0], 2),
             MB_a_second_of_user_and_system=round(megabytes / own[0]), wall_seconds=round(own[1], 2),
             memory_MB=round(own[2]))
        whole = times["table"]
        show(figure="with the recipe found: dl-preprocess table", seconds=round(whole[0], 2),
             wall_seconds=round(whole[1], 2), memory_MB=round(whole[2]))
        for name in PEERS:
            if name in times:
                took, wall = (times[name][i] - times[f"{name} starts"][i] for i in (0, 1))
                show(figure=f"mixed types, threads: {threads}", peer=name, seconds_of_peer=round(took, 2),
                     times_as_fast=round(took / own[0], 2), wall_times_as_fast=round(wall / own[1], 2),
                     memory_MB_of_peer=round(times[name][2]))
