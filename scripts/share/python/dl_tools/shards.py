"""DataSet streams, dl-dataset(5), as arrays."""

import io
import json

import numpy as np

from dl_tools import blobs, tools

END = b"DLS-END\n"


def read_records(source):
    """Yields (metadata, arrays) of each record of a shard: a path, or its bytes.

    Encoded tensors are decoded: sequences are padded and have a mask, windows are cut of
    their series, JPEG files are pixels (by Pillow).  Raises ValueError for a stream that is damaged or cut short.
    """
    data = source
    name = "the stream"
    if not isinstance(source, (bytes, bytearray)):
        name = f"'{source}'"
        with open(source, "rb") as file:
            data = file.read()
    if not data.endswith(END):
        raise ValueError(f"{name} is no shard, or cut short: it does not end with an end mark")
    try:
        content, at, facts = blobs.unpacked(bytes(data)), 0, {}
        while at < len(content):
            more, arrays, at = blobs.parse(content, at)
            facts.update(_decoded_facts(more))
            if arrays:
                yield facts, _decoded(arrays, facts.get("schema", {}))
    except (ValueError, KeyError) as error:
        raise ValueError(f"{name} is damaged: {error}") from None


def read_shard(source):
    """All examples of a shard: {"features": array, "labels": array, ...}."""
    records = [arrays for _, arrays in read_records(source)]
    if not records:
        raise ValueError(f"'{source}' has no examples")
    return {name: np.concatenate([arrays[name] for arrays in records]) for name in records[0]}


def metadata(source):
    """What a shard says of itself: schema, classes, columns, statistics, ..."""
    facts = {}
    for facts, _ in read_records(source):
        pass
    return facts


def write_shard(path, features, labels=None, *, classes=None, ids=None):
    """Writes arrays as a shard, by dl-preprocess raw; the path may be None for bytes.

    labels: class numbers (integers), names of classes (with classes=), or numbers to predict (floats).
    classes: their names, or their number; the default is the largest label and one.
    ids: names of the examples.
    """
    features = np.asarray(features)
    kind = {"|u1": "u8", "|i1": "i8", "<i2": "i16", "<i4": "i32", "<i8": "i64",
            "<f8": "f64"}.get(features.dtype.str, "f32")
    features = np.ascontiguousarray(features, {"u8": "u1", "i8": "i1", "f32": "<f4"}.get(
        kind, features.dtype))
    if features.ndim == 1:
        features = features[:, None]
    count = len(features)
    words = ["raw", "-q", "--no-provenance", "--dtype", kind, "--examples", count,
             "--shape", ",".join(map(str, features.shape[1:]))]
    parts = [features.reshape(count, -1).view("u1").reshape(count, -1)]
    if labels is None:
        words.append("--no-labels")
    else:
        more, column = _labels(np.asarray(labels), classes, count, kind)
        words += more
        parts.append(column)
    if ids is not None:
        width = max(1, max(len(str(name).encode()) for name in ids))
        parts.append(np.array([str(name).encode() for name in ids], f"S{width}")
                     .view("u1").reshape(count, width))
        words += ["--id-bytes", width]
    data = np.concatenate(parts, axis=1).tobytes()
    if path is None:
        return bytes(tools.run("dl-preprocess", *words, input=data))
    tools.run("dl-preprocess", *words, "-f", "-o", path, input=data)
    return None


def _labels(labels, classes, count, kind):
    if len(labels) != count:
        raise ValueError(f"want a label for each of {count} examples, got {len(labels)}")
    if np.issubdtype(labels.dtype, np.floating):
        width = 8 if kind in ("f64", "i32", "i64") else 4
        labels = np.ascontiguousarray(labels.reshape(count, -1), f"<f{width}")
        return (["--regression", "--targets", labels.shape[1]],
                labels.view("u1").reshape(count, -1))
    if not np.issubdtype(labels.dtype, np.integer) and labels.dtype != bool:
        if classes is None or isinstance(classes, int):
            raise ValueError(f"labels must be numbers, got {labels.flat[0]!r}; give classes=[...], "
                             "the names in their order")
        numbers = {name: number for number, name in enumerate(classes)}
        unknown = [name for name in labels.flat if name not in numbers]
        if unknown:
            raise ValueError(f"the label {unknown[0]!r} is not among the classes")
        labels = np.array([numbers[name] for name in labels.flat], "i4")
    if classes is None:
        classes = int(labels.max()) + 1
    named = classes if isinstance(classes, int) else ",".join(classes)
    return ["--classes", named], np.ascontiguousarray(labels, "<i4").view("u1").reshape(count, 4)


def _decoded_facts(facts):
    kept = {}
    for name, text in facts.items():
        try:
            kept[name] = json.loads(text)
        except ValueError:
            kept[name] = text
    return kept


def _decoded(arrays, schema):
    result = {}
    for name, array in arrays.items():
        if name.endswith((".offsets", ".windows")):
            continue
        encoding = schema.get(name, {}).get("encoding")
        if encoding is None:
            result[name] = array
            continue
        if encoding == "series":
            result.update((view, _windows(array, arrays[name + ".windows"], field))
                          for view, field in schema.items() if field.get("encoding") == "window")
            continue
        offsets = arrays[name + ".offsets"]
        parts = [array[first:last] for first, last in zip(offsets, offsets[1:])]
        if encoding == "ragged":
            padded = np.zeros((len(parts), *schema[name]["shape"]), array.dtype)
            mask = np.zeros(padded.shape[:2], "u1")
            for row, part in enumerate(parts):
                padded[row, :len(part)] = part
                mask[row, :len(part)] = 1
            result[name] = padded
            if name.startswith("features"):
                result[name.replace("features", "features_mask", 1)] = mask
        elif encoding == "jpeg":
            result[name] = np.stack([_picture(part, schema[name]["shape"]) for part in parts])
        else:
            raise ValueError(f"the encoding '{encoding}' is not known")
    return result


def _windows(series, runs, field):
    """A tensor of each window, which begins field["first"] rows into it: a view of the series
    if there is one run of windows and nothing to choose of a row."""
    columns, shape = list(field["columns"]), field["shape"]
    if columns == list(range(series.shape[1])):
        columns = slice(None)
    rows = int(np.prod(shape, dtype=np.int64)) // max(1, len(field["columns"]))
    parts = []
    for first, step, count in runs.tolist():
        begin = first + field["first"]
        end = begin + step * (count - 1) + rows
        if min(first, field["first"]) < 0 or min(step, count) < 1 or end > len(series):
            raise ValueError("windows outside their series")
        cut = np.lib.stride_tricks.sliding_window_view(series[begin:end], rows, axis=0)
        parts.append(np.moveaxis(cut[::step], -1, 1)[:, :, columns])
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
    kind = {"I32": "i4"}.get(field.get("dtype"), whole.dtype)
    return whole.reshape(len(whole), *shape).astype(kind, copy=False)


def _picture(part, shape):
    try:
        from PIL import Image
    except ImportError:
        raise RuntimeError("want Pillow to read pictures that are stored as JPEG") from None
    return np.asarray(Image.open(io.BytesIO(part.tobytes()))).reshape(shape)
