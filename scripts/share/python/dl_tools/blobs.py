"""safetensors, and zstd frames of it: the bytes below dl-dataset(5) and dl-model(5)."""

import json
import shutil
import subprocess

import numpy as np

TYPES = {"U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F32": "<f4", "F64": "<f8"}


def parse(data, at=0):
    """Metadata, tensors (by name) and the end of the blob that begins there."""
    size = int.from_bytes(data[at:at + 8], "little")
    if at + 8 + size > len(data):
        raise ValueError("the header is cut short")
    header = json.loads(bytes(data[at + 8:at + 8 + size]))
    metadata = header.pop("__metadata__", {})
    base = end = at + 8 + size
    tensors = {}
    for name, entry in header.items():
        first, last = (base + offset for offset in entry["data_offsets"])
        if last > len(data):
            raise ValueError(f"tensor '{name}' is cut short")
        tensors[name] = np.frombuffer(data, TYPES[entry["dtype"]],
                                      offset=first, count=(last - first) // np.dtype(
                                          TYPES[entry["dtype"]]).itemsize).reshape(entry["shape"])
        end = max(end, last)
    return metadata, tensors, end


def unpacked(data):
    """The content of zstd frames, one after the other.  Raises ValueError."""
    module = _zstd()
    if module:
        decompress, failure = module
        try:
            return decompress(data)
        except failure as error:
            raise ValueError(str(error)) from None
    program = shutil.which("zstd")
    if not program:
        raise RuntimeError("want the package zstandard or the program zstd to read shards")
    done = subprocess.run([program, "-dcq"], input=data, capture_output=True)
    if done.returncode:
        raise ValueError(done.stderr.decode().strip())
    return done.stdout


def _zstd():
    """A function that unpacks, and the exception that it raises; or None."""
    try:
        from compression import zstd  # Python 3.14
        return lambda data: zstd.decompress(_without_marks(data)), zstd.ZstdError
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        return None
    return (lambda data: zstandard.ZstdDecompressor().stream_reader(
        data, read_across_frames=True).read(), zstandard.ZstdError)


def _without_marks(data):
    """The frames without those to be skipped."""
    magic = 0x184D2A5D.to_bytes(4, "little")
    return b"".join(_pieces(data, magic))


def _pieces(data, magic):
    end = len(data)
    pieces = []
    while end > 0:  # from the last mark to the first
        length = int.from_bytes(data[end - 16:end - 8], "little")
        mark = end - length
        start = mark - int.from_bytes(data[mark + 24:mark + 32], "little")
        if data[mark:mark + 4] != magic or start < 0:
            raise ValueError("a mark is damaged")
        pieces.append(data[start:mark])
        end = start
    return reversed(pieces)
