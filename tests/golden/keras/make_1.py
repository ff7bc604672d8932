"""Writes keras1-*.h5 and .npz with Keras 1.2.2, on Theano 1.0.5 or TensorFlow 1.15, as
KERAS_BACKEND says: Python 3.7, numpy 1.16.6, h5py 2.10.0.  usage: make_1.py FOLDER"""

import sys

import keras.backend as K
import numpy as np
from keras.layers import (LSTM, BatchNormalization, Bidirectional, Convolution1D, Convolution2D, Dense, Flatten,
                          GRU, Highway, Input, MaxoutDense, MaxPooling2D, merge)
from keras.models import Model

np.random.seed(5)
random = np.random.RandomState(5)
on_theano = K.backend() == "theano"
if on_theano:
    import theano.ifelse  # noqa: F401  which Keras forgets
order, axis, shape = ("th", 1, (3, 8, 6)) if on_theano else ("tf", -1, (8, 6, 3))

image, series = Input(shape, name="image"), Input((6, 4), name="series")
x = Convolution2D(4, 3, 2, border_mode="same", subsample=(2, 1), activation="relu", dim_ordering=order)(image)
x = MaxPooling2D(dim_ordering=order)(BatchNormalization(axis=axis)(x))
x = MaxoutDense(5, nb_feature=2)(Flatten()(x))
y = Convolution1D(4, 2, activation="tanh")(series)
y = Bidirectional(GRU(2, return_sequences=True))(LSTM(3, return_sequences=True)(y))
y = Highway(activation="tanh")(LSTM(5, consume_less="gpu")(y))
both = merge([x, y], mode="concat")
model = Model([image, series], [Dense(3, activation="softmax", name="kind")(both), Dense(1, name="size")(both)])
model.compile("adam", ["categorical_crossentropy", "mse"])
for weight in model.weights:
    shape_of = K.get_value(weight).shape
    new = random.normal(size=shape_of) / np.sqrt(max(1, np.prod(shape_of[:-1])))
    K.set_value(weight, (random.uniform(0.5, 2, shape_of) if "running_std" in weight.name else new).astype("float32"))
inputs = [random.normal(size=(4,) + s).astype("float32") for s in (shape, (6, 4))]
kind, size = model.predict(inputs)
path = "%s/keras1-%s" % (sys.argv[1], K.backend())
model.save(path + ".h5")
np.savez(path + ".npz", **{"image": inputs[0], "series": inputs[1], "labels/kind": kind, "labels/size": size})
