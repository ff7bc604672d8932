"""Random models of Keras beside what dl-import makes of them.

Each seed is a model of layers and options drawn from all that are imported: a
sequence, a graph with branches, models within models, layers called twice, recurrent
ones behind padding, several inputs and outputs.  It is saved as .keras and .h5, and
its outputs are compared; a difference is relative to the largest output.
usage: keras_random [--models N] [--from SEED] [--verbose]
"""

import argparse
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers as L

from keras_import import compare, drawn, padded, randomize

BOUND = 1e-5
TOKENS = 13
NAMED = ("linear relu relu6 elu selu gelu sigmoid tanh softplus softsign silu mish hard_sigmoid "
         "hard_silu log_sigmoid leaky_relu hard_tanh tanh_shrink").split()
CELLS = "relu sigmoid tanh softsign hard_tanh linear".split()


class Draw:
    """Random choices of layers; `trained`: those alone whose training is exact, which
    draw no numbers and whose gradients are no rounding errors."""

    def __init__(self, seed, trained=False):
        self.random = np.random.default_rng(seed)
        self.trained = trained
        self.padded = False

    def of(self, *choices):
        return choices[self.random.integers(len(choices))]

    def below(self, least, most):
        return int(self.random.integers(least, most + 1))

    def chance(self, p):
        return bool(self.random.random() < p)

    def part(self):
        """Whether a layer has a part that here it always has."""
        return self.chance(0.7) or self.trained

    def activation(self):
        return self.of(*(("tanh", "sigmoid", "softplus", "linear") if self.trained else NAMED))

    def window(self, extents):
        """(kernel, strides, dilation, padding) that fit."""
        padding = self.of("valid", "same")
        kernel = tuple(self.below(1, min(3, e)) for e in extents)
        strides, dilation = 1, 1
        if self.chance(0.4):
            strides = self.below(1, 3)
        elif padding == "same" and self.chance(0.3):
            dilation = 2
        return kernel, strides, dilation, padding


def by_rank(d, x):
    """Functions that make a layer for a tensor of that shape, by what they need."""
    shape = x.shape[1:]
    rank = len(shape)
    every = [lambda: L.Dense(d.below(1, 6), d.activation(), use_bias=d.chance(0.8)),
             lambda: L.Activation(d.activation()),
             lambda: L.BatchNormalization(center=d.part(), scale=d.part(), epsilon=d.of(1e-3, 0.1)),
             lambda: L.LayerNormalization(center=d.part(), scale=d.part()),
             lambda: L.LeakyReLU(d.of(0.1, 0.3)), lambda: L.ELU(d.of(0.5, 1.0)),
             lambda: L.PReLU("uniform"), lambda: L.Rescaling(d.of(0.5, 2.0), d.of(0.0, -1.0)),
             lambda: L.Softmax(), lambda: L.UnitNormalization(), lambda: L.Identity(),
             lambda: L.ReLU(max_value=d.of(None, 1.5), negative_slope=d.of(0.0, 0.2), threshold=d.of(0.0, 0.3))]
    noise = [lambda: L.Dropout(0.4), lambda: L.GaussianNoise(0.3), lambda: L.GaussianDropout(0.3),
             lambda: L.AlphaDropout(0.2), lambda: L.ActivityRegularization(0.01, 0.01)]
    if d.trained:
        every, noise = every[:2] + every[3:5], []
    if rank == 1:
        return every + noise + [lambda: L.RepeatVector(d.below(2, 4)), lambda: L.Dense(d.below(2, 8), d.activation())]
    spatial = [getattr(L, f"SpatialDropout{rank - 1}D")] if rank < 5 else []
    noise += [lambda: spatial[0](0.3)] if not d.trained else []
    own = {2: series, 3: image, 4: volume}[rank](d, shape)
    return every + noise + own + own + [lambda: L.Flatten()]


def series(d, shape):
    steps, width = shape

    def cell(sequences):
        make = d.of(L.LSTM, L.GRU, L.SimpleRNN)
        options = dict(activation=d.of("tanh", "sigmoid") if d.trained else d.of(*CELLS), use_bias=d.chance(0.8),
                       return_sequences=sequences)
        if make is not L.SimpleRNN:
            options["recurrent_activation"] = d.of("sigmoid", "sigmoid", "hard_tanh" if not d.trained else "sigmoid")
        if make is L.GRU:
            options["reset_after"] = d.chance(0.5) and not d.trained
        if make is L.LSTM:
            options["unit_forget_bias"] = d.chance(0.5)
        return make(d.below(1, 5), **options)

    def recurrent():
        sequences = d.chance(0.5)
        if d.chance(0.3):
            return L.Bidirectional(cell(sequences), merge_mode=d.of("concat", "sum", "mul", "ave"))
        if d.chance(0.2) and not d.padded:
            backwards = d.of(L.LSTM, L.GRU, L.SimpleRNN)
            if backwards is L.GRU:
                return L.GRU(2, go_backwards=True, return_sequences=sequences, reset_after=not d.trained)
            return backwards(d.below(1, 4), go_backwards=True, return_sequences=sequences)
        if d.chance(0.2):
            made = d.of(L.LSTMCell, L.SimpleRNNCell) if d.trained else d.of(L.LSTMCell, L.GRUCell, L.SimpleRNNCell)
            return L.RNN(made(d.below(1, 4)), return_sequences=sequences)
        return cell(sequences)

    def conv():
        (kernel,), strides, dilation, padding = d.window((steps,))
        if d.chance(0.2):
            padding = "causal"
        return L.Conv1D(d.below(1, 5), kernel, strides, padding, dilation_rate=dilation, activation=d.activation(),
                        use_bias=d.chance(0.8))

    def pool():
        (kernel,), strides, _, padding = d.window((steps,))
        return d.of(L.MaxPooling1D, L.AveragePooling1D)(kernel, strides, padding)

    def thin():
        (kernel,), strides, _, padding = d.window((steps,))
        make = d.of(L.DepthwiseConv1D, L.SeparableConv1D, L.Conv1DTranspose)
        if make is L.DepthwiseConv1D:
            return make(kernel, strides, padding, d.below(1, 2), activation=d.activation())
        if make is L.SeparableConv1D:
            return make(d.below(1, 4), kernel, strides, padding, depth_multiplier=d.below(1, 2))
        return make(d.below(1, 4), max(kernel, strides), strides, padding, activation=d.activation())

    layers = [recurrent, recurrent, recurrent, conv, pool, thin,
              lambda: d.of(L.GlobalAveragePooling1D, L.GlobalMaxPooling1D)(keepdims=d.chance(0.2)),
              lambda: L.ZeroPadding1D((d.below(0, 2), d.below(0, 2))),
              lambda: L.UpSampling1D(2), lambda: L.Permute((2, 1)), lambda: L.Reshape((width, steps)),
              lambda: L.TimeDistributed(L.Dense(d.below(1, 5), d.activation())),
              lambda: L.GroupNormalization(d.of(1, width))]
    if steps > 3:
        layers.append(lambda: L.Cropping1D((d.below(0, 1), 1)))
    return layers


def image(d, shape):
    height, width, channels = shape

    def conv():
        kernel, strides, dilation, padding = d.window((height, width))
        groups = channels if d.chance(0.2) and channels > 1 else 1
        return L.Conv2D(groups * d.below(1, 3), kernel, strides, padding, dilation_rate=dilation, groups=groups,
                        activation=d.activation(), use_bias=d.chance(0.8))

    def thin():
        kernel, strides, dilation, padding = d.window((height, width))
        make = d.of(L.DepthwiseConv2D, L.SeparableConv2D, L.Conv2DTranspose)
        if make is L.DepthwiseConv2D:
            return make(kernel, strides, padding, d.below(1, 2), dilation_rate=dilation, activation=d.activation())
        if make is L.SeparableConv2D:
            return make(d.below(1, 4), kernel, strides, padding, depth_multiplier=d.below(1, 2))
        return make(d.below(1, 4), tuple(max(k, strides) for k in kernel), strides, padding)

    def pool():
        kernel, strides, _, padding = d.window((height, width))
        return d.of(L.MaxPooling2D, L.AveragePooling2D)(kernel, strides, padding)

    layers = [conv, conv, conv, thin, thin, pool,
              lambda: d.of(L.GlobalAveragePooling2D, L.GlobalMaxPooling2D)(keepdims=d.chance(0.3)),
              lambda: L.ZeroPadding2D(((d.below(0, 2), 1), (0, d.below(0, 2)))),
              lambda: L.UpSampling2D((d.below(1, 2), 2), interpolation="nearest"),
              lambda: L.UpSampling2D(2, interpolation="bilinear"),
              lambda: L.Permute(d.of((3, 1, 2), (2, 1, 3))), lambda: L.Reshape((height * width, channels)),
              lambda: L.GroupNormalization(d.of(1, channels, -1))]
    if height > 2 and width > 2:
        layers.append(lambda: L.Cropping2D(((0, 1), (d.below(0, 1), 0))))
    return layers


def volume(d, shape):
    def conv():
        kernel, strides, dilation, padding = d.window(shape[:3])
        return L.Conv3D(d.below(1, 3), kernel, strides, padding, dilation_rate=dilation, activation=d.activation())

    def pool():
        kernel, strides, _, padding = d.window(shape[:3])
        return d.of(L.MaxPooling3D, L.AveragePooling3D)(kernel, strides, padding)

    layers = [conv, conv, pool, lambda: d.of(L.GlobalAveragePooling3D, L.GlobalMaxPooling3D)(),
              lambda: L.ZeroPadding3D(((1, 0), (0, 1), (1, 1))), lambda: L.UpSampling3D((2, 1, 2))]
    if min(shape[:3]) > 2:
        layers.append(lambda: L.Cropping3D(((1, 0), (0, 1), (0, 0))))
    return layers


def small(x):
    return np.prod(x.shape[1:]) <= 3000 and len(x.shape) <= 5


def grown(d, x, depth):
    """x behind so many layers."""
    for _ in range(depth):
        y = d.of(*by_rank(d, x))()(x)
        if small(y):
            x = y
    return x


def branched(d, x):
    """Two ways of one shape, joined."""
    a, b = grown(d, x, d.below(0, 2)), grown(d, x, d.below(1, 2))
    if d.chance(0.5) and len(a.shape) == len(b.shape):
        joined = L.Concatenate() if a.shape[1:-1] == b.shape[1:-1] else None
        if joined:
            return joined([a, b])
    if a.shape[1:] != b.shape[1:]:
        a, b = (L.Dense(4)(L.Flatten()(t)) if len(t.shape) > 2 else L.Dense(4)(t) for t in (a, b))
    return d.of(L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum)()([a, b])


def attended(d, x):
    y = L.MultiHeadAttention(d.below(1, 3), d.below(1, 4), use_bias=d.chance(0.7) and not d.trained)
    return L.Add()([x, y(x, x, use_causal_mask=d.chance(0.3) and not d.padded)])


def nested(d, x):
    inside = keras.Input(x.shape[1:])
    inner = keras.Model(inside, grown(d, inside, d.below(1, 3)))
    y = inner(x)
    return inner(y) if y.shape == x.shape and d.chance(0.5) else y


def sequence(d, x):
    layers = [keras.Input(x.shape[1:])]
    y = layers[0]
    for _ in range(d.below(1, 3)):
        layer = d.of(*by_rank(d, y))()
        z = layer(y)
        if small(z):
            y, layers = z, [*layers, layer]
    return keras.Sequential([keras.Input(x.shape[1:]), *layers[1:]] if len(layers) > 1 else
                            [keras.Input(x.shape[1:]), L.Activation("tanh")])(x)


SHAPES = {"row": (6,), "series": (6, 4), "image": (7, 6, 3), "volume": (4, 5, 3, 2)}


def source(d):
    kind = d.of("row", "series", "series", "image", "image", "volume")
    return keras.Input(SHAPES[kind])


def last(d, x):
    """An output that trains: weights behind all else."""
    if len(x.shape) > 2 and (len(x.shape) > 4 or d.chance(0.7)):
        x = L.Flatten()(x)
    return L.Dense(d.below(2, 4), d.of("linear", "softmax", "sigmoid", "tanh"))(x)


def chain(d):
    x = source(d)
    y = x
    layers = []
    for _ in range(d.below(1, 5)):
        layer = d.of(*by_rank(d, y))()
        z = layer(y)
        if small(z):
            y, layers = z, [*layers, layer]
    return keras.Sequential([keras.Input(x.shape[1:]), *layers, L.Flatten(), L.Dense(d.below(1, 4))])


def graph(d):
    x = source(d)
    y = grown(d, x, d.below(0, 2))
    for _ in range(d.below(1, 3)):
        if len(y.shape) == 3 and d.chance(0.3):
            y = attended(d, y)
        y = d.of(branched, nested, sequence)(d, y)
    return keras.Model(x, last(d, grown(d, y, d.below(0, 2))))


def twins(d):
    """One model for two inputs."""
    a = source(d)
    b = keras.Input(a.shape[1:])
    inside = keras.Input(a.shape[1:])
    code = keras.Model(inside, L.Dense(4)(L.Flatten()(grown(d, inside, d.below(1, 3)))))
    both = d.of(L.Subtract, L.Concatenate, L.Multiply, L.Add)()([code(a), code(b)])
    return keras.Model([a, b], last(d, both))


def several(d):
    """Several inputs and outputs, of different kinds."""
    inputs = [source(d) for _ in range(d.below(2, 3))]
    codes = [L.Dense(4, d.activation())(L.Flatten()(grown(d, x, d.below(0, 2)))) for x in inputs]
    both = L.Concatenate()(codes)
    return keras.Model(inputs, [last(d, grown(d, both, d.below(0, 1))) for _ in range(d.below(1, 3))])


def masked(d):
    """Sequences whose end is padding."""
    d.padded = True
    tokens = d.chance(0.6)
    x = keras.Input((6,) if tokens else (6, 4))
    y = L.Embedding(TOKENS, d.below(2, 5), mask_zero=d.chance(0.8))(x) if tokens else L.Masking(0.0)(x)
    for _ in range(d.below(0, 2)):
        y = d.of(lambda: L.LSTM(3, return_sequences=True), lambda: L.Dense(4, d.activation()),
                 lambda: L.LayerNormalization(), lambda: L.Activation("tanh"),
                 lambda: L.Bidirectional(L.GRU(2, return_sequences=True, reset_after=not d.trained)))()(y)
    y = d.of(lambda: L.LSTM(3), lambda: L.GRU(3, reset_after=d.chance(0.5) and not d.trained), lambda: L.SimpleRNN(3),
             lambda: L.Bidirectional(L.LSTM(2), merge_mode=d.of("concat", "sum", "ave")),
             lambda: L.GlobalAveragePooling1D())()(y)
    return keras.Model(x, L.Dense(2, d.activation())(y))


KINDS = chain, chain, graph, graph, graph, twins, several, masked


def model_of(seed, trained=False):
    """(model, inputs for 6 examples, its kind)"""
    d = Draw(seed, trained)
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    kind = KINDS[seed % len(KINDS)]
    model = kind(d)
    randomize(model, d.random)
    shapes = [t.shape[1:] for t in model.inputs]
    tokens = TOKENS if any(isinstance(layer, L.Embedding) for layer in model.layers) else 0
    inputs = drawn(shapes, tokens, d.random, 6)
    if kind is masked and not tokens:
        inputs = padded(inputs)
    return model, inputs, kind.__name__


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=320)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    failed, worst_of_all, used = 0, 0.0, {}
    for seed in range(options.first, options.first + options.models):
        model, inputs, kind = model_of(seed)
        for layer in model._flatten_layers():
            used[type(layer).__name__] = used.get(type(layer).__name__, 0) + 1
        with tempfile.TemporaryDirectory() as folder:
            worst, way = compare(model, inputs, pathlib.Path(folder), ("keras", "h5"))
        good = isinstance(worst, float) and worst <= BOUND
        failed += not good
        if isinstance(worst, float):
            worst_of_all = max(worst_of_all, worst)
        if options.verbose or not good:
            layers = " ".join(type(layer).__name__ for layer in model._flatten_layers())
            print(f"{'ok  ' if good else 'FAIL'} {seed:4} {kind:8} "
                  f"{worst if isinstance(worst, str) else f'{worst:.1e} {way}'}  [{layers}]", flush=True)
    print(f"random: {options.models - failed} of {options.models} models agree, the largest difference is "
          f"{worst_of_all:.1e}; {len(used)} classes: {', '.join(sorted(used))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
