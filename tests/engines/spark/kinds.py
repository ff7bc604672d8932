"""Kinds of columns and labels, and what is refused with a sentence."""

import glob
import json
import os
import re
import tempfile

import dl_spark
import numpy as np
from common import accuracy, digits, expect, refused, session
from dl_spark.stage import Stage
from pyspark.ml.linalg import Vectors
from pyspark.sql import Row
from pyspark.sql import functions as F

spark = session("local[2]")
context = spark.sparkContext
here = os.getcwd()
with open("table.json", "w", encoding="utf-8") as file:
    json.dump({"seed": 1, "input": {"shape": [64]},
               "updater": {"type": "adam", "learning_rate": 0.01},
               "layers": [{"type": "output", "units": 10, "activation": "softmax",
                           "loss": "negative_log_likelihood"}]}, file)
with open("graph.json", "w", encoding="utf-8") as file:
    json.dump({"seed": 1, "inputs": [{"name": "pixels", "shape": [64]}],
               "updater": {"type": "adam", "learning_rate": 0.01},
               "nodes": [{"name": "digit", "type": "output", "units": 10, "activation": "softmax",
                          "loss": "negative_log_likelihood"}], "outputs": ["digit"]}, file)
with open("line.json", "w", encoding="utf-8") as file:
    json.dump({"seed": 1, "input": {"shape": [2]},
               "updater": {"type": "adam", "learning_rate": 0.1},
               "layers": [{"type": "output", "units": 1, "activation": "identity",
                           "loss": "mean_squared_error"}]}, file)
rows = digits()[:600]
names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
number = [0]


def fit(data, network="table.json", **how):
    number[0] += 1
    return dl_spark.fit(data, network, directory=f"{here}/fit{number[0]}", epochs=6,
                        **{"options": ["-q"], "worker_options": ["-q"]} | how)[0]


# Vectors, dense and sparse, and names of classes.
vectors = spark.createDataFrame(
    [Row(x=Vectors.dense(p) if i % 2 else Vectors.sparse(64, list(range(64)), p),
         y=names[label]) for i, (p, label) in enumerate(rows)]).repartition(2)
model = fit(vectors, features="x", label="y")
how = {"features": "x", "label": "y"}
report = dl_spark.evaluate(vectors, model, **how)
expect("vectors and names of classes", accuracy(report) > 0.8, accuracy(report))
said = dl_spark.predict(vectors, model, features="x", prediction="guess")
expect("predictions are names", said.where("guess = y").count() ==
       round(accuracy(report) * len(rows)) and dict(said.dtypes)["guess"] == "string")

order = sorted(names)  # of text that was found
by_number = spark.createDataFrame([(p, float(order.index(names[label]))) for p, label in rows],
                                  "`x.y` array<int>, `the label` double").repartition(2)
dotted = {"features": "x.y", "label": "the label"}
expect("labels are numbers of classes",
       accuracy(dl_spark.evaluate(by_number, model, **dotted)) == accuracy(report))
named = fit(by_number, "graph.json", classes=order, **dotted)
expect("a graph of one input, and classes by their number",
       accuracy(dl_spark.evaluate(vectors, named, **how)) > 0.8)
said = dl_spark.predict(by_number, named, features="x.y", top=2)
expect("names with dots", said.columns == ["x.y", "the label", "prediction", "probability", "top"]
       and said.where("prediction = 'nine'").count() > 20)
twice = dl_spark.predict(vectors.select("x", "y", "y"), model, features="x")
expect("names that are there twice", twice.columns[:3] == ["x", "y", "y"] and
       all(row[1] == row[2] for row in twice.collect()))

# The judge looks at all partitions together, of which one is worse.
worst = vectors.where("y = 'eight'").coalesce(1)
mixed = vectors.where("y != 'eight'").coalesce(1).union(worst)
bar = accuracy(report) - 1e-6
judged = dl_spark.evaluate(mixed, model, options=["--min", f"accuracy={bar}", "--batch=32"], **how)
expect("what judges looks at the whole", accuracy(dl_spark.evaluate(worst, model, **how)) < bar and
       accuracy(judged) == accuracy(report))
refused("what is not good enough", lambda: dl_spark.evaluate(
    mixed, model, options=[f"--min=accuracy={bar + 1e-3}"], **how), "accuracy")

asked = len(context.statusTracker().getJobIdsForGroup())
refused("a metric that there is not", lambda: dl_spark.evaluate(
    mixed, model, options=["--max", "log_loss=9", "--min=acuracy=0"], **how), "did you mean 'accuracy'")
expect("before anything starts", len(context.statusTracker().getJobIdsForGroup()) == asked > 0)

# Nested arrays, and images of Spark's source (as bytes), a channel.
nested = spark.createDataFrame([([p[i:i + 8] for i in range(0, 64, 8)], label)
                                for p, label in rows],
                               "features array<array<int>>, label long")
numbers = fit(nested)
report = dl_spark.evaluate(nested, numbers)
expect("arrays of arrays", accuracy(report) > 0.8)
lists = context.parallelize([([[[x] for x in p[i:i + 8]] for i in range(0, 64, 8)], label)
                             for p, label in rows], 2)
arrays = lists.map(lambda row: (np.array(row[0]), row[1]))
expect("of an RDD, too", dl_spark.evaluate(lists, numbers) == report ==
       dl_spark.evaluate(arrays, numbers))


def go_on(data=None, **told):
    return dl_spark.fit(data, "table.json", directory=f"{here}/on", resume=True, **told)[1]


go_on(nested)
go_on(epochs=2, evaluation_data=nested)
scores = [bool(epoch["metrics"]) for epoch in go_on(epochs=3)["history"]]
expect("other held-out data when it goes on", scores == [False, True, True], scores)
refused("a run with other options", lambda: go_on(options=["--batch", "7"]), "batch", "resume=False")
images = nested.select(
    F.struct(F.lit("file").alias("origin"), F.lit(8).alias("height"), F.lit(8).alias("width"),
             F.lit(1).alias("nChannels"), F.lit(0).alias("mode"),
             F.udf(lambda p: bytearray(x * 15 for row in p for x in row),
                   "binary")("features").alias("data")).alias("image"), "label")
pixels = fit(images, features="image")
expect("images", accuracy(dl_spark.evaluate(images, pixels, features="image")) > 0.8)

# Regression.
line = spark.createDataFrame([([i / 300, (i * 7 % 300) / 300], 2.0 * i / 300 - 1)
                              for i in range(300)], "features array<float>, label double")
fitted = fit(line, "line.json", training=dl_spark.SharedTrainingMaster(batchSizePerWorker=8))
report = dl_spark.evaluate(line, fitted)
expect("regression", report["evaluations"][0]["metrics"]["r2"] > 0.9, report["evaluations"][0]["metrics"])
predicted = dl_spark.predict(line, fitted)
expect("numbers are predicted", dict(predicted.dtypes)["prediction"] == "array<double>" and
       predicted.where("abs(prediction[0] - label) < 0.5").count() > 250)

# Refused calls.
good = [([float(v) for v in p], label) for p, label in rows[:20]]


def bad(value, label=1, schema="features array<float>, label int"):
    return spark.createDataFrame(good[:7] + [(value, label)] + good[7:], schema).coalesce(1)


write = lambda data, **how: lambda: dl_spark.write_shards(  # noqa: E731
    data, f"{here}/refused{number.append(0) or len(number)}", "table.json", **how)
row = "partition 0, row 8: "
refused("null", write(bad(None)), row, "is null", "drop")
refused("a null in an array", write(bad([None] + [0.0] * 63)), row, "value 1", "null")
refused("NaN", write(bad([0.0] * 63 + [float("nan")])), row, "value 64", "not finite", "drop")
refused("another length", write(bad([1.0, 2.0])), row, "2 numbers", "wants 64", "shape=")
uneven = [[0.0] * length for length in (8, 8, 7, 9, 8, 8, 8, 8)]
nest = "features array<array<double>>, label int"
square = [([p[i:i + 8] for i in range(0, 64, 8)], label) for p, label in good]
uneven_rows = square[:7] + [(uneven, 1)] + square[7:]
for kind, data in (("a DataFrame", spark.createDataFrame(uneven_rows, nest).coalesce(1)),
                   ("an RDD", context.parallelize(uneven_rows, 1))):
    refused(f"lists of unequal lengths in {kind}", write(data), row, "'features'", "unequal", "drop")
refused("lists that are null", write(spark.createDataFrame(
    square[:7] + [([None, *uneven], 1)], nest).coalesce(1)), row, "value 1", "null")
other = [([p[i:i + 16] for i in range(0, 64, 16)], label) for p, label in good]
expect("rows of other extents, each of equal lengths", dl_spark.write_shards(
    spark.createDataFrame(square + other, nest).coalesce(1), f"{here}/extents", "table.json"))
refused("an unknown class", write(bad(good[0][0], 10)), row, "10", "0 to 9")
refused("an empty label", write(bad(good[0][0], "", "features array<float>, label string")),
        "'label' has labels that are empty", "drop")
refused("no label", write(bad(good[0][0], None)), row, "null")
refused("an RDD's null", write(context.parallelize(good[:7] + [(None, 1)], 1)), row, "null")
refused("an RDD's length", write(context.parallelize(good[:7] + [([1.0], 1)], 1)), row, "1 numbers")
refused("no such column", write(spark.createDataFrame(good, "x array<float>, label int")),
        "no column 'features'", "features=")
refused("a column of text", write(spark.createDataFrame([("a", 1)], "features string, label int")),
        "is string", "want an array")
refused("no rows", write(bad([]).limit(0)), "no rows")
refused("an RDD without rows", write(context.parallelize([], 2)), "no rows")
refused("an RDD without partitions", write(context.emptyRDD()), "no rows")
refused("an error of the data's own", write(context.parallelize(good, 2).map(lambda row: row[9])),
        "IndexError")
expect("nothing is left of what failed", not glob.glob(f"{here}/refused*"))
refused("a relative folder", lambda: dl_spark.write_shards(bad(None), "x", "table.json"),
        "absolute")
refused("hdfs:", lambda: dl_spark.write_shards(bad(None), "hdfs://a/x", "table.json"), "mount")
refused("a folder that is there", lambda: dl_spark.write_shards(bad(None), here, "table.json"),
        "exists already")
refused("no network", lambda: dl_spark.write_shards(bad(None), f"{here}/n", "none.json"),
        "cannot open the network 'none.json'")
refused("no tools", lambda: dl_spark.evaluate(vectors, model, tools_folder="/nowhere", **how),
        "dl-preprocess is not on host", "--archives")
refused("data that are none", lambda: fit([1]), "data is of the type list", "want a DataFrame")
refused("held-out data that are none", lambda: fit(nested, evaluation_data={}),
        "evaluation_data is of the type dict")
refused("a file as the directory", lambda: dl_spark.fit(
    nested, "table.json", directory=f"{here}/table.json/x"), "cannot create", "directory=")
refused("no threads", lambda: fit(nested, threads=0), "threads=0", "from 1")
refused("no workers", lambda: fit(nested, workers=0), "workers=0", "from 1")
refused("options in one text", lambda: fit(nested, options="--patience 3"), "list of texts")
refused("training by another name", lambda: fit(nested, training="sharing"),
        "training='sharing'", "SharedTrainingMaster")
refused("an argument by another name", lambda: fit(nested, lable="y"), "no argument lable=")
started = []
Stage._start = lambda self, attempt, start=Stage._start: (started.append(attempt),
                                                          start(self, attempt))
try:
    fit(nested, worker_options=["--nonsense"])
    raise SystemExit("FAILED: an option that no worker has was not refused")
except dl_spark.Failure as failure:
    said = str(failure)
    expect("an option that no worker has: refused at once", failure.status == 64 and
           "unrecognised option '--nonsense'" in said and "resume" not in said and
           started == [0], (said, failure.status, started))
try:
    started.clear()
    fit(nested, worker_options=["--device", "cuda:99"])
    raise SystemExit("FAILED: a device that is not there was not refused")
except dl_spark.Failure as failure:
    expect("a device that is not there: refused at once", failure.status == 69 and
           re.search("cuda:99|no cuda device", str(failure)) and started == [0], (failure, failure.status, started))
refused("too many workers", lambda: fit(nested, workers=9), "9 workers", "room for 2")
refused("NaN to predict", lambda: dl_spark.predict(bad([float("nan")] * 64), numbers),
        row, "not finite")
refused("a damaged model", lambda: dl_spark.predict(nested, "table.json"), "no model")
refused("a column that is there", lambda: dl_spark.predict(nested, numbers, prediction="label"),
        "'label' already")
refused("a network that cannot be", lambda: fit(line), "2 numbers", "wants 64")
refused("an address elsewhere", lambda: fit(nested, training=dl_spark.SharedTrainingMaster(
    voidConfiguration=dl_spark.VoidConfiguration(controllerAddress="192.0.2.77"))),
    "none of this host", "controllerAddress")
there = dl_spark.write_shards(nested, f"{here}/a [b]*?/train-x", "table.json")[0]
for _ in range(2):  # the second one finds what the first one left
    dl_spark.fit(there, "table.json", directory=f"{here}/a [b]*?", workers=1)
    model = dl_spark.fit(nested, "table.json", directory=f"{here}/a [b]*?", workers=1)[0]
expect("a directory with the letters of patterns, and data in it", os.path.exists(model) and
       len(glob.glob(there)) == 2 and len(os.listdir(f"{here}/a [b]*?/fit-shards")) == 1)
with open(f"{here}/a [b]*?/shards.json", "w", encoding="utf-8") as file:
    file.write('{"train"')
refused("a note that is damaged", lambda: dl_spark.fit(
    nested, "table.json", directory=f"{here}/a [b]*?", resume=True), "shards.json", "damaged")
context._conf.set("spark.dynamicAllocation.enabled", "true")
refused("dynamic allocation", lambda: fit(nested), "dynamicAllocation", "false")
context._conf.set("spark.dynamicAllocation.enabled", "false")
expect("no key is left", not glob.glob(f"{tempfile.gettempdir()}/dl-spark-keys-*"))
spark.stop()
refused("a SparkContext that was stopped", lambda: fit(nested), "is stopped")
refused("in predict, too", lambda: dl_spark.predict(nested, numbers), "is stopped")
