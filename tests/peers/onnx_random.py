"""Small drawn graphs of ONNX beside what dl-import makes of them: pools, convolutions,
pads, reductions, Softmax and others along any axis, of opsets 7 to 21, in ONNX
Runtime's numbers.  A graph is right, refused with a sentence, or wrong; none may be
wrong.  What ONNX Runtime does not take is drawn again.
usage: onnx-random [--first N] [--count N] [--keep DIR] [--refused]
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper, shape_inference

RELATIVE, ABSOLUTE = "1e-4", "1e-5"
OPSETS = 7, 9, 10, 11, 12, 13, 15, 17, 18, 19, 21


class Undrawn(Exception):
    """Nothing of the kind fits here."""


class Graph:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.opset = int(self.random.choice(OPSETS))
        self.batch = int(self.random.choice([1, 2, 3]))
        self.nodes, self.tensors, self.names = [], [], 0
        rank = int(self.random.choice([2, 3, 4, 4, 4, 5]))
        self.shape = [self.batch, *(int(e) for e in self.random.choice([1, 2, 3, 4, 4, 5, 6], rank - 1))]
        if rank > 2:
            self.shape[2:] = [int(e) for e in self.random.choice([1, 3, 4, 5, 6, 7], rank - 2)]
        self.first = list(self.shape)
        self.open = self.maybe(0.7)  # the number of examples
        self.value = "x"

    # Drawing.
    def whole(self, low, high):
        return int(self.random.integers(low, high + 1))

    def maybe(self, share=0.5):
        return self.random.random() < share

    def one_of(self, *all):
        return all[self.whole(0, len(all) - 1)]

    def numbers(self, *shape):
        return self.random.normal(size=shape).astype(np.float32)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, values):
        name = self.one_of("w", "layer.weight", "c") + str(len(self.tensors))
        self.tensors.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def wholes(self, values):
        return self.constant(np.array(values, np.int64))

    def add(self, op, *inputs, **attributes):
        out = self.name()
        attributes = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(op, [self.value, *inputs], [out], **attributes))
        self.value = out
        self.shape = self.shape_of(out)

    def shape_of(self, name):
        model = self.model([name])
        found = shape_inference.infer_shapes(model, strict_mode=True).graph.output[0].type.tensor_type.shape
        shape = [d.dim_value for d in found.dim]
        if len(shape) < 2 or min(shape) < 1 or np.prod(shape) > 4000 or len(shape) > 5:
            raise Undrawn
        return shape

    def model(self, outputs=(), batch=None):
        first = [batch or self.batch, *self.first[1:]]
        graph = helper.make_graph(
            self.nodes, "drawn", [helper.make_tensor_value_info("x", TensorProto.FLOAT, first)],
            [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs or [self.value]], self.tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=7)

    # Axes, as they are or from the end.
    def axis(self, low=1, signed=None):
        k = self.whole(low, len(self.shape) - 1)
        signed = self.opset >= 11 if signed is None else signed
        return k, k - len(self.shape) if signed and self.maybe() else k

    def spatial(self):
        if not 3 <= len(self.shape) <= 5:
            raise Undrawn
        return self.shape[2:]

    def windows(self, kernel, dilation, ceil=False):
        """Pads or auto_pad, and strides."""
        axes = len(kernel)
        given = {"strides": [self.whole(1, 3) for _ in kernel] if self.maybe(0.7) else None}
        how = self.one_of("none", "pads", "pads", "pads", "auto")
        if how == "pads":
            given["pads"] = [self.whole(0, max(0, (k - 1) * d)) for k, d in zip(kernel * 2, dilation * 2)]
            if self.maybe(0.3):
                given["pads"] = [(k - 1) * d // 2 for k, d in zip(kernel * 2, dilation * 2)]
        elif how == "auto":
            given["auto_pad"] = self.one_of("SAME_UPPER", "SAME_LOWER", "VALID")
        if ceil and self.opset >= 10 and self.maybe():
            given["ceil_mode"] = 1
        assert axes == len(dilation)
        return given

    # Operators.
    def conv(self):
        places = self.spatial()
        channels = self.shape[1]
        group = self.one_of(1, 1, channels, *(g for g in (2, 3) if channels % g == 0))
        filters = group * self.whole(1, 3)
        kernel = [self.whole(1, 3) for _ in places]
        dilation = [self.whole(1, 2) if self.maybe(0.3) else 1 for _ in places]
        bias = [self.constant(self.numbers(filters))] if self.maybe() else []
        self.add("Conv", self.constant(self.numbers(filters, channels // group, *kernel)), *bias,
                 group=group if group > 1 else None, dilations=dilation if max(dilation) > 1 else None,
                 **self.windows(kernel, dilation))

    def conv_transpose(self):
        places = self.spatial()
        channels = self.shape[1]
        group = self.one_of(1, 1, 1, channels)
        filters = self.whole(1, 3)
        kernel = [self.whole(1, 3) for _ in places]
        dilation = [self.whole(1, 2) if self.maybe(0.2) else 1 for _ in places]
        strides = [self.whole(1, 3) for _ in places]
        given = {"strides": strides}
        how = self.one_of("none", "pads", "pads", "auto", "shape")
        if how == "pads":
            given["pads"] = [self.whole(0, (k - 1) * d) for k, d in zip(kernel * 2, dilation * 2)]
        elif how == "auto":
            given["auto_pad"] = self.one_of("SAME_UPPER", "SAME_LOWER", "VALID")
        elif how == "shape":
            given["output_shape"] = [max(1, e * s + self.whole(-1, 1)) for e, s in zip(places, strides)]
            if self.maybe(0.3):
                given["auto_pad"] = self.one_of("SAME_UPPER", "SAME_LOWER")
        if self.maybe(0.4):
            given["output_padding"] = [self.whole(0, max(s, d) - 1) for s, d in zip(strides, dilation)]
        bias = [self.constant(self.numbers(filters * group))] if self.maybe() else []
        self.add("ConvTranspose", self.constant(self.numbers(channels, filters, *kernel)), *bias,
                 group=group if group > 1 else None, dilations=dilation if max(dilation) > 1 else None, **given)

    def pool(self):
        places = self.spatial()
        kernel = [self.whole(1, 3) for _ in places]
        dilation = [1] * len(places)
        op = self.one_of("MaxPool", "AveragePool", "AveragePool", "LpPool")
        given = {}
        if self.maybe(0.3) and self.opset >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op]:
            dilation = given["dilations"] = [self.whole(1, 3) for _ in places]
        given |= self.windows(kernel, dilation, ceil=op != "LpPool" or self.opset >= 18)
        if op == "AveragePool" and self.maybe():
            given["count_include_pad"] = self.whole(0, 1)
        if op == "LpPool" and self.maybe():
            given["p"] = self.whole(1, 3)
        self.add(op, kernel_shape=kernel, **given)

    def global_pool(self):
        self.spatial()
        op = self.one_of("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
        self.add(op, p=self.whole(1, 3) if op == "GlobalLpPool" and self.maybe() else None)

    def pad(self):
        rank = len(self.shape)
        first = self.one_of(1, 2) if rank > 2 else 1
        mode = self.one_of("constant", "constant", "reflect", "edge")
        begin, end = [0] * rank, [0] * rank
        for k in range(first, rank):
            most = min(2, self.shape[k] - 1) if mode == "reflect" else 2
            low = -1 if mode == "constant" and self.shape[k] > 2 and self.maybe(0.2) else 0
            begin[k], end[k] = self.whole(low, most), self.whole(low, most)
        value = self.one_of(None, 0.0, 1.5, -2.0, -1e9) if mode == "constant" else None
        if self.opset < 11:
            return self.add("Pad", pads=begin + end, mode=mode, value=value)
        self.add("Pad", self.wholes(begin + end),
                 *([self.constant(np.float32(value))] if value is not None else []), mode=mode)

    def reduce(self):
        op = self.one_of("ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                         "ReduceLogSumExp")
        rank = len(self.shape)
        axes = [int(a) for a in self.random.permutation(np.arange(1, rank))[:self.whole(1, rank - 1)]]
        if self.opset >= 11 and self.maybe():
            axes = [a - rank for a in axes]
        keep = self.one_of(None, 0, 1)
        if self.opset >= (13 if op == "ReduceSum" else 18):
            empty = self.maybe(0.1)
            return self.add(op, *([] if empty else [self.wholes(axes)]), keepdims=keep,
                            noop_with_empty_axes=1 if empty else None)
        self.add(op, axes=axes, keepdims=keep)

    def softmax(self):
        op = self.one_of("Softmax", "LogSoftmax")
        self.add(op, axis=None if self.maybe(0.3) else self.axis()[1])

    def activation(self):
        op, given = self.one_of(
            ("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("Abs", {}), ("Neg", {}), ("Softplus", {}),
            ("LeakyRelu", {"alpha": 0.3}), ("Elu", {"alpha": 0.7}), ("HardSigmoid", {}),
            ("HardSigmoid", {"alpha": 0.5, "beta": 0.6}), ("Selu", {}), ("Selu", {"alpha": 2.0, "gamma": 3.0}),
            ("Relu", {}), ("ThresholdedRelu", {"alpha": 0.4}), ("Identity", {}), ("Dropout", {}))
        if op == "ThresholdedRelu" and self.opset < 10:
            raise Undrawn
        self.add(op, **given)

    def prelu(self):
        shape = self.one_of([1], [self.shape[1]] + [1] * (len(self.shape) - 2), [self.shape[-1]])
        self.add("PRelu", self.constant(self.numbers(*shape)))

    def clip(self):
        low, high = self.one_of((None, 0.5), (-0.5, None), (-0.4, 0.6), (0.0, 6.0), (0.0, None))
        if self.opset < 11:
            return self.add("Clip", min=low, max=high)
        self.add("Clip", "" if low is None else self.constant(np.float32(low)),
                 *([] if high is None else [self.constant(np.float32(high))]))

    def transpose(self):
        self.add("Transpose", perm=[0, *(int(k) for k in self.random.permutation(np.arange(1, len(self.shape))))])

    def reshape(self):
        rest = int(np.prod(self.shape[1:]))
        a = self.one_of(*(d for d in range(1, rest + 1) if rest % d == 0))
        first = self.one_of(0, -1) if self.open else self.batch
        shape = self.one_of([-1, a, rest // a], [first, rest], [0, -1, a], [first, a, 1, rest // a])
        self.add("Reshape", self.wholes(shape))

    def flatten(self):
        self.add("Flatten", axis=self.one_of(None, 1))

    def squeeze(self):
        ones = [k for k in range(1, len(self.shape)) if self.shape[k] == 1]
        if not ones:
            raise Undrawn
        axes = [self.one_of(*ones)]
        if self.opset >= 11 and self.maybe():
            axes[0] -= len(self.shape)
        self.add("Squeeze", self.wholes(axes)) if self.opset >= 13 else self.add("Squeeze", axes=axes)

    def unsqueeze(self):
        axis = self.whole(1, len(self.shape))
        axes = [axis - len(self.shape) - 1 if self.opset >= 11 and self.maybe() else axis]
        self.add("Unsqueeze", self.wholes(axes)) if self.opset >= 13 else self.add("Unsqueeze", axes=axes)

    def concat(self):
        before, shape = self.value, self.shape
        for _ in range(self.whole(0, 1)):
            self.add(self.one_of("Relu", "Neg", "Tanh"))
        if self.shape != shape:
            raise Undrawn
        k, axis = self.axis()
        others = [before]
        if self.maybe(0.3):
            own = list(shape)
            own[k] = self.whole(1, 2)
            others.append(self.constant(self.numbers(*(own if self.batch == 1 else [1, *own[1:]])))
                          if self.batch == 1 else before)
        self.add("Concat", *others, axis=axis)

    def split(self):
        k, axis = self.axis()
        extent = self.shape[k]
        if extent < 2:
            raise Undrawn
        cut = self.whole(1, extent - 1)
        a, b = self.name(), self.name()
        inputs, given = [self.value], {}
        if self.opset >= 13:
            inputs.append(self.wholes([cut, extent - cut]))
        else:
            given["split"] = [cut, extent - cut]
        self.nodes.append(helper.make_node("Split", inputs, [a, b], axis=axis, **given))
        self.value = self.one_of(a, b)
        self.shape = self.shape_of(self.value)

    def gather(self):
        k, axis = self.axis()
        extent = self.shape[k]
        low = -extent if self.opset >= 11 else 0
        indices = self.one_of(np.int64(self.whole(low, extent - 1)),
                              np.array([self.whole(low, extent - 1) for _ in range(self.whole(1, 4))], np.int64))
        self.add("Gather", self.constant(indices), axis=axis)

    def slice(self):
        k, axis = self.axis()
        extent = self.shape[k]
        begin = self.whole(-extent, extent - 1)
        end = self.one_of(extent, 2 ** 31 - 1, -1, self.whole(1, extent))
        if self.opset < 10:
            return self.add("Slice", starts=[begin], ends=[end], axes=[k])
        step = self.one_of(1, 1, 2, -1)
        if step < 0:
            begin, end = self.one_of((-1, -2 ** 31), (extent - 1, -extent - 1), (-1, 0))
        self.add("Slice", *(self.wholes([v]) for v in (begin, end, axis if self.opset >= 11 else k, step)))

    def norm(self):
        op = self.one_of("BatchNormalization", "InstanceNormalization", "LRN", "LayerNormalization", "GroupNormalization",
                         "LpNormalization")
        c = self.shape[1]
        if op == "BatchNormalization":
            scale, offset, mean = (self.constant(self.numbers(c)) for _ in range(3))
            return self.add(op, scale, offset, mean, self.constant(np.abs(self.numbers(c)) + 0.5))
        if op == "InstanceNormalization":
            self.spatial()
            return self.add(op, self.constant(self.numbers(c)), self.constant(self.numbers(c)), epsilon=0.1)
        if op == "LRN":
            self.spatial()
            return self.add(op, size=self.whole(1, 5), alpha=self.one_of(None, 0.3), bias=self.one_of(None, 2.0))
        if op == "LayerNormalization":
            if self.opset < 17:
                raise Undrawn
            k, axis = self.axis()
            own = self.shape[k:]
            return self.add(op, self.constant(self.numbers(*own)), *([self.constant(self.numbers(*own))] if self.maybe() else []),
                            axis=axis, epsilon=0.1)
        if op == "GroupNormalization":
            if self.opset < 21 or len(self.shape) < 3:
                raise Undrawn
            groups = self.one_of(*(g for g in range(1, c + 1) if c % g == 0))
            return self.add(op, self.constant(self.numbers(c)), self.constant(self.numbers(c)), num_groups=groups, epsilon=0.1)
        self.add(op, axis=self.axis(signed=True)[1], p=self.whole(1, 2))

    def spelt_norm(self):
        """A layer norm or one of squares in single steps, over any axes."""
        x, rank = self.value, len(self.shape)
        own = [int(a) for a in self.random.permutation(np.arange(1, rank))[:self.whole(1, rank - 1)]]
        axes = [a - rank if self.opset >= 11 and self.maybe() else a for a in own]
        centred = self.maybe()

        def step(op, *inputs, **attributes):
            out = self.name()
            self.nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
            return out

        def mean(value):
            return step("ReduceMean", value, self.wholes(axes)) if self.opset >= 18 else step("ReduceMean", value, axes=axes)
        if centred:
            x = step("Sub", x, mean(x))
        square = step("Pow", x, self.constant(np.float32(2))) if self.maybe() else step("Mul", x, x)
        value = step("Div", x, step("Sqrt", step("Add", mean(square), self.constant(np.float32(0.01)))))
        weights = [e if k in own else 1 for k, e in enumerate(self.shape)]
        if self.maybe(0.7):
            value = step("Mul", value, self.constant(self.numbers(*weights)))
            if centred:
                value = step("Add", value, self.constant(self.numbers(*weights)))
        self.value, self.shape = value, self.shape_of(value)

    def matmul(self):
        inner, units = self.shape[-1], self.whole(1, 4)
        if len(self.shape) > 2 and self.maybe(0.2):
            rows = self.shape[-2]
            if len(self.shape) == 2:
                raise Undrawn
            name, out = self.constant(self.numbers(units, rows)), self.name()
            self.nodes.append(helper.make_node("MatMul", [name, self.value], [out]))
            self.value, self.shape = out, self.shape_of(out)
            return
        self.add("MatMul", self.constant(self.numbers(inner, units)))

    def gemm(self):
        if len(self.shape) != 2:
            self.add("Flatten")
        inner, units = self.shape[1], self.whole(1, 4)
        turned = self.whole(0, 1)
        shape = (units, inner) if turned else (inner, units)
        bias = self.one_of([], [units], [1, units], [1], [])
        given = [self.constant(self.numbers(*bias))] if bias else [self.constant(np.zeros(units, np.float32))] if self.opset < 11 else []
        self.add("Gemm", self.constant(self.numbers(*shape)), *given, transB=turned or None,
                 alpha=self.one_of(None, 0.5, 2.0), beta=self.one_of(None, 0.0, 1.5))

    def arithmetic(self):
        op = self.one_of("Add", "Mul", "Sub", "Div", "Max", "Min")
        rank = len(self.shape)
        shape = [e if self.maybe() else 1 for e in self.shape[self.whole(0, rank):]]
        if len(shape) == rank:
            shape[0] = 1
        values = np.abs(self.numbers(*shape)) + 0.5
        if op in ("Max", "Min") and self.opset < 8:
            raise Undrawn
        name = self.constant((values if op == "Div" else self.numbers(*shape)).astype(np.float32))
        if self.maybe(0.3) and op != "Div":
            out = self.name()
            self.nodes.append(helper.make_node(op, [name, self.value], [out]))
            self.value, self.shape = out, self.shape_of(out)
            return
        self.add(op, name)

    def with_itself(self):
        """Arithmetic of two values, of which one may repeat."""
        before, shape = self.value, self.shape
        op = self.one_of("Add", "Mul", "Sub", "Max", "Min", "Sum", "Mean")
        self.one_of(self.reduce_kept, self.activation)()
        out = self.name()
        self.nodes.append(helper.make_node(op, self.one_of([before, self.value], [self.value, before]), [out]))
        self.value, self.shape = out, self.shape_of(out)
        if self.shape != shape:
            raise Undrawn

    def reduce_kept(self):
        if self.opset >= 18:
            return self.add("ReduceMax", self.wholes([self.axis()[1]]))
        self.add("ReduceMax", axes=[self.axis()[1]])

    def depth(self):
        if len(self.shape) != 4:
            raise Undrawn
        op = self.one_of("SpaceToDepth", "DepthToSpace")
        self.add(op, blocksize=2, mode=self.one_of("DCR", "CRD") if op == "DepthToSpace" and self.opset >= 11 else None)

    def resize(self):
        if len(self.shape) != 4 or self.opset < 11 or self.open:
            raise Undrawn
        sizes = self.shape[:2] + [self.whole(1, 8), self.whole(1, 8)]
        mode = self.one_of("nearest", "linear", "cubic")
        self.add("Resize", "", "", self.wholes(sizes), mode=mode,
                 coordinate_transformation_mode=self.one_of("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"),
                 nearest_mode=self.one_of("floor", "ceil", "round_prefer_floor", "round_prefer_ceil") if mode == "nearest" else None)

    def expand(self):
        k, _ = self.axis()
        if self.shape[k] != 1 or self.opset < 8:
            raise Undrawn
        shape = [1] * len(self.shape)
        shape[k] = self.whole(2, 3)
        self.add("Expand", self.wholes(shape))


KINDS = (["conv", "conv_transpose", "pad", "softmax", "reduce", "norm", "spelt_norm"] * 2 + ["pool"] * 4 +
         ["global_pool", "activation", "activation", "prelu", "clip", "transpose", "transpose", "reshape", "flatten",
          "squeeze", "unsqueeze", "concat", "split", "gather", "slice", "matmul", "gemm", "arithmetic", "arithmetic",
          "with_itself", "depth", "resize", "expand"])


def drawn(seed):
    """(graph, x, y), or None"""
    graph = Graph(seed)
    for _ in range(graph.whole(1, 5)):
        before = graph.nodes[:], graph.tensors[:], graph.value, graph.shape
        try:
            getattr(graph, graph.one_of(*KINDS))()
        except (Undrawn, shape_inference.InferenceError):
            graph.nodes, graph.tensors, graph.value, graph.shape = before
    if not graph.nodes:
        return None
    x = graph.numbers(graph.batch, *graph.first[1:])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(graph.model().SerializeToString(), options, ["CPUExecutionProvider"])
        y = session.run(None, {"x": x})[0]
    except Exception:  # its own refusals have many types
        return None
    if y.size == 0 or not np.isfinite(y).all() or np.abs(y).max() > 1e4:
        return None
    return graph, x, y


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--count", type=int, default=5000)
    options.add_argument("--keep", type=pathlib.Path, help="a folder for what is wrong")
    options.add_argument("--refused", action="store_true", help="count the sentences")
    options = options.parse_args()
    right = wrong = refused = skipped = 0
    why = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path, data = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "data.npz"
        seed = options.first
        while right + wrong + refused < options.count:
            made = drawn(seed)
            seed += 1
            if made is None:
                skipped += 1
                continue
            graph, x, y = made
            path.write_bytes(graph.model(batch="batch" if graph.open else None).SerializeToString())
            np.savez(data, x=x, y=y)
            done = subprocess.run(["dl-import", "-q", path, "--check", data, "--tolerance", RELATIVE, "--absolute", ABSOLUTE],
                                  capture_output=True, text=True)
            said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1].split("onnx': ")[-1]
            if done.returncode == 0:
                right += 1
            elif done.returncode == 65 and said.startswith(("node ", "its output", "what is made of it")):
                refused += 1
                why[said.split("(", 1)[-1][:70]] += 1
            else:
                wrong += 1
                nodes = "; ".join(f"{n.op_type}({', '.join(f'{a.name}={helper.get_attribute_value(a)}' for a in n.attribute)})"
                                  for n in graph.nodes)
                print(f"FAIL {seed - 1} opset {graph.opset} {graph.first}: {nodes} -> {list(y.shape)}: {said} {done.stdout.strip()}",
                      flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{seed - 1}.onnx").write_bytes(path.read_bytes())
                    np.savez(options.keep / f"{seed - 1}.npz", x=x, y=y)
    if options.refused:
        for said, count in why.most_common(40):
            print(f"{count:6} {said}")
    print(f"ONNX Runtime {onnxruntime.__version__}: {right} right, {wrong} wrong, {refused} refused of "
          f"{right + wrong + refused}; {skipped} not drawn")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
