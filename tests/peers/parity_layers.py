"""Cases of layers on vectors, images and volumes.  Before each stands one with
weights, whose gradients follow from those that the layer hands back."""

from parity_case import Case, Draw, chain, graph, regression

MIX = {"type": "conv2d", "filters": 5, "kernel": [1, 1], "activation": "tanh"}
CODE = {"type": "dense", "units": 6, "activation": "tanh"}
IMAGE, VOLUME, VECTOR = (7, 6, 3), (5, 6, 4, 2), (7,)
# For outputs that are sums of many numbers: steps as long as the others' would make
# losses grow, and rounding with them.
SLOW = {"type": "sgd", "learning_rate": 0.005}


def image(name, layer, **more):
    return regression(name, IMAGE, [MIX, layer], **{"updater": SLOW, **more})


def vector(name, layer, **more):
    return regression(name, VECTOR, [CODE, layer], **more)


CONVOLUTIONS = [
    image("conv2d valid", {"type": "conv2d", "filters": 4, "kernel": [3, 2],
                           "activation": "tanh"}),
    image("conv2d same, stride, dilation", {
        "type": "conv2d", "filters": 9, "kernel": [3, 2], "stride": [2, 1],
        "dilation": [1, 2], "padding": "same", "bias": False}),
    regression("conv2d wide", (9, 11, 17), [
        {"type": "conv2d", "filters": 35, "kernel": [3, 3], "padding": "same",
         "activation": "sigmoid"}, {"type": "conv2d", "filters": 4, "kernel": [3, 3],
                                   "activation": "tanh"}], updater=SLOW),
    image("depthwise_conv2d", {"type": "depthwise_conv2d", "kernel": [3, 3],
                               "depth_multiplier": 2, "activation": "tanh"}),
    image("depthwise_conv2d same", {"type": "depthwise_conv2d", "kernel": [2, 3],
                                    "stride": [2, 2], "padding": "same", "bias": False}),
    image("separable_conv2d", {"type": "separable_conv2d", "filters": 4, "kernel": [3, 3],
                               "depth_multiplier": 2, "padding": "same", "activation": "tanh"}),
    image("separable_conv2d stride", {"type": "separable_conv2d", "filters": 4,
                                      "kernel": [3, 2], "stride": [2, 1]}),
    image("conv2d_transpose valid", {"type": "conv2d_transpose", "filters": 4,
                                     "kernel": [3, 2], "stride": [2, 1], "activation": "tanh"}),
    image("conv2d_transpose same", {"type": "conv2d_transpose", "filters": 4,
                                    "kernel": [3, 4], "stride": [2, 2], "padding": "same"}),
    image("conv2d_transpose dilation", {"type": "conv2d_transpose", "filters": 3,
                                        "kernel": [2, 3], "dilation": [2, 1]}),
    image("conv2d_transpose gaps", {"type": "conv2d_transpose", "filters": 3,
                                    "kernel": [2, 2], "stride": [3, 3], "padding": "same"}),
    regression("conv3d valid", VOLUME, [
        {"type": "conv3d", "filters": 4, "kernel": [1, 1, 1]},
        {"type": "conv3d", "filters": 3, "kernel": [2, 3, 2], "activation": "tanh"}]),
    regression("conv3d same, stride", VOLUME, [
        {"type": "conv3d", "filters": 4, "kernel": [1, 1, 1]},
        {"type": "conv3d", "filters": 3, "kernel": [3, 2, 2], "stride": [2, 1, 2],
         "padding": "same", "activation": "tanh"}]),
]

WINDOWS = {"": {}, " same": {"kernel": [3, 2], "stride": [2, 2], "padding": "same"},
           " overlapping": {"kernel": [3, 3], "stride": [1, 2]}}
POOLS = [image(kind + name, {"type": kind, **window, **more})
         for kind, more in (("max_pool2d", {}), ("average_pool2d", {}),
                            ("pnorm_pool2d", {"p": 3}))
         for name, window in WINDOWS.items()]
POOLS += [
    image("average_pool2d count_padding", {"type": "average_pool2d", **WINDOWS[" same"],
                                           "count_padding": True}),
    *[regression(f"{kind} {padding}", VOLUME, [
        {"type": "conv3d", "filters": 3, "kernel": [1, 1, 1]},
        {"type": kind, "kernel": [2, 3, 2], "stride": [2, 2, 1], "padding": padding}])
      for kind in ("max_pool3d", "average_pool3d") for padding in ("valid", "same")],
    regression("average_pool3d count_padding", VOLUME, [
        {"type": "conv3d", "filters": 3, "kernel": [1, 1, 1]},
        {"type": "average_pool3d", "padding": "same", "count_padding": True}]),
    *[image(f"global_pool {kind}", {"type": "global_pool", "kind": kind},
            updater={"type": "sgd", "learning_rate": 0.0005 if kind == "sum" else 0.005})
      for kind in ("max", "average", "sum", "pnorm")],
]

MOVES = [
    image("upsample2d nearest", {"type": "upsample2d", "size": [2, 3]}),
    image("upsample2d bilinear", {"type": "upsample2d", "size": [2, 3],
                                  "interpolation": "bilinear"}),
    image("zero_pad2d", {"type": "zero_pad2d", "padding": [1, 2, 0, 3]}),
    image("crop2d", {"type": "crop2d", "cropping": [1, 2, 0, 3]}),
    regression("space_to_depth", (6, 4, 3), [MIX, {"type": "space_to_depth"}]),
    image("flatten", {"type": "flatten"}),
    image("reshape", {"type": "reshape", "shape": [6, 5, 7]}),
    image("permute", {"type": "permute", "axes": [2, 0, 1]}),
    image("subset", {"type": "subset", "axis": 1, "begin": 2, "end": 5}),
    vector("scale", {"type": "scale", "factor": -1.7}),
    vector("shift", {"type": "shift", "amount": 0.4}),
    image("element_multiply", {"type": "element_multiply"}),
    vector("l2_normalize", {"type": "l2_normalize"}),
]

# A bias that batch norm takes off again has the gradient 0.
NORMS = [
    image("batch_norm", {"type": "batch_norm"}),
    vector("batch_norm of a vector", {"type": "batch_norm", "decay": 0.6, "epsilon": 0.01}),
    regression("batch_norm behind conv2d", IMAGE, [
        {"type": "conv2d", "filters": 4, "kernel": [3, 3]}, {"type": "batch_norm"},
        {"type": "activation", "activation": "tanh"}], zero=("conv2d1/bias",)),
    regression("batch_norm, max_pool2d", IMAGE, [
        {"type": "conv2d", "filters": 4, "kernel": [3, 3], "bias": False},
        {"type": "batch_norm"}, {"type": "activation", "activation": "relu"},
        {"type": "max_pool2d"}]),
    image("batch_norm frozen", {"type": "batch_norm", "frozen": True}),
    image("layer_norm", {"type": "layer_norm"}),
    vector("layer_norm of a vector", {"type": "layer_norm", "epsilon": 0.01}),
    regression("group_norm", (5, 4, 3), [{**MIX, "filters": 6},
                                         {"type": "group_norm", "groups": 3}]),
    regression("group_norm of instances", (5, 4, 3), [
        {**MIX, "filters": 6}, {"type": "group_norm", "groups": 6}]),
    image("local_response_norm", {"type": "local_response_norm", "window": 3,
                                  "alpha": 0.3, "k": 1}),
]

UNITS = [
    vector("dense", {"type": "dense", "units": 5, "activation": "sigmoid"}),
    image("dense of an image", {"type": "dense", "units": 37, "bias": False}),
    vector("autoencoder", {"type": "autoencoder", "units": 4}),
    vector("rrelu of one slope", {"type": "rrelu", "lower": 0.2, "upper": 0.2}),
    vector("rrelu", {"type": "rrelu"}, steps=0),
    image("prelu", {"type": "prelu"}),
    image("prelu of elements", {"type": "prelu", "slopes": "element"}),
    vector("activity_regularization", {"type": "activity_regularization", "l1": 0.1,
                                       "l2": 0.2}),
    regression("activity_regularization, sparse", VECTOR, [
        {"type": "dense", "units": 6, "activation": "sigmoid"},
        {"type": "activity_regularization", "sparsity": 0.2, "sparsity_weight": 0.3}]),
]

RANDOM = {"dropout": "rate", "spatial_dropout": "rate", "stochastic_depth": "rate",
          "alpha_dropout": "rate", "gaussian_dropout": "rate", "gaussian_noise": "deviation"}
NOISE = [case for kind, key in RANDOM.items() for case in (
    image(f"{kind}, predicting", {"type": kind, key: 0.5}, steps=0),
    image(f"{kind} of nothing", {"type": kind, key: 0}))]


def pair(name, node, shape=(7,), outputs=None, **more):
    """Two inputs through layers of their own into one."""
    draw = Draw(name)
    data = {"features/a": draw.normal(*shape), "features/b": draw.normal(*shape),
            "labels": draw.normal(3)}
    own = {"type": "element_multiply"} if len(shape) > 1 else CODE
    nodes = [{"name": "left", "from": "a", **own}, {"name": "right", "from": "b", **own},
             {"name": "both", "from": ["left", "right"], **node},
             {"name": "y", "type": "output", "units": 3, "loss": "mean_squared_error"}]
    return Case(name, graph({"a": shape, "b": shape}, nodes, "y", **more), data)


def tied():
    draw = Draw("tied weights")
    return Case("tied weights", chain((7,), [{"type": "dense", "name": "code", "units": 4,
                                              "activation": "sigmoid"}],
                                      output={"type": "output", "units": 7, "target": "features",
                                              "tied_to": "code", "loss": "mean_squared_error"}),
                {"features": draw.normal(7), "labels": draw.normal(1)})


def shared():
    draw = Draw("shared")
    nodes = [{"name": "code", "from": "a", **CODE},
             {"name": "other", "from": "b", "type": "dense", "shares": "code"},
             {"name": "both", "type": "subtract", "from": ["code", "other"]},
             {"name": "same", "type": "output", "units": 1, "loss": "binary_cross_entropy"}]
    return Case("shared layers", graph({"a": (7,), "b": (7,)}, nodes, "same"),
                {"features/a": draw.normal(7), "features/b": draw.normal(7),
                 "labels": draw.classes(2)})


def pretrained(name, loss, **more):
    """A layer in the network of its own, behind one that has learnt."""
    draw = Draw(name)
    layers = [{"type": "autoencoder", "units": 6, "activation": "tanh"},
              {"type": "autoencoder", "name": "code", "units": 4, "corruption": 0, "loss": loss,
               **more}]
    return Case(name, chain((7,), layers), {"features": draw.normal(7)}, pretrain="code")


def stacked():
    draw = Draw("stack")
    nodes = [{"name": "left", "from": "a", **CODE}, {"name": "right", "from": "b", **CODE},
             {"name": "stack", "type": "stack", "from": ["left", "right"]},
             {"name": "inner", "type": "dense", "units": 5, "activation": "tanh"},
             {"name": "first", "type": "unstack", "index": 0, "from": "inner"},
             {"name": "second", "type": "unstack", "index": 1, "from": "inner"},
             {"name": "both", "type": "multiply", "from": ["first", "second"]},
             {"name": "y", "type": "output", "units": 3, "loss": "mean_squared_error"}]
    return Case("stack, unstack", graph({"a": (7,), "b": (7,)}, nodes, "y"),
                {"features/a": draw.normal(7), "features/b": draw.normal(7),
                 "labels": draw.normal(3)})


def latent():
    """Log variances of about -40, so that what is drawn does not matter."""
    draw = Draw("gaussian_latent")
    nodes = [{"name": "code", "type": "dense", "units": 8, "from": "x"},
             {"name": "mean", "type": "subset", "begin": 0, "end": 4, "from": "code"},
             {"name": "spread", "type": "subset", "begin": 4, "end": 8, "from": "code"},
             {"name": "small", "type": "shift", "amount": -40, "from": "spread"},
             {"name": "joined", "type": "merge", "from": ["mean", "small"]},
             {"name": "z", "type": "gaussian_latent", "kl_weight": 0.5},
             {"name": "y", "type": "output", "units": 7, "loss": "mean_squared_error",
              "target": "x"}]
    return Case("gaussian_latent", graph({"x": (7,)}, nodes, "y"), {"features": draw.normal(7)})


GRAPHS = [
    *[pair(kind, {"type": kind}) for kind in (
        "merge", "add", "subtract", "multiply", "average", "max", "min", "dot", "l2_distance")],
    pair("merge of images", {"type": "merge", "axis": 1}, (4, 3, 2)),
    pair("dot of images", {"type": "dot"}, (4, 3, 2)),
    tied(), shared(), stacked(), latent(),
    pretrained("pretrained autoencoder", "mean_squared_error"),
    pretrained("pretrained sparse autoencoder", "mean_squared_error", sparsity=0.2,
               sparsity_weight=0.1, regularization={"l2": 0.1})]

CASES = [*CONVOLUTIONS, *POOLS, *MOVES, *NORMS, *UNITS, *NOISE, *GRAPHS]
