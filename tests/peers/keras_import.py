"""Models of Keras beside what dl-import makes of them: the outputs of every layer in
keras_cases.py, and of keras.applications with random weights.

Each model is saved in every way that this Keras knows (.keras, .h5, JSON and weights),
run by Keras on random inputs, and compared by dl-import --check.  A difference is
relative to the largest output.  usage: keras_import [--applications] [CASE...]
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import absl.logging
import keras
import numpy as np

from keras_cases import CASES, FIRST

absl.logging.set_verbosity("error")  # of HDF5 files, that they are old

LAYERS, APPLICATIONS = 1e-5, 1e-4
NAMES = ("VGG16 VGG19 ResNet50 ResNet50V2 MobileNet MobileNetV2 MobileNetV3Small InceptionV3 InceptionResNetV2 "
         "Xception DenseNet121 NASNetMobile EfficientNetB0 EfficientNetV2B0 ConvNeXtTiny").split()
SIZES = {"InceptionV3": 139, "InceptionResNetV2": 139, "Xception": 139, "NASNetMobile": 224}


def randomize(model, random):
    """Weights that tell rows from columns, and statistics that are not 0 and 1."""
    for weight in model.weights:
        path = getattr(weight, "path", weight.name)
        if not str(weight.dtype).startswith("float"):
            continue
        size = 1 / np.sqrt(max(1, np.prod(weight.shape[:-1])))
        value = random.normal(size=weight.shape) * size
        if "variance" in path:
            value = random.uniform(0.5, 2, weight.shape)
        if "gamma" in path:
            value = random.uniform(0.5, 1.5, weight.shape)
        weight.assign(value.astype("float32"))


def drawn(shapes, tokens, random, examples):
    if tokens:
        return [np.sort(random.integers(0, tokens, (examples, *s)))[:, ::-1].copy() for s in shapes]
    inputs = [random.normal(size=(examples, *s)).astype("float32") for s in shapes]
    return inputs


def padded(inputs):
    """The last steps of the first half of the examples are padding."""
    for x in inputs:
        x[: len(x) // 2, -2:] = 0
    return inputs


def origin(tensor):
    """The layer that a tensor comes from, in Keras 2 and 3."""
    history = tensor._keras_history
    return (history.operation if hasattr(history, "operation") else history.layer).name


WAYS = "keras", "h5", "json"


def saved(model, folder, ways):
    """The command-line arguments that name it, of each way to save it."""
    path = folder / "m"
    for way in ways:
        if way != "json":
            model.save(f"{path}.{way}")
    if "json" in ways:
        pathlib.Path(f"{path}.json").write_text(model.to_json())
        model.save_weights(f"{path}.weights.h5")
    arguments = {"keras": [f"{path}.keras"], "h5": [f"{path}.h5"],
                 "json": [f"{path}.json", "--weights", f"{path}.weights.h5"]}
    return {way: arguments[way] for way in ways}


def channels_first(value):
    """A configuration with its channels first."""
    if isinstance(value, list):
        return [channels_first(v) for v in value]
    if not isinstance(value, dict):
        return "channels_first" if value == "channels_last" else value
    value = {k: channels_first(v) for k, v in value.items() if k not in ("build_config", "shape")}
    config = value.get("config")
    if value.get("class_name") == "InputLayer":
        key = "batch_shape" if "batch_shape" in config else "batch_input_shape"
        shape = config[key]
        config[key] = [shape[0], shape[-1], *shape[1:-1]]
    if value.get("class_name") in ("BatchNormalization", "Concatenate"):
        config["axis"] = 1
    return value


def first(model, inputs, folder):
    """The same of a model whose channels come first: what it says is the same."""
    (folder / "m.json").write_text(json.dumps(channels_first(json.loads(model.to_json()))))
    model.save_weights(folder / "m.weights.h5")
    outputs = np.array(model(inputs[0], training=False))
    if outputs.ndim > 2:
        outputs = np.moveaxis(outputs, -1, 1)
    np.savez(folder / "data.npz", x=np.moveaxis(inputs[0], -1, 1), y=outputs)
    return worst_of("first", [folder / "m.json", "--weights", folder / "m.weights.h5"], folder)


def worst_of(way, arguments, folder):
    done = subprocess.run(["dl-import", "-q", "--check", folder / "data.npz", "--tolerance", "1e30", *arguments],
                          capture_output=True, text=True)
    if done.returncode:
        return f"{way}: {done.stderr.strip()}"
    found = [(float(gap), float(size)) for gap, size in
             re.findall(r"difference (\S+), largest output (\S+)", done.stdout)]
    if not found or min(size for _, size in found) < 1e-3:
        return f"{way}: outputs are 0"
    return max(gap / size for gap, size in found)


def compare(model, inputs, folder, ways=WAYS):
    """(largest difference, its way) or a sentence."""
    outputs = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    names = [origin(t) for t in model.inputs]
    data = dict(zip(names, inputs))
    ends = [origin(t) for t in model.outputs]
    data.update({f"labels/{n}": np.array(y) for n, y in zip(ends, outputs)})
    if len(inputs) == 1:
        data["x"] = data.pop(names[0])
    np.savez(folder / "data.npz", **data)
    worst, at = 0.0, ""
    for way, arguments in saved(model, folder, ways).items():
        found = worst_of(way, arguments, folder)
        if isinstance(found, str):
            return found, way
        if not found <= worst:
            worst, at = found, way
    return worst, at


def applications(wanted, random):
    for name in wanted or NAMES:
        size = SIZES.get(name, 96)
        make = getattr(keras.applications, name)
        yield name, lambda m=make, s=size: m(weights=None, input_shape=(s, s, 3), classes=10, classifier_activation=None), ((size, size, 3),), 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--applications", action="store_true")
    options.add_argument("cases", nargs="*")
    options = options.parse_args()
    random = np.random.default_rng(7)
    bound = APPLICATIONS if options.applications else LAYERS
    if options.applications:
        todo = applications(options.cases, random)
    else:
        todo = [(n, *c) for n, c in CASES.items() if not options.cases or any(n.startswith(x) for x in options.cases)]
    failed = count = skipped = 0
    print(f"Keras {keras.__version__} on {keras.backend.backend()}; bound {bound:g}")
    for name, build, shapes, tokens in todo:
        keras.backend.clear_session()
        keras.utils.set_random_seed(5)
        try:
            model = build()
        except (ValueError, AttributeError, TypeError) as error:
            print(f"skip {name:34} this Keras does not have it: {str(error).splitlines()[0][:60]}", flush=True)
            skipped += 1
            continue
        randomize(model, random)
        inputs = drawn(shapes, tokens, random, 2 if options.applications else 6)
        if name.startswith("masking"):
            inputs = padded(inputs)
        with tempfile.TemporaryDirectory() as folder:
            worst, way = compare(model, inputs, pathlib.Path(folder))
            if isinstance(worst, float) and name in FIRST:
                other = first(model, inputs, pathlib.Path(folder))
                worst, way = (other, "first") if isinstance(other, str) or not other <= worst else (worst, way)
        good = isinstance(worst, float) and worst <= bound
        failed += not good
        count += 1
        print(f"{'ok  ' if good else 'FAIL'} {name:34} {worst if isinstance(worst, str) else f'{worst:.1e} {way}'}", flush=True)
    print(f"{count - failed} of {count} agree, {skipped} are not in this Keras")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
