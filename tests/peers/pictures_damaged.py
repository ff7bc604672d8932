"""Damaged pictures beside Pillow: whatever Pillow refuses is to be refused here, too.

Files of each format, cut short at any place and with bytes of their headers changed.
Files that only one of both takes are printed; those that Pillow alone refuses count, as some
files are refused here that it mends in its own way.
usage: pictures_damaged.py [COUNT]
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from PIL import Image

import dataset
from pictures import noise

FORMATS = {
    "jpg": [{}, {"progressive": True}], "png": [{}], "webp": [{}, {"lossless": True}],
    "tif": [{}, {"compression": "tiff_lzw"}, {"compression": "packbits"}, {"compression": "tiff_adobe_deflate"}],
    "gif": [{}], "bmp": [{}], "ppm": [{}], "pgm": [{}], "pbm": [{}],
}  # fmt: skip


def as_text(picture):
    """PNM with its numbers as text, which Pillow reads and does not write."""
    mode = {"1": "P1", "L": "P2", "RGB": "P3"}[picture.mode]
    values = np.asarray(picture).reshape(-1)
    if mode == "P1":
        values = 1 - values.astype(int)
    largest = "" if mode == "P1" else " 255"
    return f"{mode} {picture.width} {picture.height}{largest}\n{' '.join(map(str, values))}\n".encode()


def damaged(random, data):
    """One byte changed, of the header more often than not, or the end cut off."""
    data = bytearray(data)
    if random.random() < 0.4:
        return bytes(data[: int(random.integers(1, len(data)))])
    at = int(random.integers(0, min(len(data), 64) if random.random() < 0.7 else len(data)))
    data[at] = int(random.integers(0, 256))
    return bytes(data)


def opened(path):
    """Pillow's pixels, or its reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture = Image.open(path)
            if picture.width * picture.height > 1 << 22:
                return None, "vast"
            return np.asarray(picture.convert("RGB").resize((16, 16), Image.Resampling.BILINEAR)), ""
    except Exception as e:  # Pillow throws whatever its readers do
        return None, f"{type(e).__name__}: {e}"


def main(count):
    random = np.random.default_rng(11)
    taken, refused, other = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch, "pictures")
        folder.mkdir()
        for kind, options in FORMATS.items():
            for i in range(count):
                path = folder / f"{kind}-{i:04d}.{kind}"
                width, height = (int(x) for x in random.integers(3, 40, 2))
                picture = noise(random, width, height, 1 if kind == "pgm" else 3)
                if kind == "bmp" and i % 2:
                    picture = picture.quantize(60)
                if kind == "pbm":
                    picture = picture.convert("1")
                picture.save(path, **options[i % len(options)])
                whole = as_text(picture) if kind in ("pbm", "pgm", "ppm") and i % 2 else path.read_bytes()
                path.write_bytes(damaged(random, whole))
        out = pathlib.Path(scratch, "out.dls")
        bad = pathlib.Path(scratch, "bad")
        subprocess.run(["dl-preprocess", "images", "-q", "--size", "16x16", "--fit", "stretch", "--no-labels", folder, "--max-bad",
                        "1000000", "--bad-list", bad, "--max-pixels", str(1 << 22), "-o", out], check=True, stderr=subprocess.DEVNULL)
        ours = dict(dataset.examples(out))
        reasons = {pathlib.Path(line.split("'")[1]).name: line.split(": ", 1)[1].strip() for line in open(bad)}
        for path in sorted(folder.iterdir()):
            kind = path.suffix[1:]
            pixels, why = opened(path)
            mine = ours.get(path.name)
            if why == "vast":
                continue
            if mine is not None and pixels is None:
                taken[kind] += 1
                print(f"{path.name}: taken, Pillow: {why}", file=sys.stderr)
                if len(sys.argv) > 2:
                    pathlib.Path(sys.argv[2], path.name).write_bytes(path.read_bytes())
            elif mine is None and pixels is not None:
                refused[kind] += 1
                print(f"{path.name}: refused here alone: {reasons[path.name]}", file=sys.stderr)
            elif mine is not None and not np.array_equal(mine, pixels):
                other[kind] += 1
                print(f"{path.name}: other pixels", file=sys.stderr)
    print(json.dumps({"files": count * len(FORMATS), "taken_here_alone": taken, "refused_here_alone": refused, "other_pixels": other}))
    # Among thousands of files libraries of other versions may differ in one.
    return 1 if taken.total() > count * len(FORMATS) // 1000 else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
