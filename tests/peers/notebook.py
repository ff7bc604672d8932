"""dl_tools, dl-python(7): arrays that go out and in again, predictions, histories, errors;
and the notebook of the examples, executed by nbclient."""

import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "scripts" / "share" / "python"
EXAMPLES = ROOT / "scripts" / "share" / "examples"
sys.path.insert(0, str(PACKAGE))
os.environ["PYTHONPATH"] = str(PACKAGE)

import nbclient
import nbformat
import numpy as np

import dl_tools


def fails(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return error
    raise AssertionError(f"nothing was raised: want {text!r}")


def check_shards():
    random = np.random.default_rng(1)
    for dtype in ("u1", "i1", "i2", "i4", "i8", "f4", "f8"):
        features = random.integers(0, 100, (500, 4, 3)).astype(dtype)
        labels = random.integers(0, 3, 500)
        dl_tools.write_shard("a.dls", features, labels, classes=["x", "y", "z"],
                             ids=[f"row {i}" for i in range(500)])
        found = dl_tools.read_shard("a.dls")
        assert found["features"].dtype == features.dtype, dtype
        assert np.array_equal(found["features"], features), dtype
        assert np.array_equal(found["labels"], labels), dtype
        assert bytes(found["id"][17]).rstrip(b"\0") == b"row 17"
        assert dl_tools.metadata("a.dls")["classes"] == ["x", "y", "z"]
    targets = random.normal(size=(500, 2))
    data = dl_tools.write_shard(None, features, targets)
    assert np.array_equal(dl_tools.read_shard(data)["labels"], targets)
    two = dl_tools.read_shard(data + data)  # streams that follow each other are one
    assert len(two["labels"]) == 1000
    fails(lambda: dl_tools.read_shard(data[:-1]), ValueError, "cut short")
    fails(lambda: dl_tools.read_shard(data[:999] + b"x" + data[1000:]), ValueError, "damaged")
    fails(lambda: dl_tools.read_shard(str(EXAMPLES / "iris.json")), ValueError, "no shard")
    fails(lambda: dl_tools.write_shard(None, features, targets[1:]), ValueError, "a label for each")
    names = np.array(["y", "z", "x"] * 100)
    found = dl_tools.read_shard(dl_tools.write_shard(None, features[:300], names, classes=["x", "y", "z"]))
    assert found["labels"].tolist() == [1, 2, 0] * 100
    for wrong in (names, names.astype(object)):
        fails(lambda: dl_tools.write_shard(None, features[:300], wrong), ValueError, "labels must be numbers")
        fails(lambda: dl_tools.write_shard(None, features[:300], wrong, classes=3), ValueError, "give classes=")
        fails(lambda: dl_tools.write_shard(None, features[:300], wrong, classes=["x", "y"]), ValueError, "'z'")
    version = re.search('^version = "(.*)"', (PACKAGE / "pyproject.toml").read_text(), re.MULTILINE)
    assert dl_tools.__version__ == version[1]
    print("shards: arrays go out and in again")


def check_unpacking():
    """The program zstd does what the package zstandard does."""
    code = ("import sys; sys.modules['zstandard'] = None; import dl_tools; "
            "print(dl_tools.read_shard('a.dls')['features'].sum())")
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert float(said.stdout) == dl_tools.read_shard("a.dls")["features"].sum()
    print("unpacking: by zstandard and by zstd")


def check_ragged():
    with open("steps.csv", "w", encoding="utf-8") as file:
        file.write("who,x,kind\na,1,0\na,2,0\nb,3,1\nb,4,1\nb,5,1\n")
    dl_tools.run("dl-preprocess", "csv", "-q", "--header", "--sequence", "who", "--steps", 4, "--label", "kind",
                 "--classes", 2, "--store", "ragged", "-o", "ragged.dls", "steps.csv")
    found = dl_tools.read_shard("ragged.dls")
    assert found["features"][:, :, 0].tolist() == [[1, 2, 0, 0], [3, 4, 5, 0]], found
    assert found["features_mask"].tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]
    print("sequences: padded, with a mask")


def check_windows():
    rows = np.column_stack([np.arange(50), np.arange(50) ** 2 % 17, np.arange(50) * 3 % 7]).astype("f4")
    np.savetxt("load.csv", rows, "%g", ",", header="a,b,load", comments="")
    for stride in (1, 3):
        dl_tools.run("dl-preprocess", "series", "-q", "-f", "--window", 5, "--stride", stride, "--label", "load",
                     "-o", "windows.dls", "load.csv")
        dl_tools.run("dl-shard", "-q", "--force", "--shuffle", "-o", "shuffled", "windows.dls")
        starts = np.arange(0, 45, stride)
        found = dl_tools.read_shard("windows.dls")
        assert set(found) >= {"features", "labels"} and "series" not in found, found
        assert np.array_equal(found["features"], np.stack([rows[i:i + 5, [2, 1]] for i in starts])), found
        assert np.array_equal(found["labels"][:, 0], rows[starts + 5, 2]), found
        mixed = dl_tools.read_shard(glob.glob("shuffled*.dls")[0])  # runs of windows in another order
        assert np.array_equal(np.unique(mixed["features"], axis=0), np.unique(found["features"], axis=0))
    print("series: windows are arrays")


def check_model():
    random = np.random.default_rng(2)
    features = random.normal(size=(300, 3)).astype("f4")
    dl_tools.write_shard("train.dls", features, (features[:, 0] > 0).astype(int))
    with open("net.json", "w", encoding="utf-8") as file:
        file.write('{"seed": 1, "input": {"shape": [3]}, "updater": {"type": "adam", "learning_rate": 0.05}, "layers": ['
                   '{"type": "dense", "units": 4, "activation": "tanh"},'
                   '{"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}')
    reports, said = [], []
    dl_tools.run("dl-master", "--net", "net.json", "--data", "train.dls", "--normalize", "none", "--local", 1,
                 "--epochs", 3, "-o", "m.safetensors", progress=reports.append, said=said.append)
    assert any("the run is finished" in line for line in said), said
    model = dl_tools.read_model("m.safetensors")
    assert model.classes == ["0", "1"] and model.network["layers"][0]["units"] == 4
    hidden = np.tanh(features @ model["dense1/weight"].T + model["dense1/bias"])
    scores = hidden @ model["output1/weight"].T + model["output1/bias"]
    want = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    assert np.abs(dl_tools.infer(model, features) - want).max() < 1e-6
    inner = dl_tools.infer("m.safetensors", features, options=("--output-of", "dense1"))
    inner = inner if isinstance(inner, np.ndarray) else inner["dense1"]
    assert np.abs(inner - hidden).max() < 1e-6
    evaluation = dl_tools.evaluate(model, "train.dls")
    assert evaluation["metrics"] == evaluation.metrics
    fails(lambda: evaluation["nothing"], KeyError, "nothing")
    accuracy = (want.argmax(1) == (features[:, 0] > 0)).mean()
    assert abs(evaluation.metrics["classification"]["accuracy"] - accuracy) < 1e-9
    run = dl_tools.Run("m.safetensors.run")
    epochs = dl_tools.events(run, "epoch")
    assert list(epochs["epoch"]) == [0, 1, 2] and run.report["epochs"] == 3
    assert run.configuration["settings"]["epochs"] == 3
    for shown in (run, evaluation, model):
        assert shown._repr_html_().startswith("<iframe srcdoc=") and "<script" not in shown._repr_html_()
    run.page(run).save("two.html")
    print("model, predictions, evaluation, history: as NumPy has them")


def check_inputs():
    """A network of two inputs: the sum of what each has."""
    random = np.random.default_rng(3)
    past, known = random.normal(size=(60, 4)).astype("f4"), random.normal(size=(60, 2)).astype("f4")
    dl_tools.write_shard("past.dls", past, past[:, :1].astype("f4"))
    dl_tools.write_shard("known.dls", known, known[:, :1].astype("f4"))
    dl_tools.run("dl-shard", "-q", "--zip", "features/past=past.dls", "features/known=known.dls", "labels=past.dls",
                 "-o", "both")
    with open("two.json", "w", encoding="utf-8") as file:
        file.write('{"seed": 1, "inputs": [{"name": "past", "shape": [4]}, {"name": "known", "shape": [2]}], "nodes": ['
                   '{"name": "all", "type": "merge", "from": ["past", "known"]},'
                   '{"name": "out", "type": "output", "units": 1, "activation": "identity", "loss": "mean_squared_error"}], "outputs": ["out"]}')
    dl_tools.run("dl-master", "--net", "two.json", "--data", "both-*.dls", "--normalize", "none", "--local", 1,
                 "--epochs", 1, "-o", "two.safetensors", said=lambda line: None, progress=False)
    model = dl_tools.read_model("two.safetensors")
    want = np.concatenate([past, known], 1) @ model["out/weight"].T + model["out/bias"]
    got = dl_tools.infer(model, {"known": known, "past": past})
    scale, shift = past[:, 0].std(), past[:, 0].mean()  # labels are standardized
    assert np.abs(got - want * scale - shift).max() < 1e-5, (got, want)
    fails(lambda: dl_tools.infer(model, {"known": known[1:], "past": past}), ValueError, "one number of examples")
    print("several inputs: by their names")


def check_errors():
    error = fails(lambda: dl_tools.run("dl-eval", "--model", "m.safetensors", "no.dls", said=lambda line: None),
                  dl_tools.ToolError, "cannot open 'no.dls'")
    assert error.status == 66 and error.tool == "dl-eval"
    fails(lambda: dl_tools.run("dl-nothing"), dl_tools.ToolError, "install dl-tools")

    def broken():
        yield b"\0" * 100000
        raise KeyError("mine")
    fails(lambda: dl_tools.run("dl-shard", "--verify", input=broken(), said=lambda line: None), KeyError, "mine")
    fails(lambda: dl_tools.read_model("train.dls"), ValueError, "no model")
    fails(lambda: dl_tools.Run("."), FileNotFoundError, "events.jsonl")
    print("errors: the tools' own")


def check_notebook():
    path = EXAMPLES / "digits.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the committed notebook has outputs"
    os.environ["DL_EXAMPLES"] = str(EXAMPLES)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("<iframe" in output.get("data", {}).get("text/html", "") for output in shown) == 2, shown
    accuracy = [float(output["data"]["text/plain"].removeprefix("np.float64(").rstrip(")"))
                for cell in notebook.cells if "outputs.argmax" in cell.source
                for output in cell.outputs]
    assert accuracy and accuracy[0] > 0.9, accuracy
    assert any("66 dl-eval: cannot open" in output.get("text", "") for output in shown), shown
    print(f"digits.ipynb: executed, accuracy {accuracy[0]:.3f}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_shards()
        check_unpacking()
        check_ragged()
        check_windows()
        check_model()
        check_inputs()
        check_errors()
        check_notebook()
        os.chdir("/")


main()
