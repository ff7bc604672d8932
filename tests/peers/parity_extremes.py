"""Cases at the ends: numbers before activations and losses of up to a hundred,
whole examples of padding, losses of steps with masks."""

from parity_case import Case, Draw, chain, graph, regression
from parity_training import PLAIN, SPELT

STEEP = ("cube", "exp")  # have no such arguments in float32
SLOW = {"type": "sgd", "learning_rate": 1e-3}


def far(name, output, labels, factor=30.0):
    """The first step alone, as what a step changes is far away as well.  Numbers are
    of all sizes up to the factor: of large ones alone, what comes back through a
    sigmoid would be the rounding of 1 - y."""
    draw = Draw(name)
    layers = [{"type": "scale", "factor": factor}, {"type": "element_multiply"}]
    features = draw.normal(4) * factor ** (draw.uniform(4) - 1)
    return Case(name, chain((4,), layers, output=output, updater=SLOW),
                {"features": features, "labels": labels(draw)}, steps=1)


def classes(draw):
    return draw.classes(4)


def binary(draw):
    return draw.classes(2, 4).float()


def shares(draw):
    t = draw.uniform(4) + 0.05
    return t / t.sum(-1, keepdim=True)


def loss(kind, **more):
    return {"type": "loss", "units": 4, "loss": kind, **more}


def normal(draw):
    return draw.normal(4)


FAR = [
    *[far(f"far {kind}", {"type": "output", "units": 3, "loss": "mean_squared_error",
                          "activation": kind}, lambda draw: draw.normal(3),
          8.0 if kind == "softmax" else 30.0)  # else a row or two alone have gradients
      for kind in PLAIN if kind not in STEEP],
    *[far(f"far {kind} {i + 1}", {"type": "output", "units": 3, "loss": "mean_squared_error",
                                  "activation": {"type": kind, **settings}},
          lambda draw: draw.normal(3))
      for kind, all_of in SPELT.items() for i, settings in enumerate(all_of)],
    far("far negative_log_likelihood", loss("negative_log_likelihood"), classes),
    far("far nll, smoothing", loss("negative_log_likelihood", label_smoothing=0.1), classes),
    far("far binary_cross_entropy", loss("binary_cross_entropy"), binary),
    far("far kl_divergence", loss("kl_divergence", activation="softmax"), shares),
    far("far focal", loss("focal"), classes),
    far("far focal, gamma", loss({"type": "focal", "gamma": 0.5}), classes),
    far("far binary_focal", loss("binary_focal"), binary),
    far("far poisson", loss("poisson", activation="exp"), shares, 6.0),
    far("far exponential", loss("exponential", activation="exp"), shares, 6.0),
    far("far log_cosh", loss("log_cosh"), normal),
    far("far huber", loss("huber"), normal),
    far("far cosine_proximity", loss("cosine_proximity"), normal),
]

SERIES = (7, 4)
STEPS = {"return_sequences": True}
LSTM = {"type": "lstm", "units": 5}


def of_steps(name, output, labels, mask=None, padded=True, layers=(), **more):
    """A loss at each step; mask(draw): labels_mask."""
    draw = Draw(name)
    data = {"features": draw.normal(*SERIES), "labels": labels(draw)}
    if padded:
        data["features_mask"] = draw.mask(SERIES[0])
    if mask:
        data["labels_mask"] = mask(draw)
    return Case(name, chain(SERIES, [{**LSTM, **STEPS}, *layers], output=output), data, **more)


NLL = {"type": "output", "units": 4, "loss": "negative_log_likelihood"}
BINARY = {"type": "output", "units": 3, "loss": "binary_cross_entropy"}


def class_of_step(draw):
    return draw.classes(4, SERIES[0])


LOSSES = [
    of_steps("steps nll", NLL, class_of_step, padded=False),
    of_steps("steps nll, masked", NLL, class_of_step),
    of_steps("steps nll, labels_mask", NLL, class_of_step, lambda d: d.uniform(SERIES[0])),
    of_steps("steps nll, mask of labels alone", NLL, class_of_step,
             lambda d: d.mask(SERIES[0]), padded=False),
    of_steps("steps nll, mask of examples", NLL, class_of_step, lambda d: d.uniform()),
    of_steps("steps nll, weights", {**NLL, "class_weights": [0.5, 2, 1, 3],
                                    "label_smoothing": 0.1}, class_of_step),
    of_steps("steps binary_cross_entropy", BINARY,
             lambda d: d.classes(2, SERIES[0], 3).float()),
    of_steps("steps gaussian", {"type": "output", "units": 3, "loss": "gaussian"},
             lambda d: d.normal(SERIES[0], 3)),
    of_steps("steps cosine_proximity", {"type": "output", "units": 3,
                                        "loss": "cosine_proximity"},
             lambda d: d.normal(SERIES[0], 3)),
    of_steps("steps behind conv1d of stride", NLL, lambda d: d.classes(4, 4), layers=[
        {"type": "conv1d", "filters": 4, "kernel": 3, "stride": 2, "padding": "same"}]),
    of_steps("steps loss layer", {"type": "loss", "units": 5, "loss": "huber"},
             lambda d: d.normal(SERIES[0], 5)),
]


def empty(name, layers, **more):
    """The second example is padding alone."""
    case = regression(name, SERIES, layers, masked=True, **more)
    case.data["features_mask"][1] = 0
    return case


EMPTY = [
    *[empty(f"padding alone, {kind}", [{"type": kind, "units": 4}])
      for kind in ("lstm", "gru", "simple_rnn")],
    empty("padding alone, both ways", [{**LSTM, "bidirectional": "concat"}]),
    *[empty(f"padding alone, {kind}", [{**LSTM, **STEPS}, {"type": "global_pool", "kind": kind}],
            updater=SLOW) for kind in ("max", "average", "sum", "pnorm")],
    *[empty(f"padding alone, {kind}", [{"type": kind, **more}, LSTM])
      for kind, more in (("conv1d", {"filters": 4, "kernel": 3}), ("max_pool1d", {}),
                         ("average_pool1d", {}), ("batch_norm", {}), ("reverse", {}))],
]


def of_segments(kind, **more):
    """Parameters move after each three steps."""
    name = f"tbptt_update of {kind}"
    case = of_steps(name, NLL, class_of_step)
    layers = [{"type": "conv1d", "filters": 4, "kernel": 1},
              {"type": kind, "units": 5, **STEPS, **more}, {"type": "gru", "units": 4, **STEPS}]
    case.network = chain(SERIES, layers, output=NLL, tbptt_length=3, tbptt_update=True,
                         updater={"type": "adam", "learning_rate": {
                             "schedule": "exponential", "initial": 0.01, "decay": 0.95}})
    return case


SEGMENTS = [of_segments("lstm", peepholes=True), of_segments("gru", reset_before=True),
            of_segments("simple_rnn")]


def films():
    draw = Draw("time_distributed conv2d")
    layers = [{"type": "conv2d", "filters": 4, "kernel": [2, 2], "activation": "tanh",
               "time_distributed": True},
              {"type": "max_pool2d", "time_distributed": True},
              {"type": "flatten", "time_distributed": True}, LSTM]
    return Case("time_distributed conv2d", chain((5, 6, 5, 2), layers), {
        "features": draw.normal(5, 6, 5, 2), "labels": draw.normal(3)})


def copies():
    """An output of copies: losses and predictions are the means of theirs."""
    draw = Draw("output of a stack")
    nodes = [{"name": "left", "type": "dense", "units": 5, "from": "x"},
             {"name": "right", "type": "dense", "units": 5, "from": "x"},
             {"name": "stack", "type": "stack", "from": ["left", "right"]},
             {"name": "y", "type": "output", "units": 3, "loss": "mean_squared_error"}]
    return Case("output of a stack", graph({"x": (7,)}, nodes, "y"),
                {"features": draw.normal(7), "labels": draw.normal(3)})


CASES = [*FAR, *LOSSES, *EMPTY, *SEGMENTS, films(), copies()]
