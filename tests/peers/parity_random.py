"""Networks drawn at random for parity.py: what no list of cases thinks of, such as
windows of odd sizes behind each other, and padding that goes through several
layers.  Two steps each; those that do not fit together are refused and left out.

Compared with PyTorch's float64, and gradients by the largest of all: drawn networks
have parameters without effect (a bias before batch norm, a step that sees itself
alone), and PyTorch's float32 now and then is the one that is wrong: that of
conv_transpose2d's input, where its output is cut, is so in 2.15."""

import random

from parity_case import Case, Draw, chain

ACTIVATIONS = ("identity", "relu", "tanh", "sigmoid", "gelu", "leaky_relu", "elu", "swish",
               "mish", "relu6", "softplus", "hard_sigmoid", "selu")
WIDTHS = (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 20, 31, 33)
EDGE = ("valid", "same")


class All:
    """As `zero` of a case: gradients of every parameter."""

    def __contains__(self, name):
        return True


class Random:
    def __init__(self, seed):
        self.of = random.Random(seed).choice
        self.seed = seed

    def window(self, extents, dilated=False):
        drawn = {"kernel": [self.of((1, 2, 3, 4, 5)) for _ in range(extents)],
                 "stride": [self.of((1, 1, 2, 3)) for _ in range(extents)],
                 "padding": self.of(EDGE)}
        if dilated and self.of((True, False, False)):
            drawn["dilation"] = [self.of((1, 2, 3)) for _ in range(extents)]
        return drawn if extents > 1 else {
            k: v[0] if isinstance(v, list) else v for k, v in drawn.items()}

    def filters(self):
        return {"filters": self.of(WIDTHS), "activation": self.of(ACTIVATIONS),
                "bias": self.of((True, False))}

    def image(self):
        of = self.of
        return of([
            lambda: {"type": of(("conv2d", "conv2d_transpose")), **self.window(2, True),
                     **self.filters()},
            lambda: {"type": "separable_conv2d", "depth_multiplier": of((1, 2)),
                     **self.window(2, True), **self.filters()},
            lambda: {"type": "depthwise_conv2d", "depth_multiplier": of((1, 1, 2, 3)),
                     **self.window(2, True), "activation": of(ACTIVATIONS)},
            lambda: {"type": of(("max_pool2d", "average_pool2d", "pnorm_pool2d")),
                     **self.window(2)},
            lambda: {"type": of(("batch_norm", "element_multiply", "prelu"))},
            lambda: {"type": "upsample2d", "size": [of((1, 2, 3)), of((1, 2, 3))],
                     "interpolation": of(("nearest", "bilinear"))},
            lambda: {"type": "zero_pad2d", "padding": [of((0, 1, 2)) for _ in range(4)]},
            lambda: {"type": "crop2d", "cropping": [of((0, 1)) for _ in range(4)]},
            lambda: {"type": "permute", "axes": of(([1, 0, 2], [2, 0, 1], [1, 2, 0]))},
            lambda: {"type": "local_response_norm", "window": of((1, 3, 5)), "alpha": 0.2},
        ])()

    def recurrent(self):
        of, kind = self.of, self.of(("lstm", "gru", "simple_rnn"))
        more = {"lstm": "peepholes", "gru": "reset_before"}.get(kind)
        return {"type": kind, "units": of(WIDTHS), "return_sequences": True,
                "bidirectional": of(("none", "none", "concat", "add", "multiply", "average")),
                "bias": of((True, False)), **({more: of((True, False))} if more else {})}

    def series(self):
        of = self.of
        return of([
            self.recurrent,
            lambda: {"type": "conv1d", **self.window(1, True), **self.filters(),
                     "padding": of((*EDGE, "causal"))},
            lambda: {"type": of(("max_pool1d", "average_pool1d")), **self.window(1)},
            lambda: {"type": of(("reverse", "upsample1d", "batch_norm",
                                 "positional_embedding"))},
            lambda: {"type": "zero_pad1d", "padding": [of((0, 1, 2)), of((0, 1, 2))]},
            lambda: {"type": "crop1d", "cropping": [of((0, 1)), of((0, 1))]},
            lambda: {"type": "multi_head_attention", "heads": of((1, 2, 3, 5)),
                     "head_size": of((1, 2, 4, 8, 9, 16)), "causal": of((True, False))},
            lambda: {"type": "dense", "units": of(WIDTHS), "activation": of(ACTIVATIONS)},
        ])()

    def case(self):
        of, name, batch = self.of, f"random {self.seed}", self.of((1, 2, 3, 4, 5, 6, 7, 9))
        draw, data = Draw(name, batch * 3), {}
        if of((True, True, False)):
            shape, one, end = (of((3, 5, 7, 11, 16)), of(WIDTHS)), self.series, [
                {"type": "lstm", "units": of((3, 8, 9))}]
            if of((True, False)):
                data["features_mask"] = draw.mask(shape[0])
        else:
            shape = (of((1, 2, 3, 5, 7, 12, 15)), of((1, 3, 4, 6, 9)), of((1, 2, 3, 8, 17)))
            one, end = self.image, []
        layers = [{"type": "element_multiply"}, {"type": "activation", "activation": "tanh"},
                  *[one() for _ in range(of((1, 2, 3)))], *end]
        data |= {"features": draw.normal(*shape), "labels": draw.normal(3)}
        updater = {"type": "sgd", "learning_rate": 1e-4}
        return Case(name, chain(shape, layers, updater=updater), data, batch, 2, zero=All(),
                    double=True)
