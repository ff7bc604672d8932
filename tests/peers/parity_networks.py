"""Cases of several layers at once, wide enough for every kernel's inner loop: what
is fused, shared, or trained by rules of its own; several outputs."""

from parity_case import BATCHES, Case, Draw, chain, graph

FLAT = {"type": "flatten"}
ADAM = {"type": "adam", "learning_rate": 0.002, "epsilon": 1e-4}
NLL = {"type": "output", "units": 5, "loss": "negative_log_likelihood"}


def classified(name, shape, layers, batch=6, tokens=0, mask=False, double=False, zero=(),
               **top):
    """Of five classes."""
    draw = Draw(name, batch * BATCHES)
    features = draw.classes(tokens, *shape) if tokens else draw.normal(*shape)
    masks = {"features_mask": draw.mask(shape[0])} if mask else {}
    return Case(name, chain(shape, layers, output=NLL, **{"updater": ADAM, **top}),
                {"features": features, "labels": draw.classes(5), **masks}, batch, zero=zero, double=double)


def conv(filters, kernel=3, activation="relu", **more):
    return {"type": "conv2d", "filters": filters, "kernel": [kernel, kernel],
            "activation": activation, **more}


def block(name, source):
    """Of a transformer."""
    return [{"name": f"{name}n", "type": "layer_norm", "from": source},
            {"name": f"{name}a", "type": "multi_head_attention", "heads": 3, "head_size": 8},
            {"name": f"{name}s", "type": "add", "from": [source, f"{name}a"]},
            {"name": f"{name}m", "type": "layer_norm"},
            {"name": f"{name}w", "type": "conv1d", "filters": 70, "kernel": 1,
             "activation": "gelu"},
            {"name": f"{name}d", "type": "conv1d", "filters": 24, "kernel": 1},
            {"name": f"{name}", "type": "add", "from": [f"{name}s", f"{name}d"]}]


def transformer(mask):
    name = "network of attention" + (", masked" if mask else "")
    draw = Draw(name)
    nodes = [{"name": "e", "type": "embedding", "rows": 11, "units": 24, "mask_zero": mask,
              "from": "x"}, {"name": "p", "type": "positional_embedding"},
             *block("one", "p"), *block("two", "one"),
             {"name": "pool", "type": "global_pool", "kind": "average"}, {"name": "y", **NLL}]
    tokens = draw.classes(11, 19)
    tokens[:, 0] = 1  # not all of an example is padding
    return Case(name, graph({"x": (19,)}, nodes, "y", updater=ADAM),
                {"features": tokens, "labels": draw.classes(5)},
                zero=("onea/key_bias", "twoa/key_bias"))


def residual():
    """PyTorch's batch norm adds up the gradients of beta over all pixels one after
    the other, and what goes back through it is their difference from the mean: 1e-5
    of the largest from its float64, ours 1e-6.  So it is behind a depthwise one."""
    draw = Draw("network of residuals")
    inner = [{"name": "c1", "from": "b0", **conv(18, padding="same", bias=False,
                                                 activation="identity")},
             {"name": "b1", "type": "batch_norm"},
             {"name": "r1", "type": "activation", "activation": "relu"},
             {"name": "c2", **conv(18, padding="same", bias=False, activation="identity")},
             {"name": "b2", "type": "batch_norm"},
             {"name": "sum", "type": "add", "from": ["b0", "b2"]},
             {"name": "r2", "type": "activation", "activation": "relu"}]
    nodes = [{"name": "b0", "from": "x", **conv(18, padding="same", activation="tanh")}, *inner,
             {"name": "pool", "type": "global_pool", "kind": "average"}, {"name": "y", **NLL}]
    return Case("network of residuals", graph({"x": (9, 8, 3)}, nodes, "y", updater=ADAM),
                {"features": draw.normal(9, 8, 3), "labels": draw.classes(5)}, double=True)


def several_outputs():
    draw = Draw("several outputs")
    nodes = [{"name": "code", "from": "a", "type": "dense", "units": 6, "activation": "tanh"},
             {"name": "class", "from": "code", "loss_weight": 0.3, **NLL},
             {"name": "part", "type": "subset", "begin": 2, "end": 5, "from": "b"},
             {"name": "both", "type": "merge", "from": ["code", "b"]},
             {"name": "half", "type": "dense", "units": 3, "from": "both"},
             {"name": "number", "type": "output", "units": 2, "loss": "huber", "from": "both"},
             {"name": "made", "type": "loss", "units": 3, "loss": "gaussian", "target": "part",
              "from": "wide"},
             {"name": "wide", "type": "dense", "units": 6, "from": "half"},
             {"name": "ignored", "type": "output", "units": 2, "loss": "l2", "loss_weight": 0,
              "from": "code"}]
    return Case("several outputs", graph({"a": (7,), "b": (6,)}, nodes,
                                         ["class", "number", "made", "ignored"]),
                {"features/a": draw.normal(7), "features/b": draw.normal(6),
                 "labels/class": draw.classes(5), "labels/number": draw.normal(2),
                 "labels/ignored": draw.normal(2)})


def of_three(kind):
    draw = Draw(f"{kind} of three")
    nodes = [*[{"name": "n" + n, "from": n, "type": "dense", "units": 6} for n in "abc"],
             {"name": "all", "type": kind, "from": ["na", "nb", "nc"]},
             {"name": "y", "type": "output", "units": 3, "loss": "mean_squared_error"}]
    return Case(f"{kind} of three", graph({n: (4,) for n in "abc"}, nodes, "y"),
                {**{f"features/{n}": draw.normal(4) for n in "abc"}, "labels": draw.normal(3)})


def shared_cells():
    draw = Draw("shared lstm")
    nodes = [{"name": "one", "type": "lstm", "units": 5, "from": "a",
              "regularization": {"l2": 0.1}, "bidirectional": "concat"},
             {"name": "other", "type": "lstm", "shares": "one", "from": "b"},
             {"name": "both", "type": "multiply", "from": ["one", "other"]},
             {"name": "y", "type": "output", "units": 3, "loss": "mean_squared_error"}]
    return Case("shared lstm", graph({"a": (6, 4), "b": (4, 4)}, nodes, "y"),
                {"features/a": draw.normal(6, 4), "features/b": draw.normal(4, 4),
                 "features_mask/a": draw.mask(6), "labels": draw.normal(3)})


def tied(name, **code):
    draw = Draw(name)
    layers = [{"type": "dense", "name": "code", "units": 4, "activation": "sigmoid", **code},
              {"type": "dense", "units": 4, "activation": "tanh"}]
    output = {"type": "output", "units": 7, "target": "features", "tied_to": "code",
              "loss": "mean_squared_error", "regularization": {"l2_bias": 0.1}}
    return Case(name, chain((7,), layers, output=output), {"features": draw.normal(7)})


RULES = {"regularization": {"l1": 0.003, "l2": 0.1, "l1_bias": 0.01, "l2_bias": 0.2,
                            "weight_decay": 0.1},
         "gradient_normalization": "clip_l2_per_layer", "gradient_threshold": 0.2,
         "constraints": {"max_norm": 0.6, "min_norm": 0.3, "rate": 0.5, "biases": True}}
# Every kind of parameters under rules that treat weights, biases and others apart.
RULED = [classified(f"rules of {name}", shape, layers, tokens=6 if name == "embedding" else 0,
                    **RULES, zero=zero)
         for name, shape, layers, zero in (
    ("dense", (7,), [{"type": "dense", "units": 6, "activation": "tanh"}], ()),
    ("conv2d", (6, 5, 3), [conv(4)], ()),
    ("depthwise_conv2d", (6, 5, 3), [{"type": "depthwise_conv2d", "kernel": [3, 3],
                                      "depth_multiplier": 2}], ()),
    ("separable_conv2d", (6, 5, 3), [{"type": "separable_conv2d", "filters": 4,
                                      "kernel": [3, 3]}], ()),
    ("conv2d_transpose", (4, 3, 3), [{"type": "conv2d_transpose", "filters": 4,
                                      "kernel": [2, 2]}], ()),
    ("conv1d", (7, 4), [{"type": "conv1d", "filters": 4, "kernel": 3}, FLAT], ()),
    ("conv3d", (4, 3, 3, 2), [{"type": "conv3d", "filters": 4, "kernel": [2, 2, 2]}], ()),
    ("lstm", (6, 4), [{"type": "lstm", "units": 4, "peepholes": True,
                       "bidirectional": "add"}], ()),
    ("gru", (6, 4), [{"type": "gru", "units": 4}], ()),
    ("simple_rnn", (6, 4), [{"type": "simple_rnn", "units": 4}], ()),
    ("embedding", (6,), [{"type": "embedding", "rows": 6, "units": 4},
                         {"type": "gru", "units": 3}], ()),
    ("multi_head_attention", (6, 4), [{"type": "multi_head_attention", "heads": 2,
                                       "head_size": 3}, FLAT],
     ("multi_head_attention1/key_bias",)),
    ("positional_embedding", (6, 4), [{"type": "positional_embedding"}, FLAT], ()),
    ("prelu", (7,), [{"type": "dense", "units": 6}, {"type": "prelu"}], ()),
    ("element_multiply", (7,), [{"type": "element_multiply"}], ()),
    ("batch_norm", (7,), [{"type": "dense", "units": 6, "activation": "tanh"},
                          {"type": "batch_norm"}], ()),
    ("layer_norm", (7,), [{"type": "dense", "units": 6}, {"type": "layer_norm"}], ()))]

WIDE = [
    classified("wide dense", (130,), [{"type": "dense", "units": 131, "activation": "tanh"},
                                      {"type": "dense", "units": 67, "activation": "gelu"}], 33),
    classified("wide conv2d, max_pool2d", (17, 15, 3), [
        conv(20, 5), {"type": "max_pool2d"}, conv(33, padding="same", stride=[2, 1]),
        {"type": "average_pool2d", "kernel": [2, 3]}], 5),
    classified("wide conv2d, tanh, max_pool2d", (12, 12, 16), [
        conv(32, activation="tanh", padding="same"),
        {"type": "max_pool2d", "kernel": [3, 3], "stride": [2, 2], "padding": "same"},
        conv(16, 1)], 5),
    classified("wide depthwise, batch_norm", (11, 9, 3), [
        conv(33, padding="same", bias=False, activation="identity"), {"type": "batch_norm"},
        {"type": "activation", "activation": "relu6"},
        {"type": "depthwise_conv2d", "kernel": [3, 3], "padding": "same", "bias": False},
        {"type": "batch_norm"}, {"type": "activation", "activation": "swish"},
        {"type": "global_pool", "kind": "average"}], 7, double=True),
    classified("wide lstm", (13, 17), [{"type": "lstm", "units": 36, "return_sequences": True},
                                       {"type": "lstm", "units": 33}], 9, mask=True),
    classified("wide gru", (13, 17), [{"type": "gru", "units": 36, "return_sequences": True},
                                      {"type": "gru", "units": 33, "reset_before": True,
                                       "bidirectional": "concat"}], 9),
    classified("one example, batch_norm", (5, 4, 3), [conv(4), {"type": "batch_norm"}], 1),
    classified("five examples, batch_norm", (7,), [
        {"type": "dense", "units": 6, "activation": "tanh"}, {"type": "batch_norm"}], 5),
]
CASES = [transformer(False), transformer(True), residual(), several_outputs(), shared_cells(),
         *[of_three(kind) for kind in ("merge", "add", "multiply", "average", "max", "min")],
         tied("tied weights, rules", **RULES), tied("tied weights, frozen", frozen=True),
         *RULED, *WIDE]
