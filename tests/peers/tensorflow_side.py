"""TensorFlow's side: see peer_step.cpp for the conversation.

--xla: compiled.  The updaters are TensorFlow's fused ones.  The data are in
memory as normalized float32."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402, after what it reads

import tensorflow_network as tf_network  # noqa: E402
from files import read_batches, read_model  # noqa: E402
from serve import arguments, serve  # noqa: E402


def main():
    args = arguments("--xla")
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.random.set_seed(1)
    network, normalizer, tensors = read_model(args.model)
    layers = tf_network.build(network, tensors)
    batches = [(tf.constant(x), tf.constant(y, tf.int32))
               for x, y in read_batches(args.data, args.batch, normalizer)]
    if args.predict:
        output = layers[-1]

        @tf.function(jit_compile=args.xla)
        def predicted(x):
            return output.activate(tf_network.apply(layers, x, False))
        return serve(lambda i: predicted(batches[i % len(batches)][0]).numpy(),
                     lambda outputs: outputs[0].tolist())
    step = training(layers, args.xla)
    return serve(lambda i: float(step(*batches[i % len(batches)]).numpy()))


class Trained:
    """A variable with what its updater and regularization keep of it."""

    def __init__(self, variable, updater, l1, l2):
        self.variable, self.updater, self.l1, self.l2 = variable, updater, l1, l2
        first = updater["epsilon"] if updater["type"] == "adagrad" else 0
        self.state = [tf.Variable(tf.fill(variable.shape, float(first)))
                      for _ in range({"sgd": 0, "adam": 2}.get(updater["type"], 1))]

    def update(self, gradient, t):
        ops, u, handle = tf.raw_ops, self.updater, self.variable.handle
        rate, kept = float(u["learning_rate"]), [s.handle for s in self.state]
        if self.l1:
            gradient += self.l1 * tf.sign(self.variable)
        if self.l2:
            gradient += self.l2 * self.variable
        if u["type"] == "adam":
            ops.ResourceApplyAdam(
                var=handle, m=kept[0], v=kept[1], beta1_power=tf.pow(u["beta1"], t),
                beta2_power=tf.pow(u["beta2"], t), lr=rate, beta1=u["beta1"],
                beta2=u["beta2"], epsilon=u["epsilon"], grad=gradient)
        elif u["type"] == "adagrad":
            ops.ResourceApplyAdagradV2(var=handle, accum=kept[0], lr=rate,
                                       epsilon=u["epsilon"], grad=gradient)
        elif u["type"] == "nesterov":
            ops.ResourceApplyMomentum(var=handle, accum=kept[0], lr=rate, grad=gradient,
                                      momentum=u["momentum"], use_nesterov=True)
        else:
            assert u["type"] == "sgd", u
            ops.ResourceApplyGradientDescent(var=handle, alpha=rate, delta=gradient)


def trained_of(layer):
    spec = layer.layer
    cost = spec.get("regularization", {})
    found = [Trained(w, spec["updater"], cost.get("l1", 0), cost.get("l2", 0))
             for w in layer.weights]
    if layer.bias is not None:
        found.append(Trained(layer.bias, spec["bias_updater"], cost.get("l1_bias", 0),
                             cost.get("l2_bias", 0)))
    return found


def normalised(layer, gradients):
    kind = layer.layer.get("gradient_normalization", "none")
    if kind == "none" or not gradients:
        return gradients
    assert kind == "renormalize_l2_per_layer", kind
    norm = tf.linalg.global_norm(gradients)
    factor = tf.where(norm < 1e-5, 1.0, 1 / norm)
    return [factor * gradient for gradient in gradients]


def training(layers, xla):
    trained = [trained_of(layer) for layer in layers]
    variables = [[t.variable for t in group] for group in trained]
    count = tf.Variable(0.0)

    @tf.function(jit_compile=xla)
    def step(x, y):
        count.assign_add(1.0)
        with tf.GradientTape() as tape:
            logits = tf_network.apply(layers, x, True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        gradients = tape.gradient(loss, variables)
        for layer, group, found in zip(layers, trained, gradients):
            for one, gradient in zip(group, normalised(layer, found)):
                one.update(gradient, count)
        return loss
    return step


main()
