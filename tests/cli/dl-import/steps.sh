#!/bin/sh
# A model goes on where Deeplearning4j left it: each of its updaters makes of its state
# and of two further mini-batches what its formulas say.
golden=$DL_TEST_ROOT/tests/golden/dl4j
dl-import -q "$golden/steps.zip" -o model.safetensors
dl-import -q "$golden/steps-after.zip" -o after.safetensors
python3 - <<'PY' | dl-preprocess csv -q --label 4 --classes 2 -o data.dls
for i in range(8):
    print(i / 8, i % 3 / 4, i * 5 % 7 / 8, i % 2, sep=",")
PY
dl-master --init model.safetensors --data data.dls --mode sync --batch 8 --epochs 2 --local 1 --threads 1 -q -o more.safetensors
python3 - <<'PY'
import json, struct
def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    n = struct.unpack("<Q", data[:8])[0]
    for name, tensor in json.loads(data[8:8 + n]).items():
        if name != "__metadata__" and not name.startswith(("updater/", "training/")):
            begin, end = tensor["data_offsets"]
            yield name, struct.unpack(f"<{(end - begin) // 4}f", data[8 + n + begin:8 + n + end])
before, mine, theirs = (dict(tensors(name)) for name in ("model.safetensors", "more.safetensors", "after.safetensors"))
for name, values in theirs.items():
    moved = max(abs(a - b) for a, b in zip(values, before[name]))
    off = max(abs(a - b) for a, b in zip(values, mine[name]))
    print(name, "as it should be" if off < 1e-6 and off < 1e-3 * moved else f"off by {off} of {moved}")
PY
