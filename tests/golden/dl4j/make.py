"""Models as Deeplearning4j saves them, and what its formulas make of some inputs:
NAME.zip and NAME.npz of each case.  usage: make.py FOLDER [CASE...]

DL4J itself is not here: zips.py writes its formats, formulas.py computes in float64.
"""

import pathlib
import sys

import numpy as np

import formulas as f
import layouts  # adds its cases
import steps
import versions  # likewise
from cases import CASES, Numbers, case, cell, dense
from zips import activation, chain, graph, layer, output, save, standardizer, vertex

@case
def image(p):
    """Padding in numbers, a pool with a padding, batch norm with a logarithm, a dense layer behind channels."""
    x = p.input(3, 3, 9, 10)
    b, w = p(5), p(5, 3, 3, 2, order="c")
    y = f.relu(f.conv(x, w, b, (2, 1), [1, 2], [1, 2]))
    y = f.pool(y - 1, "MAX", (3, 2), (2, 2), [1, 1])
    gamma, beta, mean, log = p(5, low=0.5), p(5), p(5), p(5)
    y = f.batch_norm(y, gamma, beta, mean, 10.0 ** (2 * log), 1e-3)
    w2, b2 = p(y[0].size, 6), p(6)
    hidden = np.tanh(dense(y.reshape(3, -1), w2, b2))
    w3, b3 = p(6, 4), p(4)
    layers = [layer("ConvolutionLayer", "ReLU", nin=3, nout=5, kernelSize=[3, 2], stride=[2, 1], padding=[1, 2], dilation=[1, 2],
                    convolutionMode="Truncate", hasBias=True),
              layer("ActivationLayer", activation("Identity")),
              layer("SubsamplingLayer", poolingType="MAX", kernelSize=[3, 2], stride=[2, 2], padding=[1, 1], dilation=[1, 1],
                    convolutionMode="Truncate"),
              layer("BatchNormalization", decay=0.9, eps=1e-3, useLogStd=True, nin=5, nout=5),
              layer("DenseLayer", "TanH", nin=y[0].size, nout=6), output("OutputLayer", 6, 4)]
    layers[1] = layer("BatchNormalization", lockGammaBeta=True, gamma=1.0, beta=-1.0, eps=0.0, nin=5, nout=5)
    zeros, ones = np.zeros(5), np.ones(5)
    p.all[2:2] = [zeros, ones]  # statistics of the locked one
    before = {4: ("CnnToFeedForward", {"inputHeight": y.shape[2], "inputWidth": y.shape[3], "numChannels": 5})}
    names = {1: ["mean", "var"], 3: ["gamma", "beta", "mean", "log10stdev"]}
    return chain(layers, before, names), x, f.softmax(dense(hidden, w3, b3))


@case
def same(p):
    """Padding by Same, means with and without it, convolutions by channel, zeros and edges, no dense layer."""
    x = p.input(2, 2, 8, 7)
    b, d, q = p(4), p(2, 2, 3, 2, order="c"), p(4, 4, 1, 1, order="c")
    kernel = d.transpose(2, 3, 1, 0)  # [kernel, kernel, channels, multiplier]
    y = f.conv(f.depthwise(x, kernel, "Same", (2, 1)), q, b, (1, 1))
    y = f.lrn(np.where(y > 0, y, 0.01 * y))
    y = f.pool(y, "AVG", (2, 3), (2, 2), mode="Same", include=False)
    y = f.pool(np.pad(y, ((0, 0), (0, 0), (1, 0), (2, 1))), "AVG", (2, 2), (1, 1), [1, 0])
    y = y.repeat(2, 2).repeat(3, 3)[:, :, 1:-2, 2:-1]
    b2, w2 = p(8), p(2, 2, 4, 2, order="c")
    y = f.depthwise(y, w2) + b2[None, :, None, None]
    y = f.pool(f.pool(y, "SUM", (2, 2), (1, 1)), "PNORM", (2, 2), (2, 1), p=3)
    window = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1]}
    pool = lambda kind, **more: layer("SubsamplingLayer", poolingType=kind, **{**window, **more})
    layers = [layer("SeparableConvolution2D", activation("LReLU", alpha=0.01), nin=2, nout=4, kernelSize=[3, 2], stride=[2, 1],
                    convolutionMode="Same", depthMultiplier=2, hasBias=True),
              layer("LocalResponseNormalization", n=5.0, k=2.0, alpha=1e-4, beta=0.75),
              pool("AVG", kernelSize=[2, 3], stride=[2, 2], convolutionMode="Same", avgPoolIncludePadInDivisor=False),
              layer("ZeroPaddingLayer", padding=[1, 0, 2, 1]),
              pool("AVG", kernelSize=[2, 2], padding=[1, 0], avgPoolIncludePadInDivisor=True),
              layer("Upsampling2D", size=[2, 3]), layer("convolutional.Cropping2D", cropping=[1, 2, 2, 1]),
              layer("DepthwiseConvolution2D", "Identity", nin=4, nout=8, kernelSize=[2, 2], depthMultiplier=2, hasBias=True, **window),
              pool("SUM", kernelSize=[2, 2]), pool("PNORM", kernelSize=[2, 2], stride=[2, 1], pnorm=3),
              layer("CnnLossLayer", "Softmax", lossFn={"@class": "LossMCXENT"})]
    return chain(layers), x, f.softmax(y)


@case
def rows(p):
    """Flat rows that are an image of two channels; a transposed convolution, slopes, a layer norm."""
    x = p.input(3, 2 * 4 * 3)
    b, w = p(3), p(2, 3, 3, 3, order="c")
    y = f.deconv(x.reshape(3, 2, 4, 3), w, b, 2, 1)
    slope = p(3, 1, 1)
    y = np.where(y > 0, y, slope * y)
    full = p(*y.shape[1:])
    y = np.where(y > 0, y, full * y)
    size = y[0].size
    w2, b2, g2 = p(size, 5), p(5), p(5, low=0.5)
    z = y.reshape(3, -1) @ w2
    z = (z - z.mean(1, keepdims=True)) / z.std(1, keepdims=True) * g2 + b2
    w3, b3 = p(5, 2), p(2)
    layers = [layer("Deconvolution2D", "Identity", nin=2, nout=3, kernelSize=[3, 3], stride=[2, 2], padding=[1, 1],
                    convolutionMode="Truncate"),
              layer("PReLULayer", inputShape=[3, 7, 5], sharedAxes=[2, 3]), layer("PReLULayer", inputShape=[3, 7, 5]),
              layer("DenseLayer", "Sigmoid", nin=size, nout=5, hasLayerNorm=True),
              output("OutputLayer", 5, 2, "MSE", "Identity", hasBias=True)]
    before = {0: ("FeedForwardToCnn", {"inputHeight": 4, "inputWidth": 3, "numChannels": 2}),
              3: ("CnnToFeedForward", {"inputHeight": 7, "inputWidth": 5, "numChannels": 3})}
    return chain(layers, before), x, dense(f.sigmoid(z), w3, b3)


@case
def recurrent(p):
    """LSTM, peepholes, a plain cell, an output of each step."""
    x = p.input(3, 4, 6)
    y = f.lstm(x, *cell(p, 4, 5))
    y = f.lstm(y, *cell(p, 5, 3, 3), act=lambda v: v / (1 + abs(v)), gate=lambda v: np.clip(0.2 * v + 0.5, 0, 1), peepholes=True)
    y = f.simple_rnn(y, p(3, 4), p(4, 4), p(4), f.relu)
    w, b = p(4, 3), p(3)
    y = f.softmax(f.each_step(lambda v: v @ w + b, y))
    layers = [layer("LSTM", "TanH", nin=4, nout=5, gateActivationFn=activation("Sigmoid"), forgetGateBiasInit=1.0),
              layer("GravesLSTM", "SoftSign", nin=5, nout=3, gateActivationFn=activation("HardSigmoid")),
              layer("recurrent.SimpleRnn", "ReLU", nin=3, nout=4), output("RnnOutputLayer", 4, 3)]
    return chain(layers), x, y


@case
def directions(p):
    """Both directions, joined in each way, and the last step."""
    x = p.input(2, 3, 5)
    y = f.both(lambda v, *w: f.lstm(v, *w), x, cell(p, 3, 4), cell(p, 3, 4), lambda a, b: np.concatenate([a, b], 1))
    y = f.both(lambda v, *w: f.lstm(v, *w, peepholes=True), y, cell(p, 8, 3, 3), cell(p, 8, 3, 3), lambda a, b: a * b)
    plain = lambda nin, n: (p(nin, n), p(n, n), p(n))
    y = f.both(f.simple_rnn, y, plain(3, 4), plain(3, 4), lambda a, b: (a + b) / 2)
    y = f.both(f.simple_rnn, y, plain(4, 2), plain(4, 2), lambda a, b: a + b)
    end = f.both(f.simple_rnn, y, plain(2, 3), plain(2, 3), lambda a, b: np.concatenate([a, b], 1))[:, :, -1]
    w, b = p(6, 3), p(3)

    def two(inner, mode):
        return layer("recurrent.Bidirectional", fwd=inner, bwd=inner, mode=mode, iupdater=None)

    rnn = lambda nin, n: layer("recurrent.SimpleRnn", "TanH", nin=nin, nout=n)
    gates = {"gateActivationFn": activation("Sigmoid")}
    layers = [two(layer("LSTM", "TanH", nin=3, nout=4, **gates), "CONCAT"),
              two(layer("GravesLSTM", "TanH", nin=8, nout=3, **gates), "MUL"), two(rnn(3, 4), "AVERAGE"), two(rnn(4, 2), "ADD"),
              layer("recurrent.LastTimeStep", underlying=two(rnn(2, 3), "CONCAT"), iupdater=None), output("OutputLayer", 6, 3)]
    return chain(layers), x, f.softmax(end @ w + b)


@case
def last(p):
    """The last step alone: of a cell, and of two directions that each say theirs."""
    x = p.input(2, 3, 5)
    plain = lambda nin, n: (p(nin, n), p(n, n), p(n))
    y = f.both(f.simple_rnn, x, plain(3, 2), plain(3, 2), lambda a, b: np.concatenate([a, b[:, :, ::-1]], 1))[:, :, -1]
    y = f.lstm(np.repeat(y[:, :, None], 4, 2), *cell(p, 4, 3))[:, :, -1]
    w, b = p(3, 1), p(1)
    step = layer("recurrent.LastTimeStep", underlying=layer("recurrent.SimpleRnn", "TanH", nin=3, nout=2), iupdater=None)
    layers = [layer("recurrent.Bidirectional", fwd=step, bwd=step, mode="CONCAT", iupdater=None), layer("misc.RepeatVector", n=4),
              layer("recurrent.LastTimeStep", underlying=layer("LSTM", "TanH", nin=4, nout=3), iupdater=None),
              output("OutputLayer", 3, 1, "BinaryXENT", "Sigmoid")]
    return chain(layers), x, f.sigmoid(y @ w + b)


@case
def legacy(p):
    """As version 0.8 writes it: wrapper objects, names of updaters, short lengths."""
    x = p.input(2, 3, 4)
    join = lambda a, b: a + b
    y = f.both(lambda v, *w: f.lstm(v, *w, peepholes=True), x, cell(p, 3, 4, 3), cell(p, 3, 4, 3), join)
    w, b = p(4, 5), p(5)
    old = {"updater": "RMSPROP", "learningRate": 0.15, "rmsDecay": 0.96, "epsilon": 1e-8, "momentum": "NaN", "l1": 0.1, "l2": 0.3,
           "dropOut": 0.6, "weightInit": "DISTRIBUTION", "dist": {"uniform": {"lower": -0.2, "upper": 0.2}}, "biasLearningRate": 0.3,
           "gradientNormalization": "ClipElementWiseAbsoluteValue", "gradientNormalizationThreshold": 1.5}
    layers = [{"gravesBidirectionalLSTM": {"activationFn": {"TanH": {}}, "gateActivationFn": {"Sigmoid": {}}, "nin": 3, "nout": 4,
                                           "layerName": "both", **old}},
              {"rnnoutput": {"activationFn": {"Softmax": {}}, "lossFn": {"MCXENT": {}}, "nin": 4, "nout": 5, **old}}]
    made = chain(layers)
    for one in made["confs"]:
        one.update({"useRegularization": True, "useDropConnect": False, "learningRatePolicy": "None"})
    return made, x, f.softmax(f.each_step(lambda v: v @ w + b, y)), {"old": True}


@case
def word(p):
    """A row of a table, with a bias, and what else a vector goes through; its data are normalized."""
    x = np.array([[3], [0], [6]], "f4")
    w, b = p(7, 4), p(4)
    y = np.tanh(w[x[:, 0].astype(int)] + b)
    w2, b2 = p(4), p(4)
    y = f.relu(y * w2 + b2)
    gamma, beta, mean, var = p(4, low=0.5), p(4), p(4), p(4, low=0.5)
    y = f.batch_norm(y, gamma, beta, mean, var)
    w3 = p(4, 3)
    layers = [layer("EmbeddingLayer", "TanH", nin=7, nout=4, hasBias=True),
              layer("misc.ElementWiseMultiplicationLayer", "ReLU", nin=4, nout=4),
              layer("BatchNormalization", nin=4, nout=4, eps=1e-5, useLogStd=False),
              output("OutputLayer", 4, 3, "L1", "Cube", hasBias=False)]
    return chain(layers, None, {2: ["gamma", "beta", "mean", "var"]}), x, (y @ w3) ** 3


@case
def text(p):
    """Rows of a table for each step, convolutions and pools over time, a frozen layer."""
    x = p.random.integers(0, 9, (3, 10)).astype("f4")
    w = p(9, 4)
    y = w[x.astype(int)].transpose(0, 2, 1)
    b1, w1 = p(5), p(5, 4, 3, 1, order="c")
    y = f.relu(f.conv(y, w1[..., 0], b1, (1,), [1]))
    y = f.pool(y, "MAX", (3,), (2,), [1])
    b2, w2 = p(4), p(4, 5, 2, 1, order="c")
    y = np.tanh(f.conv(y, w2[..., 0], b2, (1,), None, [2], "Causal"))
    y = np.pad(y.repeat(2, 2), ((0, 0), (0, 0), (1, 2)))[:, :, 2:-1]
    y = f.lstm(y, *cell(p, 4, 3))
    y = (np.abs(y) ** 2).sum(2) ** 0.5
    w3, b3 = p(3, 2), p(2)
    one = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1]}
    layers = [layer("EmbeddingSequenceLayer", "Identity", nin=9, nout=4, inputLength=10),
              layer("Convolution1DLayer", "ReLU", nin=4, nout=5, kernelSize=[3, 1], stride=[1, 1], padding=[1, 0], dilation=[1, 1],
                    convolutionMode="Truncate"),
              layer("Subsampling1DLayer", poolingType="MAX", kernelSize=[3, 1], stride=[2, 2], padding=[1, 0],
                    convolutionMode="Truncate"),
              layer("Convolution1DLayer", "TanH", nin=5, nout=4, **{**one, "kernelSize": [2, 1], "dilation": [2, 1]},
                    convolutionMode="Causal"),
              layer("Upsampling1D", size=[2]), layer("ZeroPadding1DLayer", padding=[1, 2]),
              layer("convolutional.Cropping1D", cropping=[2, 1]),
              layer("misc.FrozenLayer", layer=layer("LSTM", "TanH", nin=4, nout=3), iupdater=None),
              layer("GlobalPoolingLayer", poolingType="PNORM", pnorm=2), output("OutputLayer", 3, 2)]
    return chain(layers), x, f.softmax(y @ w3 + b3)


@case
def volume(p):
    """Volumes, and a dense layer behind their channels."""
    x = p.input(2, 2, 4, 6, 4)
    b, w = p(3), p(3, 2, 3, 2, 3, order="c")
    y = f.relu(f.conv(x, w, b, (1, 1, 1), mode="Same"))
    y = f.pool(y, "MAX", (2, 2, 2), (2, 2, 2), mode="Same")
    w2, b2 = p(y[0].size, 3), p(3)
    layers = [layer("Convolution3D", "ReLU", nin=2, nout=3, kernelSize=[3, 2, 3], stride=[1, 1, 1], padding=[0, 0, 0],
                    dilation=[1, 1, 1], convolutionMode="Same", dataFormat="NCDHW"),
              layer("Subsampling3DLayer", poolingType="MAX", kernelSize=[2, 2, 2], stride=[2, 2, 2], padding=[0, 0, 0],
                    dilation=[1, 1, 1], convolutionMode="Same"), output("OutputLayer", y[0].size, 3)]
    before = {2: ("Cnn3DToFeedForward", {"inputDepth": 2, "inputHeight": 3, "inputWidth": 2, "numChannels": 3})}
    return chain(layers, before), x, f.softmax(dense(y.reshape(2, -1), w2, b2))


@case
def vertices(p):
    """A graph of vectors, computed and stored in an order of its own."""
    a, b = p.input(3, 4), p.input(3, 4)
    wq, bq = p(4, 6), p(6)
    wp, bp = p(4, 6), p(6)
    left, right = np.tanh(dense(a, wp, bp)), np.tanh(dense(b, wq, bq))
    parts = [left + right, left - right, left * right, (left + right) / 2, np.maximum(left, right)]
    norm = parts[0] / np.sqrt((parts[0] ** 2).sum(1, keepdims=True))
    far = np.sqrt(((left - right) ** 2).sum(1, keepdims=True))
    joined = np.concatenate([norm, far, parts[1], parts[2] * 3 - 0.5, parts[3], parts[4][:, 2:5]], 1)
    w, c = p(joined.shape[1], 2), p(2)
    w2, c2 = p(6, 1), p(1)
    v = lambda *args, **more: vertex(*args, **more)
    nodes = {"p": (layer("DenseLayer", "TanH", nin=4, nout=6), ["a"]), "q": (layer("DenseLayer", "TanH", nin=4, nout=6), ["b"]),
             "add": (v("ElementWise", op="Add"), ["p", "q"]), "sub": (v("ElementWise", op="Subtract"), ["p", "q"]),
             "mul": (v("ElementWise", op="Product"), ["p", "q"]), "mean": (v("ElementWise", op="Average"), ["p", "q"]),
             "max": (v("ElementWise", op="Max"), ["p", "q"]), "norm": (v("L2Normalize", eps=1e-8), ["add"]),
             "far": (v("L2", eps=1e-8), ["p", "q"]), "scale": (v("Scale", scaleFactor=3.0), ["mul"]),
             "shift": (v("Shift", shiftFactor=-0.5), ["scale"]), "some": (v("Subset", **{"from": 2, "to": 4}), ["max"]),
             "join": (v("Merge"), ["norm", "far", "sub", "shift", "mean", "some"]),
             "out": (output("OutputLayer", joined.shape[1], 2), ["join"]),
             "other": (output("OutputLayer", 6, 1, "MSE", "Identity"), ["max"])}
    order = "q p add sub mul mean max norm far scale shift some join out other".split()
    return graph(["a", "b"], ["out", "other"], nodes, order), {"a": a, "b": b}, {
        "out": f.softmax(dense(joined, w, c)), "other": dense(parts[4], w2, c2)}


@case
def residual(p):
    """A graph of images: channels side by side, two images flattened side by side, an order that is not said."""
    x = p.input(2, 2, 5, 4)
    b1, w1 = p(3), p(3, 2, 3, 3, order="c")
    b2, w2 = p(3), p(3, 2, 1, 1, order="c")
    a, b = f.conv(x, w1, b1, (1, 1), mode="Same"), f.conv(x, w2, b2, (1, 1))
    both = np.concatenate([f.relu(a + b), x], 1)
    small = f.pool(both, "MAX", (2, 2), (2, 2))
    flat_ = np.concatenate([both.reshape(2, -1), small.reshape(2, -1)], 1)
    w, c = p(flat_.shape[1], 3), p(3)
    one = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1]}
    to_flat = lambda v: {"inputHeight": v.shape[2], "inputWidth": v.shape[3], "numChannels": v.shape[1]}
    nodes = {"z": (layer("ConvolutionLayer", "Identity", nin=2, nout=3, kernelSize=[3, 3], convolutionMode="Same", **one), ["x"]),
             "c": (layer("ConvolutionLayer", "Identity", nin=2, nout=3, kernelSize=[1, 1], convolutionMode="Truncate", **one), ["x"]),
             "sum": (vertex("ElementWise", op="Add"), ["z", "c"]), "act": (layer("ActivationLayer", "ReLU"), ["sum"]),
             "both": (vertex("Merge"), ["act", "x"]),
             "small": (layer("SubsamplingLayer", poolingType="MAX", kernelSize=[2, 2], **{**one, "stride": [2, 2]}), ["both"]),
             "f1": (vertex("Preprocessor", preProcessor={"@class": "x.CnnToFeedForwardPreProcessor", **to_flat(both)}), ["both"]),
             "f2": (vertex("Preprocessor", preProcessor={"@class": "x.CnnToFeedForwardPreProcessor", **to_flat(small)}), ["small"]),
             "flat": (vertex("Merge"), ["f1", "f2"]), "out": (output("OutputLayer", flat_.shape[1], 3), ["flat"])}
    return graph(["x"], ["out"], nodes), x, f.softmax(dense(flat_, w, c))


@case
def translate(p):
    """From a sequence to a vector and to a sequence again."""
    x = p.input(2, 3, 5)
    y = f.lstm(x[:, :, ::-1], *cell(p, 3, 4))
    code = y[:, :, -1]
    seen = np.concatenate([np.repeat(code[:, :, None], 5, 2), x], 1)
    y = f.simple_rnn(seen, p(7, 3), p(3, 3), p(3))
    w, b = p(3, 2), p(2)
    nodes = {"turn": (vertex("rnn.ReverseTimeSeries"), ["x"]), "read": (layer("LSTM", "TanH", nin=3, nout=4), ["turn"]),
             "last": (vertex("rnn.LastTimeStep", maskArrayInputName="x"), ["read"]),
             "again": (vertex("rnn.DuplicateToTimeSeries", inputName="x"), ["last"]), "join": (vertex("Merge"), ["again", "x"]),
             "write": (layer("recurrent.SimpleRnn", "TanH", nin=7, nout=3), ["join"]),
             "out": (output("RnnOutputLayer", 3, 2, "MSE", "Identity"), ["write"])}
    return graph(["x"], ["out"], nodes, list(nodes)), x, f.each_step(lambda v: v @ w + b, y)


@case
def film(p):
    """Images of each step between recurrent layers; dense layers as rows of a batch."""
    x = p.input(2, 2 * 4 * 3, 3)
    w0, b0 = p(24, 24), p(24)
    y = f.each_step(lambda v: np.tanh(v @ w0 + b0), x)
    bc, wc = p(3), p(3, 2, 2, 2, order="c")
    y = f.each_step(lambda v: f.relu(f.conv(v.reshape(2, 2, 4, 3), wc, bc, (1, 1))).reshape(2, -1), y)
    y = f.lstm(y, *cell(p, 18, 3))
    w, b = p(3, 2), p(2)
    layers = [layer("DenseLayer", "TanH", nin=24, nout=24),
              layer("ConvolutionLayer", "ReLU", nin=2, nout=3, kernelSize=[2, 2], stride=[1, 1], padding=[0, 0], dilation=[1, 1]),
              layer("LSTM", "TanH", nin=18, nout=3), output("RnnOutputLayer", 3, 2)]
    before = {0: ("RnnToFeedForward", {}),
              1: ("ComposableInput", {"inputPreProcessors": [
                  {"@class": "x.FeedForwardToRnnPreProcessor"},
                  {"@class": "x.RnnToCnnPreProcessor", "inputHeight": 4, "inputWidth": 3, "numChannels": 2}]}),
              2: ("CnnToRnn", {"inputHeight": 3, "inputWidth": 2, "numChannels": 3})}
    return chain(layers, before), x, f.softmax(f.each_step(lambda v: v @ w + b, y))


@case
def functions(p):
    """Every activation side by side, data normalized, and updaters with state, of two kinds."""
    raw = p.input(4, 3) * 2 + 5
    x = (raw - np.array([5, 4, 6.0])) / np.array([2, 1, 4.0])
    sp = np.log1p(np.exp(x))
    v = 2 * np.abs(x) / 3
    every = {"Identity": x, "Sigmoid": f.sigmoid(x), "TanH": np.tanh(x), "SoftPlus": sp, "SoftSign": x / (1 + abs(x)), "Cube": x ** 3,
             "ReLU": np.where(x >= 1.5, 1.5, np.where(x >= 0.2, x, 0.1 * (x - 0.2))), "ReLU6": np.clip(x, 0, 6),
             "LReLU": np.where(x > 0, x, 0.3 * x), "ELU": np.where(x > 0, x, 0.5 * (np.exp(x) - 1)),
             "SELU": 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)), "Swish": x * f.sigmoid(x),
             "Mish": x * np.tanh(sp), "ThresholdedReLU": np.where(x > 0.7, x, 0), "GELU": x * f.sigmoid(1.702 * x),
             "HardSigmoid": np.clip(0.2 * x + 0.5, 0, 1), "HardTanH": np.clip(x, -1, 1), "RectifiedTanh": f.relu(np.tanh(x)),
             "RationalTanh": 1.7159 * np.sign(x) * (1 - 1 / (1 + v + v ** 2 + 1.41645 * v ** 4)), "Softmax": f.softmax(x),
             "RReLU": np.where(x > 0, x, (1 / 8 + 1 / 3) / 2 * x)}
    given = {"ReLU": {"max": 1.5, "threshold": 0.2, "negativeSlope": 0.1}, "LReLU": {"alpha": 0.3}, "ELU": {"alpha": 0.5},
             "ThresholdedReLU": {"theta": 0.7}}
    nodes = {name: (layer("ActivationLayer", activation(name, **given.get(name, {}))), ["x"]) for name in every}
    joined = np.concatenate(list(every.values()), 1)
    nodes["join"] = (vertex("Merge"), list(every))
    adam = {"@class": "org.nd4j.linalg.learning.config.Adam", "learningRate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    other = {"@class": "org.nd4j.linalg.learning.config.Nesterovs", "learningRate": 0.1, "momentum": 0.9}
    w1, b1 = p(63, 3), p(3)
    w2, b2 = p(3, 2), p(2)
    nodes["hidden"] = (layer("DenseLayer", "TanH", nin=63, nout=3, iupdater=adam), ["join"])
    nodes["out"] = (output("OutputLayer", 3, 2, iupdater=adam, biasUpdater=other), ["hidden"])
    # m and v of W, b, W, and then v of b.
    state = np.arange(2 * (63 * 3 + 3 + 6) + 2, dtype="f4")
    made = graph(["x"], ["out"], nodes, list(nodes))
    made.update(iterationCount=17, epochCount=2)
    return made, raw, f.softmax(dense(np.tanh(dense(joined, w1, b1)), w2, b2)), {
        "state": state, "extra": {"normalizer.bin": standardizer([5, 4, 6], [2, 1, 4]), "preprocessor.bin": b"\xac\xed\0\5"}}


def main():
    folder = pathlib.Path(sys.argv[1])
    if not sys.argv[2:]:
        steps.make(folder)
    for name in sys.argv[2:] or CASES:
        numbers = Numbers()
        configuration, x, y, *more = CASES[name](numbers)
        save(folder / f"{name}.zip", configuration, numbers.all, **(more[0] if more else {}))
        arrays = dict(x) if isinstance(x, dict) else {"x": x}
        arrays.update(y if isinstance(y, dict) else {"y": y})
        np.savez_compressed(folder / f"{name}.npz", **{k: np.ascontiguousarray(v, "f4") for k, v in arrays.items()})


main()
