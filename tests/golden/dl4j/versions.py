"""Cases of early versions, whose JSON is written out here as they have it."""

import numpy as np

import formulas as f
from cases import case, dense

NOTHING = {"adamMeanDecay": "NaN", "adamVarDecay": "NaN", "biasInit": 0.0, "dist": None, "dropOut": 0.0, "epsilon": "NaN",
           "gradientNormalization": "None", "gradientNormalizationThreshold": 1.0, "l1": 0.0, "l1Bias": 0.0, "l2": 0.0, "l2Bias": 0.0,
           "learningRateSchedule": None, "momentum": "NaN", "momentumSchedule": None, "rho": "NaN", "rmsDecay": "NaN",
           "weightInit": "XAVIER"}
ADAM = {**NOTHING, "updater": "ADAM", "learningRate": 0.01, "biasLearningRate": 0.01, "adamMeanDecay": 0.9, "adamVarDecay": 0.999}


def conf(layer, **more):
    return {"extraArgs": [], "layer": layer, "learningRatePolicy": "None", "lrPolicyDecayRate": "NaN", "lrPolicyPower": "NaN",
            "lrPolicySteps": "NaN", "miniBatch": True, "minimize": True, "numIterations": 1, "seed": 12345, "useDropConnect": False,
            "optimizationAlgo": "STOCHASTIC_GRADIENT_DESCENT", "useRegularization": False, **more}


@case
def early(p):
    """A graph of 0.8: vertices in the order of Java's sets, state in that of the file, an embedding whose bias is not named."""
    word, x = np.array([[2], [0], [4]], "f4"), p.input(3, 3)
    table, be = p(5, 2), p(2)
    wq, bq = p(3, 3), p(3)
    wp, bp = p(3, 3), p(3)
    wo, bo = p(5, 2), p(2)
    left, right = np.tanh(dense(x, wp, bp)), np.tanh(dense(x, wq, bq))
    joined = np.concatenate([table[word[:, 0].astype(int)] + be, left - right], 1)
    layer = lambda kind, act, nin, nout, **more: {kind: {"activationFn": {act: {}}, "nin": nin, "nout": nout, "layerName": None, **ADAM, **more}}
    vertices = {"e": layer("embedding", "Identity", 5, 2)}
    inputs = {"e": ["word"]}
    before = "x"
    for i in range(12):  # so that p has the number 15 and q 16
        vertices[f"a{i}"] = {"activation": {"activationFn": {"Identity": {}}, **ADAM}}
        inputs[f"a{i}"] = [before]
        before = f"a{i}"
    vertices |= {"p": layer("dense", "TanH", 3, 3), "q": layer("dense", "TanH", 3, 3)}
    vertices = {name: {"LayerVertex": {"layerConf": conf(made), "outputVertex": False, "preProcessor": None}}
                for name, made in vertices.items()}
    vertices |= {"minus": {"ElementWiseVertex": {"op": "Subtract"}}, "join": {"MergeVertex": {}},
                 "out": {"LayerVertex": {"layerConf": conf(layer("output", "Softmax", 5, 2, lossFn={"MCXENT": {}})),
                                         "outputVertex": True, "preProcessor": None}}}
    inputs |= {"p": [before], "q": [before], "minus": ["p", "q"], "join": ["e", "minus"], "out": ["join"]}
    # m and v of each parameter by itself: of e, p, q and out
    counts = [10, 2, 9, 3, 9, 3, 10, 2]
    made = {"backprop": True, "backpropType": "Standard", "defaultConfiguration": conf(None), "networkInputs": ["word", "x"],
            "networkOutputs": ["out"], "pretrain": False, "tbpttBackLength": 20, "tbpttFwdLength": 20, "vertexInputs": inputs,
            "vertices": vertices}
    return made, {"word": word, "x": x}, {"out": f.softmax(dense(joined, wo, bo))}, {
        "state": np.arange(2 * sum(counts)), "old": True}


@case
def between(p):
    """A chain of 0.9: updaters that are objects, rates and policies beside them; names of 1.0.0-alpha."""
    x = p.input(2, 4)
    w, b = p(4), p(4)
    w2, b2 = p(4, 3), p(3)
    updater = {"@class": "org.nd4j.linalg.learning.config.Nesterovs", "learningRate": 0.1, "momentum": 0.9,
               "momentumSchedule": {"0": 0.5, "7": 0.8}}
    rates = {**NOTHING, "updater": "NESTEROVS", "iupdater": updater, "learningRate": 0.2, "biasLearningRate": 0.4}
    layers = [{"ElementWiseMult": {"activationFn": {"ReLU": {}}, "nin": 4, "nout": 4, "layerName": "by", **rates}},
              {"output": {"activationFn": {"Softmax": {}}, "lossFn": {"NegativeLogLikelihood": {}}, "nin": 4, "nout": 3,
                          "layerName": "out", **rates}}]
    made = {"backprop": True, "backpropType": "Standard", "inputPreProcessors": {}, "pretrain": False, "tbpttBackLength": 20,
            "tbpttFwdLength": 20, "confs": [conf(one, learningRatePolicy="Step", lrPolicyDecayRate=0.5, lrPolicySteps=3.0,
                                                 iterationCount=4, variables=["W", "b"]) for one in layers]}
    return made, x, f.softmax(dense(f.relu(x * w + b), w2, b2)), {"state": np.arange(4 + 4 + 12 + 3), "old": True}


@case
def words(p):
    """A row of a table for each step, as rows of a batch, and a cell behind them, of 0.8."""
    x = np.array([[2, 0, 4], [1, 1, 3]], "f4")
    table, be = p(5, 3), p(3)
    y = np.tanh(table[x.astype(int)] + be).transpose(0, 2, 1)
    y = f.lstm(y, p(3, 8), p(2, 8 + 3), p(8), peepholes=True)
    w, b = p(2, 2), p(2)
    layers = [{"embedding": {"activationFn": {"TanH": {}}, "nin": 5, "nout": 3, **ADAM}},
              {"gravesLSTM": {"activationFn": {"TanH": {}}, "nin": 3, "nout": 2, "forgetGateBiasInit": 1.0, **ADAM}},
              {"rnnoutput": {"activationFn": {"Softmax": {}}, "lossFn": {"MCXENT": {}}, "nin": 2, "nout": 2, **ADAM}}]
    made = {"backprop": True, "backpropType": "Standard", "pretrain": False, "tbpttBackLength": 20, "tbpttFwdLength": 20,
            "inputPreProcessors": {"0": {"rnnToFeedForward": {}}, "1": {"feedForwardToRnn": {}}},
            "confs": [conf(one) for one in layers]}
    return made, x, f.softmax(f.each_step(lambda v: v @ w + b, y)), {"old": True}
