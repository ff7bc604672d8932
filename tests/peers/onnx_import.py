"""Networks of PyTorch beside what dl-import makes of their ONNX files: drawn ones,
ResNet-18 and MobileNetV2 of torchvision, and what dl-export wrote.

Each network is exported by PyTorch, run by ONNX Runtime on random inputs, and compared
by dl-import --check.  A difference is relative to the largest output.
usage: onnx_import [--random N | --torchvision | --examples] [CASE...]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
import torch
from safetensors import safe_open
from torch import nn

from onnx_check import LAYERS, check, session_of
from torch_drawn import drawn_network

warnings.filterwarnings("ignore")
NETWORKS = 1e-4
# The dynamo exporter writes out each step of nn.RNN, so that no layer is left.
WRITTEN_OUT = "RNN("


def randomize(model, generator):
    """Statistics and factors that are not 0 and 1."""
    for module in model.modules():
        for name in ("running_mean", "running_var"):
            value = getattr(module, name, None)
            if value is not None:
                drawn = torch.rand(value.shape, generator=generator)
                value.copy_(drawn - 0.5 if name == "running_mean" else drawn + 0.5)
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm)):
            if module.weight is not None:
                module.weight.data = torch.rand(module.weight.shape, generator=generator) * 0.5 + 0.75
                module.bias.data = torch.rand(module.bias.shape, generator=generator) * 0.2 - 0.1


def exported(model, inputs, path, dynamo, batch):
    names = [f"input{i}" for i in range(len(inputs))] if len(inputs) > 1 else ["input"]
    with torch.no_grad():
        if dynamo:
            shapes = [{0: torch.export.Dim("batch")} for _ in inputs] if batch else None
            torch.onnx.export(model, tuple(inputs), str(path), input_names=names, dynamo=True,
                              dynamic_shapes=tuple(shapes) if shapes else None, verbose=False)
        else:
            axes = {n: {0: "batch"} for n in names} if batch else None
            torch.onnx.export(model, tuple(inputs), str(path), input_names=names, dynamo=False, opset_version=17,
                              dynamic_axes=axes)


def compare(model, inputs, folder, dynamo=False, batch=True):
    path = folder / "model.onnx"
    try:
        exported(model, inputs, path, dynamo, batch)
    except Exception:  # which it is depends on the operator
        return None
    session = session_of(path)
    feeds = {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)}
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    return check(path, feeds, outputs)


def torchvision_networks():
    import torchvision
    for name in ("resnet18", "mobilenet_v2"):
        yield name, getattr(torchvision.models, name)(weights=None), [torch.randn(2, 3, 224, 224)]


def state_dict(name, folder):
    """The network of an ONNX file, with the state dict by a proposed map."""
    import torchvision
    from safetensors.torch import save_file
    model = getattr(torchvision.models, name)(weights=None)
    randomize(model, torch.Generator().manual_seed(9))
    model.eval()
    x = torch.randn(2, 3, 224, 224)
    path, out = folder / "net.onnx", folder / "net.safetensors"
    with torch.no_grad():
        torch.onnx.export(model, (x,), str(path), dynamo=False, input_names=["input"],
                          training=torch.onnx.TrainingMode.PRESERVE, dynamic_axes={"input": {0: "batch"}})
        wanted = model(x).numpy()
    subprocess.run(["dl-import", "-q", path, "-o", out], check=True)
    with safe_open(out, framework="numpy") as file:
        (folder / "net.json").write_text(file.metadata()["network"])
        own = {n: file.get_tensor(n) for n in file.keys()}
    save_file(model.state_dict(), folder / "state.safetensors")
    command = ["dl-import", "-q", "--weights", folder / "state.safetensors", "--net", folder / "net.json", "--map"]
    names = subprocess.run([*command, "-"], check=True, capture_output=True).stdout
    (folder / "map.json").write_bytes(names)
    subprocess.run([*command, folder / "map.json", "-o", folder / "state-model.safetensors"], check=True)
    with safe_open(folder / "state-model.safetensors", framework="numpy") as file:
        same = all(np.array_equal(file.get_tensor(n), t) for n, t in own.items())
    found = check(path, {"input": x.numpy()}, {session_of(path).get_outputs()[0].name: wanted})
    return found if same else "other tensors than those of the ONNX file"


def round_trips():
    """(name, difference or what is wrong) of our examples, out and in again."""
    import onnx_export
    for path in sorted((onnx_export.ROOT / "scripts" / "share" / "examples").glob("*.json")):
        network = json.loads(path.read_text())
        if "layers" not in network and "nodes" not in network:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            data = onnx_export.drawn(network)
            tensors, resolved = onnx_export.traced(network, data, 0, folder)
            session = onnx_export.exported(onnx_export.written(tensors, resolved, folder), False, folder)
            # Small, or a sigmoid of distances says 0 of all.
            feeds = {n: x * np.float32(0.2) if x.dtype == np.float32 else x
                     for n, x in onnx_export.fed(session, data, 4).items()}
            outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
            yield path.stem, check(folder / "model.onnx", feeds, outputs)


def main():
    options = argparse.ArgumentParser()
    what = options.add_mutually_exclusive_group()
    what.add_argument("--random", type=int, default=100)
    what.add_argument("--torchvision", action="store_true")
    what.add_argument("--examples", action="store_true")
    options.add_argument("--keep", type=pathlib.Path, help="a folder for the files")
    options.add_argument("cases", nargs="*")
    options = options.parse_args()
    bound = NETWORKS if options.torchvision else LAYERS
    failed = count = skipped = refused = 0
    worst = 0.0
    if options.torchvision:
        todo = torchvision_networks()
    else:
        todo = ((f"drawn{i}", *drawn_network(i)) for i in range(options.random))
    if options.examples:
        wrong = 0
        for name, found in round_trips():
            good = isinstance(found, float) and found <= bound
            wrong += not good
            print(f"{'ok  ' if good else 'FAIL'} {name:12} {found if isinstance(found, str) else f'{found:.1e}'}", flush=True)
        return 1 if wrong else 0
    print(f"PyTorch {torch.__version__}, ONNX Runtime {onnxruntime.__version__}; bound {bound:g}")
    for name, model, inputs in todo:
        if options.cases and name not in options.cases:
            continue
        torch.manual_seed(3)
        randomize(model, torch.Generator().manual_seed(5))
        model.eval()
        for dynamo in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                # Every fifth with a batch that is not open.
                if options.keep:
                    folder = options.keep / f"{name}-{'dynamo' if dynamo else 'script'}"
                    folder.mkdir(parents=True, exist_ok=True)
                found = compare(model, inputs, pathlib.Path(folder), dynamo, batch=count % 5 != 4)
            if found is None:
                print(f"skip {name:12} {'dynamo' if dynamo else 'script'} PyTorch does not write it", flush=True)
                skipped += 1
                continue
            if dynamo and WRITTEN_OUT in str(model) and isinstance(found, str) and found.startswith("dl-import: "):
                print(f"ok   {name:12} dynamo refused: {found.split('onnx: ')[-1][:90]}", flush=True)
                refused += 1
                continue
            good = isinstance(found, float) and found <= bound
            failed += not good
            count += 1
            if good:
                worst = max(worst, found)
            print(f"{'ok  ' if good else 'FAIL'} {name:12} {'dynamo' if dynamo else 'script'} "
                  f"{found if isinstance(found, str) else f'{found:.1e}'}"
                  f"{'' if good else ' ' + ' '.join(str(model).split())[:400]}", flush=True)
    for name in ("resnet18", "mobilenet_v2") if options.torchvision and not options.cases else ():
        with tempfile.TemporaryDirectory() as folder:
            found = state_dict(name, pathlib.Path(folder))
        good = isinstance(found, float) and found <= LAYERS
        failed += not good
        count += 1
        print(f"{'ok  ' if good else 'FAIL'} {name:12} state dict {found if isinstance(found, str) else f'{found:.1e}'}")
    print(f"{count - failed} of {count} agree, largest difference {worst:.1e}, {skipped} not written, {refused} refused")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
