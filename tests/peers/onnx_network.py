"""A network of dl-network(5) as an ONNX model, for predictions."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from files import activation_of, dense_weight, shaped_layers

OPERATORS = {"relu": "Relu", "leaky_relu": "LeakyRelu", "elu": "Elu", "gelu": "Gelu",
             "sigmoid": "Sigmoid", "tanh": "Tanh", "softplus": "Softplus",
             "softmax": "Softmax"}


class Builder:
    def __init__(self):
        self.nodes, self.weights, self.value = [], [], "input"

    def add(self, operator, inputs=(), **attributes):
        result = f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, [self.value, *inputs], [result],
                                           **attributes))
        self.value = result

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def lstm(self, layer, tensors):
        """ONNX has the steps first, the gates as i, o, f, c, and two biases."""
        name, units = layer["name"], layer["units"]
        assert layer["bidirectional"] == "none" and not layer["return_sequences"], layer

        def gates(array):
            i, f, c, o = np.split(array, 4)
            return np.concatenate([i, o, f, c])[np.newaxis]
        bias = tensors.get(f"{name}/bias", np.zeros(4 * units, np.float32))
        bias = np.concatenate([gates(bias), np.zeros((1, 4 * units), np.float32)], axis=1)
        self.add("Transpose", perm=[1, 0, 2])
        last = f"last{len(self.nodes)}"
        self.nodes.append(helper.make_node(
            "LSTM", [self.value, self.weight(f"{name}/W", gates(tensors[f"{name}/weight"])),
                     self.weight(f"{name}/R", gates(tensors[f"{name}/recurrent_weight"])),
                     self.weight(f"{name}/B", bias)], ["", last], hidden_size=units))
        self.value = last
        self.add("Squeeze", [self.weight(f"{name}/axes", np.array([0], np.int64))])

    def activation(self, layer):
        kind, alpha = activation_of(layer)
        if kind != "identity":
            self.add(OPERATORS[kind], **({} if alpha is None else {"alpha": alpha}))

    def layer(self, layer, shape, pads, tensors):
        name, kind = layer["name"], layer["type"]

        def parameter(key, change=lambda array: array):
            full = f"{name}/{key}"
            return [self.weight(full, change(tensors[full]))] if full in tensors else []
        if kind in ("dense", "output"):
            if len(shape) > 1:
                self.add("Flatten", axis=1)
            self.add("Gemm", parameter("weight", lambda w: dense_weight(w, shape)) +
                     parameter("bias"), transB=1)
            self.activation(layer)
        elif kind in ("conv2d", "max_pool2d", "average_pool2d"):
            window = {"kernel_shape": layer["kernel"], "strides": layer["stride"],
                      "pads": [pads[0][0], pads[1][0], pads[0][1], pads[1][1]]}
            if kind == "conv2d":
                self.add("Conv", parameter("weight", lambda w: w.transpose(0, 3, 1, 2)) +
                         parameter("bias"), dilations=layer["dilation"], **window)
                self.activation(layer)
            elif kind == "max_pool2d":
                self.add("MaxPool", **window)
            else:
                self.add("AveragePool", count_include_pad=0, **window)
        elif kind == "batch_norm":
            self.add("BatchNormalization",
                     parameter("gamma") + parameter("beta") + parameter("running_mean") +
                     parameter("running_variance"), epsilon=layer["epsilon"])
        elif kind == "lstm":
            self.lstm(layer, tensors)
        elif kind == "activation":
            self.activation(layer)
        else:
            assert kind == "dropout", kind


def build(network, tensors):
    """The model's bytes; its input is [n, channels, height, width]."""
    builder = Builder()
    for layer, shape, pads in shaped_layers(network):
        builder.layer(layer, shape, pads, tensors)
    shape = network["input"]["shape"]
    first = [shape[2], shape[0], shape[1]] if len(shape) == 3 else shape
    units = network["layers"][-1]["units"]
    graph = helper.make_graph(
        builder.nodes, "network",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", *first])],
        [helper.make_tensor_value_info(builder.value, TensorProto.FLOAT, ["n", units])],
        builder.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return model.SerializeToString()
