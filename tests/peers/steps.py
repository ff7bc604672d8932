"""Steps of recipes beside pandas: each by itself, then chains of them, drawn with a seed.

Tables have numbers, words, truths and dates with gaps among them; pandas holds them in its
types with missing values. A chain's table is read from the ids of its examples. Numbers agree to
1e-9, all else is equal.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile

import numpy as np
import pandas as pd

from files import run

GAP, BAR = "\u2205", "\u00a6"
WORDS = ["red", "green", "blue", "Gr\u00fcn", "dark red", "a-b", "x y z"]


def drawn_table(draw, rows):
    def gaps(values, share):
        return [None if draw.random() < share else value for value in values]
    days = pd.Timestamp("2000-01-01")
    return pd.DataFrame({
        "n": pd.array(gaps([round(draw.gauss(0, 50), 3) for _ in range(rows)], 0.15), "Float64"),
        "i": pd.array([float(draw.randrange(-5, 6)) for _ in range(rows)], "Float64"),
        "w": pd.array(gaps([draw.choice(WORDS) for _ in range(rows)], 0.15), "string"),
        "k": pd.array([draw.choice("abcd") for _ in range(rows)], "string"),
        "f": pd.array(gaps([draw.random() < 0.5 for _ in range(rows)], 0.15), "boolean"),
        "d": pd.Series([days + pd.Timedelta(days=draw.randrange(9000)) for _ in range(rows)])})


def kind(series):
    if isinstance(series.dtype, pd.Float64Dtype):
        return "number"
    if isinstance(series.dtype, pd.StringDtype):
        return "text"
    return "truth" if isinstance(series.dtype, pd.BooleanDtype) else "date"


def finite(series):
    values = series.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    return pd.Series(pd.array([v if np.isfinite(v) else None for v in values], "Float64"),
                     index=series.index)


def text(series):
    return series.astype("string").replace("", pd.NA)


def of_kind(table, wanted):
    return [name for name in table if kind(table[name]) == wanted]


class Formulas:
    """Formulas of a kind, each with what pandas makes of it."""

    def __init__(self, draw, table):
        self.draw, self.table = draw, table

    def column(self, wanted):
        names = of_kind(self.table, wanted)
        if not names:
            return None
        name = self.draw.choice(names)
        return f"`{name}`", self.table[name]

    def constant(self, value, dtype):
        return pd.Series(pd.array([value] * len(self.table), dtype), index=self.table.index)

    def number(self, depth=3):
        draw = self.draw
        if depth == 0 or draw.random() < 0.2:
            leaf = self.column("number")
            if leaf and draw.random() < 0.7:
                return leaf
            value = draw.choice([0.5, 1, 2, 3, 10, 0.25])
            return repr(value), self.constant(float(value), "Float64")
        what = draw.choice(["+", "-", "*", "/", "%", "one", "if", "extreme", "length", "part",
                            "days", "coalesce", "power"])
        if what in "+-*/%":
            (a, x), (b, y) = self.number(depth - 1), self.number(depth - 1)
            made = {"+": x + y, "-": x - y, "*": x * y}.get(what)
            if what in "/%":
                u, v = (s.to_numpy(dtype=float, na_value=np.nan) for s in (x, y))
                with np.errstate(all="ignore"):
                    made = pd.Series(u / v if what == "/" else np.mod(u, v), index=x.index)
            return f"({a} {what} {b})", finite(made)
        if what == "power":
            a, x = self.number(depth - 1)
            return f"({a}) ^ 2", finite(x * x)
        if what == "one":
            name = draw.choice(["abs", "sqrt", "floor", "ceil", "round", "sign", "-", "log10"])
            a, x = self.number(depth - 1)
            u = x.to_numpy(dtype=float, na_value=np.nan)
            function = {"abs": np.abs, "round": np.rint, "-": np.negative}.get(name) \
                or getattr(np, name)
            with np.errstate(all="ignore"):
                made = function(u)
            return (f"-({a})" if name == "-" else f"{name}({a})",
                    finite(pd.Series(made, index=x.index)))
        if what == "if":
            (c, t), (a, x), (b, y) = self.truth(1), self.number(depth - 1), self.number(depth - 1)
            return f"if({c}, {a}, {b})", x.where(t.fillna(False).astype(bool), y)
        if what == "extreme":
            name = draw.choice(["min", "max"])
            (a, x), (b, y) = self.number(depth - 1), self.number(depth - 1)
            both = np.array([s.to_numpy(dtype=float, na_value=np.nan) for s in (x, y)])
            return f"{name}({a}, {b})", finite(pd.Series(
                (np.fmin if name == "min" else np.fmax)(*both), index=x.index))
        if what == "coalesce":
            (a, x), (b, y) = self.number(depth - 1), self.number(depth - 1)
            return f"coalesce({a}, {b})", x.where(x.notna(), y)
        if what == "length":
            a, x = self.text(1)
            return f"length({a})", x.str.len().astype("Float64")
        a, x = self.date()
        if x is None:
            return "1", self.constant(1.0, "Float64")
        if what == "days":
            return f"({a} - date('2010-05-05'))", finite(
                (x - pd.Timestamp("2010-05-05")) / pd.Timedelta(days=1))
        name, part = draw.choice([("year", "year"), ("month", "month"), ("day", "day"),
                                  ("weekday", "day_of_week"), ("yearday", "day_of_year")])
        return f"{name}({a})", finite(getattr(x.dt, part).astype("Float64"))

    def date(self):
        found = self.column("date")
        if not found:
            return "", None
        if self.draw.random() < 0.3:
            return f"(date({found[0]}) + 3)", found[1] + pd.Timedelta(days=3)
        return f"date({found[0]})", found[1]

    def text(self, depth=2):
        draw = self.draw
        leaf = self.column("text")
        if depth == 0 or not leaf or draw.random() < 0.2:
            return leaf or ("'word'", self.constant("word", "string"))
        what = draw.choice(["upper", "lower", "trim", "concat", "substring", "replace", "extract"])
        a, x = self.text(depth - 1)
        if what == "concat":
            b, y = self.text(depth - 1)
            return f"concat({a}, '-', {b})", text(x + "-" + y)
        if what == "substring":
            first, size = draw.randrange(1, 4), draw.randrange(1, 4)
            return (f"substring({a}, {first}, {size})",
                    text(x.str.slice(first - 1, first - 1 + size)))
        if what == "replace":
            return f"replace({a}, 'e', 'EE')", text(x.str.replace("e", "EE", regex=False))
        if what == "extract":
            return f"extract({a}, '([a-z]+)')", text(x.str.extract("([a-z]+)", expand=False))
        made = {"upper": x.str.upper, "lower": x.str.lower, "trim": x.str.strip}[what]()
        return f"{what}({a})", text(made)

    def truth(self, depth=2):
        draw = self.draw
        what = draw.choice(["order", "equal", "in", "missing", "column", "contains", "and", "or",
                            "not"])
        if depth == 0 and what in ("and", "or", "not"):
            what = "order"
        if what in ("and", "or"):
            (a, x), (b, y) = self.truth(depth - 1), self.truth(depth - 1)
            return f"({a} {what} {b})", (x & y) if what == "and" else (x | y)
        if what == "not":
            a, x = self.truth(depth - 1)
            return f"(not {a})", ~x
        if what == "missing":
            name = draw.choice(list(self.table))
            return f"is_missing(`{name}`)", self.table[name].isna().astype("boolean")
        if what == "column" and self.column("truth"):
            return self.column("truth")
        if what in ("equal", "in", "contains") and self.column("text"):
            a, x = self.text(1)
            if what == "equal":
                return f"{a} == 'red'", (x == "red").astype("boolean")
            if what == "contains":
                return f"contains({a}, 'e')", x.str.contains("e", regex=False).astype("boolean")
            return (f"{a} in ('red', 'a')",
                    x.isin(["red", "a"]).astype("boolean").where(x.notna(), pd.NA))
        (a, x), (b, y) = self.number(1), self.number(1)
        sign = draw.choice(["<", "<=", ">", ">=", "==", "!="])
        made = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y,
                "!=": x != y}[sign]
        return f"{a} {sign} {b}", made.astype("boolean")


def let(draw, table):
    formulas = Formulas(draw, table)
    be, made = draw.choice([formulas.number, formulas.number, formulas.text, formulas.truth])()
    name = draw.choice(["x", "y", "z", *table][:6])
    return {"let": name, "be": be}, table.assign(**{name: made})


def where(draw, table):
    be, made = Formulas(draw, table).truth()
    kept = table[made.fillna(False).astype(bool)]
    return ({"where": be}, kept) if len(kept) > 3 else let(draw, table)


def drop(draw, table):
    name = draw.choice(list(table))
    return ({"drop": name}, table.drop(columns=name)) if len(table.columns) > 3 \
        else let(draw, table)


def keep(draw, table):
    names = draw.sample(list(table), k=max(3, len(table.columns) - 2))
    return {"keep": names}, table[names]


def rename(draw, table):
    a, b = draw.sample(list(table), k=2)
    names = draw.choice([{a: b, b: a}, {a: a + "_"}])
    return {"rename": names}, table.rename(columns=names)


def fill(draw, table):
    name = draw.choice(list(table))
    if draw.random() < 0.4:
        return {"fill": name, "by": "previous"}, table.assign(**{name: table[name].ffill()})
    what = kind(table[name])
    if what == "date":
        return let(draw, table)
    value = {"number": 7.5, "text": "none", "truth": True}[what]
    return {"fill": name, "with": value}, table.assign(**{name: table[name].fillna(value)})


def map_values(draw, table):
    names = of_kind(table, "text")
    if not names:
        return let(draw, table)
    name = draw.choice(names)
    values = {"red": "rot", "a": "A", "green": "red"}
    made = table[name].replace(values)
    step = {"map": name, "values": values}
    if draw.random() < 0.5:
        step["else"] = "other"
        made = made.where(table[name].isin(list(values)) | table[name].isna(), "other")
    return step, table.assign(**{name: text(made)})


def replace(draw, table):
    names = of_kind(table, "text")
    if not names:
        return let(draw, table)
    name = draw.choice(names)
    pattern, by = draw.choice([("[aeiou]", ""), ("(r)(e)", r"\2\1"), ("^d.*", "D")])
    return ({"replace": name, "pattern": pattern, "by": by},
            table.assign(**{name: text(table[name].str.replace(pattern, by, regex=True))}))


def split(draw, table):
    names = of_kind(table, "text")
    if not names:
        return let(draw, table)
    name = draw.choice(names)
    parts = table[name].str.split(" ", n=1, expand=True).reindex(columns=[0, 1])
    return ({"split": name, "at": " ", "into": ["p", "q"]},
            table.assign(p=text(parts[0]), q=text(parts[1])))


def cast(draw, table):
    name = draw.choice(list(table))
    what = {"number": "number", "truth": "boolean", "text": "text", "date": "date"}
    if kind(table[name]) == "truth" and draw.random() < 0.5:
        return {"cast": name, "to": "number"}, table.assign(**{name: table[name].astype("Float64")})
    return {"cast": name, "to": what[kind(table[name])]}, table


def group_by(draw, table):
    keys = [name for name in of_kind(table, "text") if table[name].nunique() < 40]
    numbers = of_kind(table, "number")
    if not keys or not numbers or len(table) < 10:
        return let(draw, table)
    key = draw.sample(keys, k=min(len(keys), draw.choice([1, 1, 2])))
    groups = table.groupby(key, sort=False, dropna=False)
    take, made = {}, {}
    for name in draw.sample(numbers, k=min(2, len(numbers))):
        for how in draw.sample(["sum", "mean", "min", "max", "median", "std", "var", "count",
                                "nunique", "first", "last"], k=3):
            column = f"{name}.{how}"
            take[column] = f"{how}(`{name}`)"
            own = groups[name]
            made[column] = finite((own.sum(min_count=1) if how == "sum"
                                   else getattr(own, how)()).astype("Float64"))
    take["size"] = "count()"
    made["size"] = groups.size().astype("Float64")
    result = pd.DataFrame(made).reset_index()
    for name in key:
        result[name] = result[name].astype("string")
    return {"group_by": key, "take": take}, result


def join(draw, table):
    keys = of_kind(table, "text")
    if not keys or len(table) > 500:
        return let(draw, table)
    key = draw.choice(keys)
    number = next(i for i in range(99) if f"size{i}" not in table and f"note{i}" not in table)
    size, note = f"size{number}", f"note{number}"
    other = pd.DataFrame({key: pd.array(["a", "b", "red", "red", "zz"], "string"),
                          size: pd.array([1.0, 2.0, 3.0, 4.0, 5.0], "Float64"),
                          note: pd.array(["u", None, "v", "w", "t"], "string")})
    path = f"{key}{number}.csv"
    other.to_csv(path, index=False)
    how = draw.choice(["left", "inner", "left"])
    made = table.merge(other, on=key, how=how)
    if len(made) < 3:
        return let(draw, table)
    return {"join": path, "on": key, "take": [size, note], "how": how}, made


def sort(draw, table):
    names = draw.sample([n for n in table if kind(table[n]) != "truth"], k=2)
    down = draw.random() < 0.5
    return ({"sort": names, "descending": down},
            table.sort_values(names, ascending=not down, kind="stable"))


def shift(draw, table):
    name, rows = draw.choice(list(table)), draw.randrange(1, 4)
    step, own = {"shift": name, "rows": rows, "into": "before"}, table[name]
    keys = of_kind(table, "text")
    if keys and draw.random() < 0.5:
        step["within"] = draw.choice(keys)
        made = own.groupby(table[step["within"]].fillna(GAP)).shift(rows)
    else:
        made = own.shift(rows)
    return step, table.assign(before=made.astype(own.dtype))


def diff(draw, table):
    names = of_kind(table, "number")
    if not names:
        return let(draw, table)
    name = draw.choice(names)
    return {"diff": name}, table.assign(**{name: finite(table[name] - table[name].shift(1))})


STEPS = [let, where, drop, keep, rename, fill, map_values, replace, split, cast, group_by, join,
         sort, shift, diff]


def ours(steps, names):
    shown = "concat(" + f", '{BAR}', ".join(
        f"coalesce(text(`{name}`), '{GAP}')" for name in names) + ")"
    recipe = {"source": {"type": "csv"},
              "steps": [*steps, {"let": "shown", "be": shown}, {"let": "one", "be": "1"}],
              "tensors": {"features": {"type": "number", "from": ["one"]},
                          "id": {"type": "id", "from": "shown", "bytes": 4096}}}
    with open("r.json", "w", encoding="utf-8") as file:
        json.dump(recipe, file)
    run("dl-preprocess -q -f --recipe r.json t.csv -o t.dls")
    lines = run("dl-shard --head 100000 --json t.dls").decode().splitlines()
    return [json.loads(line)["id"].split(BAR) for line in lines]


def difference(table, rows):
    """"" if they are the same."""
    if len(table) != len(rows):
        return f"{len(rows)} rows, want {len(table)}"
    for j, name in enumerate(table):
        what = kind(table[name])
        for i, value in enumerate(table[name]):
            own = rows[i][j]
            if pd.isna(value) or own == GAP:
                same = pd.isna(value) and own == GAP
            elif what == "number":
                same = abs(float(own) - value) <= 1e-9 * max(1, abs(value))
            elif what == "date":
                same = pd.Timestamp(own) == value
            elif what == "truth":
                same = own.lower() == str(bool(value)).lower()
            else:
                same = own == value
            if not same:
                return f"row {i}, column {name}: {own!r}, want {value!r}"
    return ""


def check(name, draw, makers):
    table = drawn_table(draw, draw.choice([12, 40, 150]))
    table.assign(f=table["f"].map({True: "true", False: "false"})).to_csv("t.csv", index=False)
    steps = []
    for make in makers:
        step, table = make(draw, table)
        table = table.reset_index(drop=True)
        steps.append(step)
    try:
        what = difference(table, ours(steps, list(table)))
    except subprocess.CalledProcessError:
        what = "refused"
    if what:
        print(f"{name}: {what}\n  {json.dumps(steps, ensure_ascii=False)}")
    return not what


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=300, help="chains")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    good = all_of = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for make in STEPS:
            for i in range(5):
                draw = random.Random(f"{options.seed} {make.__name__} {i}")
                good += check(make.__name__, draw, [make])
                all_of += 1
        for i in range(options.random):
            draw = random.Random(f"{options.seed} {i}")
            good += check(f"chain {i}", draw, draw.choices(STEPS, k=draw.randrange(2, 9)))
            all_of += 1
    print(f"{good} of {all_of} as pandas")
    raise SystemExit(0 if good == all_of else 1)


main()
