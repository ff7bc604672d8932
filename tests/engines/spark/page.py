"""A program for spark-submit that runs the examples of dl-spark(7)."""

import glob
import os

from common import digits, expect, page_blocks, session
from pyspark import SparkFiles

here = os.getcwd()
spark = session(None)
sc = spark.sparkContext
rows = [([float(v) for v in pixels], label) for pixels, label in digits()]
frame = spark.createDataFrame(rows, "features array<float>, label int").repartition(2)
train, test, new = frame, frame.limit(400), frame.limit(400).drop("label")
blocks = [block.replace("/nfs", f"{here}/nfs").replace("/opt", f"{here}/opt")
          for block in page_blocks()]


def run(block, **names):
    """The block; returns what its last expression gives."""
    *most, last = block.strip().replace("\n  ", "  ").split("\n")
    names = globals() | names
    exec("\n".join(most), names)
    try:
        result = eval(compile(last, "block", "eval"), names)
    except SyntaxError:
        exec(last, names)
        result = None
    return names, result


os.chdir(here)
names, _ = run(blocks[0])
import dl_spark
from dl_spark import tools
expect("the package came with --py-files", ".zip" in dl_spark.__file__)
found = tools.find("dl-worker")
expect("the tools came with --archives", found.startswith(SparkFiles.getRootDirectory()), found)
expect("it has learnt", names["report"]["history"][-1]["loss"] < 0.5
       if "history" in names["report"] else True)
count = spark.read.parquet(f"{here}/nfs/predictions").count()
expect("predictions were written", count == 400, count)
names, (_, report) = run(blocks[3], dl_spark=dl_spark)
expect("shards are trained on again", report["examples"] == len(rows))
lines = sc.parallelize([",".join(str(int(v)) for v in pixels) + f",{label}"
                        for pixels, label in rows[:300]], 2)
_, said = run(blocks[4], lines=lines)
expect("lines are predicted", said.count() == 300 and '"class"' in said.first())
paths = sc.parallelize(sorted(glob.glob(f"{here}/nfs/digits/part-*.dls")), 3)
_, said = run(blocks[5], paths=paths)
expect("shards are predicted", said.count() == len(rows))
broken = sc.parallelize(["/no/such/shard.dls"], 1)
try:
    run(blocks[5], paths=broken)[1].count()
    raise SystemExit("FAILED: a command that fails is not noticed")
except Exception as error:
    expect("a command that fails is noticed", "123" in str(error), error)
expect("there is no other block", len(blocks) == 6, len(blocks))
spark.stop()
