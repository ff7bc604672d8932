"""Pictures of dl-preprocess images beside Pillow's: every byte is to be the same.

Files of random sizes in each format, resized by each filter and fitted in each way;
grey, alpha, palettes, 16 bits, CMYK, every orientation of EXIF.
usage: pictures.py [COUNT]
"""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageOps

import dataset

FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
FITS = ("crop", "pad", "stretch", "shorter")


def noise(random, width, height, channels):
    """Smooth enough for JPEG, rough enough for rounding to show."""
    small = random.integers(0, 256, (max(1, height // 3), max(1, width // 3), channels), np.uint8)
    mode = "L" if channels == 1 else "RGB"
    picture = Image.fromarray(small[:, :, 0] if channels == 1 else small, mode)
    return picture.resize((width, height), Image.Resampling.BICUBIC)


def write_all(folder, random, count):
    """Files of every kind, named by what they are."""
    for i in range(count):
        width, height = (int(x) for x in random.integers(1, 300, 2))
        color, grey = noise(random, width, height, 3), noise(random, width, height, 1)
        at = lambda name: folder / f"{i:03d}-{name}"
        color.save(at("color.jpg"), quality=int(random.integers(30, 100)), subsampling=i % 3)
        color.save(at("progressive.jpg"), progressive=True)
        grey.save(at("grey.jpg"))
        color.convert("CMYK").save(at("cmyk.jpg"))
        exif = Image.Exif()
        exif[0x0112] = i % 8 + 1
        color.save(at("turned.jpg"), exif=exif)
        color.save(at("turned.png"), exif=exif)
        color.save(at("turned.webp"), exif=exif, lossless=True)
        color.save(at("color.png"))
        grey.save(at("grey.png"))
        color.quantize(64).save(at("palette.png"))
        grey.point(lambda v: 255 * (v > 127)).convert("1").save(at("bits.png"))
        alpha = color.copy()
        alpha.putalpha(grey)
        alpha.save(at("alpha.png"))
        Image.merge("LA", (grey, grey)).save(at("grey-alpha.png"))
        color.save(at("lossy.webp"))
        color.save(at("color.tif"))
        grey.save(at("grey.tif"))
        color.save(at("lzw.tif"), compression="tiff_lzw")
        color.save(at("jpeg-as.png"), format="JPEG")
        color.save(at("color.bmp"))
        color.quantize(200).save(at("palette.bmp"))
        color.save(at("color.ppm"))
        grey.save(at("grey.pgm"))
        color.quantize(32).save(at("palette.gif"))
        color.quantize(200).save(at("many.gif"))
        others = [color.transpose(Image.Transpose.ROTATE_180), color.point(lambda v: 255 - v)]
        for name in ("animated.gif", "animated.webp"):
            color.save(at(name), save_all=True, append_images=others, duration=50)
        alpha.save(at("animated-alpha.webp"), save_all=True, append_images=others, lossless=True)


def fitted(picture, fit, size, resample):
    """As torchvision's Resize and CenterCrop, Pillow's ImageOps.pad and resize."""
    width, height = size
    w, h = picture.size
    if fit == "stretch":
        return picture.resize(size, resample)
    if fit == "pad":
        return ImageOps.pad(picture, size, resample)
    if fit == "shorter":
        short = max(width, height) + 3
        new = (short, int(short * h / w)) if w <= h else (int(short * w / h), short)
    elif w * height >= h * width:
        new = (height * w // h, height)
    else:
        new = (width, width * h // w)
    picture = picture.resize(new, resample)
    left, top = (int(round((have - want) / 2)) for have, want in zip(new, size))
    return picture.crop((left, top, left + width, top + height))


def main(count):
    random = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch, "pictures")
        folder.mkdir()
        write_all(folder, random, count)
        cases = different = 0
        for (name, resample), fit, color in itertools.product(FILTERS.items(), FITS, ("rgb", "grey")):
            width, height = (int(x) for x in random.integers(1, 120, 2))
            options = ["--fit", "crop", "--shorter", str(max(width, height) + 3)] if fit == "shorter" else ["--fit", fit]
            out = pathlib.Path(scratch, "out.dls")
            subprocess.run(["dl-preprocess", "images", "--size", f"{width}x{height}", "--interpolation", name, *options,
                            "--color", color, "--no-labels", folder, "-f", "-o", out], check=True)
            for id, pixels in dataset.examples(out):
                picture = ImageOps.exif_transpose(Image.open(folder / id))
                picture = picture.convert("RGB").convert("L") if color == "grey" and picture.mode != "L" else picture.convert(
                    "L" if color == "grey" else "RGB")
                want = np.asarray(fitted(picture, fit, (width, height), resample)).reshape(pixels.shape)
                cases += 1
                if not np.array_equal(want, pixels):
                    different += 1
                    most = np.abs(want.astype(int) - pixels).max()
                    print(f"{id}, {name}, {fit}, {color}, {picture.size} to {width}x{height}: up to {most} apart", file=sys.stderr)
        print(json.dumps({"pictures": cases, "different": different, "pillow": Image.__version__}))
        return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8))
