#!/bin/bash
# Files beside the model: weights outside of an ONNX file are an input, which the output
# must not replace; a state dict says what of it is not used; devices have no end.
PYTHONPATH=$DL_TEST_ROOT/tests/cli/dl-import python3 -B - <<'PY'
import json
import struct

from _protobuf import field


def value(number, name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def model(path, output):
    outside = b"".join(field(13, field(1, key) + field(2, text))
                       for key, text in (("location", "gemm.onnx.data"), ("offset", "0"), ("length", "8")))
    weight = field(1, 2) + field(1, 1) + field(2, 1) + field(8, "w") + outside + field(14, 1)
    gemm = field(1, "x") + field(1, "w") + field(2, output) + field(3, "n") + field(4, "Gemm")
    graph = field(1, gemm) + field(5, weight) + value(11, "x", (1, 2)) + value(12, output, (1, 1))
    open(path, "wb").write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))


model("gemm.onnx", "y")
model("odd.onnx", "y\n\x1b[31m")
open("gemm.onnx.data", "wb").write(struct.pack("<2f", 1, 10))
open("x.csv", "w").write("1,2\n")
open("y.csv", "w").write("21\n")
open("net.json", "w").write(json.dumps({"input": {"shape": [2]}, "layers": [
    {"type": "output", "name": "o", "units": 1, "activation": "identity", "loss": "mean_squared_error"}]}))
header, data = {}, b""
for name, dtype, shape, numbers in (
        ("o.weight", "F32", [1, 2], struct.pack("<2f", 1, 10)), ("o.bias", "F32", [1], struct.pack("<f", 0)),
        ("o.count", "I64", [1], struct.pack("<q", 3)),
        *((f"more{i}", "F32", [1], struct.pack("<f", i)) for i in range(7))):
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
    data += numbers
text = json.dumps(header).encode()
open("state.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
PY
sha256sum ./* >before
ln -s gemm.onnx.data link
for output in gemm.onnx.data link gemm.onnx; do
	dl-import -q gemm.onnx -o $output
	echo "status $?"
done
dl-import -q gemm.onnx -o - >>gemm.onnx.data
echo "status $?"
sha256sum --quiet -c before && echo kept
dl-import -q gemm.onnx --check x.csv --expect y.csv -o m.safetensors && echo imported
# No escape of a file's reaches the terminal.
dl-import -q odd.onnx --check x.csv --expect y.csv
map() {
	printf '{"o/weight": "o.weight", "o/bias": %s}' "$1" >map.json
	dl-import --weights state.safetensors --net net.json --map map.json -o m
	echo "status $?"
}
map '"o.bias"'
map '"o.count"'
map '{"from": "o.bias", "row": [0, 1]}'
for file in /dev/zero /dev/null; do
	dl-import --weights $file --net net.json --map map.json -o m
	dl-import $file -o m
	dl-import - -o m <$file
	echo "status $?"
done
