"""dl_spark beside the plain tools, and beside ONNX Runtime in PySpark, on MNIST.

    DL_TEST_ROOT=. PATH=build/bin:$PATH PYTHONPATH=scripts/share/spark:tests/engines/spark \\
      PYSPARK_PYTHON=.venv/spark/bin/python .venv/spark/bin/python \\
      tests/engines/spark/bench.py MNIST_DIR [ROUNDS]

Prints minima and medians of rounds that alternate, and the load.  Spark has been started,
and its Python processes are there, when a clock begins to run; its JVM compiles for some
rounds more.  Needs onnxruntime as well.
"""

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import dl_spark
from common import EXAMPLES, accuracy, session

MNIST, ROUNDS = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 12
EPOCHS = int(os.environ.get("EPOCHS", "1"))
HERE = tempfile.mkdtemp(prefix="dl-spark-bench-")
os.chdir(HERE)
NETWORK = f"{HERE}/lenet.json"
with open(os.path.join(EXAMPLES, "lenet.json"), encoding="utf-8") as file:
    network = json.load(file)
network["updater"]["learning_rate"] = 0.02  # with 0.1 seeds differ by points
with open(NETWORK, "w", encoding="utf-8") as file:
    json.dump(network, file)
spark = session(os.environ.get("MASTER", "local[2]"))


def load(kind):
    with gzip.open(f"{MNIST}/{kind}-images-idx3-ubyte.gz") as file:
        images = file.read()[16:]
    with gzip.open(f"{MNIST}/{kind}-labels-idx1-ubyte.gz") as file:
        labels = file.read()[8:]
    rows = [(bytearray(images[784 * i:784 * (i + 1)]), label) for i, label in enumerate(labels)]
    spark.createDataFrame(rows, "features binary, label int").repartition(4).write.parquet(kind)
    return spark.read.parquet(f"{HERE}/{kind}").coalesce(2)


def timed(what, action, times):
    start = time.monotonic()
    result = action()
    times.setdefault(what, []).append(time.monotonic() - start)
    print(f"  {what}: {times[what][-1]:.2f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    return result


def shell(command):
    subprocess.run(["bash", "-ec", command], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def plain():
    shell(f"dl-preprocess idx {MNIST}/train-images*.gz {MNIST}/train-labels*.gz | "
          "dl-shard --shuffle -n 2 --force -o plain")
    shell(f"dl-master -q --net {NETWORK} --data 'plain-*.dls' --batch 64 --local 2 --threads 1 "
          f"--epochs {EPOCHS} --fresh -o plain.safetensors")


def in_spark():
    return dl_spark.fit(train, NETWORK, directory=f"{HERE}/run", workers=2, epochs=EPOCHS,
                        training=dl_spark.SharedTrainingMaster(batchSizePerWorker=64),
                        options=["-q"], worker_options=["-q"])


def right(predictions):
    return predictions.where("prediction = label").count()


def onnx(arrow):
    import numpy
    with open("m.onnx", "rb") as file:
        model = spark.sparkContext.broadcast(file.read())

    def opened():
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        run = onnxruntime.InferenceSession(model.value, options)
        head = run.get_inputs()[0]
        kind = {"tensor(uint8)": "u1", "tensor(float)": "f4"}[head.type]
        shape = [-1] + [n if isinstance(n, int) else 1 for n in head.shape[1:]]
        return lambda images: run.run(None, {head.name: images.reshape(shape).astype(kind)})[0]

    def of_batches(batches):
        import pyarrow as pa
        run = opened()
        for batch in batches:
            images = numpy.frombuffer(b"".join(batch.column(0).to_pylist()), "u1").reshape(-1, 784)
            said = numpy.concatenate([run(images[i:i + 256]).argmax(1)
                                      for i in range(0, len(images), 256)])
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), batch.column(1), pa.array(said.astype("f8"))],
                names=["features", "label", "prediction"])

    def of_rows(rows):
        from itertools import islice
        run, rows = opened(), iter(rows)
        while chunk := list(islice(rows, 256)):
            images = numpy.frombuffer(b"".join(row.features for row in chunk), "u1")
            for row, guess in zip(chunk, run(images.reshape(-1, 784)).argmax(1)):
                yield row.features, row.label, float(guess)

    schema = "features binary, label int, prediction double"
    if arrow:
        return train.mapInArrow(of_batches, schema)
    return spark.createDataFrame(train.rdd.mapPartitions(of_rows), schema)


train, test = load("train"), load("t10k")
count = train.count()
model, _ = in_spark()  # the first one starts processes
right(dl_spark.predict(test, model))
subprocess.run(["dl-export", model, "-o", "m.onnx"], check=True)
times, scores = {}, {}
for _ in range(ROUNDS):
    timed("plain tools", plain, times)
    model, _ = timed("dl_spark.fit", in_spark, times)
    report = timed("dl_spark.evaluate, 10,000", lambda: dl_spark.evaluate(test, model), times)
    scores.setdefault("dl_spark", []).append(accuracy(report))
    shell(f"dl-preprocess idx {MNIST}/t10k-images*.gz {MNIST}/t10k-labels*.gz -o t10k.dls")
    said = subprocess.run(["dl-eval", "-q", "--json", "-m", "plain.safetensors", "t10k.dls"],
                          check=True, capture_output=True).stdout
    scores.setdefault("plain", []).append(accuracy(json.loads(said)))
    subprocess.run(["dl-export", model, "-o", "m.onnx"], check=True)
    ours = timed("dl_spark.predict", lambda: right(dl_spark.predict(train, model)), times)
    theirs = timed("ONNX Runtime, mapPartitions", lambda: right(onnx(False)), times)
    arrow = timed("ONNX Runtime, mapInArrow", lambda: right(onnx(True)), times)
    print(f"  right: {ours}, {theirs}, {arrow} of {count}")
for what, all_of_it in times.items():
    examples = count * (EPOCHS if what in ("plain tools", "dl_spark.fit") else 1)
    least, middle = min(all_of_it), statistics.median(all_of_it)
    print(f"{what}: {least:.2f} s, median {middle:.2f} s"
          + (f", {examples / least:.0f} examples/s" if "evaluate" not in what else ""))
for name, of in (("minima", min), ("medians", statistics.median)):
    print(f"fit / plain, {name}: {of(times['dl_spark.fit']) / of(times['plain tools']):.2f}")
print(f"accuracy: {scores}")
spark.stop()
shutil.rmtree(HERE, ignore_errors=True)
