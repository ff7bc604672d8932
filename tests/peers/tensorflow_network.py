"""A network of dl-network(5) in TensorFlow, as a function of variables: images
are [n, height, width, channels], as ours; logits out, the loss apart."""

import numpy as np
import tensorflow as tf

from files import activation_of, shaped_layers

ACTIVATIONS = {"identity": lambda x: x, "relu": tf.nn.relu, "elu": tf.nn.elu,
               "sigmoid": tf.sigmoid, "tanh": tf.tanh, "softplus": tf.nn.softplus,
               "softmax": tf.nn.softmax}


class Layer:
    """What is computed, and from which variables: apply(x, training)."""

    def __init__(self, layer, shape, pads, tensors):
        self.layer, self.shape, self.pads = layer, shape, pads
        self.weights, self.bias = [], None
        self.apply = getattr(self, layer["type"])
        changes = {"conv2d": lambda w: w.transpose(1, 2, 3, 0)}.get(layer["type"], np.transpose)
        for key in ("weight", "recurrent_weight"):
            value = tensors.get(f"{layer['name']}/{key}")
            if value is not None:
                self.weights.append(tf.Variable(np.ascontiguousarray(changes(value))))
        bias = tensors.get(f"{layer['name']}/bias")
        if bias is not None:
            self.bias = tf.Variable(bias)

    def activate(self, x):
        return ACTIVATIONS[activation_of(self.layer)[0]](x)

    def with_bias(self, x):
        return x if self.bias is None else tf.nn.bias_add(x, self.bias)

    def output(self, x, training):
        """Its activation belongs to the loss."""
        del training
        return self.with_bias(tf.matmul(tf.reshape(x, [-1, np.prod(self.shape)]),
                                        self.weights[0]))

    def dense(self, x, training):
        return self.activate(self.output(x, training))

    def conv2d(self, x, training):
        del training
        return self.activate(self.with_bias(tf.nn.conv2d(
            x, self.weights[0], strides=self.layer["stride"], padding=self.padding(),
            dilations=self.layer["dilation"])))

    def max_pool2d(self, x, training):
        del training
        return tf.nn.max_pool2d(x, self.layer["kernel"], self.layer["stride"], self.padding())

    def padding(self):
        if not any(map(any, self.pads)):
            return "VALID"
        return [[0, 0], *self.pads, [0, 0]]

    def dropout(self, x, training):
        return tf.nn.dropout(x, self.layer["rate"]) if training else x

    def lstm(self, x, training):
        """The inputs' part of all steps is one product, as in Keras' code."""
        del training
        assert self.layer["bidirectional"] == "none" and not self.layer["return_sequences"]
        units = self.layer["units"]
        n = tf.shape(x)[0]
        gates = tf.transpose(self.with_bias(tf.tensordot(x, self.weights[0], 1)), [1, 0, 2])

        def step(state, part):
            h, c = state
            i, f, g, o = tf.split(part + tf.matmul(h, self.weights[1]), 4, axis=-1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            return tf.sigmoid(o) * tf.tanh(c), c
        h, c = tf.zeros([n, units]), tf.zeros([n, units])
        # Unrolled, as TensorFlow's loops take longer than the steps.
        for part in tf.unstack(gates, self.shape[0]):
            h, c = step((h, c), part)
        return h


def build(network, tensors):
    return [Layer(layer, shape, pads, tensors)
            for layer, shape, pads in shaped_layers(network)]


def apply(layers, x, training):
    for layer in layers:
        x = layer.apply(x, training)
    return x
