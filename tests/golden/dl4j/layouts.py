"""Cases of channels that are last, of volumes, and of layers that are made of several here."""

import numpy as np

import formulas as f
from cases import case, cell, dense
from zips import activation, chain, graph, layer, output, vertex

ONE = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1]}


def last(x):
    """Channels first to last."""
    return np.moveaxis(x, 1, -1)


@case
def nhwc(p):
    """Images with their channels last, as models of Keras come through Deeplearning4j."""
    x = p.input(2, 3, 6, 5)
    b1, w1 = p(4), p(4, 3, 2, 2, order="c")
    y = f.conv(x, w1, b1, (1, 1), mode="Same")
    gamma, beta, mean, var = p(4, low=0.5), p(4), p(4), p(4, low=0.5)
    y = f.batch_norm(y, gamma, beta, mean, var)
    slope = p(6, 5, 4)  # of [height, width, channels]
    y = np.where(y > 0, y, slope.transpose(2, 0, 1) * y)
    b2, w2 = p(2), p(2, 4, 1, 1, order="c")
    both = np.concatenate([y, f.conv(y, w2, b2, (1, 1))], 1)
    y = f.pool(both, "MAX", (2, 2), (2, 2))
    w3, b3 = p(y[0].size, 3), p(3)
    z = last(y).reshape(2, -1) @ w3 + b3  # the plain order of what is there
    w4, b4 = p(6, 3), p(3)
    u = both.mean((2, 3)) @ w4 + b4
    conv = lambda act, nin, nout, k, **more: layer("ConvolutionLayer", act, nin=nin, nout=nout, kernelSize=[k, k], cnn2dDataFormat="NHWC",
                                                   hasBias=True, **ONE, **more)
    nodes = {"c": (conv("Identity", 3, 4, 2, convolutionMode="Same"), ["x"]),
             "bn": (layer("BatchNormalization", nin=4, nout=4, eps=1e-5, cnn2DFormat="NHWC", useLogStd=False), ["c"]),
             "pr": (layer("PReLULayer", inputShape=[6, 5, 4]), ["bn"]),
             "d": (conv("Identity", 4, 2, 1, convolutionMode="Truncate"), ["pr"]),
             "both": (vertex("Merge", mergeAxis=3), ["pr", "d"]),
             "pool": (layer("SubsamplingLayer", poolingType="MAX", kernelSize=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1],
                            cnn2dDataFormat="NHWC"), ["both"]),
             "dense": ((layer("DenseLayer", "Identity", nin=y[0].size, nout=3),
                        ("CnnToFeedForward", {"inputHeight": 3, "inputWidth": 2, "numChannels": 6, "format": "NHWC"})), ["pool"]),
             "gap": (layer("GlobalPoolingLayer", poolingType="AVG", poolingDimensions=[1, 2]), ["both"]),
             "more": (layer("DenseLayer", "Identity", nin=6, nout=3), ["gap"]),
             "sum": (vertex("ElementWise", op="Add"), ["dense", "more"]), "less": (vertex("Scale", scaleFactor=0.125), ["sum"]),
             "out": (layer("LossLayer", "Softmax", lossFn={"@class": "x.LossMCXENT"}), ["less"])}
    return graph(["x"], ["out"], nodes, list(nodes)), last(x), f.softmax((z + u) / 8)


@case
def nwc(p):
    """Sequences with their features last."""
    x = p.input(3, 4, 6)
    b1, w1 = p(5), p(3, 4, 5, order="c")  # [window, channels, filters], since 1.0.0-M1
    y = f.relu(f.conv(x, w1.transpose(2, 1, 0), b1, (1,), [1]))
    y = f.lstm(y, *cell(p, 5, 3))
    w, b = p(3, 2), p(2)
    layers = [layer("Convolution1DLayer", "ReLU", nin=4, nout=5, kernelSize=[3, 1], stride=[1, 1], padding=[1, 0], dilation=[1, 1],
                    convolutionMode="Truncate", cnn2dDataFormat="NCHW", rnnDataFormat="NWC"),
              layer("LSTM", "TanH", nin=5, nout=3, rnnDataFormat="NWC"),
              output("RnnOutputLayer", 3, 2, rnnDataFormat="NWC")]
    return chain(layers), last(x), last(f.softmax(f.each_step(lambda v: v @ w + b, y)))


@case
def solid(p):
    """Volumes that get edges and lose some, and a padding in numbers."""
    x = p.input(2, 2, 3, 4, 2)
    y = np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 2), (2, 1)))
    b, w = p(3), p(3, 2, 2, 3, 2, order="c")
    y = np.tanh(f.conv(y, w, b, (1, 2, 1), [1, 0, 1]))
    y = y.repeat(2, 2).repeat(3, 3).repeat(2, 4)
    y = y[:, :, 1:-1, 2:, :-3]
    w2, b2 = p(3, 2), p(2)
    z = y.mean((2, 3, 4)) @ w2 + b2
    layers = [layer("ZeroPadding3DLayer", padding=[1, 0, 0, 2, 2, 1]),
              layer("Convolution3D", "TanH", nin=2, nout=3, kernelSize=[2, 3, 2], stride=[1, 2, 1], padding=[1, 0, 1],
                    dilation=[1, 1, 1], convolutionMode="Truncate", dataFormat="NCDHW"),
              layer("Upsampling3D", size=[2, 3, 2], dataFormat="NCDHW"),
              layer("convolutional.Cropping3D", cropping=[1, 1, 2, 0, 0, 3]),
              layer("GlobalPoolingLayer", poolingType="AVG"), output("OutputLayer", 3, 2)]
    return chain(layers), x, f.softmax(z)


def attention(x, q, k, v, o):
    """x: [N, C, T]; q, k, v: [heads, size, C]; o: [heads size, C]"""
    parts = []
    for a, b, c in zip(q, k, v):
        score = np.einsum("sc,nct,sd,ndu->ntu", a, x, b, x) / np.sqrt(len(a))
        parts.append(np.einsum("ntu,sc,ncu->nst", f.softmax(score, 2), c, x))
    return np.einsum("nst,sc->nct", np.concatenate(parts, 1), o)


@case
def attends(p):
    """Attention with projections and without."""
    x = p.input(2, 4, 5)
    q, k, v = (p(2, 3, 4, order="c") for _ in range(3))
    o = p(6, 4, order="c")
    y = attention(x, q, k, v, o)
    score = np.einsum("nct,ncu->ntu", y, y) / 2
    y = np.einsum("ntu,ncu->nct", f.softmax(score, 2), y)
    w, b = p(4, 2), p(2)
    sd = {"iupdater": None, "updater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.1}}
    layers = [layer("SelfAttentionLayer", nin=4, nout=4, nheads=2, headSize=3, projectInput=True, **sd),
              layer("SelfAttentionLayer", nin=4, nout=4, nheads=1, headSize=4, projectInput=False, **sd),
              layer("GlobalPoolingLayer", poolingType="MAX"), output("OutputLayer", 4, 2)]
    return chain(layers), x, f.softmax(y.max(2) @ w + b)


@case
def boxes(p):
    """What a layer of boxes makes of the convolution before it."""
    x = p.input(2, 3, 4, 3)
    b, w = p(2 * 8), p(2 * 8, 3, 1, 1, order="c")
    y = f.conv(x, w, b, (1, 1)).reshape(2, 2, 8, 4, 3)
    priors = np.array([[1.5, 2], [3, 0.5]])
    y[:, :, [0, 1, 4]] = f.sigmoid(y[:, :, [0, 1, 4]])
    y[:, :, 2:4] = np.exp(y[:, :, 2:4]) * priors[None, :, :, None, None]
    y[:, :, 5:] = f.softmax(y[:, :, 5:], 2)
    layers = [layer("ConvolutionLayer", "Identity", nin=3, nout=16, kernelSize=[1, 1], convolutionMode="Same", **ONE),
              layer("objdetect.Yolo2OutputLayer", lambdaCoord=5.0, lambdaNoObj=0.5,
                    boundingBoxes={"dataType": "FLOAT", "shape": [2, 2], "data": priors.ravel().tolist()})]
    return chain(layers), x, y.reshape(2, 16, 4, 3)


@case
def codes(p):
    """What learns a code, and centres of classes, with the state of its updaters."""
    x = p.input(3, 4)
    adam = {"@class": "org.nd4j.linalg.learning.config.Adam", "learningRate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    other = {"@class": "org.nd4j.linalg.learning.config.Nesterovs", "learningRate": 0.1, "momentum": 0.9}
    w, b, _ = p(4, 3), p(3), p(4)
    y = f.sigmoid(dense(x, w, b))
    we, be, wm, bm = p(3, 5), p(5), p(5, 2), p(2)
    for shape in ((5, 2), (2,), (2, 4), (4,), (4, 4), (4,)):  # variances, a decoder, and what it says: of one number twice as much
        p(*shape)
    y = dense(np.tanh(dense(y, we, be)), wm, bm)
    wo, bo = p(2, 3), p(3)
    p(3, 2, order="c")
    layers = [layer("AutoEncoder", "Sigmoid", nin=4, nout=3, corruptionLevel=0.3, lossFunction="MSE", iupdater=adam),
              layer("variational.VariationalAutoencoder", "TanH", nin=3, nout=2, encoderLayerSizes=[5], decoderLayerSizes=[4],
                    outputDistribution={"@class": "x.CompositeReconstructionDistribution", "distributionSizes": [1, 2], "reconstructionDistributions":
                                        [{"@class": "x.GaussianReconstructionDistribution"}, {"@class": "x.BernoulliReconstructionDistribution"}]}, pzxActivationFn=activation("Identity"),
                    iupdater=adam),
              output("CenterLossOutputLayer", 2, 3, alpha=0.05, **{"lambda": 2e-4}, iupdater=adam, biasUpdater=other)]
    # m and v of blocks: [W, b], [vb], [eW, eb, mean], [the rest], [W, b]; none of centres
    state, at = [], 0
    for count in (15, 4, 32, 12 + 12 + 20, 9):
        state.append(np.arange(at, at + 2 * count))
        at += 2 * count
    return chain(layers), x, f.softmax(dense(y, wo, bo)), {"state": np.concatenate(state)}


@case
def means(p):
    """Means and sums over time whose padding counts, and noise where nothing makes any."""
    x = p.input(2, 3, 7)
    y = f.pool(x, "AVG", (3,), (2,), mode="Same")
    y = f.pool(y, "SUM", (2,), (1,), mode="Same")
    w, b = p(3, 2), p(2)
    drop = {"idropout": {"@class": "org.deeplearning4j.nn.conf.dropout.Dropout", "p": 0.5}}
    pool = lambda kind, kernel, stride: layer("Subsampling1DLayer", poolingType=kind, kernelSize=[kernel, 1], stride=[stride, 1],
                                              padding=[0, 0], convolutionMode="Same", avgPoolIncludePadInDivisor=True, **drop)
    layers = [pool("AVG", 3, 2), pool("SUM", 2, 1), layer("GlobalPoolingLayer", poolingType="AVG", **drop),
              output("OutputLayer", 3, 2, **drop)]
    return chain(layers), x, f.softmax(y.mean(2) @ w + b)


@case
def keras(p):
    """What models of Keras have between layers: shapes, axes in another order, series made flat."""
    x = p.input(2, 5)
    w, b = p(5, 12), p(12)
    y = np.tanh(dense(x, w, b)).reshape(2, 3, 4).transpose(0, 2, 1)
    y = f.lstm(y, *cell(p, 4, 2))
    w2, b2 = p(6, 8), p(8)
    y = np.tanh(dense(y.reshape(2, 6), w2, b2)).reshape(2, 2, 4)  # [steps, features]
    y = f.lstm(y.transpose(0, 2, 1), *cell(p, 4, 3))
    w3, b3 = p(3, 2), p(2)
    at = "org.deeplearning4j.nn.modelimport.keras.preprocessors."
    reshape = lambda shape, format: {"@class": at + "ReshapePreprocessor", "inputShape": None, "targetShape": shape,
                                     "hasMiniBatchDimension": False, "format": format}
    layers = [layer("DenseLayer", "TanH", nin=5, nout=12), layer("LSTM", "TanH", nin=4, nout=2, rnnDataFormat="NCW"),
              layer("DenseLayer", "TanH", nin=6, nout=8), layer("LSTM", "TanH", nin=4, nout=3, rnnDataFormat="NWC"),
              output("RnnOutputLayer", 3, 2, rnnDataFormat="NWC")]
    made = chain(layers)
    made["inputPreProcessors"] = {
        "1": {"@class": "org.deeplearning4j.nn.conf.preprocessor.ComposableInputPreProcessor", "inputPreProcessors": [
            reshape([3, 4], "NCW"), {"@class": at + "PermutePreprocessor", "permutationIndices": [2, 1]}]},
        "2": {"@class": at + "KerasFlattenRnnPreprocessor", "depth": 2, "tsLength": 3}, "3": reshape([2, 4], "NWC")}
    return made, x, last(f.softmax(f.each_step(lambda v: v @ w3 + b3, y)))
