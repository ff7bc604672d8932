"""One step of training in Keras beside one of dl-master, from the same weights on the
same mini-batch.

Models are the cases of keras_training_cases.py, and those of keras_random.py without
what draws numbers in training.  Each of these is compiled with a loss for each output
and an optimizer, of those that both have, and saved; dl-import brings it in, dl-master does one step with what it was compiled with,
and each tensor is compared with that which dl-import makes of Keras's model behind its
step.  A difference is relative to the largest number of the tensor, or to 1.
usage: keras_training [--drawn] [--models N] [--from SEED] [--verbose] [CASE...]
--drawn: without the cases; CASE: these alone, by how their names begin
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import constraints, optimizers, regularizers
from keras import layers as L
from safetensors import safe_open
from safetensors.numpy import save_file

from keras_import import origin
from keras_random import Draw, model_of
from keras_training_cases import CASES

BOUND = 1e-5
EXAMPLES = 6
CLASSES = ("categorical_crossentropy", "kl_divergence", "mean_squared_error")
REALS = ("mean_squared_error", "mean_absolute_error", "huber", "log_cosh", "cosine_similarity", "hinge",
         "squared_hinge")


def optimizer_of(d):
    rate = d.of(0.1, 0.01, 0.001)
    clip = d.of({}, {}, {"clipvalue": 0.01}, {"clipnorm": 0.05})
    epsilon = d.of(1e-2, 1e-3)  # far above the rounding errors of gradients that are 0
    return d.of(
        lambda: optimizers.SGD(rate, **clip),
        lambda: optimizers.SGD(rate, momentum=0.9, nesterov=True, **clip),
        lambda: optimizers.Adam(rate, epsilon=epsilon, beta_1=d.of(0.9, 0.8), **clip),
        lambda: optimizers.Adam(rate, epsilon=epsilon, amsgrad=True),
        lambda: optimizers.Adamax(rate, epsilon=epsilon),
        lambda: optimizers.Adadelta(rate, epsilon=1e-4),
        lambda: optimizers.SGD(optimizers.schedules.ExponentialDecay(rate, 10, 0.5)),
        lambda: optimizers.SGD(optimizers.schedules.CosineDecay(rate, 10)))()


def end_of(tensor):
    """The name of the activation behind an output."""
    layer = tensor._keras_history.operation
    return getattr(getattr(layer, "activation", None), "__name__", "linear")


def loss_of(d, tensor):
    """(a loss, labels for it)"""
    activation, shape = end_of(tensor), (EXAMPLES, *tensor.shape[1:])
    one_hot = np.eye(shape[-1], dtype="float32")[d.random.integers(shape[-1], size=shape[:-1])]
    if activation == "softmax":
        name = d.of(*CLASSES)
        return name, one_hot
    if activation == "sigmoid":
        return d.of("binary_crossentropy", "mean_squared_error"), d.random.integers(
            2, size=shape).astype("float32")
    if activation == "softplus":
        return d.of("poisson", "mean_squared_logarithmic_error"), d.random.uniform(
            0.5, 3, shape).astype("float32")
    # It compares values; of one, dl-import leaves it out.
    name = d.of(*(name for name in REALS if shape[-1] > 1 or name != "cosine_similarity"))
    labels = d.random.normal(size=shape).astype("float32")
    return name, np.sign(labels) if "hinge" in name else labels


def held(d, layer):
    """Costs and bounds of its weights; they are asked for when it is compiled."""
    if not isinstance(layer, (L.Dense, L.Conv1D, L.Conv2D)) or not layer.built:
        return
    if d.chance(0.3):
        layer.kernel_regularizer = layer.kernel.regularizer = d.of(
            lambda: regularizers.L2(0.01), lambda: regularizers.L1(0.01), lambda: regularizers.L1L2(0.01, 0.02))()
    if d.chance(0.2):
        layer.kernel_constraint = layer.kernel.constraint = (
            d.of(lambda: constraints.MaxNorm(0.5), lambda: constraints.UnitNorm(),
                 lambda: constraints.MinMaxNorm(0.2, 0.6))() if isinstance(layer, L.Dense)
            else constraints.NonNeg())


def tensors_of(path):
    with safe_open(path, framework="numpy") as file:
        return {n: file.get_tensor(n) for n in file.keys()}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
    return done.stderr


def shard(model, imported, inputs, labels, folder):
    """The mini-batch as dl-master reads it, by the names that dl-import gave."""
    import json
    with safe_open(imported, framework="numpy") as file:
        network = json.loads(file.metadata()["network"])
    data = {}
    for i, x in enumerate(inputs):
        several = len(network.get("inputs", [0])) > 1
        name = f"features/{network['inputs'][i]['name']}" if several else "features"
        tokens = any(isinstance(layer, L.Embedding) for layer in model.layers)
        data[name] = x.astype("int32") if tokens else x
    ends = network.get("outputs", [""])
    ends = [ends] if isinstance(ends, str) else ends
    for name, y in zip(ends, labels):
        data[f"labels/{name}" if len(ends) > 1 else "labels"] = y
    save_file({n: np.ascontiguousarray(t) for n, t in data.items()}, folder / "batch.safetensors")
    with open(folder / "batch.dls", "wb") as file:
        subprocess.run(["make-dataset", folder / "batch.safetensors"], stdout=file, check=True)


def gap(mine, theirs):
    if mine.keys() != theirs.keys():
        return f"tensors differ: {sorted(mine.keys() ^ theirs.keys())}"
    worst = max(((float(np.abs(mine[n] - theirs[n]).max(initial=0)) / max(1, float(np.abs(theirs[n]).max(initial=0))), n)
                 for n in theirs), default=(0.0, ""))
    return worst[0] if worst[0] <= BOUND else f"{worst[0]:.1e} {worst[1]}"


def drawn(seed):
    """(model, compiled, or None; inputs; labels; its kind; what it is trained with)"""
    model, inputs, kind = model_of(seed, trained=True)
    d = Draw(seed + 1_000_000)
    optimizer = optimizer_of(d)
    # Keras clips the gradients with the costs of regularizers.
    if not optimizer.clipvalue and not optimizer.clipnorm:
        for layer in model._flatten_layers():
            held(d, layer)
    aims = [loss_of(d, t) for t in model.outputs]
    weights = [d.of(1.0, 0.5, 2.0) for _ in aims]
    names = [origin(t) for t in model.outputs]
    if len(set(names)) != len(names):
        return None, inputs, [], kind, ""
    model.compile(optimizer, [a[0] for a in aims] if len(aims) > 1 else aims[0][0],
                  loss_weights=weights if len(aims) > 1 else None)
    words = " ".join([type(optimizer).__name__, *(getattr(a[0], "name", a[0]) for a in aims)])
    return model, inputs, [a[1] for a in aims], kind, words


def add_places(optimizer):
    """Of a gradient by places of an embedding, optimizers square that of each place on
    TensorFlow, on other backends the sum of them; here that, too."""
    if keras.backend.backend() != "tensorflow":
        return
    import tensorflow
    apply = optimizer.apply
    optimizer.apply = lambda gradients, variables=None: apply(
        [tensorflow.convert_to_tensor(g) for g in gradients], variables)


def step(model, inputs, labels, folder):
    """The difference, or what is wrong; None of a step too small to tell."""
    model.save(folder / "before.keras")
    add_places(model.optimizer)
    model.train_on_batch(inputs if len(inputs) > 1 else inputs[0], labels if len(labels) > 1 else labels[0])
    model.save(folder / "after.keras")
    try:
        notes = run("dl-import", folder / "before.keras", "-o", folder / "before.safetensors")
        run("dl-import", "-q", folder / "after.keras", "-o", folder / "after.safetensors")
        shard(model, folder / "before.safetensors", inputs, labels, folder)
        run("dl-master", "-q", "--init", folder / "before.safetensors", "--data", folder / "batch.dls",
            "--mode", "averaging", "--local", "1",
            "--epochs", "1", "--batch", str(EXAMPLES), "-o", folder / "trained.safetensors")
    except RuntimeError as error:
        return str(error)
    before = tensors_of(folder / "before.safetensors")
    after = tensors_of(folder / "after.safetensors")
    found = gap({n: t for n, t in tensors_of(folder / "trained.safetensors").items() if n in after}, after)
    if max(float(np.abs(before[n] - after[n]).max(initial=0)) for n in after) < 10 * BOUND:
        return None
    left_out = [n for n in notes.splitlines() if "left out" in n]
    return f"{found} {left_out}" if left_out and isinstance(found, str) else found


def todo(options):
    """Functions that make what drawn() does, each with its name."""
    if not options.drawn:
        for name, case in CASES.items():
            if not options.cases or any(name.startswith(c) for c in options.cases):
                yield name, case
    if not options.cases:
        for seed in range(options.first, options.first + options.models):
            yield str(seed), lambda s=seed: drawn(s)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=120)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    failed, count, worst, used = 0, 0, 0.0, set()
    for name, make in todo(options):
        model, inputs, labels, kind, words = make()
        if model is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = step(model, inputs, labels, pathlib.Path(folder))
        if found is None:
            continue
        good = isinstance(found, float) and found <= BOUND
        count += 1
        failed += not good
        used.update(words.split())
        worst = max(worst, found if isinstance(found, float) else 0)
        if options.verbose or not good:
            print(f"{'ok  ' if good else 'FAIL'} {name:>24} {kind:8} {words:50} "
                  f"{found if isinstance(found, str) else f'{found:.1e}'}", flush=True)
    print(f"training: {count - failed} of {count} steps agree, the largest difference is {worst:.1e}; "
          f"{', '.join(sorted(used))}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
