"""Runs a function on every partition of a DataFrame or RDD, fed with chunks."""

import re

from dl_spark import columns as _columns
from dl_spark.chunks import FEATURES, LABEL, ArrowChunk, encode, row_chunks
from dl_spark.failures import from_task
from dl_spark.tools import Failure


def has_arrow():
    """Whether Spark hands out Arrow's batches here: it wants pandas as well."""
    from pyspark.sql.pandas import utils
    try:
        utils.require_minimum_pandas_version()
        utils.require_minimum_pyarrow_version()
    except ImportError:
        return False
    return True


def context_of(data, patterns=False, name="data"):
    """The SparkContext of a DataFrame or RDD; where patterns of shards are taken
    as well, of this program.  `name` is that of the argument, for Failure."""
    if patterns and (data is None or isinstance(data, str)):
        from pyspark import SparkContext
        return SparkContext.getOrCreate()
    if hasattr(data, "sparkSession") and hasattr(data, "schema"):
        if not hasattr(data.sparkSession, "sparkContext"):
            raise Failure("the DataFrame is of Spark Connect, which has no barrier stages: "
                          "run this program on the driver, as with spark-submit", 78)
        context = data.sparkSession.sparkContext
    elif hasattr(data, "mapPartitionsWithIndex") and hasattr(data, "context"):
        context = data.context
    else:
        raise Failure(f"{name} is of the type {type(data).__name__}: want a DataFrame or an RDD"
                      + (", or the pattern of shards" if patterns else "")
                      + "; spark.createDataFrame() and parallelize() make them")
    if context._jsc is None or context._jsc.sc().isStopped():
        raise Failure(f"the SparkContext of {name} is stopped: make {name} anew in one that "
                      "runs", 69)
    return context


def prepare(data, columns, labelled):
    """(data, columns): with FEATURES and LABEL selected where it is a
    DataFrame, and the columns completed by what it holds."""
    if not labelled:
        columns = columns.without_label()
    if not hasattr(data, "schema"):
        return data, _of_rdd(data, columns)
    from pyspark.sql import functions as F
    column, columns = _columns.of_dataframe(data, columns, labelled)
    selected = [column.alias(FEATURES)]
    if labelled:
        selected.append(F.col(_columns.quoted(columns.label)).alias(LABEL))
    return data.select(*selected), columns


def _of_rdd(rdd, columns):
    from dataclasses import replace
    from dl_spark.chunks import _part
    rows = rdd.take(1)
    if not rows:
        return columns
    first = rows[0]
    if columns.label is not None and not columns.regression:
        label = _part(first, LABEL, 1)
        if isinstance(label, str) and not isinstance(columns.classes, (list, tuple)):
            raise Failure("labels are text: give classes=, their names in order")
    if isinstance(_part(first, FEATURES, 0, columns.label is not None), (bytes, bytearray)):
        columns = replace(columns, dtype="u8")
    return columns


def run(data, function, names):
    """All that function(chunks, partition) yields, tuples of text and
    integers, of all partitions."""
    def of_rows(partition, rows):
        return _told(function, row_chunks(rows), partition)

    if hasattr(data, "schema") and not has_arrow():
        data = data.rdd
    if not hasattr(data, "schema"):
        return data.mapPartitionsWithIndex(of_rows).collect()

    def of_batches(batches):
        import pyarrow as pa
        from pyspark import TaskContext
        chunks = (ArrowChunk(batch) for batch in batches if batch.num_rows)
        partition = TaskContext.get().partitionId()
        for row in _told(function, chunks, partition):
            yield pa.RecordBatch.from_arrays(
                [pa.array([value]) for value in row],
                names=[name for name, _ in names])

    schema = ", ".join(f"{name} {kind}" for name, kind in names)
    return [tuple(row) for row in data.mapInArrow(of_batches, schema).collect()]


def _told(function, chunks, partition):
    """What the function yields; errors say which partition it is."""
    try:
        yield from function(chunks, partition)
    except Failure as failure:
        raise from_task(in_partition(failure, partition)) from None


def in_partition(failure, partition):
    said = str(failure)
    # dl-preprocess counts the examples of its input, which are our rows.
    found = re.search(r"standard input, example (\d+): (.*)", said)
    if found:
        said = (f"row {found[1]}: {found[2]}: drop such rows, or fill in what "
                "is missing")
    return Failure(f"partition {partition}, {said}", failure.status)


def feed(chunks, columns, seen=None):
    """The bytes of all chunks; each is put into `seen` before."""
    row = 1
    for chunk in chunks:
        if seen is not None:
            seen.put(chunk)
        yield encode(chunk, columns, row)
        row += chunk.rows


def first_of(chunks):
    """(chunks, whether there are any), without starting a process for none."""
    chunks = iter(chunks)
    try:
        first = next(chunks)
    except StopIteration:
        return chunks, False

    def all_of_them():
        yield first
        yield from chunks
    return all_of_them(), True
