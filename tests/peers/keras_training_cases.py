"""Models whose training has a part that those of keras_random.py lack: masks at the
loss, logits, smoothed labels, decay, schedules, constraints by their axes, layers that
are called with training=False.  Each case is a function that gives a compiled model, its
inputs and labels for six examples, a word for it and what it is trained with."""

import keras
import numpy as np
from keras import constraints, losses, optimizers
from keras import layers as L

from keras_import import padded, randomize

EXAMPLES, STEPS = 6, 6
CASES = {}


def case(optimizer=lambda: optimizers.SGD(0.5), **losses_of):
    """A case for each loss of the model that the function makes: (inputs, outputs, x)."""
    def add(build):
        for name, (loss, labels) in losses_of.items():
            def make(loss=loss, labels=labels):
                keras.backend.clear_session()
                keras.utils.set_random_seed(7)
                random = np.random.default_rng(7)
                inputs, output, x = build(random)
                model = keras.Model(inputs, output)
                randomize(model, random)
                y = labels(random, (EXAMPLES, *output.shape[1:])).astype("float32")
                how = optimizer()
                model.compile(how, loss() if callable(loss) and not isinstance(loss, str) else loss)
                words = f"{type(how).__name__} {getattr(model.loss, 'name', model.loss)}"
                return model, [x], [y], "case", words
            CASES[f"{build.__name__}-{name}"] = make
        return build
    return add


def classes(random, shape):
    return np.eye(shape[-1])[random.integers(shape[-1], size=shape[:-1])]


def bits(random, shape):
    return random.integers(2, size=shape)


def reals(random, shape):
    return random.normal(size=shape)


NLL = dict(nll=("categorical_crossentropy", classes))
BITS = dict(bits=("binary_crossentropy", bits))
REALS = dict(squares=("mean_squared_error", reals), huber=("huber", reals),
             hinge=("hinge", lambda r, s: np.sign(reals(r, s))), cosine=("cosine_similarity", reals))


def words(random):
    x = keras.Input((STEPS,))
    tokens = random.integers(1, 9, (EXAMPLES, STEPS))
    tokens[1, 4:] = tokens[2, 1:] = 0
    return x, L.Embedding(9, 4, mask_zero=True)(x), tokens.astype("float32")


def series(random):
    x = keras.Input((STEPS, 3))
    return x, L.Masking(0.0)(x), padded([random.normal(size=(EXAMPLES, STEPS, 3)).astype("float32")])[0]


@case(**NLL)
def mask_of_words(random):
    x, y, data = words(random)
    return x, L.Dense(3, "softmax")(L.LSTM(4, return_sequences=True)(y)), data


@case(lambda: optimizers.Adam(0.1, epsilon=0.01), **BITS)
def mask_at_activation(random):
    x, y, data = words(random)
    return x, L.Activation("sigmoid")(L.Bidirectional(L.GRU(2, return_sequences=True, reset_after=False))(y)), data


@case(**REALS)
def mask_of_series(random):
    x, y, data = series(random)
    return x, L.Dense(2)(L.SimpleRNN(4, return_sequences=True)(y)), data


@case(logits=(lambda: losses.CategoricalCrossentropy(from_logits=True), classes))
def mask_of_logits(random):
    x, y, data = series(random)
    return x, L.Dense(3)(y), data


@case(**NLL, **{"smooth": (lambda: losses.CategoricalCrossentropy(label_smoothing=0.2), classes)})
def unmasked(random):
    x = keras.Input((STEPS, 3))
    return x, L.Dense(3, "softmax")(L.GRU(3, return_sequences=True, reset_after=False)(x)), reals(
        random, (EXAMPLES, STEPS, 3)).astype("float32")


def row(random):
    x = keras.Input((5,))
    return x, L.Dense(6, "tanh")(x), random.normal(size=(EXAMPLES, 5)).astype("float32")


@case(smooth=(lambda: losses.CategoricalCrossentropy(label_smoothing=0.1), classes),
      focal=(lambda: losses.CategoricalFocalCrossentropy(0.3, 1.5), classes),
      said=(lambda: losses.CategoricalCrossentropy(from_logits=True), classes))
def softmax(random):
    x, y, data = row(random)
    return x, L.Dense(3, "softmax")(y), data


@case(smooth=(lambda: losses.BinaryCrossentropy(label_smoothing=0.1), bits),
      focal=(lambda: losses.BinaryFocalCrossentropy(gamma=1.5), bits),
      balanced=(lambda: losses.BinaryFocalCrossentropy(True, alpha=0.3), bits))
def sigmoid(random):
    x, y, data = row(random)
    return x, L.Dense(3, "sigmoid")(y), data


@case(classes=(lambda: losses.CategoricalCrossentropy(from_logits=True), classes),
      smooth=(lambda: losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), classes),
      bits=(lambda: losses.BinaryCrossentropy(from_logits=True), bits),
      focal=(lambda: losses.BinaryFocalCrossentropy(from_logits=True), bits))
def logits(random):
    x, y, data = row(random)
    return x, L.Dense(3)(y), data


@case(classes=(lambda: losses.CategoricalCrossentropy(from_logits=True), classes))
def logits_behind_tanh(random):
    x, y, data = row(random)
    return x, L.Dense(3, "tanh")(y), data


@case(classes=(lambda: losses.CategoricalCrossentropy(from_logits=True), classes))
def logits_of_pixels(random):
    x = keras.Input((4, 5, 2))
    return x, L.Conv2D(3, 3)(x), reals(random, (EXAMPLES, 4, 5, 2)).astype("float32")


def optimized(**how):
    for name, make in how.items():
        def build(random):
            x, y, data = row(random)
            return x, L.Dense(2)(y), data
        build.__name__ = f"optimizer_{name}"
        case(make, squares=("mean_squared_error", reals))(build)


optimized(decay=lambda: optimizers.SGD(0.1, weight_decay=0.3),
          adamw=lambda: optimizers.AdamW(0.1, weight_decay=0.3, epsilon=0.01),
          momentum=lambda: optimizers.SGD(0.1, momentum=0.9),
          rmsprop=lambda: optimizers.RMSprop(0.01, epsilon=1e-3),
          adagrad=lambda: optimizers.Adagrad(0.1, epsilon=1e-3),
          nadam=lambda: optimizers.Nadam(0.1, epsilon=0.01),
          warmup=lambda: optimizers.SGD(optimizers.schedules.CosineDecay(
              0.1, 10, alpha=0.1, warmup_target=0.5, warmup_steps=4)),
          restarts=lambda: optimizers.SGD(optimizers.schedules.CosineDecayRestarts(0.3, 1, 1.0, 0.7, 0.1)),
          staircase=lambda: optimizers.SGD(optimizers.schedules.InverseTimeDecay(0.3, 1, 0.5, staircase=True)),
          polynomial=lambda: optimizers.SGD(optimizers.schedules.PolynomialDecay(0.3, 10)),
          pieces=lambda: optimizers.SGD(optimizers.schedules.PiecewiseConstantDecay([0, 5], [0.3, 0.2, 0.1])))


@case(squares=("mean_squared_error", reals))
def decay_and_costs(random):
    x, _, data = row(random)
    return x, L.Dense(2, kernel_regularizer="l2")(x), data


def norm(*axis):
    return constraints.MaxNorm(0.4, list(axis) if len(axis) > 1 else axis[0])


@case(squares=("mean_squared_error", reals))
def norm_of_convolution(random):
    x = keras.Input((4, 5, 2))
    y = L.Conv2D(3, 3, kernel_constraint=norm(0, 1, 2))(x)
    return x, L.DepthwiseConv2D(2, depthwise_constraint=norm(0, 1))(y), reals(
        random, (EXAMPLES, 4, 5, 2)).astype("float32")


@case(squares=("mean_squared_error", reals))
def norm_of_embedding(random):
    x = keras.Input((STEPS,))
    y = L.Embedding(9, 4, embeddings_constraint=norm(-1))(x)
    return x, L.LSTM(3, kernel_constraint=norm(0), recurrent_constraint=norm(0))(y), random.integers(
        0, 9, (EXAMPLES, STEPS)).astype("float32")


@case(squares=("mean_squared_error", reals))
def backwards(random):
    x, y, data = series(random)
    return x, L.Dense(2)(L.LSTM(3, go_backwards=True)(y)), data


@case(squares=("mean_squared_error", reals))
def still_base(random):
    inside = keras.Input((5,))
    base = keras.Model(inside, L.BatchNormalization()(L.Dense(4)(inside)))
    base.trainable = False
    x, _, data = row(random)
    return x, L.Dense(2)(base(x, training=False)), data


# In training Keras 3 does not heed it.
@case(squares=("mean_squared_error", reals))
def called_as_still(random):
    x, y, data = row(random)
    return x, L.Dense(2)(L.BatchNormalization()(y, training=False)), data
