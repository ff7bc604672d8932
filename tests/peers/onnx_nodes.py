"""ONNX's own tests of its operators, and the models of PyTorch beside them, through
dl-import: each is right, wrong or refused with a sentence.  None may be wrong.

The tests have weights as inputs of the model.  What is refused with them is tried
again with all inputs but the first as constants.
usage: onnx-nodes [--list right|wrong|refused] [NAME...]
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

# The tolerances and folders of onnx.backend.test.
RELATIVE, ABSOLUTE, HALVES = "1e-3", "1e-7", "1e-2"
FOLDERS = "pytorch-operator", "pytorch-converted", "simple"


def cases():
    """(kind, name, model, inputs, outputs); of values that are no arrays None"""
    for case in collect_testcases(None):
        yield "node", case.name, case.model, *case.data_sets[0]
    root = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for kind in FOLDERS:
        for path in sorted((root / kind).glob("*/model.onnx")):
            def arrays(what):
                names = sorted((path.parent / "test_data_set_0").glob(f"{what}_*.pb"),
                               key=lambda p: int(p.stem.split("_")[1]))
                return [loaded(p) for p in names]
            yield kind, path.parent.name, onnx.load(path), arrays("input"), arrays("output")


def loaded(path):
    tensor = onnx.TensorProto()
    try:
        tensor.ParseFromString(path.read_bytes())
        return numpy_helper.to_array(tensor)
    except Exception:  # a sequence or a map
        return None


def numbers(value):
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return None
    try:
        return np.asarray(value).astype(np.float32)
    except (TypeError, ValueError):
        return None


def with_constants(model, inputs):
    """The model with all inputs but the first as constants, and that input; or None."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    own = {i.name for i in fixed.graph.initializer}
    names = [i.name for i in fixed.graph.input if i.name not in own]
    if len(names) < 2 or len(names) != len(inputs):
        return None
    for name, value in list(zip(names, inputs))[1:]:
        if not isinstance(value, np.ndarray) or value.dtype == object:
            return None
        fixed.graph.initializer.append(numpy_helper.from_array(value, name))
    kept = [i for i in fixed.graph.input if i.name not in names[1:]]
    del fixed.graph.input[:]
    fixed.graph.input.extend(kept)
    return fixed, inputs[:1]


def outcome(model, inputs, outputs, folder):
    """(right, wrong or refused, why)"""
    path, data = folder / "model.onnx", folder / "data.npz"
    path.write_bytes(model.SerializeToString())
    own = {i.name for i in model.graph.initializer}
    named = dict(zip([i.name for i in model.graph.input if i.name not in own], map(numbers, inputs)))
    named |= {f"labels/{o.name}": numbers(y) for o, y in zip(model.graph.output, outputs)}
    command = ["dl-import", "-q", path, "-o", folder / "model.safetensors"]
    if not any(y is None for y in named.values()):
        np.savez(data, **named)
        # Outputs that it rounds to 16 bits are not rounded here.
        halves = any(o.type.tensor_type.elem_type in (TensorProto.FLOAT16, TensorProto.BFLOAT16) for o in model.graph.output)
        command = ["dl-import", "-q", path, "--check", data, "--tolerance", HALVES if halves else RELATIVE, "--absolute", ABSOLUTE]
    done = subprocess.run(command, capture_output=True, text=True)
    said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0].split("onnx': ")[-1]
    if done.returncode == 0:
        return ("right", done.stdout.strip()) if "--check" in command else ("wrong", "it is imported without its values")
    # The model was made, and is not what the arrays are of.
    made = done.returncode == 1 or "array" in said and "node" not in said
    return ("wrong" if made or done.returncode not in (64, 65) else "refused"), f"{said} {done.stdout.strip()}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--list", choices=["right", "wrong", "refused"], default="wrong")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for kind, name, model, inputs, outputs in cases():
            if options.names and not any(name.startswith(n) for n in options.names):
                continue
            verdict, why = outcome(model, inputs, outputs, folder)
            if verdict == "refused":
                fixed = with_constants(model, inputs)
                if fixed is not None:
                    verdict, why = outcome(*fixed, outputs, folder)
            counts[kind][verdict] += 1
            if verdict == options.list:
                print(f"{verdict:8}{name}: {why}", flush=True)
    print(f"onnx {onnx.__version__}")
    for kind, count in counts.items():
        print(f"{kind:18} {count['right']} right, {count['wrong']} wrong, {count['refused']} refused of {count.total()}")
    return 1 if any(c["wrong"] for c in counts.values()) or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
