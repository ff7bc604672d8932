"""What dl-export makes of networks says in ONNX Runtime what it says here: every
case of parity.py after its training, every example, and models with normalizers.

Both compute in float32.  A difference is that of two outputs divided by the largest
number of ours; steps that are padding are left out.  The logistic function of ONNX
Runtime is right to some 4e-7 wherever on its curve: where a sigmoid gives but numbers
below SATURATED, the difference is divided by that.  usage: onnx [CASE...]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import onnx
import onnxruntime
from safetensors import safe_open
from safetensors.numpy import save_file

from files import records, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOUND = 1e-5
SATURATED = 0.05
BATCHES = 1, 7
NORMALIZERS = ("none", "scale", "standardize", "minmax", "pca:20", "whiten", "standardize images",
               "scale autoencoder", "standardize autoencoder", "minmax autoencoder",
               "standardize images autoencoder")
REFUSED = "hard_tanh"  # of recurrent layers, which ONNX lacks


def examples_of(data):
    return len(next(iter(data.values())))


def traced(network, data, steps, folder):
    """(tensors of peer-trace, the resolved network).  Deep networks that are not
    trained stay near what they start from, or all they say is 0 and 1."""
    net, examples, out = (folder / name for name in ("net.json", "data", "trace"))
    net.write_text(json.dumps(network))
    save_file({n: np.ascontiguousarray(t) for n, t in data.items()}, examples)
    subprocess.run(["peer-trace", "--net", net, "--data", examples, "--batch",
                    str(min(max(BATCHES), examples_of(data))), "--steps", str(steps),
                    *([] if steps else ["--disturb", "0.01"]), "-o", out], check=True, stderr=subprocess.PIPE)
    with safe_open(out, framework="numpy") as file:
        return {n: file.get_tensor(n) for n in file.keys()}, file.metadata()["network"]


def written(tensors, network, folder, masks=()):
    """The path of a model with these parameters, of data with these masks."""
    model = folder / "model.safetensors"
    resolved = json.loads(network)
    none = {"kind": "none", "shift": [0], "scale": [1]}
    inputs = len(resolved.get("inputs", [0]))
    save_file({n[len("end/"):]: t for n, t in tensors.items() if n.startswith("end/")}, model,
              {"format": "dl-model", "version": "1.0", "network": network,
               "normalizer": json.dumps([none] * inputs if inputs > 1 else none),
               **({"data.format": "dl-dataset", "data.version": "1.1", "data.schema": json.dumps(
                   {n: {"dtype": "F32", "shape": list(t.shape[1:])} for n, t in masks.items()})} if masks else {})})
    return model


def exported(model, masks, folder):
    """A runtime that has the ONNX file of the model."""
    out = folder / "model.onnx"
    subprocess.run(["dl-export", "-q", model, "-o", out, "--masks",
                    "always" if masks else "never"], check=True, stderr=subprocess.PIPE)
    onnx.checker.check_model(out, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(out, options, ["CPUExecutionProvider"])


def fed(session, data, rows):
    """What goes in: features by the names that the model has for them."""
    feeds, several = {}, "features" not in data
    for value in session.get_inputs():
        name = value.name.removesuffix("_mask")
        kind = "features_mask" if value.name != name else "features"
        found = data.get(f"{kind}/{name}" if several else kind)
        if found is None:  # every step counts
            found = np.ones((examples_of(data), *value.shape[1:]), np.float32)
        dtype = np.int64 if "int64" in value.type else np.float32
        feeds[value.name] = found[:rows].reshape(rows, *value.shape[1:]).astype(dtype)
    return feeds


def least_scales(network):
    """By output: what its numbers are divided by at the least."""
    network = json.loads(network)
    layers = {n["name"]: n for n in network.get("nodes", network.get("layers"))}
    outputs = np.atleast_1d(network.get("outputs", list(layers)[-1]))
    return [SATURATED if layers[name].get("activation") == "sigmoid" else 1e-30 for name in outputs]


def gap(name, mine, theirs, least=1e-30):
    a, b = mine[f"last/{name}"][:len(theirs)], theirs
    if a.shape != b.shape:
        return f"{b.shape} in ONNX, {a.shape} here"
    mask = mine.get(f"last_mask/{name}")
    if mask is not None:
        seen = mask[:len(b)].reshape(*b.shape[:2], *[1] * (b.ndim - 2)) > 0
        a, b = np.where(seen, a, 0), np.where(seen, b, 0)
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return "what is infinite differs"
    a, b = a[finite], b[finite]
    return float(np.abs(a - b).max(initial=0) / max(np.abs(a).max(initial=0), least))


def compare(network, data, steps, folder):
    """The largest difference, or what is wrong."""
    masks = any(n.startswith("features_mask") for n in data)
    try:
        tensors, resolved = traced(network, data, steps, folder)
        session = exported(written(tensors, resolved, folder), masks, folder)
    except subprocess.CalledProcessError as error:
        return error.stderr.decode().strip()
    found = []
    for rows in {min(rows, examples_of(data)) for rows in BATCHES}:
        for i, output in enumerate(session.run(None, fed(session, data, rows))):
            found.append(gap(i, tensors, output, least_scales(resolved)[i]))
    wrong = [f for f in found if isinstance(f, str) or not f <= BOUND]
    return max(wrong, key=str) if wrong else max(found)


def cases():
    """(name, network, data, steps)"""
    import parity_cases
    for case in parity_cases.CASES:
        if case.pretrain:
            continue
        data = {n: t.numpy() for n, t in case.data.items()}
        yield case.name, case.network, data, min(case.steps, 5)
    for path in sorted((ROOT / "scripts" / "share" / "examples").glob("*.json")):
        network = json.loads(path.read_text())
        if "layers" in network or "nodes" in network:
            yield path.stem, network, drawn(network), 0


def drawn(network):
    """Examples for a network of ours: numbers that follow from it alone."""
    random = np.random.default_rng(zlib.crc32(json.dumps(network).encode()))
    nodes = network.get("nodes", network.get("layers"))
    inputs = network.get("inputs", [{"name": "", **network.get("input", {})}])
    data = {}

    def named(kind, name, several):
        return f"{kind}/{name}" if several else kind
    for one in inputs:
        readers = [n for i, n in enumerate(nodes) if one["name"] in np.atleast_1d(
            n.get("from", inputs[0]["name"] if i == 0 else nodes[i - 1].get("name", "?")))]
        rows = next((n["rows"] for n in readers if n["type"] == "embedding"), None)
        shape = (max(BATCHES), *one["shape"])
        data[named("features", one["name"], len(inputs) > 1)] = (
            random.standard_normal(shape).astype(np.float32) if rows is None
            else random.integers(rows, size=shape, dtype=np.int32))
    return data


def trained(kind, folder):
    """A model that dl-master trained on digits as they are stored, and what dl-infer
    says of them; of pca and whiten classes, of autoencoders the pixels, else how large
    the digit is.  Returns whether of classes."""
    classes = kind.startswith(("pca", "whiten"))
    columns = int(kind[4:]) if kind.startswith("pca") else 64
    kind, *how = kind.split()
    images = "images" in how  # of rows, which the network takes for images
    shape = [8, 8, 1] if images else [columns]
    first = [{"type": "conv2d", "filters": 3, "kernel": [3, 3]}] if images else []
    last = {"units": 10, "loss": "negative_log_likelihood"} if classes else {
        "units": 1, "loss": "mean_squared_error"}
    if "autoencoder" in how:
        last = {"units": 64, "loss": "mean_squared_error", "target": "features"}
    (folder / "net.json").write_text(json.dumps({"input": {"shape": shape}, "layers": [
        *first, {"type": "dense", "units": 16, "activation": "tanh"}, {"type": "output", **last}]}))
    label = "--classes 10" if classes else "--regression"
    run(f"""set -eu; cd {folder}; rm -rf m.safetensors* digits-*
        zcat {ROOT}/scripts/share/examples/digits.csv.gz | head -200 |
          dl-preprocess csv -q --label -1 {label} --dtype u8 | dl-shard -q -o digits
        dl-master -q --net net.json --data digits-000.dls --normalize {kind} \
          --mode averaging --local 1 --epochs 2 --batch 32 -o m.safetensors
        dl-infer -q --model m.safetensors --format dls digits-000.dls -o said.dls""")
    return classes


def normalized(kind, folder):
    classes = trained(kind, folder)
    run(f"dl-export -q {folder}/m.safetensors -o {folder}/m.onnx")
    session = onnxruntime.InferenceSession(folder / "m.onnx")
    pixels, said = (np.concatenate([r[n] for r in records(folder / f)]) for f, n in (
        ("digits-000.dls", "features"), ("said.dls", "labels")))
    names = session.get_modelmeta().custom_metadata_map.get("classes")
    if names != (json.dumps([str(i) for i in range(10)], separators=(",", ":"))
                 if classes else None):
        return f"the classes are {names}"
    shape = session.get_inputs()[0].shape[1:]
    [found] = session.run(None, {"features": pixels.astype(np.float32).reshape(-1, *shape)})
    return gap(0, {"last/0": said.reshape(found.shape)}, found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", nargs="*", help="names begin so (default: all)")
    args = parser.parse_args()
    good = []

    def tell(name, found):
        if isinstance(found, str) and REFUSED in found and REFUSED in name:
            print(f"{name:40} refused", flush=True)
            return
        good.append(isinstance(found, float) and found <= BOUND)
        print(f"{name:40} {found if isinstance(found, str) else format(found, '.1e')}"
              f"{'' if good[-1] else '  over'}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        wanted = [c for c in cases() if any(c[0].startswith(a) for a in args.case or [""])]
        for name, network, data, steps in wanted:
            tell(name, compare(network, data, steps, folder))
        for kind in NORMALIZERS if not args.case or "normalize" in args.case else ():
            tell(f"normalize {kind}", normalized(kind, folder))
    print(f"onnx: {len(good)} networks, {good.count(False)} differ by more than {BOUND:g}")
    sys.exit(0 if good and all(good) else 1)


if __name__ == "__main__":
    main()
