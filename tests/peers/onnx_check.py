"""An ONNX file in ONNX Runtime, and what dl-import makes of it beside that."""

import re
import subprocess

import numpy as np
import onnxruntime

LAYERS = 1e-5  # the largest difference of a few layers, relative to the largest output


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])


def check(path, feeds, outputs, arguments=()):
    """The largest difference, or what is wrong."""
    data = path.with_suffix(".npz")
    np.savez(data, **feeds, **{f"labels/{n}": y for n, y in outputs.items()})
    done = subprocess.run(["dl-import", "-q", "--check", data, "--tolerance", "1e30", *arguments, path],
                          capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[0] if done.stderr else f"status {done.returncode}"
    found = [(float(gap), float(size)) for gap, size in
             re.findall(r"difference (\S+), largest output (\S+)", done.stdout)]
    if len(found) != len(outputs) or min(size for _, size in found) < 1e-3:
        return "outputs are 0 or missing"
    return max(gap / size for gap, size in found)
