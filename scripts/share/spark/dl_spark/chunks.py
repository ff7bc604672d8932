"""Some rows of a partition at a time, and the bytes that `dl-preprocess raw`
reads of them: of Arrow's batches where Spark has them, else of rows."""

from array import array
from itertools import islice

from dl_spark.tools import Failure

FEATURES, LABEL = "dl_features", "dl_label"  # what columns.py selects
ROWS = 1024  # of a chunk that is no Arrow batch


class ArrowChunk:
    """A pyarrow.RecordBatch with FEATURES, of array<float>, also in arrays, or binary."""

    def __init__(self, batch):
        self.batch = batch
        self.rows = batch.num_rows

    def labels(self):
        return self.batch.column(LABEL).to_pylist()

    def features(self, columns, row):
        """All features as bytes, one row after the other.  row: number of the
        first row, for Failure."""
        data = self.batch.column(FEATURES)
        even = (_bytes_of_even if columns.dtype == "u8" else _numbers_of_even)(data, columns)
        # Rows one by one tell which of them is wrong.
        return _packed_rows(data.to_pylist(), columns, row) if even is None else even

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
        return _packed_rows([_part(element, FEATURES, 0, columns.label is not None)
                             for element in self.list], columns, row)


def _numbers_of_even(data, columns):
    """The bytes of lists, also in lists, of numbers; None where any is null or their
    lengths differ."""
    import pyarrow as pa
    import pyarrow.compute as pc
    rows = len(data)
    while pa.types.is_nested(data.type):
        lengths = pc.min_max(pc.list_value_length(data)).as_py()
        if data.null_count or lengths["min"] != lengths["max"]:
            return None
        data = data.flatten()
    return None if data.null_count or len(data) != rows * columns.values else _buffer(data, 4)


def _bytes_of_even(data, columns):
    import pyarrow as pa
    import pyarrow.compute as pc
    want = columns.bytes
    even = not data.null_count and pc.all(pc.equal(pc.binary_length(data), want)).as_py()
    return _buffer(data.cast(pa.binary(want)), want) if even else None


def _buffer(data, size):
    start = data.offset * size
    return memoryview(data.buffers()[1])[start:start + len(data) * size]


def _packed_rows(values, columns, row):
    want = columns.bytes if columns.dtype == "u8" else columns.values
    packed = []
    for at, value in enumerate(values, row):
        if value is None:
            raise _bad_features(columns, at, None, want)
        if columns.dtype == "f32":
            value = _packed(value, columns, at)
        elif not isinstance(value, (bytes, bytearray)):
            raise _wrong_features(columns, at, value, "bytes, as others have")
        have = len(value) if columns.dtype == "u8" else len(value) // 4
        if have != want:
            raise _bad_features(columns, at, have, want)
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
            numbers, even = _numbers(value)
            packed = array("f", numbers).tobytes()
            if even or len(numbers) != columns.values:
                return packed
            raise _uneven_lists(columns, row) from None
    except (TypeError, ValueError):
        numbers, _ = _numbers(value)
        if None in numbers:
            raise _null_value(columns, row, numbers.index(None)) from None
        raise _wrong_features(columns, row, value, "numbers") from None


def _numbers(value):
    """(the numbers in lists of lists, whether those beside each other are alike)."""
    numbers, even = [value], True
    while any(map(_is_list, numbers)):
        parts = [list(part) if _is_list(part) else part for part in numbers]
        even = even and all(map(_is_list, parts)) and len(set(map(len, parts))) == 1
        numbers = [number for part in parts
                   for number in (part if _is_list(part) else [part])]
    return numbers, even


def _is_list(value):
    return hasattr(value, "__iter__") and not isinstance(value, str)


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


def _uneven_lists(columns, row):
    return Failure(f"row {row}: column '{columns.features}' has lists beside each other of "
                   "unequal lengths: drop such rows, or put them right", 65)
