"""Thousands of small random models of Keras beside what dl-import makes of them.

Where keras_random.py draws whole models, this draws what goes wrong in layers: windows
and their padding, axes from either end, layouts, layers within TimeDistributed and
Bidirectional, masks and what joins them, arithmetic between layers.  A model that is
refused is counted by its reason and is not wrong; a difference is.
usage: keras_kinds [--models N] [--from SEED] [--jobs N] [--verbose]
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers as L
from keras.src.backend import nn
from keras.src.backend import numpy as arithmetic

from keras_import import padded, randomize, worst_of
from keras_random import NAMED

BOUND = 1e-4  # several normalizations magnify what rounding leaves
CELLS = "tanh sigmoid softsign hard_tanh".split()
FIRST, LAST = "channels_first", "channels_last"


def channels_moved(function):
    """The function of channels last where they come first, which TensorFlow's on a CPU
    do wrong for some windows."""
    def call(x, *args, data_format=None, **options):
        names = function.__code__.co_varnames[1:function.__code__.co_argcount]
        options.update(zip(names, args))
        if data_format is not None:
            options["data_format"] = data_format
        if options.get("data_format") != FIRST:
            return function(x, **options)
        rank = len(x.shape)
        options["data_format"] = LAST
        y = function(keras.ops.transpose(x, (0, *range(2, rank), 1)), **options)
        return keras.ops.transpose(y, (0, rank - 1, *range(1, rank - 1)))
    return call


for name in ("conv", "depthwise_conv", "separable_conv", "conv_transpose", "max_pool", "average_pool"):
    setattr(nn, name, channels_moved(getattr(nn, name)))


# Keras on TensorFlow adds a bias along the last axis if that is as long as the first.
added = arithmetic.add
arithmetic.add = lambda a, b: arithmetic.subtract(a, -b) if len(getattr(b, "shape", ())) > 2 else added(a, b)


class Draw:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def of(self, *choices):
        return choices[self.random.integers(len(choices))]

    def below(self, least, most):
        return int(self.random.integers(least, most + 1))

    def chance(self, p):
        return bool(self.random.random() < p)

    def layout(self):
        return self.of(FIRST, LAST)

    def activation(self):
        return self.of("linear", "tanh", "relu", "softmax", "hard_sigmoid", *NAMED)

    def axis(self, rank):
        """An axis of an example, counted from either end; mostly the first or the last."""
        axis = self.of(1, rank, rank, self.below(1, rank))
        return axis if self.chance(0.5) else axis - rank - 1


def spatial(x, layout):
    return x.shape[2:] if layout == FIRST else x.shape[1:-1]


def sliding(d, x, most=3):
    """Options of a window over x, of so many axes."""
    layout, axes = d.layout(), len(x.shape) - 2
    sizes = spatial(x, layout)
    kernel = tuple(d.below(1, min(most, s)) for s in sizes)
    options = dict(strides=d.of(1, 1, d.below(1, 3)), padding=d.of("valid", "same"), data_format=layout)
    return layout, axes, kernel, options


def convolution(d, x):
    layout, axes, kernel, options = sliding(d, x)
    if options["strides"] == 1 and options["padding"] == "same" and d.chance(0.4):
        options["dilation_rate"] = 2
    if axes == 1 and layout == LAST and d.chance(0.2):
        options["padding"] = "causal"
    options["activation"] = d.activation()
    if axes == 3:
        return L.Conv3D(d.below(1, 3), kernel, **options)
    kind = d.of("Conv", "Conv", "Depthwise", "Separable", "Transpose")
    if kind == "Conv":
        return getattr(L, f"Conv{axes}D")(d.below(1, 3), kernel, **options)
    if kind == "Depthwise":
        return getattr(L, f"DepthwiseConv{axes}D")(kernel, depth_multiplier=d.below(1, 2), **options)
    if kind == "Separable":
        return getattr(L, f"SeparableConv{axes}D")(d.below(1, 3), kernel, depth_multiplier=d.below(1, 2), **options)
    options.pop("dilation_rate", None)
    if options["padding"] == "causal":
        options["padding"] = "same"
    return getattr(L, f"Conv{axes}DTranspose")(d.below(1, 3), kernel, **options)


def pool(d, x):
    layout, axes, kernel, options = sliding(d, x, 4)
    if d.chance(0.25):
        make = getattr(L, f"Global{d.of('Max', 'Average')}Pooling{axes}D")
        return make(data_format=layout, keepdims=d.chance(0.4))
    return getattr(L, f"{d.of('Max', 'Average')}Pooling{axes}D")(kernel, **options)


def padded_pool(d, x):
    """Zeros before what looks for the largest, which may be below zero."""
    layout, axes = d.layout(), len(x.shape) - 2
    sides = tuple((d.below(0, 3), d.below(0, 3)) for _ in range(axes))
    wide = getattr(L, f"ZeroPadding{axes}D")(sides[0] if axes == 1 else sides, data_format=layout)
    kernel = tuple(d.below(1, 3) for _ in range(axes))
    kind = d.of("Max", "Max", "Average")
    return [L.Rescaling(1.0, d.of(0.0, -9.0)), wide,
            getattr(L, f"{kind}Pooling{axes}D")(kernel, d.of(1, 2), d.of("valid", "same"), data_format=layout)]


def moved(d, x):
    """The same numbers elsewhere."""
    layout, rank = d.layout(), len(x.shape) - 1
    axes = rank - 1
    choices = [lambda: L.Permute(tuple(int(i) + 1 for i in d.random.permutation(rank))),
               lambda: L.Flatten(data_format=d.layout())]
    extents = list(x.shape[1:])
    choices.append(lambda: L.Reshape(tuple(int(extents[i]) for i in d.random.permutation(rank))))
    choices.append(lambda: L.Reshape((-1, d.of(*extents))))
    if axes == 1:
        choices += [lambda: L.UpSampling1D(2), lambda: L.ZeroPadding1D((d.below(0, 2), 1), data_format=layout)]
        if extents[0] > 2:
            choices.append(lambda: L.Cropping1D((1, d.below(0, 1))))
    if axes in (2, 3):
        sides = tuple((d.below(0, 2), d.below(0, 2)) for _ in range(axes))
        choices.append(lambda: getattr(L, f"ZeroPadding{axes}D")(sides, data_format=layout))
        size = tuple(d.below(1, 2) for _ in range(axes))
        choices.append(lambda: getattr(L, f"UpSampling{axes}D")(size, data_format=layout))
        if min(spatial(x, layout)) > 2:
            cut = tuple((d.below(0, 1), d.below(0, 1)) for _ in range(axes))
            choices.append(lambda: getattr(L, f"Cropping{axes}D")(cut, data_format=layout))
    if axes == 2:
        choices.append(lambda: L.UpSampling2D(2, interpolation="bilinear", data_format=layout))
    return d.of(*choices)()


def normalized(d, x):
    rank = len(x.shape) - 1
    axis = d.axis(rank)
    width = x.shape[axis]
    divisors = [g for g in range(1, width + 1) if width % g == 0]
    if rank > 1 and d.chance(0.15):
        several = sorted(int(k) + 1 for k in d.random.permutation(rank)[:d.below(2, rank)])
        return L.LayerNormalization(axis=several, center=d.chance(0.7), scale=d.chance(0.7))
    return d.of(lambda: L.BatchNormalization(axis=axis), lambda: L.LayerNormalization(axis=axis, epsilon=d.of(1e-3, 0.1)),
                lambda: L.GroupNormalization(d.of(*divisors), axis=axis), lambda: L.UnitNormalization(axis=axis),
                lambda: L.RMSNormalization(axis=axis), lambda: L.Softmax(axis=axis),
                lambda: L.LayerNormalization(axis=axis, center=d.chance(0.5), scale=d.chance(0.5)))()


def plain(d, x):
    return d.of(lambda: L.Dense(d.below(1, 4), d.activation()), lambda: L.Activation(d.activation()),
                lambda: L.ReLU(max_value=d.of(None, 1.0), negative_slope=d.of(0.0, 0.3), threshold=d.of(0.0, 0.2)),
                lambda: L.LeakyReLU(d.of(0.1, 0.3)), lambda: L.ELU(d.of(0.5, 1.0)),
                lambda: L.PReLU("uniform", shared_axes=d.of(None, [1], [-1] if d.chance(0.5) else None)),
                lambda: L.Rescaling(d.of(0.5, -2.0), d.of(0.0, 1.0)), lambda: L.Dropout(0.3),
                lambda: L.Activation(L.LeakyReLU(0.2)), lambda: L.Dense(3, L.ReLU(1.0)))()


def cell(d, sequences):
    make = d.of(L.LSTM, L.GRU, L.SimpleRNN)
    options = dict(activation=d.of(*CELLS), use_bias=d.chance(0.8), return_sequences=sequences)
    if make is not L.SimpleRNN:
        options["recurrent_activation"] = d.of("sigmoid", "hard_sigmoid", "hard_tanh")
    if make is L.GRU:
        options["reset_after"] = d.chance(0.5)
    return make(d.below(1, 4), go_backwards=d.chance(0.25), **options)


def recurrent(d, x):
    layer = cell(d, d.chance(0.6))
    if d.chance(0.35):
        layer.go_backwards = False
        return L.Bidirectional(layer, merge_mode=d.of("concat", "sum", "mul", "ave"))
    return layer


def within(d, x):
    """A layer that takes each step."""
    step = keras.KerasTensor((None, *x.shape[2:]))
    inner = one(d, step, True)
    inner = inner if isinstance(inner, list) else [inner]
    if d.chance(0.15):
        return L.TimeDistributed(keras.Sequential([keras.Input(step.shape[1:]), *inner]))
    return [L.TimeDistributed(layer) for layer in inner]


def one(d, x, inside=False):
    """A layer, or several, for a tensor of that shape."""
    rank = len(x.shape) - 1
    kinds = [normalized, normalized, plain, plain]
    if rank > 1:
        kinds += [moved, moved]
    if 1 < rank < 5:
        kinds += [convolution, convolution, convolution, pool, pool, padded_pool]
    if rank == 2:
        kinds += [recurrent] * (1 if inside else 3)
    if rank > 1 and not inside:
        kinds += [within] * 3
    return d.of(*kinds)(d, x)


def grown(d, x, depth):
    for _ in range(depth):
        for layer in np.atleast_1d(np.array(one(d, x), dtype=object)).tolist():
            y = layer(x)
            if np.prod(y.shape[1:]) > 3000 or len(y.shape) > 6 or min(y.shape[1:]) < 1:
                break
            x = y
    return x


SHAPES = (6,), (6, 4), (5, 4), (6, 5, 3), (4, 6, 2), (4, 4, 3), (4, 5, 3, 2), (3, 4, 4, 2)


def source(d):
    return keras.Input(d.of(*SHAPES))


def chain(d):
    x = source(d)
    return keras.Model(x, grown(d, x, d.below(1, 4)))


def series(d):
    """Images one after another, and what reads them as a sequence."""
    x = keras.Input(d.of((4, 5, 5, 2), (3, 4, 2), (4, 6, 5, 1)))
    y = x
    for _ in range(d.below(1, 3)):
        for layer in np.atleast_1d(np.array(within(d, y), dtype=object)).tolist() if len(y.shape) > 2 else []:
            y = layer(y)
    if len(y.shape) > 3:
        y = L.TimeDistributed(d.of(L.Flatten, L.Flatten, getattr(L, f"GlobalAveragePooling{len(y.shape) - 3}D"))())(y) \
            if len(y.shape) < 7 else y
    if len(y.shape) == 3:
        y = recurrent(d, y)(y)
    return keras.Model(x, L.Dense(2)(y))


def joined(d):
    """Two ways, joined along any axis or number by number."""
    x = source(d)
    a, b = grown(d, x, d.below(0, 2)), grown(d, x, d.below(0, 2))
    rank = len(a.shape) - 1
    if a.shape[1:] != b.shape[1:]:
        fits = [k for k in range(1, rank + 1) if len(b.shape) == rank + 1 and all(
            a.shape[i] == b.shape[i] for i in range(1, rank + 1) if i != k)]
        if not fits:
            return keras.Model(x, L.Concatenate()([L.Flatten()(a), L.Flatten()(b)]))
        axis = d.of(*fits)
        y = L.Concatenate(axis=axis if d.chance(0.5) else axis - rank - 1)([a, b])
    elif d.chance(0.3):
        y = L.Concatenate(axis=d.axis(rank))([a, b])
    elif rank == 1 and d.chance(0.3):
        y = L.Dot(d.of(1, -1), normalize=d.chance(0.5))([a, b])
    else:
        y = d.of(L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum)()([a, b])
    return keras.Model(x, grown(d, y, d.below(0, 2)))


def computed(d):
    """Operators between values and numbers."""
    x = source(d)
    y = grown(d, x, 1)
    for _ in range(d.below(1, 3)):
        z = d.of(lambda: y, lambda: L.Activation("sigmoid")(y), lambda: L.Dense(y.shape[-1])(y))()
        number = d.of(2.0, -0.5, 3)
        y = d.of(lambda: -y, lambda: y + number, lambda: number - y, lambda: y * number, lambda: y / number,
                 lambda: y ** 2, lambda: y ** 3, lambda: y + z, lambda: y - z, lambda: y * z,
                 lambda: y / (keras.ops.sigmoid(z) + 1.0), lambda: y / (z * z + 1.0),
                 lambda: number / (keras.ops.exp(-y) + 1.5), lambda: keras.ops.square(y), lambda: keras.ops.abs(y),
                 lambda: keras.ops.relu(y), lambda: keras.ops.gelu(y), lambda: keras.ops.gelu(y, approximate=False),
                 lambda: keras.ops.silu(y), lambda: keras.ops.maximum(y, z), lambda: keras.ops.minimum(y, number),
                 lambda: keras.ops.concatenate([y, z], axis=-1), lambda: keras.ops.softmax(y),
                 lambda: y[:, :1] if len(y.shape) > 2 else y[:, ::-1])()
    return keras.Model(x, y)


def masked(d):
    """Sequences whose end is padding, and what joins and forgets their masks."""
    x = keras.Input((6, 4))
    value = L.Masking(d.of(0.0, 0.0, 0.5))(x)
    y = value
    for _ in range(d.below(1, 3)):
        y = d.of(lambda: cell(d, True)(y), lambda: L.Dense(4, d.activation())(y), lambda: L.LayerNormalization()(y),
                 lambda: L.Bidirectional(L.GRU(2, return_sequences=True))(y),
                 lambda: L.TimeDistributed(d.of(L.Dense(4), L.LayerNormalization(), L.Activation("tanh")))(y),
                 lambda: L.BatchNormalization()(y), lambda: L.Rescaling(0.5)(y), lambda: L.Dropout(0.2)(y),
                 lambda: d.of(L.Add, L.Multiply, L.Maximum, L.Average)()([y, L.Dense(y.shape[-1])(d.of(x, value, y))]),
                 lambda: L.Concatenate()([y, d.of(x, value, y)]), lambda: y * 2.0, lambda: L.UnitNormalization()(y),
                 lambda: L.Softmax()(y), lambda: L.Conv1D(3, 2, padding="same")(y), lambda: L.Identity()(y))()
        if len(y.shape) != 3:
            break
    if len(y.shape) == 3:
        y = d.of(lambda: cell(d, False)(y), lambda: L.Bidirectional(L.LSTM(2))(y), lambda: L.Flatten()(y),
                 lambda: L.GlobalAveragePooling1D()(y), lambda: L.GlobalMaxPooling1D()(y), lambda: y,
                 lambda: L.Permute((2, 1))(y), lambda: L.Reshape((-1,))(y))()
    return keras.Model(x, y)


KINDS = chain, chain, chain, series, series, joined, computed, masked


def model_of(seed):
    """(model, inputs, its kind); None where Keras itself has no such model."""
    d = Draw(seed)
    kind = KINDS[seed % len(KINDS)]
    try:
        model = kind(d)
    except Exception:  # of any backend
        return None
    if not model.layers or all(isinstance(layer, L.InputLayer) for layer in model.layers):
        return None
    randomize(model, d.random)
    inputs = [d.random.normal(size=(5, *t.shape[1:])).astype("float32") for t in model.inputs]
    return model, padded(inputs) if kind is masked else inputs, kind.__name__


def reason_of(message):
    """A refusal without its names and numbers."""
    text = re.sub(r"^.*?\): ", "", message.splitlines()[0])
    kind = re.search(r"\((\w+)\): ", message)
    return (kind[1] + ": " if kind else "") + re.sub(r"'[^']*'|\[[^\]]*\]|-?\d+", "_", text)


def check(seed, path, folder):
    """(seed, difference or sentence)"""
    return seed, worst_of(path.suffix[1:], [path], folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=400)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    counts, refusals, failed, worst = collections.Counter(), collections.Counter(), 0, 0.0
    with tempfile.TemporaryDirectory() as root, ThreadPoolExecutor(options.jobs) as pool_of:
        def made():
            for seed in range(options.first, options.first + options.models):
                if seed % 50 == 0:
                    keras.backend.clear_session()
                keras.utils.set_random_seed(seed)
                drawn = model_of(seed)
                if drawn is None:
                    counts["not in Keras"] += 1
                    continue
                model, inputs, kind = drawn
                folder = pathlib.Path(root) / str(seed)
                folder.mkdir()
                try:
                    outputs = np.array(model(inputs[0], training=False))
                except Exception:  # what Keras makes, and cannot run
                    counts["not in Keras"] += 1
                    continue
                if not np.isfinite(outputs).all():
                    counts["not finite"] += 1
                    continue
                np.savez(folder / "data.npz", x=inputs[0], y=outputs)
                path = folder / ("m.h5" if seed % 2 else "m.keras")
                model.save(path)
                layers = " ".join(type(layer).__name__ for layer in model._flatten_layers())
                yield pool_of.submit(check, seed, path, folder), kind, layers, folder
        pending = collections.deque()

        def settle(todo):
            nonlocal failed, worst
            future, kind, layers, folder = todo
            seed, found = future.result()
            for file in folder.iterdir():
                file.unlink()
            good = False
            if isinstance(found, float):
                good = found <= BOUND
                worst = max(worst, found)
                counts["agree" if good else "WRONG"] += 1
            elif "outputs are 0" in found:
                counts["outputs are 0"] += 1
                good = True
            else:
                counts["refused"] += 1
                refusals[reason_of(found)] += 1
                good = True
                if "bug" in found or "status" in found:
                    good = False
            failed += not good
            if options.verbose or not good:
                print(f"{'ok  ' if good else 'FAIL'} {seed:6} {kind:8} {found}  [{layers}]", flush=True)
        for todo in made():
            pending.append(todo)
            if len(pending) > 4 * options.jobs:
                settle(pending.popleft())
        while pending:
            settle(pending.popleft())
    print(f"kinds: {dict(counts)}, the largest difference is {worst:.1e}")
    for reason, count in refusals.most_common():
        print(f"{count:6} {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
