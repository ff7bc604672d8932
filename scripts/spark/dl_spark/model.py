"""What a network or a model file says of its inputs and outputs."""

import json
import os
import struct

from dl_spark.tools import Failure

# What these compare outputs with is a class or yes and no; else numbers.
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


def input_shape(network):
    """The shape of an example, as the network wants it."""
    try:
        inputs = [network["input"]] if "input" in network else list(network["inputs"].values())
        if len(inputs) == 1:
            return tuple(inputs[0]["shape"])
    except (KeyError, TypeError, AttributeError):
        raise Failure("the network does not say what an example is like: it wants an "
                      '"input" with its "shape", see dl-network(5)', 78) from None
    raise Failure("networks of several inputs want data with several: write "
                  "shards with dl-shard --zip and train with dl-master", 78)


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


def output_units(network):
    return (output_layer(network) or {}).get("units")
