"""Which columns of a DataFrame, or parts of an RDD's elements, are features and
label, and how they are written for `dl-preprocess raw`."""

import math
import struct
from array import array
from dataclasses import dataclass, replace
from typing import Optional, Sequence

from dl_spark import labels
from dl_spark import model as models
from dl_spark.arguments import is_whole
from dl_spark.tools import Failure


@dataclass(frozen=True)
class Columns:
    """features, label: names of columns (of an RDD of pairs: not looked at).
    shape: of an example; None: the network's.
    classes: their names, or their number for labels 0, 1, ...; None: the
    network's units, or of labels that are text those that there are, sorted.
    regression: labels are numbers to predict; None: as the network's loss.
    """
    features: str = "features"
    label: Optional[str] = "label"
    shape: Optional[Sequence[int]] = None
    classes: object = None
    regression: Optional[bool] = None
    targets: int = 1
    dtype: str = "f32"   # u8: features are bytes
    bgr: bool = False    # of Spark's image source

    def __post_init__(self):
        _check_name("features", self.features)
        if self.label is not None:
            _check_name("label", self.label)
        labels.check(self.classes)
        if self.shape is not None and not (
                isinstance(self.shape, (list, tuple)) and self.shape
                and all(is_whole(extent) and extent > 0 for extent in self.shape)):
            raise Failure(f"shape={self.shape!r:.50}: want a list of whole numbers, as [8, 8, 1]")
        if self.regression is not None and not isinstance(self.regression, bool):
            raise Failure(f"regression={self.regression!r:.50}: want True or False")

    @property
    def values(self):
        return math.prod(self.shape)

    @property
    def bytes(self):
        return self.values * (4 if self.dtype == "f32" else 1)

    def without_label(self):
        return replace(self, label=None)

    def of_network(self, network):
        """Completes what was not said."""
        models.check_inputs(network)
        known = replace(
            self,
            shape=tuple(self.shape or models.input_shape(network)),
            regression=(not models.predicts_classes(network)
                        if self.regression is None else self.regression))
        units = models.output_units(network)
        if known.regression:
            return replace(known, targets=units or 1)
        if known.classes is None and units:
            known = replace(known, classes=max(units, 2))
        return known

    def of_model(self, metadata):
        classes = self.classes or metadata.get("data.classes") or None
        return replace(self, classes=classes).of_network(metadata["network"])

    def arguments(self):
        """Of dl-preprocess raw."""
        told = ["raw", "--shape", ",".join(map(str, self.shape)),
                "--dtype", self.dtype, "--no-provenance"]
        if self.label is None:
            return told + ["--no-labels"]
        if self.regression:
            return told + ["--regression", "--targets", str(self.targets)]
        return told + ["--classes", self._class_list()]

    def _class_list(self):
        if not isinstance(self.classes, (list, tuple)):
            return str(self.classes)
        if len(self.classes) == 1:
            raise Failure("there is one class alone, and nothing to tell apart", 65)
        return ",".join('"' + str(name).replace('"', '""') + '"'
                        for name in self.classes)

    def label_bytes(self):
        """A function from a label to the bytes that follow an example.
        It raises KeyError, TypeError or ValueError for what is no label."""
        if self.regression:
            count = self.targets

            def numbers(label):
                values = array("f", label if hasattr(label, "__len__") else [label])
                if len(values) != count:
                    raise ValueError
                return values.tobytes()
            return numbers
        return {label: struct.pack("<i", i)
                for label, i in labels.indices(self.classes).items()}.__getitem__

    def bad_label(self, label):
        if label is None:
            return "is null"
        if self.regression:
            return f"is {label!r:.50}, want {_count(self.targets, 'number')}"
        if isinstance(self.classes, (list, tuple)):
            return (f"is {label!r:.50}, none of the {len(self.classes)} classes "
                    f"('{self.classes[0]}' to '{self.classes[-1]}') nor the number of one")
        return f"is {label!r:.50}, want a class of 0 to {self.classes - 1}"


def columns_of(how):
    """Columns of a function's further arguments."""
    known = ("features", "label", "shape", "classes", "regression")
    for name in how:
        if name not in known:
            raise Failure(f"there is no argument {name}= but {'=, '.join(known)}= of the "
                          "columns")
    return Columns(**how)


def _check_name(argument, name):
    if not isinstance(name, str):
        raise Failure(f"{argument}={name!r:.50}: want the name of a column; "
                      "df.withColumn('both', F.array('a', 'b')) makes one of several, and "
                      "VectorAssembler of pyspark.ml does")


def _count(n, what):
    return f"{n} {what}" + ("" if n == 1 else "s")


def of_dataframe(df, columns, labelled):
    """The DataFrame with features as array<float>, also in arrays, or binary,
    and the columns completed by its schema.  Conversions are Spark's own."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import (ArrayType, BinaryType, FloatType, NumericType,
                                   StringType, StructType)
    fields = {field.name: field.dataType for field in df.schema.fields}
    for name in [columns.features] + ([columns.label] if labelled else []):
        if name not in fields:
            raise Failure(f"the DataFrame has no column '{name}' but "
                          f"{', '.join(fields)}: name yours with features= and label=")
    kind = fields[columns.features]
    column = F.col(quoted(columns.features))
    if kind.simpleString() == "vector":
        from pyspark.ml.functions import vector_to_array
        column, kind = vector_to_array(column, "float32"), ArrayType(FloatType())
    if isinstance(kind, StructType) and {"data", "nChannels", "mode"} <= set(kind.names):
        colours = columns.shape[-1] == 3 and len(columns.shape) == 3
        columns = replace(columns, dtype="u8", bgr=colours)
        column = column["data"]
    elif isinstance(kind, BinaryType):
        columns = replace(columns, dtype="u8")
    elif isinstance(kind, ArrayType):
        number, axes = kind, 0
        while isinstance(number, ArrayType):
            number, axes = number.elementType, axes + 1
        if not isinstance(number, NumericType):
            raise Failure(_wrong_type(columns.features, kind), 65)
        if not isinstance(number, FloatType):
            column = column.cast("array<" * axes + "float" + ">" * axes)
    elif isinstance(kind, NumericType) and columns.values == 1:
        column = F.array(column.cast("float"))
    else:
        raise Failure(_wrong_type(columns.features, kind), 65)
    if labelled:
        kind = fields[columns.label]
        if kind.simpleString() == "vector":
            raise Failure(f"labels are vectors: convert column '{columns.label}' "
                          "with pyspark.ml.functions.vector_to_array", 65)
        if not columns.regression and columns.classes is None or \
                isinstance(kind, StringType) and isinstance(columns.classes, int):
            columns = replace(columns, classes=_found_classes(df, columns.label))
    return column, columns


def _found_classes(df, label):
    rows = df.select(quoted(label)).distinct().limit(labels.MOST + 1).collect()
    return labels.found([value for value, in rows], label)


def quoted(name):
    """The name of a column, which may have dots, for Spark."""
    return "`" + name.replace("`", "``") + "`"


def _wrong_type(name, kind):
    return (f"column '{name}' is {kind.simpleString()}: want an array of numbers, a "
            "vector, bytes (of pixels), or an image of Spark's image source")
