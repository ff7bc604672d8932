"""Reads DataSet streams, as dl-dataset(5) describes them."""

import json
import subprocess

import numpy as np

TYPES = {"U8": np.uint8, "I32": np.int32, "I64": np.int64, "F32": np.float32, "F64": np.float64}


def records(path):
    """Metadata and tensors of each record."""
    data = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        header = json.loads(data[at + 8 : at + 8 + size])
        metadata = header.pop("__metadata__", {})
        base = end = at + 8 + size
        tensors = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            values = np.frombuffer(data[base + first : base + last], TYPES[entry["dtype"]])
            tensors[name] = values.reshape(entry["shape"])
            end = max(end, base + last)
        yield metadata, tensors
        at = end


def examples(path):
    """Id and features of each example."""
    for _, tensors in records(path):
        if "features" in tensors:
            for id, features in zip(tensors["id"], tensors["features"]):
                yield bytes(id).rstrip(b"\0").decode(), features
