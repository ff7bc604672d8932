"""What dl-export makes of networks says in Keras what it says here: the cases and
examples of onnx_export.py without masks, of which some are refused, and models with
normalizers.  usage: keras [CASE...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402  after what it looks at
import numpy as np  # noqa: E402

from files import records  # noqa: E402
from onnx_export import (BATCHES, BOUND, NORMALIZERS, cases, examples_of, gap,  # noqa: E402
                         trained, traced, written)

# At the least so many are written, not refused.
LEAST = 100


class Unloaded(Exception):
    """Keras does not take it."""


def exported(model, out):
    subprocess.run(["dl-export", "-q", model, "-o", out], check=True, stderr=subprocess.PIPE)
    try:
        return keras.models.load_model(out)
    except (ValueError, TypeError, KeyError) as error:
        raise Unloaded(f"Keras: {error}"[:200]) from error


def compare(network, data, steps, folder):
    """The largest difference, or what is wrong."""
    out = folder / "model.keras"
    try:
        tensors, resolved = traced(network, data, steps, folder)
        model = exported(written(tensors, resolved, folder), out)
    except subprocess.CalledProcessError as error:
        return error.stderr.decode().strip()
    except Unloaded as error:
        return str(error)
    found = []
    for rows in {min(rows, examples_of(data)) for rows in BATCHES}:
        feeds = [data["features" if "features" in data else f"features/{t.name}"][:rows]
                 .reshape(rows, *t.shape[1:]) for t in model.inputs]
        outputs = model(feeds if len(feeds) > 1 else feeds[0], training=False)
        for i, output in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
            found.append(gap(i, tensors, np.asarray(output)))
    wrong = [f for f in found if isinstance(f, str) or not f <= BOUND]
    return max(wrong, key=str) if wrong else max(found)


def normalized(kind, folder):
    trained(kind, folder)
    model = exported(folder / "m.safetensors", folder / "m.keras")
    pixels, said = (np.concatenate([r[n] for r in records(folder / f)]) for f, n in (
        ("digits-000.dls", "features"), ("said.dls", "labels")))
    found = np.asarray(model(pixels.astype(np.float32), training=False))
    return gap(0, {"last/0": said.reshape(found.shape)}, found)


def main():
    wanted = sys.argv[1:]
    good, refused = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def tell(name, found):
            good.append(isinstance(found, float) and found <= BOUND)
            print(f"{name:40} {found if isinstance(found, str) else format(found, '.1e')}"
                  f"{'' if good[-1] else '  over'}", flush=True)
        for name, network, data, steps in cases():
            if wanted and not any(name.startswith(w) for w in wanted):
                continue
            if any(n.startswith("features_mask") for n in data):
                continue
            found = compare(network, data, steps, folder)
            if isinstance(found, str) and found.startswith("dl-export: "):
                refused += 1
                print(f"{name:40} refused: {found[found.index('layer '):]}", flush=True)
            else:
                tell(name, found)
            keras.backend.clear_session()
        for kind in NORMALIZERS if not wanted or "normalize" in wanted else ():
            tell(f"normalize {kind}", normalized(kind, folder))
    print(f"keras: {len(good)} networks, {good.count(False)} differ by more than {BOUND:g}; "
          f"{refused} refused")
    sys.exit(0 if all(good) and len(good) >= (1 if wanted else LEAST) else 1)


main()
