#!/bin/bash
# ONNX files that are cut, whose nodes form a cycle, whose tensors are not as large as
# they say or lie elsewhere, and operators that there are not: one sentence each.
# DL_MUTANTS says how many mutants are tried.
golden=$DL_TEST_ROOT/tests/golden/onnx
head -c 1500 "$golden/image.onnx" >cut.onnx
PYTHONPATH=$DL_TEST_ROOT/tests/cli/dl-import python3 -B - <<'PY'
import struct

from _protobuf import field


def node(op, inputs, outputs, *attributes, name="n"):
    return field(1, b"".join([*(field(1, i) for i in inputs), *(field(2, o) for o in outputs), field(3, name), field(4, op),
                              *(field(5, a) for a in attributes)]))


def integers(name, values):
    return field(1, name) + b"".join(field(8, v) for v in values) + field(20, 7)


def tensor(name, dims, data, kind=1, more=b""):
    return field(5, b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) + more +
                 (field(9, data) if data is not None else b""))


def value(number, name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def model(path, *parts, dims=(1, 4), opset=17):
    graph = b"".join(parts) + value(11, "x", dims) + value(12, "y", (1, 4))
    open(path, "wb").write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset)))


floats = struct.pack("<16f", *range(16))
model("cycle.onnx", node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"], name="m"), node("Relu", ["b"], ["y"]))
model("self.onnx", node("Relu", ["y"], ["y"]))
model("short.onnx", node("MatMul", ["x", "w"], ["y"]), tensor("w", (4, 5), floats))
model("huge.onnx", node("MatMul", ["x", "w"], ["y"]), tensor("w", (1 << 31, 1 << 31, 1 << 31), floats))
model("negative.onnx", node("MatMul", ["x", "w"], ["y"]), tensor("w", (-4, -4), floats))
model("wide.onnx", node("MatMul", ["x", "w"], ["y"]), tensor("w", (8, 2), floats))
model("twice.onnx", node("MatMul", ["x", "w"], ["y"]), tensor("w", (4, 4), floats), tensor("w", (4, 4), floats))
model("none.onnx", node("MatMul", ["x", "w"], ["y"]))
for name, place in (("etc", "/etc/passwd"), ("up", "../outside"), ("gone", "gone.data")):
    outside = field(13, field(1, "location") + field(2, place)) + field(14, 1)
    model(f"{name}.onnx", node("MatMul", ["x", "w"], ["y"]), tensor("w", (4, 4), None, more=outside))
model("odd.onnx", node("NonZero", ["x"], ["y"]))
model("argmax.onnx", node("ArgMax", ["x"], ["y"]))
model("reshape.onnx", node("Reshape", ["x", "s"], ["y"]), tensor("s", (2,), struct.pack("<2q", -1, 3), 7))
model("batch.onnx", node("Reshape", ["x", "s"], ["y"]), tensor("s", (2,), struct.pack("<2q", 4, 6), 7), dims=(6, 4))
model("large.onnx", node("ConstantOfShape", ["s"], ["c"]), node("Add", ["x", "c"], ["y"]),
      tensor("s", (2,), struct.pack("<2q", 1 << 40, 1 << 40), 7))
# Every node stays within what a model may have, and none of the memory is the file's.
model("range.onnx", node("Range", ["a", "b", "c"], ["r"]), node("ReduceSum", ["r", "a"], ["p"], field(1, "keepdims") + field(3, 0) + field(20, 2)),
      node("Add", ["x", "p"], ["y"]), *(tensor(n, (1,) if n == "a" else (), struct.pack("<q", v), 7) for n, v in (("a", 0), ("b", (1 << 26) - 9), ("c", 1))))
model("permuted.onnx", node("Transpose", ["x"], ["y"], integers("perm", (0, 0))))
model("newer.onnx", node("Relu", ["x"], ["y"]), opset=29)
model("unread.onnx", node("Relu", ["x"], ["y"], integers("slopes", (1, 2))))
model("bare.onnx")
deep = b""
for _ in range(20000):
    deep = field(5, field(1, "a") + field(6, deep) + field(20, 5))[:100000]
model("deep.onnx", node("If", ["x"], ["y"], deep))
PY
for file in cut cycle self short huge negative wide twice none etc up gone odd argmax reshape batch large range permuted newer unread bare deep; do
	dl-import -q $file.onnx -o m.safetensors
	echo "$file: status $?"
done
ls ./*.safetensors 2>/dev/null
rm -f ./*.onnx
