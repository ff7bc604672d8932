"""Writes models as Deeplearning4j saves them: a zip of a configuration in JSON and
arrays in the format of ND4J."""

import io
import json
import struct
import zipfile

import numpy as np

LAYERS = "org.deeplearning4j.nn.conf.layers."
ACTIVATIONS = "org.nd4j.linalg.activations.impl.Activation"


def utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def buffer(values, kind, old):
    mode = "JAVACPP" if old else "MIXED_DATA_TYPES"
    dtype = {"LONG": ">i8", "INT": ">i4", "FLOAT": ">f4", "DOUBLE": ">f8"}[kind]
    return utf(mode) + struct.pack(">i" if old else ">q", len(values)) + utf(kind) + np.asarray(values, dtype).tobytes()


def array(values, old=False, kind="FLOAT"):
    """A row vector, as coefficients are."""
    n = len(values)
    shape = [2, 1, n, n, 1, 0 if old else 8192, 1, ord("c")]
    return buffer(shape, "INT" if old else "LONG", old) + buffer(values, kind, old)


def standardizer(mean, deviation):
    return utf("NORMALIZER") + struct.pack(">i", 1) + utf("STANDARDIZE") + b"\0" + array(mean) + array(deviation)


def activation(name, **more):
    return {"@class": ACTIVATIONS + name, **more}


def layer(name, act=None, **more):
    made = {"@class": LAYERS + name, "iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.1},
            "idropout": None, "regularization": [], "regularizationBias": []}
    if act:
        made["activationFn"] = act if isinstance(act, dict) else activation(act)
    return {**made, **more}


def output(name, nin, nout, loss="MCXENT", act="Softmax", **more):
    return layer(name, act, nin=nin, nout=nout, lossFn={"@class": "org.nd4j.linalg.lossfunctions.impl.Loss" + loss}, **more)


def conf(made, variables=()):
    return {"layer": made, "variables": list(variables), "seed": 1, "miniBatch": True,
            "optimizationAlgo": "STOCHASTIC_GRADIENT_DESCENT"}


def chain(layers, preprocessors=None, variables=None, **more):
    kinds = {str(i): {"@class": f"org.deeplearning4j.nn.conf.preprocessor.{name}PreProcessor", **fields}
             for i, (name, fields) in (preprocessors or {}).items()}
    return {"backpropType": "Standard", "confs": [conf(l, (variables or {}).get(i, ())) for i, l in enumerate(layers)],
            "inputPreProcessors": kinds, "iterationCount": 0, "epochCount": 0, **more}


def graph(inputs, outputs, vertices, order=None):
    """vertices: {name: (layer or vertex, inputs)}; a layer may come with a preprocessor."""
    made = {}
    for name, (what, _) in vertices.items():
        what, before = what if isinstance(what, tuple) else (what, None)
        if what["@class"].startswith(LAYERS):
            what = {"@class": "org.deeplearning4j.nn.conf.graph.LayerVertex", "layerConf": conf(what), "preProcessor": before and {
                "@class": f"org.deeplearning4j.nn.conf.preprocessor.{before[0]}PreProcessor", **before[1]}}
        made[name] = what
    return {"backpropType": "Standard", "defaultConfiguration": conf(None), "networkInputs": inputs, "networkOutputs": outputs,
            "topologicalOrderStr": order and inputs + order, "vertices": made,
            "vertexInputs": {name: ins for name, (_, ins) in vertices.items()}}


def vertex(name, **more):
    return {"@class": f"org.deeplearning4j.nn.conf.graph.{name}Vertex", **more}


def save(path, configuration, parameters, state=None, old=False, extra=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        members = {"configuration.json": json.dumps(configuration, indent=1).encode(),
                   "coefficients.bin": array(np.concatenate(parameters), old)}
        if state is not None:
            members["updaterState.bin"] = array(state, old)
        for name, data in {**members, **(extra or {})}.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def flat(array, order):
    return np.asarray(array).ravel(order="F" if order == "f" else "C")
