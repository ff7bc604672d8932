"""ONNX files of scikit-learn (skl2onnx) and of TensorFlow (tf2onnx) beside what
dl-import makes of them, in ONNX Runtime's numbers, within 1e-5 of the largest; what
is refused says so.  usage: onnx-others [sklearn] [tensorflow]
"""

import pathlib
import sys
import tempfile
import warnings

import numpy as np
import onnx

from onnx_check import LAYERS, check, session_of

warnings.filterwarnings("ignore")
# Models without a counterpart here: each is one sentence.
REFUSED = {"forest", "neighbours", "bayes", "mlp of two numbers", "one versus rest"}


def sklearn_models():
    """(name, the bytes of a model, its input)"""
    from skl2onnx import to_onnx
    from sklearn import datasets, ensemble, linear_model, multiclass, multioutput, naive_bayes, neighbors, neural_network
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    x, y = datasets.load_digits(return_X_y=True)
    x, y = x[:300].astype(np.float32), y[:300]
    size, both = y.astype(np.float32) / 3, np.stack([y, y * 2], axis=1).astype(np.float32)
    mlp, sizes = neural_network.MLPClassifier, neural_network.MLPRegressor
    labels = np.stack([y % 2, y > 4, y % 3 == 0], axis=1).astype(int)
    few = {"max_iter": 20, "hidden_layer_sizes": (12, 9), "random_state": 1}
    models = {
        "mlp": (mlp(**few), y), "mlp tanh": (mlp(activation="tanh", **few), y),
        "mlp logistic": (mlp(activation="logistic", **few), y),
        "mlp of two classes": (mlp(**few), y % 2), "mlp identity": (mlp(activation="identity", **few), y),
        "mlp regression": (sizes(**few), size), "mlp of two numbers": (sizes(**few), both),
        "logistic": (linear_model.LogisticRegression(max_iter=30), y),
        "logistic of two": (linear_model.LogisticRegression(max_iter=30), y % 2),
        "linear": (linear_model.LinearRegression(), size), "ridge": (linear_model.Ridge(), both),
        "standardized mlp": (make_pipeline(StandardScaler(), mlp(**few)), y),
        "min-max mlp": (make_pipeline(MinMaxScaler(), sizes(**few)), size),
        "pca mlp": (make_pipeline(PCA(8), mlp(**few)), y),
        "string labels": (mlp(**few), np.array([f"digit{i}" for i in y])),
        "string labels of two": (mlp(**few), np.array(["odd", "even"])[y % 2]),
        "several labels": (mlp(**few), labels),
        "one versus rest": (multiclass.OneVsRestClassifier(linear_model.LogisticRegression(max_iter=30)), y % 3),
        "several by logistic": (multioutput.MultiOutputClassifier(linear_model.LogisticRegression(max_iter=30)), labels),
        "forest": (ensemble.RandomForestClassifier(5), y), "neighbours": (neighbors.KNeighborsRegressor(), size),
        "bayes": (naive_bayes.GaussianNB(), y)}
    for name, (model, target) in models.items():
        model.fit(x, target)
        options = {"zipmap": False} if hasattr(model, "classes_") and name != "several by logistic" else {}
        yield name, to_onnx(model, x[:1], options=options).SerializeToString(), x[:20]


def tensorflow_models():
    import keras
    import tensorflow as tf
    import tf2onnx
    layers, random = keras.layers, np.random.default_rng(2)

    def graph(name, shape, *stack):
        model = keras.Sequential([keras.Input(shape), *stack])
        for weight in model.weights:  # also of statistics: none is 0 or 1
            weight.assign(random.uniform(0.1, 0.5, weight.shape))
        x = random.normal(size=(4, *shape)).astype(np.float32)
        function = tf.function(lambda value: model(value, training=False))
        proto, _ = tf2onnx.convert.from_function(
            function, [tf.TensorSpec((None, *shape), tf.float32, name="x")], opset=15)
        return name, proto.SerializeToString(), x
    image = 8, 8, 3
    yield graph("dense", (6,), layers.Dense(5, activation="relu"), layers.Dense(3, activation="softmax"))
    yield graph("conv", image, layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(3))
    yield graph("same", image, layers.Conv2D(4, 3, strides=2, padding="same"), layers.GlobalAveragePooling2D(), layers.Dense(3))
    yield graph("batch norm", image, layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(), layers.Dense(2))
    yield graph("depthwise", image, layers.DepthwiseConv2D(3, depth_multiplier=2), layers.Flatten(), layers.Dense(2))
    yield graph("separable", image, layers.SeparableConv2D(5, 3, padding="same"), layers.AveragePooling2D(2), layers.Flatten(), layers.Dense(2))
    yield graph("transposed", image, layers.Conv2DTranspose(4, 3, strides=2, padding="same"), layers.GlobalMaxPooling2D(), layers.Dense(2))
    yield graph("layer norm", (6,), layers.Dense(5), layers.LayerNormalization(), layers.Dense(2))
    yield graph("layer norm of series", (4, 6), layers.Dense(5), layers.LayerNormalization(center=False), layers.Dense(2))
    yield graph("layer norm of images", image, layers.Conv2D(4, 3), layers.LayerNormalization(scale=False), layers.Flatten(), layers.Dense(2))
    yield graph("series", (9, 4), layers.Conv1D(5, 3), layers.MaxPooling1D(), layers.Flatten(), layers.Dense(2))
    yield graph("gelu", (6,), layers.Dense(5, activation="gelu"), layers.Dense(2, activation="sigmoid"))
    yield graph("leaky", (6,), layers.Dense(5), layers.LeakyReLU(), layers.Dense(5, activation="elu"), layers.Dense(2, activation="tanh"))
    yield graph("padded", image, layers.ZeroPadding2D(((1, 0), (2, 1))), layers.Conv2D(3, 2), layers.Flatten(), layers.Dense(2))
    yield graph("upsampled", image, layers.UpSampling2D(), layers.Flatten(), layers.Dense(2))
    yield graph("reshaped", (12,), layers.Reshape((2, 2, 3)), layers.Permute((2, 1, 3)), layers.Conv2D(3, 2), layers.Flatten(), layers.Dense(2))
    yield graph("lstm", (7, 3), layers.LSTM(5), layers.Dense(2))
    yield graph("gru", (7, 3), layers.GRU(5, return_sequences=True), layers.GlobalAveragePooling1D(), layers.Dense(2))
    yield graph("gru, reset before", (7, 3), layers.GRU(5, reset_after=False), layers.Dense(2))
    yield graph("simple rnn", (7, 3), layers.SimpleRNN(5, activation="relu"), layers.Dense(2))


def compare(data, x, folder):
    path = folder / "model.onnx"
    path.write_bytes(data)
    try:
        session = session_of(path)
    except Exception as error:  # of ONNX Runtime: the converter's mistake
        return f"ONNX Runtime does not take it: {str(error)[-80:]}"
    outputs = {}
    for o, y in zip(session.get_outputs(), session.run(None, {session.get_inputs()[0].name: x})):
        if isinstance(y, list):  # each is an output
            maker = next(n for n in onnx.load_from_string(data).graph.node if o.name in n.output)
            outputs |= dict(zip(maker.input, y))
        elif y.dtype == np.float32:
            outputs[o.name] = y
    return check(path, {session.get_inputs()[0].name: x}, outputs)


def main():
    wanted = sys.argv[1:] or ["sklearn", "tensorflow"]
    wrong = count = refused = 0
    for kind, models in (("sklearn", sklearn_models), ("tensorflow", tensorflow_models)):
        for name, data, x in models() if kind in wanted else ():
            with tempfile.TemporaryDirectory() as folder:
                found = compare(data, x, pathlib.Path(folder))
            if isinstance(found, str) and found.startswith("ONNX Runtime"):
                print(f"skip {kind:10} {name:20} {found}", flush=True)
                continue
            turned_down = isinstance(found, str) and found.startswith("dl-import: ") and name in REFUSED
            good = turned_down or (isinstance(found, float) and found <= LAYERS)
            wrong += not good
            refused += turned_down
            count += 1
            print(f"{'ok  ' if good else 'FAIL'} {kind:10} {name:20} "
                  f"{found.split('onnx: ')[-1] if isinstance(found, str) else f'{found:.1e}'}", flush=True)
    print(f"{count - wrong - refused} of {count} agree, {refused} refused as expected")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
