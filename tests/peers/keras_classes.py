"""Every class of keras.layers stands in dl-import(1), as imported or refused, and each
that is imported is in a case of keras_cases.py or a random model.  With
DL_PEERS_KERAS2, a Python that has tf.keras 2, its classes are looked at, too."""

import os
import pathlib
import re
import subprocess
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras

from keras_cases import CASES

PAGE = pathlib.Path(__file__).resolve().parents[2] / "man" / "dl-import.1.scd"
# No layers of a model, but what these are made of.
BASES = {"Layer", "Wrapper", "InputSpec", "InputLayer", "AbstractRNNCell", "PreprocessingLayer", "BaseRandomLayer"}
# In random models alone, or found in another way.
ELSEWHERE = {"SyncBatchNormalization", "BatchNormalizationV1", "CustomScaleLayer", "LayerScale", "StochasticDepth"}
LIST = """
import tensorflow as tf
L = tf.keras.layers
print(*sorted({getattr(L, n).__name__ for n in dir(L) if isinstance(getattr(L, n), type)}))
"""


def on_the_page():
    text = PAGE.read_text().split("; from here, scripts/generate writes")[1].split("; to here")[0]
    imported, refused = text.split("Refused are")
    return (set(re.findall(r"\w+", imported.split("Imported are")[1])), set(re.findall(r"\*(\w+)\*", refused)))


def in_cases():
    used = set()
    for build, _, _ in CASES.values():
        keras.backend.clear_session()
        try:
            model = build()
        except (ValueError, AttributeError, TypeError):
            continue
        used |= {type(layer).__name__ for layer in model._flatten_layers()}
    return used


def main():
    imported, refused = on_the_page()
    wrong = [f"{n} is both imported and refused" for n in imported & refused]
    versions = {keras.__version__: {getattr(keras.layers, n).__name__ for n in dir(keras.layers)
                                    if isinstance(getattr(keras.layers, n), type)}}
    if os.environ.get("DL_PEERS_KERAS2"):
        done = subprocess.run([os.environ["DL_PEERS_KERAS2"], "-c", LIST], capture_output=True, text=True, check=True)
        versions["2"] = set(done.stdout.split())
    used = in_cases()
    for version, names in versions.items():
        names -= BASES
        unknown = {n for n in names - imported - refused if not n.startswith("Random")}
        wrong += [f"{n} of Keras {version} is not on the page" for n in sorted(unknown)]
        if version != "2":
            wrong += [f"{n} is imported, and no case has it" for n in sorted((names & imported) - used - ELSEWHERE)]
        print(f"Keras {version}: {len(names)} classes, {len(names & imported)} imported, "
              f"{len(names - imported)} refused")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
