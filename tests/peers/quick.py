"""NumPy and safetensors against our files.

Trains the digits for an epoch, opens the model with safetensors, computes the
network with NumPy alone, and compares every probability with dl-infer's.
Then the Python in dl-dataset(5) reads the digits, as the page has it.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from safetensors import safe_open
from safetensors.numpy import save_file

from files import read_model, records, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "scripts" / "share" / "examples"


def activate(spec, x):
    kind = spec if isinstance(spec, str) else spec["type"]
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "tanh":
        return np.tanh(x)
    if kind == "softmax":
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)
    assert kind == "identity", kind
    return x


def windows(x, kernel, stride, same):
    """[n, oh, ow, kh, kw, c] views of [n, h, w, c]."""
    if same:
        pads = []
        for size, k, s in zip(x.shape[1:3], kernel, stride):
            total = max(0, (-(-size // s) - 1) * s + k - size)
            pads.append((total // 2, total - total // 2))
        x = np.pad(x, ((0, 0), *pads, (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(1, 2))
    return view[:, ::stride[0], ::stride[1]].transpose(0, 1, 2, 4, 5, 3)


def forward(network, tensors, x):
    for layer in network["layers"]:
        name, kind = layer["name"], layer["type"]
        if kind in ("dense", "output"):
            x = x.reshape(len(x), -1) @ tensors[name + "/weight"].T + tensors[name + "/bias"]
            x = activate(layer["activation"], x)
        elif kind == "conv2d":
            view = windows(x, layer["kernel"], layer["stride"], layer["padding"] == "same")
            x = np.einsum("nijhwc,fhwc->nijf", view, tensors[name + "/weight"])
            x = activate(layer["activation"], x + tensors[name + "/bias"])
        elif kind == "max_pool2d":
            x = windows(x, layer["kernel"], layer["stride"], False).max(axis=(3, 4))
        else:
            assert kind in ("dropout", "flatten"), kind
    return x


def example_of_page():
    """What the example in dl-dataset(5) prints of data.dls."""
    page = (ROOT / "man" / "dl-dataset.5.scd").read_text(encoding="utf-8")
    code = page[page.index("In Python"):].split("```\n")[1]
    return subprocess.run([sys.executable, "-c", re.sub(r"\\(.)", r"\1", code)],
                          check=True, stdout=subprocess.PIPE, text=True).stdout


def check_rewritten(tensors):
    """A model that safetensors writes, with our metadata, is a model to us."""
    with safe_open("model.safetensors", framework="numpy") as model:
        metadata = model.metadata()
    del metadata["xxh3"]
    tensors = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    save_file(tensors, "rewritten.safetensors", metadata=metadata)
    ours, theirs = (run(f"dl-infer -q --model {name}.safetensors digits-000.dls")
                    for name in ("model", "rewritten"))
    assert ours == theirs, "a model written by safetensors predicts something else"


def whitened(x):
    """The matrix of --normalize whiten, dl-master(1)."""
    spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    correlation = np.cov((x - x.mean(axis=0)) / spread, rowvar=False, bias=True)
    np.fill_diagonal(correlation, 1)
    values, vectors = np.linalg.eigh(correlation)
    return (vectors / np.sqrt(values + 1e-4)) @ vectors.T


def check_decorrelation():
    """What --normalize pca:K and whiten fit to digits."""
    x = np.concatenate([r["features"] for r in records("digits-000.dls")])
    x = x.reshape(len(x), 64).astype(np.float64)
    for kind, columns in ("pca:20", 20), ("whiten", 64):
        with open("flat.json", "w", encoding="utf-8") as file:
            json.dump({"input": {"shape": [columns]},
                       "layers": [{"type": "output", "units": 10, "activation": "softmax",
                                   "loss": "negative_log_likelihood"}]}, file)
        run(f"dl-master -q --net flat.json --data digits-000.dls --normalize {kind} "
            f"--mode averaging --local 1 --epochs 1 --batch 32 --on-divergence ignore "
            f"-o {kind[:3]}.safetensors")
        normalizer = read_model(f"{kind[:3]}.safetensors")[1]
        matrix = np.array(normalizer["matrix"])
        if kind == "whiten":
            expected = whitened(x)
        else:
            vectors = np.linalg.eigh(np.cov(x, rowvar=False))[1].T[::-1][:columns]
            largest = vectors[np.arange(columns), np.abs(vectors).argmax(axis=1)]
            expected = vectors * np.sign(largest)[:, None]
        worst = np.abs(matrix - expected).max() / np.abs(expected).max()
        assert worst <= 1e-6, (kind, worst)
    print("peers: NumPy finds the same principal components and whitening")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(f"dl-preprocess csv --label -1 --classes 10 --shape 8,8,1 --dtype u8 "
            f"{EXAMPLES}/digits.csv.gz | dl-shard -q -o digits")
        run(f"dl-master -q --net {EXAMPLES}/digits.json --data digits-000.dls --normalize minmax "
            f"--mode averaging --local 1 --epochs 1 --batch 32 -o model.safetensors")
        network, normalizer, tensors = read_model("model.safetensors")
        tensors = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
        shift, scale = np.array(normalizer["shift"]), np.array(normalizer["scale"])
        expected = np.concatenate([
            forward(network, tensors, (r["features"] - shift) * scale)
            for r in records("digits-000.dls")])
        lines = run("dl-infer --model model.safetensors --top 10 digits-000.dls").splitlines()
        assert len(lines) == len(expected) == 1797, (len(lines), len(expected))
        worst = 0.0
        for line, row in zip(lines, expected):
            for entry in json.loads(line)["top"]:
                worst = max(worst, abs(entry["probability"] - row[int(entry["class"])]))
        assert worst <= 1e-5, worst
        check_rewritten(tensors)
        check_decorrelation()
        print(f"peers: safetensors and NumPy agree with dl-infer on {len(lines)} examples "
              f"(largest difference {worst:.1e})")
        run("dl-shard --head 2 digits-000.dls >data.dls")
        printed = example_of_page()
        assert "'features': array(" in printed and "'labels': array([" in printed, printed
        print("peers: the Python in dl-dataset(5) reads a stream")


main()
