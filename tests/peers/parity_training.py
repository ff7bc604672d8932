"""Cases of activations, losses, updaters and what else is done to gradients and
weights: on small dense networks."""

from parity_case import RATE, Case, Draw, chain, regression

CODE = {"type": "dense", "units": 6, "activation": "tanh"}
VECTOR = (7,)

# Others than the defaults, where there are parameters.
SPELT = {"leaky_relu": [{"alpha": 0.2}], "elu": [{"alpha": 0.7}], "gelu": [{"approximate": True}],
         "capped_relu": [{"max": 0.8}, {"max": 0.9, "threshold": 0.2, "negative_slope": 0.1}],
         "thresholded_relu": [{"theta": 0.3}], "swish": [{"beta": 1.702}],
         "hard_sigmoid": [{"slope": 1 / 6}, {"slope": 0.5}]}
PLAIN = ["identity", "relu", "leaky_relu", "elu", "gelu", "sigmoid", "tanh", "softplus",
         "softmax", "relu6", "thresholded_relu", "selu", "swish", "mish", "softsign", "cube",
         "hard_sigmoid", "hard_tanh", "rational_tanh", "rectified_tanh", "exp", "log_softmax"]


# Activations that grow without bound at the rate of the others.
STEEP = ("cube", "exp", "log_softmax")


def activated(name, spec):
    """In a layer, by itself, and behind a convolution, whose kernels may have it."""
    updater = {"type": "sgd", "learning_rate": 1e-5 if name in STEEP else 0.01}
    return [
        regression(f"activation {name}", VECTOR, [
            {"type": "dense", "units": 9, "activation": "tanh" if name in STEEP else spec},
            {"type": "dense", "units": 19}, {"type": "activation", "activation": spec}],
            updater=updater),
        regression(f"activation {name}, conv2d", (5, 4, 3), [
            {"type": "conv2d", "filters": 4, "kernel": [2, 2], "activation": spec}],
            updater=updater)]


ACTIVATIONS = [case for name in PLAIN for case in activated(name, name)]
ACTIVATIONS += [case for name, all_of in SPELT.items() for i, settings in enumerate(all_of)
                for case in activated(f"{name} {i + 1}", {"type": name, **settings})]


def learnt(name, loss, labels, units=4, activation=None, **settings):
    """A loss with targets that labels(draw) makes."""
    draw = Draw(name)
    output = {"type": "output", "units": units, "loss": loss,
              **({"activation": activation} if activation else {}), **settings}
    # The gradient of a percentage is a hundred times as large.
    rate = 0.0005 if loss == "mean_absolute_percentage_error" else 0.05
    return Case(name, chain(VECTOR, [CODE], output=output,
                            updater={"type": "sgd", "learning_rate": rate}),
                {"features": draw.normal(*VECTOR), "labels": labels(draw)})


def reals(draw):
    return draw.normal(4)


def positive(draw):
    return 0.2 + 2 * draw.uniform(4)


def classes(draw):
    return draw.classes(4)


def shares(draw):
    t = draw.uniform(4) + 0.05
    return t / t.sum(-1, keepdim=True)


def zero_or_one(draw):
    return draw.classes(2, 4).float()


def signs(draw):
    return 2.0 * draw.classes(2, 4) - 1


WEIGHTS = {"class_weights": [0.5, 1.5, 2, 0.25]}
LOSSES = [
    *[learnt(f"loss {kind}", kind, reals) for kind in (
        "mean_squared_error", "mean_absolute_error", "l1", "l2", "huber", "log_cosh",
        "cosine_proximity", "gaussian")],
    learnt("loss huber, delta", {"type": "huber", "delta": 0.4}, reals),
    learnt("loss gaussian, tanh", "gaussian", reals, activation="tanh"),
    learnt("loss mean_squared_error, weights", "mean_squared_error", reals, **WEIGHTS),
    learnt("loss l1, softmax", "l1", shares, activation="softmax"),
    learnt("loss mean_absolute_percentage_er", "mean_absolute_percentage_error", positive),
    learnt("loss mean_squared_logarithmic", "mean_squared_logarithmic_error", positive,
           activation="softplus"),
    learnt("loss negative_log_likelihood", "negative_log_likelihood", classes),
    learnt("loss negative_log_likelihood, t", "negative_log_likelihood", shares),
    learnt("loss nll, smoothing", "negative_log_likelihood", classes, label_smoothing=0.2),
    learnt("loss nll, weights, smoothing", "negative_log_likelihood", classes,
           label_smoothing=0.1, **WEIGHTS),
    learnt("loss nll, loss_weight", "negative_log_likelihood", classes, loss_weight=0.3),
    learnt("loss binary_cross_entropy", "binary_cross_entropy", zero_or_one),
    learnt("loss binary_cross_entropy, more", "binary_cross_entropy", zero_or_one,
           label_smoothing=0.1, **WEIGHTS),
    learnt("loss binary_cross_entropy of one", "binary_cross_entropy",
           lambda draw: draw.classes(2), 1, class_weights=[0.5, 2]),
    learnt("loss kl_divergence", "kl_divergence", shares, activation="softmax"),
    learnt("loss kl_divergence, weights", "kl_divergence", shares, activation="softmax",
           **WEIGHTS),
    learnt("loss kl_divergence, sigmoid", "kl_divergence", shares, activation="sigmoid"),
    learnt("loss poisson", "poisson", positive, activation="exp"),
    learnt("loss poisson, softplus", "poisson", positive, activation="softplus"),
    learnt("loss hinge", "hinge", signs),
    learnt("loss squared_hinge", "squared_hinge", signs),
    learnt("loss categorical_hinge", "categorical_hinge", classes),
    learnt("loss wasserstein", "wasserstein", signs),
    learnt("loss focal", "focal", classes),
    learnt("loss focal, settings", {"type": "focal", "gamma": 1.5, "alpha": 0.7}, classes,
           label_smoothing=0.1, **WEIGHTS),
    learnt("loss binary_focal", "binary_focal", zero_or_one),
    learnt("loss binary_focal, settings", {"type": "binary_focal", "gamma": 1, "alpha": 0.3},
           zero_or_one, label_smoothing=0.1, **WEIGHTS),
    learnt("loss binary_focal of one", {"type": "binary_focal", "alpha": 0.3},
           lambda draw: draw.classes(2), 1, class_weights=[0.5, 2]),
    learnt("loss multi_label", "multi_label", zero_or_one),
    learnt("loss exponential", "exponential", positive),
    learnt("loss exponential, softplus", "exponential", positive, activation="softplus"),
]


def pixels():
    draw = Draw("loss of pixels")
    layers = [{"type": "conv2d", "filters": 4, "kernel": [3, 3], "padding": "same"}]
    return Case("loss of pixels", chain((5, 4, 3), layers, output={
        "type": "loss", "units": 4, "loss": "negative_log_likelihood"},
        updater={"type": "sgd", "learning_rate": 0.01}),
        {"features": draw.normal(5, 4, 3), "labels": draw.classes(4, 5, 4)})


def centred():
    draw = Draw("center_loss")
    output = {"type": "center_loss", "units": 4, "loss": "negative_log_likelihood",
              "lambda": 0.1, "alpha": 0.4}
    return Case("center_loss", chain(VECTOR, [CODE], output=output),
                {"features": draw.normal(*VECTOR), "labels": draw.classes(4)})


def masked():
    draw = Draw("labels_mask")
    return Case("labels_mask", chain(VECTOR, [CODE]), {
        "features": draw.normal(*VECTOR), "labels": draw.normal(3),
        "labels_mask": draw.uniform() * draw.classes(2)})


LOSSES += [pixels(), centred(), masked()]


def trained(name, **more):
    return regression(name, VECTOR, [CODE], **more)


def updated(kind, name="", **settings):
    return regression(f"updater {kind}{name}", VECTOR, [{**CODE, "units": 37}],
                      updater={"type": kind, **settings})


UPDATERS = [
    updated("sgd", learning_rate=0.1),
    updated("nesterov", learning_rate=0.02), updated("momentum", learning_rate=0.02),
    *[updated(kind, learning_rate=0.01) for kind in (
        "adam", "adamw", "amsgrad", "adamax", "nadam", "adabelief")],
    *[updated(kind, ", settings", learning_rate=0.01, beta1=0.8, beta2=0.95, epsilon=1e-3)
      for kind in ("adam", "amsgrad", "adamax", "nadam", "adabelief")],
    updated("adamw", ", settings", learning_rate=0.01, epsilon=1e-3, weight_decay=0.2),
    *[updated(kind, ", corrected", learning_rate=0.01, epsilon=1e-3, epsilon_at="corrected")
      for kind in ("adam", "adamw", "amsgrad", "nadam")],
    updated("adagrad", learning_rate=0.02), updated("rmsprop", learning_rate=0.01),
    updated("adagrad", ", start", learning_rate=0.02, start=0.1),
    updated("rmsprop", ", start", learning_rate=0.01, start=0, epsilon=1e-3),
    updated("rmsprop", ", settings", learning_rate=0.01, decay=0.8, epsilon=1e-3),
    updated("adadelta"), updated("adadelta", ", settings", decay=0.8, epsilon=1e-3),
    trained("bias_updater", bias_updater={"type": "nesterov", "learning_rate": 0.01}),
]


def scheduled(kind, name="", **settings):
    rate = {"schedule": kind, "initial": 0.1, **settings}
    return trained(f"schedule {kind}{name}", updater={"type": "sgd", "learning_rate": rate})


SCHEDULES = [
    scheduled("fixed"), scheduled("step", decay=0.5, every=4),
    scheduled("step", " by epoch", decay=0.5, every=2, by="epoch"),
    scheduled("exponential", decay=0.8), scheduled("polynomial", limit=15, power=2),
    scheduled("inverse", decay=0.3, power=0.7), scheduled("sigmoid", decay=0.4, middle=10),
    scheduled("cosine", limit=15, final=0.01),
    scheduled("cosine", " with warmup", limit=30, warmup=7),
    scheduled("cycle", peak=0.3, length=12, annealing=0.3),
    trained("schedule map", updater={"type": "sgd", "learning_rate": {
        "schedule": "map", "values": {"0": 0.1, "5": 0.03, "11": 0.2}}}),
    trained("schedule of adam", updater={"type": "adam", "learning_rate": {
        "schedule": "exponential", "initial": 0.02, "decay": 0.9}}),
    trained("schedule of momentum", updater={
        "type": "nesterov", "learning_rate": {"schedule": "exponential", "initial": 0.02,
                                              "decay": 0.9},
        "momentum": {"schedule": "inverse", "initial": 0.9, "decay": 0.1}}),
]

TREATED = [
    trained("l1, l2", regularization={"l1": 0.01, "l2": 0.1, "l1_bias": 0.02, "l2_bias": 0.2}),
    trained("weight_decay", regularization={"weight_decay": 0.3, "weight_decay_bias": 0.1},
            updater={"type": "adam", "learning_rate": 0.01}),
    trained("weight_decay of adamw", regularization={"weight_decay": 0.3},
            updater={"type": "adamw", "learning_rate": 0.01}),
    *[trained(f"gradient {kind}", gradient_normalization=kind, gradient_threshold=threshold)
      for kind, threshold in (
          ("none", 1), ("renormalize_l2_per_layer", 1), ("renormalize_l2_per_parameter", 1),
          ("clip_elementwise", 0.02), ("clip_l2_per_layer", 0.1),
          ("clip_l2_per_parameter", 0.1))],
    trained("clipping, then l2", gradient_normalization="clip_l2_per_layer",
            gradient_threshold=0.1, regularization={"l2": 0.5, "l1": 0.1}),
    trained("constraint max_norm", constraints={"max_norm": 0.5}),
    trained("constraint min_norm, rate", constraints={"min_norm": 1.5, "max_norm": 2,
                                                      "rate": 0.3}),
    trained("constraint non_negative, biases", constraints={
        "max_norm": 0.8, "non_negative": True, "biases": True}),
    regression("constraint of conv2d", (5, 4, 3), [
        {"type": "conv2d", "filters": 4, "kernel": [2, 2], "activation": "tanh"}],
        constraints={"max_norm": 0.5}),
    regression("frozen", VECTOR, [{**CODE, "frozen": True}, CODE], updater=RATE),
    regression("weight_noise of nothing", VECTOR, [CODE], weight_noise={"deviation": 0}),
]

CASES = [*ACTIVATIONS, *LOSSES, *UPDATERS, *SCHEDULES, *TREATED]
