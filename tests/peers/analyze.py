"""dl-preprocess analyze of a mixed table beside DuckDB's SUMMARIZE and fg-data-profiling (the
later name of ydata-profiling) in its minimal mode: processor time of one thread, in turns, what
an import takes left out; and means, deviations and quantiles beside DuckDB's.

usage: analyze.py [MEGABYTES]
"""

import json
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from raw_data import in_turns, show

DUCKDB = """
import duckdb, sys
print(duckdb.connect(config={"threads": 1}).sql(f"summarize select * from read_csv('{sys.argv[1]}')").fetchall()[0])
"""
PROFILING = """
import sys
import pandas
from data_profiling import ProfileReport
report = ProfileReport(pandas.read_csv(sys.argv[1]), minimal=True, progress_bar=False, pool_size=1)
print(len(report.to_json()))
"""


def mixed(path, megabytes):
    """Numbers, integers, categories, words, dates, booleans and gaps."""
    rng = np.random.default_rng(1)
    columns = "id,when,plan,city,age,income,balance,visits,active,score,ratio,street"
    n, first = 20000, 0
    with path.open("w") as file:
        file.write(columns + "\n")
        while file.tell() < megabytes * 1e6:
            when = (np.datetime64("2014-01-01") + rng.integers(0, 3650, n)).astype(str)
            plan = np.array(["basic", "plus", "premium"])[rng.integers(0, 3, n)]
            city, street = rng.integers(0, 200, n), rng.integers(0, 100000, n)
            age, visits = rng.integers(18, 90, n), rng.poisson(3, n)
            income, balance = rng.lognormal(10, 0.6, n), rng.normal(0, 1000, n)
            active, gaps = rng.random(n) < 0.4, rng.random((n, 2)) < 0.05
            score, ratio = rng.normal(size=n), rng.random(n)
            file.writelines(
                f"{first + i},{when[i]},{plan[i]},city{city[i]},{'' if gaps[i, 0] else age[i]},{income[i]:.2f},"
                f"{balance[i]:.2f},{visits[i]},{'yes' if active[i] else 'no'},{score[i]:.6f},"
                f"{'' if gaps[i, 1] else format(ratio[i], '.4f')},Street {street[i]}\n" for i in range(n))
            first += n


def agree(path):
    """The largest error of a mean or deviation, and of the rank of a quantile."""
    import duckdb

    ours = subprocess.run(["dl-preprocess", "analyze", "-q", "--json", str(path)], check=True, capture_output=True)
    worst, off = 0, 0
    db = duckdb.connect()
    for column in json.loads(ours.stdout)["columns"]:
        if "mean" not in column:
            continue
        name = column["name"]
        table = f"read_csv('{path}')"
        mean, deviation, rows = db.execute(
            f'select avg("{name}"::double), stddev_pop("{name}"::double), count("{name}") from {table}').fetchone()
        worst = max(worst, abs(column["mean"] - mean) / deviation, abs(column["deviation"] / deviation - 1))
        for share, value in column["quantiles"].items():
            below, equal = db.execute(f'select count(*) filter ("{name}" < {value}), count(*) filter ("{name}" = {value}) '
                                  f"from {table}").fetchone()
            share = float(share[:-1]) / 100
            off = max(off, below / rows - share, share - (below + equal + 1) / rows)
    return worst, off


def main():
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mixed.csv"
        with multiprocessing.Pool(1) as other:  # its memory would count as that of the programs
            other.apply(mixed, (path, megabytes))
            worst, off = other.apply(agree, (path,))
        show(figure="beside DuckDB's numbers", means_and_deviations=float(f"{worst:.1e}"),
             ranks_of_quantiles=float(f"{off:.1e}"))
        imports = "import pandas; from data_profiling import ProfileReport"
        times = in_turns({
            "ours": ["dl-preprocess", "analyze", "-q", path],
            "DuckDB": [sys.executable, "-c", DUCKDB, path],
            "DuckDB starts": [sys.executable, "-c", "import duckdb"],
            "fg-data-profiling": [sys.executable, "-c", PROFILING, path],
            "fg-data-profiling starts": [sys.executable, "-c", imports],
        }, 2)
        own = times["ours"][0]
        for peer in ("DuckDB", "fg-data-profiling"):
            took = times[peer][0] - times[f"{peer} starts"][0]
            show(figure=f"analyze, {megabytes} MB", peer=peer, seconds=round(own, 2), of_peer=round(took, 2),
                 times_as_fast=round(took / own, 2), memory_MB=round(times["ours"][2]),
                 memory_MB_of_peer=round(times[peer][2]))


if __name__ == "__main__":
    main()
