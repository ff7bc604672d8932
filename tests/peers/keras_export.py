"""What dl-export makes of networks says in Keras what it says here: the cases and
examples of onnx_export.py, with zeros where steps are padding, of which some are
refused, and models with normalizers.  usage: keras [CASE...]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402  after what it looks at
import numpy as np  # noqa: E402
from safetensors import safe_open  # noqa: E402

from files import records  # noqa: E402
from onnx_export import (BATCHES, BOUND, NORMALIZERS, cases, drawn, examples_of, gap,  # noqa: E402
                         trained, traced, written)

# At the least so many files are written, not refused.
LEAST = 200
# Tensors of a model that are of training, or that a layer of Keras has not.
BESIDE = ("/m", "/v", "/centers", "/slope_bias")


FORMATS = "keras", "h5"


class Unloaded(Exception):
    """Keras does not take it."""


def exported(model, out):
    subprocess.run(["dl-export", "-q", model, "-o", out], check=True, stderr=subprocess.PIPE)
    try:
        return keras.models.load_model(out)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise Unloaded(f"Keras: {error}"[:200]) from error


def features_of(data, name):
    return data["features" if "features" in data else f"features/{name}"]


def masks_of(data):
    return {n: t for n, t in data.items() if n.startswith("features_mask")}


def padded(data):
    """With zeros where steps do not count, of which each example has one that does:
    Keras's mean of none is not a number."""
    data = dict(data)
    for name, mask in masks_of(data).items():
        mask = mask.copy()
        mask[mask.sum(axis=1) == 0, 0] = 1
        data[name] = mask
        features = name.replace("features_mask", "features")
        x = data[features]
        seen = mask.reshape(*mask.shape, *[1] * (x.ndim - mask.ndim)) > 0
        data[features] = np.where(seen, x, np.zeros_like(x))
    return data


def weights_in(path):
    with safe_open(path, framework="numpy") as file:
        return {n: file.get_tensor(n) for n in file.keys()}


def imported_again(file, model, said, data, names, folder):
    """What differs, by a bit, when it comes back: numbers that it says of the
    data, and weights, whose axes may be other ones; or ""."""
    feeds = {n: features_of(data, n)[:len(said[0])] for n in names}
    if len(feeds) == 1:
        feeds = {"x": next(iter(feeds.values()))}
    ends = {"y": said[0]} if len(said) == 1 else {f"labels/{n}": s for n, s in enumerate(said)}
    (folder / "said.npz").unlink(missing_ok=True)  # of the case before
    if len(said) == 1:
        np.savez(folder / "said.npz", **feeds, **ends)
    back = folder / "back.safetensors"
    done = subprocess.run(["dl-import", "-q", file, "-o", back, *(
        ["--check", folder / "said.npz", "--tolerance", "0"] if len(said) == 1 else [])],
        capture_output=True, text=True)
    if done.returncode:
        return f"imported again: {done.stdout.strip()[-70:]} {done.stderr.strip()}"
    there = {np.sort(t, axis=None).tobytes() for t in weights_in(back).values()}
    lost = [n for n, t in weights_in(model).items()
            if not n.endswith(BESIDE) and np.sort(t, axis=None).tobytes() not in there]
    return f"imported again: {', '.join(lost)} differ" if lost else ""


def own_cases():
    """(name, network, data, steps): padding of the data, and what Keras names and
    holds to in its own way."""
    last = {"type": "output", "units": 3, "loss": "mean_squared_error"}
    lstm, steps = {"type": "lstm", "units": 4}, {"return_sequences": True}
    padded_networks = {
        "lstm": [lstm, last], "lstm, each step": [{**lstm, **steps}, last],
        "gru both ways": [{"type": "gru", "units": 4, "bidirectional": "concat"}, last],
        "dense and lstm": [{"type": "dense", "units": 5, "activation": "tanh"}, lstm, last],
        "mean": [{**lstm, **steps}, {"type": "global_pool", "kind": "average"}, last]}
    random = np.random.default_rng(7)
    mask = (np.arange(6) < random.integers(1, 7, size=(7, 1))).astype(np.float32)
    for name, layers in padded_networks.items():
        network = {"input": {"shape": [6, 3]}, "layers": layers}
        yield f"padding, {name}", network, {**drawn(network), "features_mask": mask}, 0
    words = {"input": {"shape": [6]}, "layers": [
        {"type": "embedding", "rows": 9, "units": 4, "mask_zero": True}, lstm, last]}
    yield "padding, words", words, {"features": ((1 + drawn(words)["features"] % 8) * mask).astype(np.int32),
                                    "features_mask": mask}, 0
    held = {"regularization": {"l1": 0.25, "l2": 0.5, "l2_bias": 0.125}}
    odd = {"input": {"shape": [8, 8, 3]}, "layers": [
        {"type": "conv2d", "name": "features", "filters": 4, "kernel": [3, 3], "frozen": True, **held},
        {"type": "batch_norm", "name": "-odd.name"},
        {"type": "depthwise_conv2d", "name": "features_", "kernel": [3, 3], "constraints": {"max_norm": 2}},
        {"type": "dense", "name": "_d", "units": 4, "constraints": {"non_negative": True}},
        {"type": "output", "name": "a.b", "units": 3, "loss": "mean_squared_error", **held}]}
    yield "names and regularizers", odd, drawn(odd), 0


def held_as_told(path):
    """What is wrong with the layers of names and regularizers, as Keras has them."""
    model = keras.models.load_model(path)
    kernel, bias = model.get_layer("features").kernel_regularizer, model.get_layer("features").bias_regularizer
    good = {"frozen": not model.get_layer("features").trainable, "not frozen": model.get_layer("_d").trainable,
            "l1": kernel.l1 == 0.25, "l2": kernel.l2 == 0.25, "bias": bias.l2 == 0.0625,
            "norm": model.get_layer("features_").depthwise_constraint.max_value == 2,
            "sign": isinstance(model.get_layer("_d").kernel_constraint, keras.constraints.NonNeg),
            "predicts": np.isfinite(model.predict(np.ones((2, 8, 8, 3)), verbose=0)).all()}
    return ", ".join(name for name, one in good.items() if not one)


def one_format(form, model, tensors, data, folder):
    """The largest difference, or what is wrong."""
    out = folder / f"model.{form}"
    loaded = exported(model, out)
    found = []
    names = [t.name.split(":")[0] for t in loaded.inputs]
    for rows in sorted({min(rows, examples_of(data)) for rows in BATCHES}):
        feeds = [features_of(data, n)[:rows].reshape(rows, *t.shape[1:])
                 for n, t in zip(names, loaded.inputs)]
        outputs = loaded(feeds if len(feeds) > 1 else feeds[0], training=False)
        for i, output in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
            found.append(gap(i, tensors, np.asarray(output)))
    wrong = [f for f in found if isinstance(f, str) or not f <= BOUND]
    if wrong:
        return f"{form}: {max(wrong, key=str)}"
    said = [tensors[n][:rows] for n in sorted(tensors) if n.startswith("last/")]
    return imported_again(out, model, said, data, names, folder) or max(found)


def compare(network, data, steps, folder):
    """(difference or what is wrong, in the archive and in HDF5)."""
    try:
        tensors, resolved = traced(network, data, steps, folder)
        model = written(tensors, resolved, folder, masks_of(data))
    except subprocess.CalledProcessError as error:
        return [error.stderr.decode().strip()]
    all_found = []
    for form in FORMATS:
        try:
            all_found.append(one_format(form, model, tensors, data, folder))
        except subprocess.CalledProcessError as error:
            all_found.append(error.stderr.decode().strip())
        except Unloaded as error:
            all_found.append(str(error))
    return all_found


def normalized(kind, folder):
    trained(kind, folder)
    model = exported(folder / "m.safetensors", folder / "m.keras")
    pixels, said = (np.concatenate([r[n] for r in records(folder / f)]) for f, n in (
        ("digits-000.dls", "features"), ("said.dls", "labels")))
    pixels = pixels.astype(np.float32).reshape(-1, *model.inputs[0].shape[1:])
    found = np.asarray(model(pixels, training=False))
    return gap(0, {"last/0": said.reshape(found.shape)}, found)


def in_keras_2(folder):
    """What tf.keras of DL_PEERS_KERAS2, a Python, says of the HDF5 files."""
    python = os.environ.get("DL_PEERS_KERAS2")
    if not python:
        print("keras: skipped: DL_PEERS_KERAS2 names no Python that has tf.keras 2")
        return True
    program = pathlib.Path(__file__).with_name("keras2_export.py")
    return subprocess.run([python, program, folder, str(BOUND)], check=False).returncode == 0


def keep(name, folder, kept):
    """The HDF5 file, with what goes in and what comes out."""
    target = kept / re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    for end in ("h5", "npz"):
        source = folder / ("model.h5" if end == "h5" else "said.npz")
        if source.exists():
            shutil.copy(source, f"{target}.{end}")


def main():
    wanted = sys.argv[1:]
    good, refused = [], 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
        folder, kept = pathlib.Path(folder), pathlib.Path(kept)

        def tell(name, found):
            good.append(isinstance(found, float) and found <= BOUND)
            print(f"{name:40} {found if isinstance(found, str) else format(found, '.1e')}"
                  f"{'' if good[-1] else '  over'}", flush=True)
        for name, network, data, steps in [*own_cases(), *cases()]:
            if wanted and not any(name.startswith(w) for w in wanted):
                continue
            for form, found in zip(FORMATS, compare(network, padded(data), steps, folder)):
                if isinstance(found, str) and found.startswith("dl-export: "):
                    refused += 1
                    why = found.split("': ", 1)[-1]
                    print(f"{name:40} {form}: refused: {why}", flush=True)
                else:
                    tell(f"{name} {form}", found)
                    if name == "names and regularizers":
                        tell(f"{name} as told", held_as_told(folder / f"model.{form}") or 0.0)
                    if form == "h5":
                        keep(name, folder, kept)
            keras.backend.clear_session()
        for kind in NORMALIZERS if not wanted or "normalize" in wanted else ():
            tell(f"normalize {kind}", normalized(kind, folder))
        good.append(in_keras_2(kept))
    print(f"keras: {len(good)} files, {good.count(False)} differ by more than {BOUND:g}; "
          f"{refused} refused")
    sys.exit(0 if all(good) and len(good) >= (1 if wanted else LEAST) else 1)


main()
