"""What a network or a model file says of its inputs and outputs."""

import json
import os
import struct

from dl_spark.tools import Failure

# Losses whose outputs are a class or yes and no; else numbers.
_CLASSES = {"negative_log_likelihood", "binary_cross_entropy", "focal",
            "binary_focal", "hinge", "squared_hinge"}


def read_network(path):
    """The network of a JSON file."""
    try:
        with open(path, encoding="utf-8") as file:
            network = json.load(file)
        if not isinstance(network, dict):
            raise ValueError("no object")
        return network
    except OSError as error:
        raise Failure(f"cannot open the network '{path}' on the driver: "
                      f"{error.strerror}", 66) from None
    except ValueError as error:
        raise Failure(f"'{path}' is no network in JSON: {error}", 78) from None


def read_model(path):
    """The metadata of a model, dl-model(5): network, classes and so on."""
    try:
        with open(path, "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            if length > os.path.getsize(path):
                raise ValueError
            metadata = json.loads(file.read(length))["__metadata__"]
        return {key: _parsed(text) for key, text in metadata.items()}
    except OSError as error:
        raise Failure(f"cannot open the model '{path}' on the driver: "
                      f"{error.strerror}", 66) from None
    except (struct.error, ValueError, KeyError, TypeError):
        raise Failure(f"'{path}' is no model of dl-tools, or cut short", 65) from None


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def check_inputs(network):
    if len(network.get("inputs", [])) > 1:
        raise Failure("networks of several inputs want data with several: write "
                      "shards with dl-shard --zip and train with dl-master", 78)


def input_shape(network):
    """The shape of an example, as the network, also a graph of one input, wants it."""
    try:
        one = network["input"] if "input" in network else network["inputs"][0]
        return tuple(one["shape"])
    except (KeyError, IndexError, TypeError):
        raise Failure("the network does not say what an example is like: it wants an "
                      '"input" with its "shape", see dl-network(5); or give shape=', 78) from None


def output_layer(network):
    """The layer that speaks last; None if there are several."""
    if "layers" in network:
        return network["layers"][-1]
    names = network.get("outputs", [])
    if isinstance(names, str):
        names = [names]
    if len(names) != 1:
        return None
    return next((node for node in network.get("nodes", [])
                 if node.get("name") == names[0]), None)


def predicts_classes(network):
    layer = output_layer(network) or {}
    return layer.get("loss", "negative_log_likelihood") in _CLASSES


def named_classes(metadata):
    """How many classes dl-infer tells apart by name; 0: it gives numbers."""
    layer = output_layer(metadata["network"]) or {}
    if layer.get("activation") == "softmax":
        return layer.get("units", 0)
    pair = len(metadata.get("data.classes") or ()) == 2
    return 2 if pair and layer.get("units") == 1 and layer["activation"] == "sigmoid" else 0


def output_units(network):
    return (output_layer(network) or {}).get("units")
