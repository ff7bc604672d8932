"""fit, evaluate and predict give what the plain tools give."""

import glob
import json
import os

import dl_spark
from common import (EXAMPLES, accuracy, check_events, digits, expect, processes,
                    session, tool)

# With speculation, which must do no harm.
spark = session(**{"spark__speculation": "true"})
context = spark.sparkContext
network = os.path.join(EXAMPLES, "digits.json")
rows = digits()
here = os.getcwd()


def frame(part, start=0):
    return spark.createDataFrame(
        [(start + i, [float(value) for value in pixels], label)
         for i, (pixels, label) in enumerate(part)],
        "id int, features array<double>, label int").repartition(3)


train, test = frame(rows[:1400]), frame(rows[1400:], 1400)

# The same bytes as the plain tools make of the same shards.
model, report = dl_spark.fit(
    train, network, directory=f"{here}/run", epochs=3, evaluation_data=test,
    training=dl_spark.ParameterAveragingTrainingMaster(
        numWorkers=3, batchSizePerWorker=16, averagingFrequency=5, saveUpdater=True))
shards = glob.glob(f"{here}/run/fit-shards/train-*/part-*.dls")
expect("a shard for each partition", len(shards) == 3, shards)
expect("no rests of tasks", not glob.glob(f"{here}/run/**/.attempt*", recursive=True))


def same_as_plain(model, *told):
    """Whether dl-master --local makes the same bytes of the shards."""
    tool("dl-master", "-q", "--fresh", "--net", network, "--data",
         f"{os.path.dirname(shards[0])}/part-*.dls", "--batch", "16", "--workers", "3", "--epochs",
         "3", "--local", "3", "--threads", "1", "-o", "plain.safetensors", *told)
    with open(model, "rb") as ours, open("plain.safetensors", "rb") as plain:
        return ours.read() == plain.read()


expect("the same model as dl-master --local", same_as_plain(
    model, "--mode", "averaging", "--frequency", "5", "--updater-state", "average"))
synchronous, _ = dl_spark.fit(
    f"{os.path.dirname(shards[0])}/part-*.dls", network, directory=f"{here}/sync", epochs=3,
    training=dl_spark.SynchronousTrainingMaster(numWorkers=3, batchSizePerWorker=16))
expect("in each step, too", same_as_plain(synchronous, "--mode", "sync"))
check_events(f"{here}/run")
expect("all examples", report["examples"] == 3 * 1400, report["examples"])

# Evaluation: the bytes of one pass over the same examples.
evaluated = dl_spark.evaluate(test, model, evaluations=["classification", "calibration"])
held = glob.glob(f"{here}/run/fit-shards/eval-*/part-*.dls")
plainly = json.loads(tool("dl-eval", "-q", "--json", "--evaluate", "classification",
                          "--evaluate", "calibration", "--model", model, *held))
expect("the same report as dl-eval", evaluated == plainly)
expect("it has learnt", accuracy(evaluated) > 0.85, accuracy(evaluated))

# Prediction: every row once, with its columns.
predicted = dl_spark.predict(test, model, top=3)
expect("columns", predicted.columns == ["id", "features", "label", "prediction",
                                        "probability", "top"], predicted.columns)
kept = {row["id"]: row for row in predicted.collect()}
expect("every row once", sorted(kept) == list(range(1400, len(rows))))
expect("features are the row's own",
       all(list(row["features"]) == rows[i][0] for i, row in kept.items()))
right = sum(row["prediction"] == row["label"] for row in kept.values())
expect("as many are right as evaluate says",
       abs(right / len(kept) - accuracy(evaluated)) < 1e-9)
expect("top is sorted", all(row["top"][0]["probability"] == row["probability"]
                            and len(row["top"]) == 3 for row in kept.values()))

# Without Arrow.
import dl_spark.partitions as partitions
has_arrow, partitions.has_arrow = partitions.has_arrow, lambda: False
by_rows = {row["id"]: row for row in dl_spark.predict(test, model, top=3).collect()}
expect("the same without pyarrow", by_rows == kept)
expect("evaluate, too", dl_spark.evaluate(test, model) ==
       dl_spark.evaluate(context.parallelize(rows[1400:], 3), model))
partitions.has_arrow = has_arrow
expect("Arrow was used else", has_arrow())

# An RDD of features; empty partitions; an empty DataFrame.
pairs = dl_spark.predict(context.parallelize([r[0] for r in rows[1400:1410]], 20), model).collect()
expect("an RDD of features", [pixels for pixels, _ in pairs] == [r[0] for r in rows[1400:1410]]
       and all("class" in said for _, said in pairs))
expect("no rows", dl_spark.predict(test.limit(0), model).count() == 0)


# A task that fails and is done again writes its rows once.
def fails_at_first(rows):
    from pyspark import TaskContext
    for i, row in enumerate(rows):
        if i == 200 and TaskContext.get().attemptNumber() == 0:
            raise RuntimeError("a failure of this test")
        yield row


pattern, examples, _ = dl_spark.write_shards(
    context.parallelize([(bytes(p), y) for p, y in rows], 3).mapPartitions(fails_at_first),
    f"{here}/twice", network)
told = json.loads(tool("dl-shard", "--info", "--json", *sorted(glob.glob(pattern))))
expect("rows of a task that failed once are there once",
       examples == len(rows) == told["examples"], (examples, told["examples"]))

# Shards that are there; sharing; equal partitions; resume of a finished run.
twins = context.parallelize([(bytes(p), y) for p, y in rows[:200] * 2], 2)
dl_spark.write_shards(twins, f"{here}/twins", network)
model2, report2 = dl_spark.fit(
    f"{here}/twins/part-*.dls", network, directory=f"{here}/shared", workers=2,
    training=dl_spark.SharedTrainingMaster(
        batchSizePerWorker=16, thresholdAlgorithm=dl_spark.FixedThresholdAlgorithm(1e-3),
        residualPostProcessor=dl_spark.ResidualClippingPostProcessor(5.0, 5),
        voidConfiguration=dl_spark.VoidConfiguration(meshBuildMode="PLAIN")))
expect("two equal partitions count twice", report2["examples"] == 400, report2["examples"])
check_events(f"{here}/shared")
again, _ = dl_spark.fit(f"{here}/twins/part-*.dls", network, directory=f"{here}/shared",
                        workers=2, resume=True, training=dl_spark.SharedTrainingMaster(
                            batchSizePerWorker=16,
                            thresholdAlgorithm=dl_spark.FixedThresholdAlgorithm(1e-3),
                            residualPostProcessor=dl_spark.ResidualClippingPostProcessor(5.0, 5),
                            voidConfiguration=dl_spark.VoidConfiguration(meshBuildMode="PLAIN")))
expect("a finished run is not done again", again == model2)
left = [name for name in ("dl-master", "dl-worker", "dl-infer", "dl-eval", "dl-preprocess")
        if processes(name)]
expect("no tool is left", not left, left)
spark.stop()
