#!/bin/sh
# Models exported by PyTorch predict here as in ONNX Runtime, and so does their state dict
# in the same network.
golden=$DL_TEST_ROOT/tests/golden/onnx
check() { # NAME
	echo "$1:"
	dl-import -q "$golden/$1.onnx" --check "$golden/$1.npz" --tolerance 1e-5 -o "$1.safetensors" |
		sed 's/difference .*/difference .../'
}
for name in image words words-dynamo steps; do check $name; done
# The network alone, and the tensors by their names.
python3 - <<'PY'
import json, struct
with open("image.safetensors", "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
open("net.json", "w").write(header["__metadata__"]["network"])
PY
dl-import --weights "$golden/image.safetensors" --net net.json --map - | tee map.json
dl-import --weights "$golden/image.safetensors" --net net.json --map map.json -o state.safetensors
python3 - <<'PY'
import json, struct


def tensors(name):
    with open(name, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {n: data[slice(*t["data_offsets"])] for n, t in header.items() if n != "__metadata__"}


print("the same tensors:", tensors("state.safetensors") == tensors("image.safetensors"))
PY
# A map that does not fit.
try() {
	printf '%s' "$1" >bad.json
	dl-import --weights "$golden/image.safetensors" --net net.json --map bad.json -o m
	echo "status $?"
}
try '{}'
try '{"conv1/weight": "conv2.weight"}'
try '{"conv1/weight": "fc.weight"}'
try '{"conv1/weight": {"from": "conv1.weight", "order": [0, 0, 1, 2]}}'
try '[]'
dl-import --net net.json --map map.json -o m
echo "status $?"
