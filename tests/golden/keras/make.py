"""Writes the files of this folder: small models with random weights, as Keras saves
them, and what Keras says of some inputs.  usage: make.py FOLDER [PREFIX NAME...]
"""

import os
import pathlib
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np
from keras import layers as L

folder, prefix, wanted = pathlib.Path(sys.argv[1]), "".join(sys.argv[2:3]), sys.argv[3:]
keras.utils.set_random_seed(3)
random = np.random.default_rng(3)


def origin(tensor):
    """The layer that a tensor comes from, in Keras 2 and 3."""
    history = tensor._keras_history
    return (history.operation if hasattr(history, "operation") else history.layer).name


def record(model, name, inputs, ways):
    if wanted and name not in wanted:
        return
    name = prefix + name
    for weight in model.weights:
        if not str(weight.dtype).startswith("float"):
            continue
        low = 0.5 if "variance" in weight.name else -0.5
        weight.assign(random.uniform(low, low + 1, weight.shape))
    outputs = model(inputs, training=False)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    data = dict(zip(map(origin, model.inputs), inputs if isinstance(inputs, list) else [inputs]))
    for tensor, output in zip(model.outputs, outputs):
        data[f"labels/{origin(tensor)}"] = np.array(output)
    np.savez_compressed(folder / f"{name}.npz", **data)
    for way in ways:
        if way == "json":
            (folder / f"{name}.json").write_text(model.to_json())
        elif way == "weights.h5":
            model.save_weights(folder / f"{name}.weights.h5")
        else:
            model.save(folder / f"{name}.{way}")


def image(*shape):
    return random.normal(size=(4, *shape)).astype("float32")


a = keras.Input((8, 7, 2), name="image")
x = L.Conv2D(4, 3, padding="same", use_bias=False, name="conv")(a)
x = L.BatchNormalization(name="norm")(x)
y = L.ReLU(6.0, name="relu")(x)
gate = L.Dense(4, activation="sigmoid", name="gate")(L.GlobalAveragePooling2D(name="mean")(y))
y = L.Multiply(name="gated")([y, L.Reshape((1, 1, 4), name="pixel")(gate)])
y = L.Add(name="sum")([x, L.SeparableConv2D(4, 3, padding="same", name="separable")(y)])
y = L.MaxPooling2D(name="pool")(y)
kind = L.Dense(3, activation="softmax", name="kind")(L.Flatten(name="flat")(y))
size = L.Dense(1, name="size", kernel_regularizer="l2")(L.GlobalMaxPooling2D(name="most")(y))
model = keras.Model(a, [kind, size])
model.compile("adam", loss={"kind": "sparse_categorical_crossentropy", "size": "mse"}, loss_weights={"kind": 1, "size": 0.5})
record(model, "image", image(8, 7, 2), ["keras", "h5"])

code = keras.Sequential([keras.Input((5, 3), name="inside"), L.Bidirectional(L.GRU(3, return_sequences=True, name="gru"), name="both"),
                         L.LSTM(2, name="lstm")], name="code")
left, right = keras.Input((5, 3), name="left"), keras.Input((5, 3), name="right")
out = L.Dense(1, activation="sigmoid", name="same")(L.Subtract(name="apart")([code(left), code(right)]))
record(keras.Model([left, right], out), "pair", [image(5, 3), image(5, 3)], ["keras", "h5"])

words = keras.Sequential([keras.Input((6,), name="words"), L.Embedding(9, 4, mask_zero=True, name="table"), L.SimpleRNN(3, name="rnn"),
                          L.LayerNormalization(name="norm"), L.Dense(2, activation="softmax", name="mood")])
record(words, "words", np.array([[1, 2, 3, 0, 0, 0], [8, 7, 6, 5, 4, 3]], "float32"), ["json", "weights.h5"])

if hasattr(keras, "ops"):  # Keras 3: slices as they are written in a model, and constants
    a, b = keras.Input((4, 4, 3), name="photo"), keras.Input((5, 2), name="series")
    x = keras.ops.stack([a[..., i] for i in (2, 1, 0)], axis=-1) - np.array([[[[9.0, 8.0, 7.0]]]], "float32")
    x = L.Conv2D(2, 3, name="conv")(x / 2.0)[:, 1:, ..., ::-1]
    y = L.LSTM(3, return_sequences=True, name="steps")(b[:, ::-1])
    y = L.Concatenate(name="both")([L.Flatten(name="flat")(x), y[:, -1], y[:, None, 1][:, 0]])
    record(keras.Model([a, b], L.Dense(2, name="said")(y)), "slices", [image(4, 4, 3), image(5, 2)], ["keras"])
