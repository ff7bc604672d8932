"""What of dl-network.schema.json no case has.

Every type has one.  What is drawn at random in training is not comparable, as
PyTorch draws other numbers: dropout and its kin, gaussian_noise, weight_noise, rrelu
between two slopes, corruption of an autoencoder and the noise of a gaussian_latent.
They are compared in prediction, and in training where they draw nothing: with a rate
or deviation of 0, equal slopes, variances of next to nothing."""

import json
import subprocess

def used(value, found):
    """Every text in a network's JSON, as value of a key: type and the like."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str):
                found.add((key, inner))
            elif inner:  # not a default of 0 or false
                found.add((key, None))
            used(inner, found)
    elif isinstance(value, list):
        for inner in value:
            used(inner, found)
    return found


def places(found, kind, name):
    """Whether a thing of the kind is used by its name or an object's type."""
    keys = {"layer": ("type",), "activation": ("activation", "gate_activation", "type"),
            "loss": ("loss", "type"), "updater": ("type",), "schedule": ("schedule",),
            "gradient normalization": ("gradient_normalization",)}
    if kind in ("regularization", "constraint"):
        return (name, None) in found
    return any((key, name) in found for key in keys[kind])


def listed():
    """(kind, name) of all there is."""
    definitions = json.loads(subprocess.check_output(["describe-network", "--schema"]))["$defs"]
    for kind in ("layer", "activation", "loss", "updater", "schedule"):
        for each in definitions[kind]["oneOf"]:
            yield kind, each["title"]
    dense = definitions["layer"]["oneOf"][0]["properties"]
    for name in dense["gradient_normalization"]["enum"]:
        yield "gradient normalization", name
    for name in definitions["constraints"]["properties"]:
        yield "constraint", name
    for name in definitions["regularization"]["properties"]:
        yield "regularization", name


def uncovered(networks):
    found = used(networks, set())
    return [f"{kind} {name}" for kind, name in listed()
            if not places(found, kind, name)]
