"""Augmentation beside Pillow and albumentations.

values: what each change makes of random pictures, beside Pillow's; speed: pictures a
second of one thread's processor time, beside albumentations, in ratios.
usage: augment.py [speed]
"""

import json
import math
import subprocess
import sys
import time

import numpy as np

SHAPES = [(32, 32, 3), (224, 224, 3)]


def ours(change, value, pictures):
    height, width, channels = pictures.shape[1:]
    command = ["peer-augment", change, str(value), str(height), str(width), str(channels)]
    done = subprocess.run(command, input=pictures.tobytes(), check=True, stdout=subprocess.PIPE)
    return np.frombuffer(done.stdout, np.uint8).reshape(pictures.shape)


def pillow_changes():
    """Name, value, what Pillow does, and the levels that it may differ by."""
    from PIL import Image, ImageEnhance, ImageOps

    def enhance(kind):
        return lambda picture, value: kind(picture).enhance(value)

    def hue(picture, value):
        hsv = np.array(picture.convert("HSV"))
        hsv[:, :, 0] += np.int32(value * 255).astype(np.uint8)
        return Image.fromarray(hsv, "HSV").convert("RGB")

    def affine(kind, resample):
        def change(picture, value):
            width, height = picture.size
            x, y, angle = width / 2, height / 2, math.radians(value)
            a, b, d, e = {
                "rotate": (math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle)),
                "scale": (1 / value, 0, 0, 1 / value),
                "shear": (1, math.tan(angle), 0, 1),
            }[kind]
            data = (a, b, x - a * x - b * y, d, e, y - d * x - e * y)
            return picture.transform(picture.size, Image.Transform.AFFINE, data, resample)

        return change

    for value in (0, 0.3, 0.9, 1.1, 1.7):
        yield "brightness", value, enhance(ImageEnhance.Brightness), 0
        yield "contrast", value, enhance(ImageEnhance.Contrast), 0
        yield "saturation", value, enhance(ImageEnhance.Color), 0
        yield "sharpness", value, enhance(ImageEnhance.Sharpness), 1
    for value in (-0.4, -0.1, 0.05, 0.3):
        yield "hue", value, hue, 0
    yield "grey", 0, lambda picture, _: ImageOps.grayscale(picture).convert("RGB"), 0
    yield "invert", 0, lambda picture, _: ImageOps.invert(picture), 0
    yield "autocontrast", 0, lambda picture, _: ImageOps.autocontrast(picture), 0
    yield "equalize", 0, lambda picture, _: ImageOps.equalize(picture), 0
    for value in (1, 4, 7):
        yield "posterize", value, lambda picture, bits: ImageOps.posterize(picture, bits), 0
    for value in (0, 100, 200):
        yield "solarize", value, lambda picture, threshold: ImageOps.solarize(picture, threshold), 0
    for kind, values in {"rotate": (10, -75, 180), "scale": (0.5, 1.4), "shear": (-20, 15)}.items():
        for value in values:
            yield f"{kind}-nearest", value, affine(kind, Image.Resampling.NEAREST), None
            yield f"{kind}-bilinear", value, affine(kind, Image.Resampling.BILINEAR), 1


def compare_values():
    from PIL import Image

    random = np.random.default_rng(7)
    wrong = cases = 0
    for shape in ((37, 50, 3), (64, 33, 3)):
        small = random.integers(0, 256, (6, 12, 12, 3), np.uint8)
        size = (shape[1], shape[0])
        pictures = np.stack([Image.fromarray(s).resize(size, Image.Resampling.BICUBIC) for s in small])
        pictures[3:] = pictures[3:] // 3 + 40  # less contrast
        for name, value, change, levels in pillow_changes():
            wanted = np.stack([change(Image.fromarray(picture), value) for picture in pictures])
            got = ours(name, value, pictures)
            off = np.abs(wanted.astype(int) - got)
            cases += 1
            # Between two pixels the nearest is either one.
            good = off.max() <= levels if levels is not None else (off.max(-1) > 0).mean() < 0.01
            if not good:
                wrong += 1
                print(f"{name} {value} {shape}: up to {off.max()} off, {(off > 0).mean():.2%} of values")
    print(json.dumps({"cases": cases, "wrong": wrong}))
    return wrong == 0


def albumentations_steps(size):
    import albumentations as A

    return {
        '{"type": "flip", "p": 1}': A.HorizontalFlip(p=1),
        '{"type": "flip", "direction": "vertical", "p": 1}': A.VerticalFlip(p=1),
        '{"type": "crop", "padding": 4}': A.Compose([A.Pad(4, p=1), A.RandomCrop(size, size, p=1)]),
        '{"type": "resized_crop"}': A.RandomResizedCrop((size, size), p=1),
        '{"type": "rotate", "degrees": 30, "interpolation": "bilinear"}': A.Rotate(30, p=1, border_mode=0),
        '{"type": "affine", "degrees": 10, "translate": [0.1, 0.1], "scale": [0.8, 1.2], "shear": 10,'
        ' "interpolation": "bilinear"}': A.Affine(
            rotate=(-10, 10), translate_percent=(-0.1, 0.1), scale=(0.8, 1.2), shear=(-10, 10), p=1
        ),
        '{"type": "perspective", "p": 1}': A.Perspective(p=1),
        '{"type": "color_jitter", "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}': A.ColorJitter(
            0.4, 0.4, 0.4, 0.1, p=1
        ),
        '{"type": "color_jitter", "brightness": 0.4, "contrast": 0.4}': A.RandomBrightnessContrast(0.4, 0.4, p=1),
        '{"type": "grayscale", "p": 1}': A.ToGray(p=1),
        '{"type": "invert", "p": 1}': A.InvertImg(p=1),
        '{"type": "autocontrast", "p": 1}': A.AutoContrast(p=1),
        '{"type": "equalize", "p": 1}': A.Equalize(by_channels=True, p=1),
        '{"type": "posterize", "p": 1}': A.Posterize(4, p=1),
        '{"type": "solarize", "p": 1}': A.Solarize((0.5, 0.5), p=1),
        '{"type": "sharpness", "p": 1}': A.Sharpen(p=1),
        '{"type": "gaussian_blur", "kernel_size": 5}': A.GaussianBlur((5, 5), p=1),
        '{"type": "gaussian_noise"}': A.GaussNoise((0.1, 0.1), p=1),
        '{"type": "erase", "p": 1}': A.Erasing(p=1),
        '{"type": "cutout"}': A.CoarseDropout((1, 1), (16, 16), (16, 16), p=1),
    }


def compare_speed():
    import cv2

    cv2.setNumThreads(1)
    cv2.ocl.setUseOpenCL(False)
    random = np.random.default_rng(1)
    logs = []
    for height, width, channels in SHAPES:
        pictures = random.integers(0, 256, (64, height, width, channels), np.uint8)
        for step, theirs in albumentations_steps(height).items():
            for picture in pictures[:8]:
                theirs(image=picture)
            begin, count = time.process_time(), 0
            while time.process_time() < begin + 0.5:
                for picture in pictures:
                    theirs(image=picture)
                count += len(pictures)
            rate = count / (time.process_time() - begin)
            command = ["peer-augment", "speed", step, str(height), str(width), str(channels)]
            own = float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            logs.append(math.log(own / rate))
            print(json.dumps({"step": json.loads(step)["type"], "pixels": height, "pictures/s": round(own), "albumentations": round(rate), "times": round(own / rate, 2)}), flush=True)
    print(json.dumps({"geometric mean": round(math.exp(sum(logs) / len(logs)), 2), "least": round(math.exp(min(logs)), 2)}))


if __name__ == "__main__":
    if sys.argv[1:] == ["speed"]:
        compare_speed()
    elif not compare_values():
        sys.exit(1)
