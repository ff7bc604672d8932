"""HDF5 files of a folder in tf.keras of Keras 2: each beside the numbers that are
recorded for it.  usage: keras2_export.py FOLDER BOUND"""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402  after what it looks at
import tensorflow as tf  # noqa: E402

# Cases that dl-export refuses, with its words, as dl-export(1) says.
REFUSED = {"conv2d_transpose_dilation": "`dilation_rate`", "names_and_regularizers": "is not a valid root scope name"}


def gap(path):
    data = dict(np.load(path.with_suffix(".npz")))
    said = data.pop("y")
    model = tf.keras.models.load_model(path, compile=False)
    names = [t.name for t in model.inputs]
    feeds = [data["x" if len(names) == 1 else n] for n in names]
    feeds = [f.reshape(len(f), *t.shape[1:]) for f, t in zip(feeds, model.inputs)]
    output = np.asarray(model(feeds if len(feeds) > 1 else feeds[0], training=False))
    finite = np.isfinite(said)
    return np.abs(np.where(finite, output - said, 0)).max() / max(np.abs(said[finite]).max(initial=0), 1e-30)


def main():
    bad = count = refused = 0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.h5")):
        if not path.with_suffix(".npz").exists():
            continue
        count += 1
        try:
            found = gap(path)
        except Exception as error:  # whatever it finds to say against the file
            if REFUSED.get(path.stem, "\0") in str(error):
                refused += 1
                continue
            found = str(error)[:150]
        if isinstance(found, str) or not found <= float(sys.argv[2]):
            bad += 1
            print(f"tf.keras: {path.stem} {found}", flush=True)
        tf.keras.backend.clear_session()
    print(f"TensorFlow {tf.__version__}: {count} files, {bad} differ, {refused} refused", flush=True)
    sys.exit(1 if bad or not count else 0)


main()
