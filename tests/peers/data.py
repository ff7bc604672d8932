"""The data of the comparisons, as shards: MNIST and CIFAR-10 from
${DL_TEST_DATA:-../shared/data} where they are, else digits of the examples or
random pictures of the same shapes; and sequences made up here."""

import gzip
import io
import os
import pathlib
import subprocess
import tarfile

import numpy as np

from files import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("DL_TEST_DATA", ROOT.parent / "shared" / "data"))
CIFAR = DATA / "cifar10-jpeg.tar.zst"
EXAMPLES = 4096  # of MNIST
PICTURES = 2048  # of CIFAR-10
ALL_PICTURES = {"train": 50000, "test": 10000}
SEQUENCES = 1024
VECTORS = 1024


def mnist(folder, count=EXAMPLES):
    """(shard, what it is)"""
    images = DATA / "mnist" / "train-images-idx3-ubyte.gz"
    labels = DATA / "mnist" / "train-labels-idx1-ubyte.gz"
    what = "MNIST"
    if not images.exists():
        images, labels = folder / "images.idx", folder / "labels.idx"
        what = "digits of 8x8 pixels, enlarged"
        enlarged_digits(images, labels)
    run(f"dl-preprocess idx {images} {labels} | dl-shard -q --head {count} | "
        f"dl-shard -q -o {folder}/mnist")
    return f"{folder}/mnist-000.dls", what


def enlarged_digits(images, labels):
    text = gzip.open(ROOT / "scripts" / "share" / "examples" / "digits.csv.gz", "rt").read()
    rows = np.array([line.split(",") for line in text.split()], dtype=np.float64)
    rows = np.tile(rows, (-(-EXAMPLES // len(rows)), 1))[:EXAMPLES]
    small = rows[:, :64].reshape(-1, 8, 8) / 16 * 255
    pixels = np.pad(small.repeat(3, axis=1).repeat(3, axis=2), ((0, 0), (2, 2), (2, 2)))
    extents = np.array([len(rows), 28, 28], dtype=">i4").tobytes()
    images.write_bytes(b"\0\0\x08\x03" + extents + pixels.astype(np.uint8).tobytes())
    labels.write_bytes(b"\0\0\x08\x01" + extents[:4] + rows[:, -1].astype(np.uint8).tobytes())


def cifar(folder, part="train", count=PICTURES):
    """(shard, what it is)"""
    what = "CIFAR-10"
    try:
        pictures = real_pictures(part, count)
    except (ImportError, FileNotFoundError):
        what = "random pictures of 32x32"
        random = np.random.default_rng(1)
        pictures = [(int(label), random.integers(0, 256, (32, 32, 3), dtype=np.uint8))
                    for label in random.integers(0, 10, PICTURES)]
    raw = folder / f"{part}.bin"
    write_cifar(raw, pictures)
    run(f"dl-preprocess cifar {raw} | dl-shard -q -o {folder}/{part}")
    return f"{folder}/{part}-000.dls", what


def write_cifar(raw, pictures):
    """In CIFAR's binary format: a label, then the planes of red, green, blue."""
    raw.write_bytes(b"".join(bytes([label]) + picture.transpose(2, 0, 1).tobytes()
                             for label, picture in pictures))


def write_idx(path, array):
    kind = {"uint8": 8, "float32": 13}[array.dtype.name]
    extents = np.array(array.shape, dtype=">i4").tobytes()
    path.write_bytes(bytes([0, 0, kind, array.ndim]) + extents +
                     array.astype(array.dtype.newbyteorder(">")).tobytes())


def shard_of(folder, name, x, y, classes, shape):
    write_idx(folder / f"{name}-x.idx", x)
    write_idx(folder / f"{name}-y.idx", y)
    run(f"dl-preprocess idx --classes {classes} --shape {shape} {folder}/{name}-x.idx "
        f"{folder}/{name}-y.idx | dl-shard -q -o {folder}/{name}")
    return f"{folder}/{name}-000.dls"


def masks(folder):
    """(shard, what it is): pictures of 64x64 and which of their pixels are bright."""
    x = np.random.default_rng(1).integers(0, 256, (256, 64, 64, 3), dtype=np.uint8)
    y = (x.mean(-1) > 128).astype(np.uint8)
    return shard_of(folder, "masks", x, y, 2, "64,64,3"), "random pictures of 64x64"


def letters(folder):
    """(shard, what it is): 64 characters, and the next one of each."""
    text = DATA / "tinyshakespeare.txt"
    what = "Shakespeare" if text.exists() else "our license"
    text = np.frombuffer((text if text.exists() else ROOT / "LICENSE").read_bytes(), np.uint8)
    x = np.resize(text, SEQUENCES * 64 + 1) % 128
    return shard_of(folder, "letters", x[:-1].reshape(-1, 64), x[1:].reshape(-1, 64), 128,
                    "64"), what


def tokens(folder):
    """(shard, what it is): 64 tokens, half of them of the class."""
    random = np.random.default_rng(1)
    y = random.integers(0, 10, SEQUENCES, dtype=np.uint8)
    x = random.integers(0, 128, (SEQUENCES, 64), dtype=np.uint8)
    x = np.where(random.random(x.shape) < 0.5, x, y[:, None]).astype(np.uint8)
    return shard_of(folder, "tokens", x, y, 10, "64"), "random tokens"


def sequences(folder):
    """(shard, what it is): noise around a direction for each class."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 10, SEQUENCES)
    x = random.standard_normal((SEQUENCES, 50, 64))
    x += 0.3 * random.standard_normal((10, 1, 64))[labels]
    return shard_of(folder, "sequences", x.astype(np.float32), labels.astype(np.uint8), 10,
                    "50,64"), "noise in sequences"


def vectors(folder):
    """(shard, what it is): noise around a point for each class."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 10, VECTORS)
    x = random.standard_normal((VECTORS, 2048))
    x += 0.3 * random.standard_normal((10, 2048))[labels]
    return shard_of(folder, "vectors", x.astype(np.float32), labels.astype(np.uint8), 10,
                    "2048"), "noise in vectors"


def real_pictures(part="train", count=PICTURES):
    """(label, picture) of so many of CIFAR-10's, shuffled."""
    from PIL import Image
    if not CIFAR.exists():
        raise FileNotFoundError(CIFAR)
    every = ALL_PICTURES[part] // count
    unpack = subprocess.Popen(["zstd", "-qdc", str(CIFAR)], stdout=subprocess.PIPE)
    pictures, seen = [], 0
    with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
        for member in archive:
            parts = pathlib.PurePath(member.name).parts
            if not member.name.endswith(".jpg") or part not in parts:
                continue
            seen += 1
            if seen % every == 0:
                picture = Image.open(io.BytesIO(archive.extractfile(member).read()))
                pictures.append((parts[-2], np.asarray(picture.convert("RGB"))))
    unpack.wait()
    classes = sorted({name for name, _ in pictures})
    order = np.random.default_rng(1).permutation(len(pictures))[:count]
    return [(classes.index(pictures[i][0]), pictures[i][1]) for i in order]
