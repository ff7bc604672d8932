"""Some rows of a partition at a time, and the bytes that `dl-preprocess raw`
reads of them: of Arrow's batches where Spark has them, else of rows."""

from array import array
from itertools import islice

from dl_spark.tools import Failure

FEATURES, LABEL = "dl_features", "dl_label"  # what columns.py selects
ROWS = 1024  # of a chunk that is no Arrow batch


class ArrowChunk:
    """A pyarrow.RecordBatch with FEATURES, of array<float> or binary."""

    def __init__(self, batch):
        self.batch = batch
        self.rows = batch.num_rows

    def labels(self):
        return self.batch.column(LABEL).to_pylist()

    def features(self, columns, row):
        """All features as bytes, one row after the other.  row: number of the
        first row, for Failure."""
        import pyarrow as pa
        import pyarrow.compute as pc
        data = self.batch.column(FEATURES)
        is_bytes = columns.dtype == "u8"
        lengths = pc.binary_length(data) if is_bytes else pc.list_value_length(data)
        want = columns.bytes if is_bytes else columns.values
        wrong = pc.fill_null(pc.not_equal(lengths, want), True)
        if pc.any(wrong).as_py():
            at = wrong.index(True).as_py()
            raise _bad_features(columns, row + at, lengths[at].as_py(), want)
        if is_bytes:
            data = data.cast(pa.binary(want))
            size = want
        else:
            values = data.flatten()
            if values.null_count:
                at = values.is_null().index(True).as_py()
                raise _null_value(columns, row + at // want, at % want)
            data, size = values, 4
        start = data.offset * size
        return memoryview(data.buffers()[1])[start:start + len(data) * size]

    def with_columns(self, names, columns):
        """The batch without FEATURES, and with columns (type, values), by these names."""
        import pyarrow as pa
        arrays = [self.batch.column(i) for i, name in enumerate(self.batch.schema.names)
                  if name != FEATURES]
        arrays += [pa.array(values, kind) for kind, values in columns]
        return pa.RecordBatch.from_arrays(arrays, names=names)


class RowChunk:
    """A list of rows: of a DataFrame, or what an RDD has: pairs (features,
    label), objects with both as attributes (LabeledPoint), or features alone."""

    def __init__(self, rows):
        self.list = rows
        self.rows = len(rows)

    def labels(self):
        return [_part(row, LABEL, 1) for row in self.list]

    def features(self, columns, row):
        want = columns.bytes if columns.dtype == "u8" else columns.values
        packed = []
        for at, element in enumerate(self.list):
            value = _part(element, FEATURES, 0, columns.label is not None)
            if value is None:
                raise _bad_features(columns, row + at, None, want)
            if columns.dtype == "f32":
                value = _packed(value, columns, row + at)
            elif not isinstance(value, (bytes, bytearray)):
                raise _wrong_features(columns, row + at, value, "bytes, as others have")
            have = len(value) if columns.dtype == "u8" else len(value) // 4
            if have != want:
                raise _bad_features(columns, row + at, have, want)
            packed.append(value)
        return memoryview(b"".join(packed))


def _packed(value, columns, row):
    """The numbers of a vector, an array or lists, of any axes, as float32."""
    if isinstance(value, (str, bytes, bytearray)):
        raise _wrong_features(columns, row, value, "numbers")
    if hasattr(value, "toArray"):
        value = value.toArray()
    try:
        if hasattr(value, "astype"):
            return value.astype("<f4").tobytes()
        try:
            return array("f", value).tobytes()
        except TypeError:
            value = list(_numbers(value))
            return array("f", value).tobytes()
    except (TypeError, ValueError):
        numbers = list(_numbers(value))
        if None in numbers:
            raise _null_value(columns, row, numbers.index(None)) from None
        raise _wrong_features(columns, row, value, "numbers") from None


def _numbers(value):
    if hasattr(value, "__iter__") and not isinstance(value, str):
        for part in value:
            yield from _numbers(part)
    else:
        yield value


def _part(row, name, place, labelled=True):
    """Without labels, a list of two is no pair but features, as a tuple of numbers is."""
    fields = getattr(row, "__fields__", None)
    if fields and name in fields:
        return row[name]
    if fields and name[3:] in fields:
        return row[name[3:]]
    if hasattr(row, "features"):
        return getattr(row, name[3:])
    if isinstance(row, (tuple, list)) and len(row) == 2 and (
            labelled or isinstance(row, tuple) and hasattr(row[0], "__len__")):
        return row[place]
    if place == 0:
        return row
    raise Failure(f"an element of the RDD is {row!r:.80}: want pairs of features "
                  "and label", 65)


def row_chunks(rows):
    rows = iter(rows)
    while chunk := list(islice(rows, ROWS)):
        yield RowChunk(chunk)


def encode(chunk, columns, row):
    """What dl-preprocess raw reads of a chunk; row: the number of its first
    row in the partition, from 1."""
    data = chunk.features(columns, row)
    if columns.bgr:
        data = _rgb(data)
    if columns.label is None:
        return data
    bytes_of, size = columns.label_bytes(), columns.bytes
    labels, packed = chunk.labels(), []
    try:
        for label in labels:
            packed.append(bytes_of(label))
    except (KeyError, TypeError, ValueError, OverflowError):
        at = len(packed)
        raise Failure(f"row {row + at}: column '{columns.label}' "
                      f"{columns.bad_label(labels[at])}: drop such rows, or put "
                      "them right", 65) from None
    pieces = [b""] * (2 * chunk.rows)
    pieces[0::2] = [data[i:i + size] for i in range(0, chunk.rows * size, size)]
    pieces[1::2] = packed
    return b"".join(pieces)


def _rgb(data):
    data = bytearray(data)
    data[0::3], data[2::3] = data[2::3], data[0::3]
    return data


def _bad_features(columns, row, length, want):
    what = "bytes" if columns.dtype == "u8" else "numbers"
    shape = ",".join(map(str, columns.shape))
    if length is None:
        return Failure(f"row {row}: column '{columns.features}' is null: drop such "
                       f"rows, as with df.na.drop(subset=['{columns.features}'])", 65)
    return Failure(f"row {row}: column '{columns.features}' has {length} {what}, and "
                   f"the network's input [{shape}] wants {want}: put the data "
                   "right, or give shape=", 65)


def _wrong_features(columns, row, value, want):
    return Failure(f"row {row}: column '{columns.features}' is {value!r:.50}, want {want}: "
                   "drop such rows, or put them right", 65)


def _null_value(columns, row, at):
    return Failure(f"row {row}: value {at + 1} of column '{columns.features}' is null: "
                   "drop such rows, or fill the value in", 65)
