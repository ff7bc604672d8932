#!/bin/bash
# Classifiers of scikit-learn, as skl2onnx writes them: one number that tells two
# classes apart, in either form, and one for each of several labels.  dl-infer says
# which class it is by its name.
PYTHONPATH=$DL_TEST_ROOT/tests/cli/dl-import python3 -B - <<'PY'
import struct

from _protobuf import field


def node(op, inputs, outputs, *attributes, domain=""):
    return field(1, b"".join([*(field(1, i) for i in inputs), *(field(2, o) for o in outputs), field(3, op), field(4, op),
                              *(field(5, a) for a in attributes), field(7, domain)]))


def ints(name, values):
    return field(1, name) + b"".join(field(8, v) for v in values) + field(20, 7)


def floats(name, values):
    return field(1, name) + field(7, struct.pack(f"<{len(values)}f", *values)) + field(20, 6)


def texts(name, values):
    return field(1, name) + b"".join(field(9, v) for v in values) + field(20, 8)


def text(name, value):
    return field(1, name) + field(4, value) + field(20, 3)


def integer(name, value):
    return field(1, name) + field(3, value) + field(20, 2)


def tensor(name, dims, values):
    return field(5, b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) +
                 field(9, struct.pack(f"<{len(values)}f", *values)))


def strings(name, values):
    return field(5, field(1, len(values)) + field(2, 8) + b"".join(field(6, v) for v in values) + field(8, name))


def value(number, name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def model(path, outputs, *parts):
    graph = b"".join(parts) + value(11, "x", (1, 2)) + b"".join(value(12, o, (1, 2)) for o in outputs)
    open(path, "wb").write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)) +
                           field(8, field(1, "ai.onnx.ml") + field(2, 1)))


ml = "ai.onnx.ml"
model("linear.onnx", ["label", "probabilities"],
      node("LinearClassifier", ["x"], ["label", "scores"], texts("classlabels_strings", ["ham", "spam"]),
           floats("coefficients", [-1, -2, 1, 2]), floats("intercepts", [0.5, -0.5]), integer("multi_class", 0),
           text("post_transform", "LOGISTIC"), domain=ml),
      node("Normalizer", ["scores"], ["probabilities"], text("norm", "L1"), domain=ml))
model("perceptron.onnx", ["label", "probabilities"], tensor("w", (2, 1), [2, 4]), tensor("b", (1,), [-1]),
      tensor("one", (), [1]), strings("classes", ["ham", "spam"]),
      node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["s"]), node("Sigmoid", ["s"], ["p"]),
      node("Sub", ["one", "p"], ["q"]), node("Concat", ["q", "p"], ["probabilities"], integer("axis", 1)),
      node("ArgMax", ["probabilities"], ["a"], integer("axis", 1)),
      node("ArrayFeatureExtractor", ["classes", "a"], ["label"], domain=ml))
model("labels.onnx", ["label", "probabilities"], tensor("w", (2, 2), [2, 0, 0, -2]),
      node("MatMul", ["x", "w"], ["s"]), node("Sigmoid", ["s"], ["probabilities"]),
      node("Binarizer", ["probabilities"], ["c"], domain=ml), node("Cast", ["c"], ["label"], integer("to", 7)))
PY
printf '0,0\n1,1\n' >x.csv
dl-preprocess csv -q --label none --no-provenance x.csv >x.dls
for name in linear perceptron labels; do
	echo "$name:"
	dl-import -q $name.onnx -o $name.safetensors &&
		dl-infer -q --model $name.safetensors x.dls
done
