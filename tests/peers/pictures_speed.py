"""Speed of dl-preprocess images beside Pillow and torchvision, in ratios of user time.

One process each, in turns, best of three: files to arrays (ours by peer-decode), and to a
stream on /dev/null, with statistics and compression.  A stream of JPEG is also read, as a
worker reads it, to pixels.  torchvision where it is installed.
usage: pictures_speed.py [CIFAR-10's pictures, a tar archive]
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

PILLOW = """
import pathlib, sys
import numpy
from PIL import Image
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.jpg")):
    picture = Image.open(path)
    if len(sys.argv) > 3:
        picture.draft("RGB", (2 * int(sys.argv[2]),) * 2)
    picture = picture.convert("RGB")
    size = (int(sys.argv[2]),) * 2
    if picture.size != size:
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    numpy.asarray(picture)
"""
TORCHVISION = """
import sys
import torch, torchvision
from torchvision.transforms import v2
torch.set_num_threads(1)
steps = v2.Compose([v2.Resize((int(sys.argv[2]),) * 2), v2.PILToTensor()])
data = torchvision.datasets.ImageFolder(sys.argv[1], transform=steps)
for batch in torch.utils.data.DataLoader(data, batch_size=256):
    pass
"""


def user_time(*command):
    """Of a process, beyond what it takes to start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(name, folder, size):
    """Pictures a second of user and system time on one core, and ratios."""
    count = sum(1 for _ in folder.rglob("*.jpg"))
    ours = ["dl-preprocess", "images", "-q", "--no-labels", "--threads", 1, "--size", f"{size}x{size}", "--fit", "stretch"]
    programs = {
        "ours": [*ours, folder],
        "ours, to arrays": ["peer-decode", folder, f"{size}x{size}"],
        "ours, scaled decoding": [*ours, "--scaled-decoding", folder],
        "Pillow": [sys.executable, "-c", PILLOW, folder, size],
        "Pillow, draft": [sys.executable, "-c", PILLOW, folder, size, "draft"],
    }
    stream = folder.parent / "stream.dls"
    store = [*ours, "--store", "jpeg"]
    subprocess.run([str(word) for word in [*store, folder, "-o", stream]], check=True)
    programs |= {"ours, stored as JPEG": [*store, folder], "ours, of a stream of JPEG": ["dl-shard", "--verify", stream]}
    empty = pathlib.Path(tempfile.mkdtemp())
    start = {"Pillow": user_time(sys.executable, "-c", PILLOW, empty, size)}
    try:
        subprocess.run([sys.executable, "-c", "import torchvision"], check=True, stderr=subprocess.DEVNULL)
        programs["torchvision"] = [sys.executable, "-c", TORCHVISION, folder, size]
        start["torchvision"] = user_time(sys.executable, "-c", "import torch, torchvision")
    except subprocess.CalledProcessError:
        pass
    os.rmdir(empty)
    start["Pillow, draft"] = start["Pillow"]
    times = {}
    for _ in range(3):
        for program, command in programs.items():
            took = user_time(*command) - start.get(program, 0)
            times[program] = min(took, times.get(program, took))
    for program, took in times.items():
        ratios = {f"times {peer}": round(times[peer] / took, 2) for peer in ("Pillow", "torchvision") if peer in times}
        print(json.dumps({"data": name, "program": program, "pictures/s": round(count / took), **ratios}))


def main(archive):
    with tempfile.TemporaryDirectory() as scratch:
        if archive:
            subprocess.run(["tar", "-xf", archive, "-C", scratch, "test"], check=True)
            compare("CIFAR-10, 10,000 of 32 pixels", pathlib.Path(scratch, "test"), 32)
        large = pathlib.Path(scratch, "large", "some")
        large.mkdir(parents=True)
        random = np.random.default_rng(1)
        for i in range(24):
            small = random.integers(0, 256, (180, 180, 3), np.uint8)
            picture = Image.fromarray(small).resize((1411, 1411), Image.Resampling.BICUBIC)
            picture.save(large / f"{i}.jpg", quality=85)
        compare("24 of 1411 pixels to 224", large.parent, 224)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
