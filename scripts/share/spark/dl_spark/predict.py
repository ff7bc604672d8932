"""Applies a model to each partition: rows stream through `dl-preprocess raw |
dl-infer`, and come back with their predictions."""

import json
import queue
from itertools import islice

from dl_spark import arguments, partitions, tools
from dl_spark import columns as _columns
from dl_spark import model as models
from dl_spark.chunks import FEATURES, ArrowChunk, row_chunks
from dl_spark.columns import columns_of
from dl_spark.failures import from_task, only_failures
from dl_spark.shipping import ship
from dl_spark.tools import Failure, Pipeline


@only_failures
def predict(data, model, *, top=0, threads=1, options=(), prediction="prediction",
            probability="probability", tools_folder=None, **how):
    """The DataFrame with columns added: `prediction` and `probability` of a
    classifier (a double where classes are numbers, else their names), an array
    of numbers of other models.  It is lazy, as any DataFrame.

    data: a DataFrame; or an RDD of features, which gives an RDD of pairs
    (element, prediction), predictions being what a line of dl-infer says.
    model: file on the driver.
    top: also a column `top`, the likeliest so many classes, as an array of
    (class, probability).
    threads: of each task.  options: more options of dl-infer.
    how: features=, shape=, see Columns.
    """
    partitions.context_of(data)
    arguments.check_counts(0, threads=threads, top=top)
    arguments.check_options("options", options, "dl-infer")
    model = arguments.path("model", model)
    metadata = models.read_model(model)
    _check_top(top, metadata)
    for name, given in (("prediction", prediction), ("probability", probability)):
        if not isinstance(given, str):
            raise Failure(f"{name}={given!r:.50}: want the name of the new column")
    columns = columns_of(how).without_label().of_model(metadata)
    file = ship(data, model)
    told = ["--threads", str(threads), *options]
    if top > 1:
        told += ["--top", str(top)]

    def through(chunks, columns, partition):
        """(chunk, its predictions) of all chunks."""
        chunks, any_rows = partitions.first_of(chunks)
        if not any_rows:
            return
        try:
            # Examples that were written and not yet answered: as much as the pipes and
            # two mini-batches hold.
            waiting = queue.Queue()
            with Pipeline(
                    [[tools.find("dl-preprocess", tools_folder), *columns.arguments()],
                     [tools.find("dl-infer", tools_folder), "-q", "--model", file(), *told]],
                    _watched(partitions.feed(chunks, columns, waiting), waiting)) as pipeline:
                while (chunk := waiting.get()) is not None:
                    lines = list(islice(pipeline.output, chunk.rows))
                    if len(lines) < chunk.rows:
                        pipeline.finish()  # says why
                        raise Failure("dl-infer ended early", 70)
                    yield chunk, json.loads(b"[" + b",".join(lines) + b"]")
                pipeline.finish()
        except Failure as failure:
            raise from_task(partitions.in_partition(failure, partition)) from None

    if not hasattr(data, "schema"):
        columns = partitions._of_rdd(data, columns)

        def of_elements(partition, elements):
            for chunk, said in through(row_chunks(elements), columns, partition):
                yield from zip(chunk.list, said)
        return data.mapPartitionsWithIndex(of_elements)

    feature_column, columns = _columns.of_dataframe(data, columns, labelled=False)
    added = _added(metadata, top, prediction, probability)
    _refuse_taken(data, [name for name, _, _ in added])
    data_schema = data.schema
    data = data.withColumn(FEATURES, feature_column)
    if not partitions.has_arrow():
        return _of_rows(data, data_schema, through, columns, added)

    def of_batches(batches):
        from pyspark import TaskContext
        chunks = (ArrowChunk(batch) for batch in batches if batch.num_rows)
        for chunk, said in through(chunks, columns, TaskContext.get().partitionId()):
            yield chunk.with_columns(
                plain.names, [(_arrow(kind), [value_of(line) for line in said])
                              for _, kind, value_of in added])

    schema = _with_fields(data_schema, added)
    # mapInArrow looks columns up by their names, which may have dots or be there twice.
    plain = _numbered(schema)
    data = data.toDF(*plain.names[:len(data_schema)], FEATURES)
    return data.mapInArrow(of_batches, plain).toDF(*schema.names)


def _check_top(top, metadata):
    """Of models of several outputs, dl-infer looks at each."""
    layer = models.output_layer(metadata["network"])
    classes = models.named_classes(metadata)
    if top > 1 and layer and top > classes:
        raise Failure(f"top={top}: " + (f"the model has {classes} classes" if classes else
                                        "the model names no classes"))


def _watched(feed, waiting):
    try:
        yield from feed
    finally:
        waiting.put(None)


def _of_rows(data, schema, through, columns, added):
    def of_rows(partition, rows):
        for chunk, said in through(row_chunks(rows), columns, partition):
            for row, line in zip(chunk.list, said):
                kept = [value for name, value in zip(row.__fields__, row)
                        if name != FEATURES]
                yield tuple(kept + [value_of(line) for _, _, value_of in added])

    session = data.sparkSession
    return session.createDataFrame(data.rdd.mapPartitionsWithIndex(of_rows),
                                   _with_fields(schema, added))


def _added(metadata, top, prediction, probability):
    """(name, type, how it is taken from a line of dl-infer) of new columns."""
    classes = metadata.get("data.classes")
    layer = models.output_layer(metadata["network"]) or {}
    if models.named_classes(metadata):
        numbers = classes is None or classes == [str(i) for i in range(len(classes))]

        def class_of(line):
            return float(_of(line, "class")) if numbers else _of(line, "class")
        columns = [(prediction, "double" if numbers else "string", class_of),
                   (probability, "double", lambda line: line["probability"])]
        if top > 1:
            columns.append(("top", "array<struct<class:string,probability:double>>",
                            lambda line: line["top"]))
        return columns
    if not layer:  # several outputs
        return [(prediction, "string", json.dumps)]

    def outputs_of(line):
        outputs = _of(line, "outputs")
        return list(outputs.values()) if isinstance(outputs, dict) else outputs
    return [(prediction, "array<double>", outputs_of)]


def _of(line, key):
    if key not in line:
        raise Failure("the model speaks of each step or place in an example, which has no "
                      "column: apply it with dl-infer to shards", 64)
    return line[key]


def _arrow(kind):
    import pyarrow as pa
    return {"double": pa.float64(), "string": pa.string(),
            "array<double>": pa.list_(pa.float64())}.get(
                kind, pa.list_(pa.struct([("class", pa.string()),
                                          ("probability", pa.float64())])))


def _spark(kind):
    from pyspark.sql.types import (ArrayType, DoubleType, StringType, StructField,
                                   StructType)
    return {"double": DoubleType(), "string": StringType(),
            "array<double>": ArrayType(DoubleType())}.get(
                kind, ArrayType(StructType([StructField("class", StringType()),
                                            StructField("probability", DoubleType())])))


def _with_fields(schema, added):
    from pyspark.sql.types import StructField, StructType
    return StructType(schema.fields +
                      [StructField(name, _spark(kind)) for name, kind, _ in added])


def _numbered(schema):
    from pyspark.sql.types import StructField, StructType
    return StructType([StructField(str(i), field.dataType, field.nullable, field.metadata)
                       for i, field in enumerate(schema.fields)])


def _refuse_taken(data, names):
    """Names that differ in their case alone are one to Spark."""
    if len({name.lower() for name in names}) < len(names):
        raise Failure("two new columns would be called alike: name them with prediction= and "
                      "probability=")
    taken = {name.lower() for name in data.columns}
    for name in names:
        if name.lower() in taken:
            raise Failure(f"the DataFrame has a column '{name}' already: name ours "
                          "with prediction= or probability=, or rename it")
