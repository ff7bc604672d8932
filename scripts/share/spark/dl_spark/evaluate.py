"""Evaluates a model: each partition by `dl-eval --json`, and all of them by
`dl-eval --merge`, which gives what one pass over everything would."""

import json
import os
import tempfile

from dl_spark import arguments, partitions, tools
from dl_spark import model as models
from dl_spark.columns import columns_of
from dl_spark.failures import only_failures
from dl_spark.shipping import ship
from dl_spark.tools import Failure, Pipeline

JUDGES = ("--min", "--max")
NO_FILE = os.path.join(os.devnull, "*")


@only_failures
def evaluate(data, model, *, evaluations=(), threads=1, options=(),
             tools_folder=None, **how):
    """What dl-eval --json reports of `data`, as a dict.

    data: a DataFrame, or an RDD of (features, label).
    model: file on the driver.
    evaluations: as dl-eval --evaluate, such as ["roc", "calibration"].
    threads: of each task.  options: more options of dl-eval; --min and --max judge
    the whole, and what they find too bad is a Failure with the status 1.
    how: features=, label=, shape=, classes=, regression=, see Columns.
    """
    partitions.context_of(data)
    arguments.check_counts(0, threads=threads)
    arguments.check_texts("evaluations", evaluations, '["roc", "calibration"]')
    arguments.check_options("options", options, "dl-eval")
    options, bars = _split(options)
    model = arguments.path("model", model)
    columns = columns_of(how).of_model(models.read_model(model))
    told = ["--json", "--threads", str(threads), *options]
    for evaluation in evaluations:
        told += ["--evaluate", evaluation]
    _check(model, told, bars, tools_folder)
    spark_data, columns = partitions.prepare(data, columns, labelled=True)
    file = ship(data, model)

    def evaluate_partition(chunks, _):
        chunks, any_rows = partitions.first_of(chunks)
        if not any_rows:
            return
        with Pipeline([[tools.find("dl-preprocess", tools_folder), *columns.arguments()],
                       [tools.find("dl-eval", tools_folder), "-q", "--model", file(), *told]],
                      partitions.feed(chunks, columns)) as pipeline:
            report = pipeline.output.read().decode()
            pipeline.finish()
        yield (report,)

    reports = partitions.run(spark_data, evaluate_partition, [("report", "string")])
    if not reports:
        raise Failure("the data have no rows: nothing to evaluate", 65)
    return _merged([report for report, in reports], bars, tools_folder)


def _split(options):
    """(what each partition is told, what judges them together)."""
    parts, bars, is_value = [], [], False
    for option in options:
        (bars if is_value or arguments.name_of(option) in JUDGES else parts).append(option)
        is_value = not is_value and option in JUDGES
    if is_value:
        raise Failure(f"options=: {bars[-1]} wants a METRIC=VALUE")
    return parts, bars


def _check(model, told, bars, tools_folder):
    """Refuses bars that no report can have: dl-eval looks at them before it opens its
    input or a device, and here finds no input."""
    if not bars:
        return
    try:
        tools.run([tools.find("dl-eval", tools_folder), "-q", "--model", model, *told, *bars,
                   NO_FILE])
    except Failure as failure:
        if failure.status == 64:
            raise


def _merged(reports, bars, tools_folder):
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, report in enumerate(reports):
            names.append(os.path.join(folder, f"{i}.json"))
            with open(names[-1], "w", encoding="utf-8") as file:
                file.write(report)
        merge = [tools.find("dl-eval", tools_folder), "--merge", "--json", *bars]
        return json.loads(tools.run(merge + names))


def metric(report, name, kind=None):
    """A metric of a report, of the first evaluation that has it."""
    for evaluation in report["evaluations"]:
        if kind in (None, evaluation["kind"]) and name in evaluation["metrics"]:
            return evaluation["metrics"][name]
    raise KeyError(name)
