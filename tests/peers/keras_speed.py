"""Inference of the networks of keras.applications, with random weights: dl-tools beside
Keras on TensorFlow and ONNX Runtime, two threads each, a batch of 1 and of 16.

They take turns, round by round, four calls a turn, and the least time of each counts:
other programs of the machine make times longer, never shorter.  Before each turn is a
pause, for the threads of the one before spin on for a while and have cores that the
next wants.  Ours is that of peer-step, which is what dl-infer does between reading and
writing.
usage: keras_speed [--rounds N] [--threads N] [--batch LIST] [--json FILE] [NETWORK...]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

THREADS = 2
CALLS = 4
PAUSE = 0.3  # seconds
for i, word in enumerate(sys.argv):
    if word == "--threads":
        THREADS = int(sys.argv[i + 1])
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["OMP_NUM_THREADS"] = str(THREADS)

import keras
import numpy as np
import onnxruntime
import tensorflow as tf
from safetensors.numpy import save_file

from keras_import import SIZES, randomize

NAMES = ("VGG16 VGG19 ResNet50 ResNet50V2 MobileNetV2 InceptionV3 Xception DenseNet121 EfficientNetB0 "
         "NASNetMobile ConvNeXtTiny").split()
SIZE = 224


class Ours:
    def __init__(self, folder, images, batch):
        save_file({"features": images, "labels": np.zeros((len(images), 10), np.float32)}, folder / "x.safetensors")
        with open(folder / "x.dls", "wb") as file:
            subprocess.run(["make-dataset", folder / "x.safetensors"], stdout=file, check=True)
        self.program = subprocess.Popen(
            ["peer-step", "--model", folder / "m.safetensors", "--data", folder / "x.dls", "--batch", str(batch),
             "--threads", str(THREADS), "--predict"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.program.stdout.readline()

    def seconds(self):
        self.program.stdin.write(f"{CALLS}\n")
        self.program.stdin.flush()
        return min(json.loads(self.program.stdout.readline())["seconds"])

    def close(self):
        self.program.stdin.close()
        self.program.wait()


def least_of(call):
    """The least seconds of some calls."""
    least = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        least.append(time.perf_counter() - start)
    return min(least)


class Keras:
    def __init__(self, model, images):
        self.call = tf.function(lambda x: model(x, training=False))
        self.images = tf.constant(images)

    def seconds(self):
        return least_of(lambda: self.call(self.images).numpy())

    def close(self):
        pass


class Runtime:
    def __init__(self, path, images):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        self.feed = {self.session.get_inputs()[0].name: images}

    def seconds(self):
        return least_of(lambda: self.session.run(None, self.feed))

    def close(self):
        pass


def measured(name, batches, rounds):
    keras.backend.clear_session()
    size = SIZES.get(name, SIZE) if name == "NASNetMobile" else SIZE
    model = getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10,
                                              classifier_activation=None)
    random = np.random.default_rng(3)
    randomize(model, random)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model.save(folder / "m.keras")
        subprocess.run(["dl-import", "-q", folder / "m.keras", "-o", folder / "m.safetensors"], check=True)
        subprocess.run(["dl-export", "-q", folder / "m.safetensors", "-o", folder / "m.onnx"], check=True)
        for batch in batches:
            images = random.normal(size=(batch, size, size, 3)).astype(np.float32)
            sides = {"dl-tools": Ours(folder, images, batch), "Keras": Keras(model, images),
                     "ONNX Runtime": Runtime(folder / "m.onnx", images)}
            least = {}
            for side in sides.values():
                side.seconds()
            for _ in range(rounds):
                for word, side in sides.items():
                    time.sleep(PAUSE)
                    least[word] = min(least.get(word, 1e9), side.seconds())
            for side in sides.values():
                side.close()
            rows.append({"network": name, "batch": batch, **least})
            print(f"{name:16} {batch:3} " + " ".join(f"{1e3 * t:9.1f} ms" for t in least.values()) +
                  f"   {least['dl-tools'] / least['Keras']:.2f} {least['dl-tools'] / least['ONNX Runtime']:.2f}",
                  flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--batch", default="1,16")
    parser.add_argument("--json")
    parser.add_argument("networks", nargs="*")
    options = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    print(f"load {os.getloadavg()[0]:.1f}, {THREADS} threads, least of {options.rounds} rounds\n"
          f"{'network':16} batch  dl-tools       Keras  ONNX Runtime   of Keras, of ONNX Runtime")
    rows = [r for n in options.networks or NAMES
            for r in measured(n, [int(b) for b in options.batch.split(",")], options.rounds)]
    print(f"load {os.getloadavg()[0]:.1f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
