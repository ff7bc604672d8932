"""Models of Keras 1.2.2, on Theano or TensorFlow, beside what dl-import makes of them.

It needs a Python of its own, 3.7, with keras==1.2.2, Theano==1.0.5 (or
tensorflow==1.15.5), numpy==1.16.6 and h5py==2.10.0; KERAS_BACKEND says which computes.
usage: keras1_import.py [CASE...]
"""

from __future__ import print_function

import os
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("KERAS_BACKEND", "theano")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("THEANO_FLAGS", "floatX=float32,device=cpu,cxx=,optimizer=None")  # compiles nothing

import keras.backend as K
import numpy as np
from keras import layers as L
from keras.models import Model, Sequential

BOUND = 1e-5
THEANO = K.backend() == "theano"
if THEANO:
    import theano.ifelse  # noqa: F401  which Keras forgets
CASES = {}


def chain(name, shape, *make, **more):
    """A sequence of layers, each made when it is needed; the first is told the shape."""
    CASES[name] = (lambda: sequence(shape, make), [shape], more.get("tokens", 0))


def sequence(shape, make):
    model = Sequential()
    for i, one in enumerate(make):
        model.add(one(input_shape=shape) if i == 0 else one())
    return model


def of(layer, *args, **options):
    def make(**first):
        return layer(*args, **dict(options, **first))
    return make


IMAGE = {"th": (3, 9, 8), "tf": (9, 8, 3)}
for order in ("th", "tf"):
    def image(name, *make, **more):
        chain(name + "_" + order, IMAGE[order], *make, **more)
    for border in ("valid", "same"):
        for stride in (1, 2):
            image("conv2d_%s_%d" % (border, stride), of(L.Convolution2D, 4, 3, 2, subsample=(stride, stride),
                  border_mode=border, dim_ordering=order, activation="relu"), of(L.Flatten), of(L.Dense, 3))
            image("conv2d_odd_%s_%d" % (border, stride), of(L.Convolution2D, 4, 3, 5, subsample=(stride, stride),
                  border_mode=border, dim_ordering=order), of(L.Flatten), of(L.Dense, 3))
    image("conv2d_even_same", of(L.Convolution2D, 4, 2, 4, border_mode="same", dim_ordering=order),
          of(L.Flatten), of(L.Dense, 2))
    image("pools", of(L.Convolution2D, 4, 1, 1, dim_ordering=order), of(L.MaxPooling2D, dim_ordering=order),
          of(L.AveragePooling2D, dim_ordering=order), of(L.Flatten), of(L.Dense, 2))
    image("shapes", of(L.ZeroPadding2D, (1, 2), dim_ordering=order), of(L.Convolution2D, 4, 3, 3, dim_ordering=order),
          of(L.Cropping2D, ((1, 0), (0, 2)), dim_ordering=order), of(L.UpSampling2D, dim_ordering=order),
          of(L.Flatten), of(L.Dense, 2))
    image("global", of(L.Convolution2D, 4, 3, 3, dim_ordering=order, bias=False),
          of(L.GlobalAveragePooling2D, dim_ordering=order), of(L.Dense, 2, activation="softmax"))
    image("batch_norm", of(L.Convolution2D, 4, 3, 3, dim_ordering=order),
          of(L.BatchNormalization, axis=1 if order == "th" else -1), of(L.Activation, "tanh"), of(L.Flatten),
          of(L.Dense, 2))
    image("atrous", of(L.AtrousConvolution2D, 4, 3, 3, atrous_rate=(2, 2), dim_ordering=order),
          of(L.Flatten), of(L.Dense, 2))
    if not THEANO:
        image("separable", of(L.SeparableConvolution2D, 4, 3, 3, depth_multiplier=2, dim_ordering=order),
              of(L.Flatten), of(L.Dense, 2))
    image("dropouts", of(L.Convolution2D, 4, 3, 3, dim_ordering=order), of(L.SpatialDropout2D, 0.3, dim_ordering=order),
          of(L.Dropout, 0.3), of(L.GaussianNoise, 0.3), of(L.GaussianDropout, 0.3), of(L.Flatten), of(L.Dense, 2))
    CASES["conv3d_" + order] = (lambda order=order: sequence(
        (2, 5, 6, 4) if order == "th" else (5, 6, 4, 2),
        [of(L.Convolution3D, 3, 2, 3, 2, dim_ordering=order), of(L.MaxPooling3D, dim_ordering=order),
         of(L.Flatten), of(L.Dense, 2)]), [(2, 5, 6, 4) if order == "th" else (5, 6, 4, 2)], 0)
SERIES = (7, 5)
for cell in ("LSTM", "GRU", "SimpleRNN"):
    for consume in ("cpu", "mem", "gpu"):
        chain("%s_%s" % (cell.lower(), consume), SERIES, of(getattr(L, cell), 4, consume_less=consume), of(L.Dense, 2))
    chain(cell.lower() + "_stacked", SERIES, of(getattr(L, cell), 4, return_sequences=True),
          of(getattr(L, cell), 3, activation="relu", inner_activation="sigmoid") if cell != "SimpleRNN"
          else of(L.SimpleRNN, 3), of(L.Dense, 2))
    chain(cell.lower() + "_backwards", SERIES, of(getattr(L, cell), 4, go_backwards=True), of(L.Dense, 2))
    for merge in ("concat", "sum", "mul", "ave"):
        CASES["bidirectional_%s_%s" % (cell.lower(), merge)] = (lambda c=cell, m=merge: sequence(SERIES, [
            lambda input_shape: L.Bidirectional(getattr(L, c)(4), merge_mode=m, input_shape=input_shape),
            of(L.Dense, 2)]), [SERIES], 0)
    chain("masking_" + cell.lower(), SERIES, of(L.Masking), of(getattr(L, cell), 4), of(L.Dense, 2))
    CASES["embedding_" + cell.lower()] = (lambda c=cell: Sequential([
        L.Embedding(11, 4, input_length=7, mask_zero=True), getattr(L, c)(3), L.Dense(2)]), [(7,)], 11)
chain("conv1d", SERIES, of(L.Convolution1D, 4, 3, activation="relu"), of(L.MaxPooling1D), of(L.Flatten), of(L.Dense, 2))
chain("conv1d_same", SERIES, of(L.Convolution1D, 4, 3, border_mode="same", subsample_length=2),
      of(L.GlobalMaxPooling1D), of(L.Dense, 2))
chain("conv1d_shapes", SERIES, of(L.ZeroPadding1D, 2), of(L.Convolution1D, 4, 3), of(L.Cropping1D, (1, 1)),
      of(L.UpSampling1D, 2), of(L.GlobalAveragePooling1D), of(L.Dense, 2))
chain("dense_series", SERIES, of(L.TimeDistributed, L.Dense(4)), of(L.LSTM, 3))
chain("dense_plain", (6,), of(L.Dense, 5, activation="tanh", bias=False), of(L.Dense, 2, activation="softmax"))
chain("dense_hard_sigmoid", (6,), of(L.Dense, 5, activation="hard_sigmoid"), of(L.Dense, 2))
chain("maxout", (6,), of(L.MaxoutDense, 4, nb_feature=3), of(L.Dense, 2))
chain("highway", (6,), of(L.Highway, activation="tanh"), of(L.Dense, 2))
chain("activations", (6,), of(L.Dense, 5), of(L.LeakyReLU, 0.2), of(L.ELU, 0.7), of(L.PReLU), of(L.ThresholdedReLU, 0.1),
      of(L.Dense, 2))
chain("reshapes", (6,), of(L.Dense, 6), of(L.Reshape, (2, 3)), of(L.Permute, (2, 1)), of(L.Flatten),
      of(L.RepeatVector, 3), of(L.SimpleRNN, 2))
chain("regularized", (6,), of(L.Dense, 5, W_regularizer="l2", W_constraint="nonneg"), of(L.ActivityRegularization, l1=0.1),
      of(L.Dense, 2))


def case(*shapes):
    def add(build):
        CASES[build.__name__] = (build, list(shapes), 0)
        return build
    return add


for mode in ("sum", "mul", "ave", "max", "concat", "dot", "cos"):
    def merged(mode=mode):
        a, b = L.Input((6,)), L.Input((6,))
        both = L.merge([L.Dense(4)(a), L.Dense(4)(b)], mode=mode)
        return Model([a, b], L.Dense(2)(L.Flatten()(both) if mode == "cos" else both))
    CASES["merge_" + mode] = (merged, [(6,), (6,)], 0)

    def joined(mode=mode):
        left, right = Sequential([L.Dense(4, input_dim=6)]), Sequential([L.Dense(4, input_dim=5)])
        model = Sequential()
        model.add(L.Merge([left, right], mode=mode))
        if mode != "cos":
            model.add(L.Dense(2))
        else:
            model.add(L.Flatten())
            model.add(L.Dense(2))
        return model
    CASES["merge_of_models_" + mode] = (joined, [(6,), (5,)], 0)


@case((6,))
def nested():
    inner = Sequential([L.Dense(5, input_dim=6, activation="tanh"), L.Dense(4)])
    return Sequential([L.Dense(6, input_dim=6), inner, L.Dense(2)])


@case((6,), (6,))
def shared():
    a, b = L.Input((6,)), L.Input((6,))
    inside = L.Input((6,))
    code = Model(inside, L.Dense(4)(L.Dense(5, activation="tanh")(inside)))
    return Model([a, b], [L.Dense(1)(L.merge([code(a), code(b)], mode="mul")), L.Dense(2)(code(a))])


@case(IMAGE["th"] if THEANO else IMAGE["tf"])
def residual():
    order, axis = ("th", 1) if THEANO else ("tf", -1)
    a = L.Input(IMAGE[order])
    x = L.Convolution2D(4, 3, 3, border_mode="same", dim_ordering=order)(a)
    y = L.Convolution2D(4, 3, 3, border_mode="same", dim_ordering=order)(L.BatchNormalization(axis=axis)(x))
    x = L.merge([x, y], mode="concat", concat_axis=axis)
    return Model(a, L.Dense(2)(L.Flatten()(x)))


def randomize(model, random):
    for weight in model.weights:
        shape = K.get_value(weight).shape
        new = random.normal(size=shape) / np.sqrt(max(1, np.prod(shape[:-1])))
        if "running_std" in weight.name or "gamma" in weight.name:
            new = random.uniform(0.5, 2, shape)
        K.set_value(weight, new.astype("float32"))


def drawn(shapes, tokens, random, masked):
    inputs = [np.sort(random.randint(0, tokens, (6,) + s), axis=1)[:, ::-1].astype("float32") if tokens else
              random.normal(size=(6,) + s).astype("float32") for s in shapes]
    if masked:
        inputs[0][:3, -2:] = 0
    return inputs


def compare(model, inputs, path):
    outputs = model.predict(inputs if len(inputs) > 1 else inputs[0])
    outputs = outputs if isinstance(outputs, list) else [outputs]
    if len(inputs) == 1 and len(outputs) == 1:
        data = {"x": inputs[0], "y": outputs[0]}
    else:
        names = [l.name for l in model.input_layers] if hasattr(model, "input_layers") else [
            t._keras_history[0].name for t in model.inputs]
        data = dict(zip(names, inputs))
        data.update({"labels/" + n: y for n, y in zip(model.output_names, outputs)} if len(outputs) > 1
                    else {"y": outputs[0]})
    model.save(path)
    return data


def checked(path, data):
    data_path = path + ".npz"
    if "y" in data and "x" not in data:  # several inputs have the names that we give them
        listed = subprocess.run(["dl-import", "-q", path, "--backend", K.backend(), "-o", path + ".st"],
                                stderr=subprocess.PIPE, universal_newlines=True)
        if listed.returncode:
            return listed.stderr.strip()
    np.savez(data_path, **data)
    done = subprocess.run(["dl-import", "-q", "--backend", K.backend(), "--check", data_path, "--tolerance", "1e30", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    found = re.findall(r"difference (\S+), largest output (\S+)", done.stdout)
    if done.returncode or not found:
        return done.stderr.strip() or "no outputs"
    return max(float(gap) / max(float(size), 1e-30) for gap, size in found)


def main():
    wanted = sys.argv[1:]
    random = np.random.RandomState(3)
    failed = count = refused = 0
    for name, (build, shapes, tokens) in sorted(CASES.items()):
        if wanted and not any(name.startswith(w) for w in wanted):
            continue
        try:
            model = build()
        except Exception as error:
            print("skip %-30s this backend does not have it: %s" % (name, str(error).splitlines()[0][:60]))
            continue
        model.compile("sgd", "mse")
        randomize(model, random)
        inputs = drawn(shapes, tokens, random, name.startswith("masking"))
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, "m.h5")
        try:
            found = checked(path, compare(model, inputs, path))
        finally:
            for file in os.listdir(folder):
                os.remove(os.path.join(folder, file))
            os.rmdir(folder)
        good = not isinstance(found, str) and found <= BOUND
        failed += not good
        count += 1
        print("%s %-30s %s" % ("ok  " if good else "FAIL", name, found if isinstance(found, str) else "%.1e" % found))
        sys.stdout.flush()
    print("Keras 1.2.2 on %s: %d of %d agree" % (K.backend(), count - failed, count))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
