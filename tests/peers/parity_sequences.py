"""Cases of layers on sequences, with padding and without."""

from parity_case import Case, Draw, chain, graph, regression

SERIES = (7, 4)
MIX = {"type": "conv1d", "filters": 6, "kernel": 1, "activation": "tanh"}
END = {"type": "lstm", "units": 3}  # makes a sequence of what goes in
SLOW = {"type": "sgd", "learning_rate": 0.01}


def both(name, layers, **more):
    """Without padding and with."""
    return [regression(name, SERIES, layers, **more),
            regression(name + ", masked", SERIES, layers, masked=True, **more)]


CELLS = [
    ("lstm", {}), ("lstm of peepholes", {"peepholes": True}),
    ("lstm of others", {"activation": "softsign", "gate_activation": "hard_sigmoid"}),
    ("lstm without bias", {"bias": False}),
    ("gru", {}), ("gru reset_before", {"reset_before": True}),
    ("gru of others", {"activation": "relu", "gate_activation": "hard_sigmoid"}),
    ("gru without bias", {"bias": False}), ("gru reset_before, no bias", {
        "reset_before": True, "bias": False}),
    ("simple_rnn", {}), ("simple_rnn without bias", {"bias": False}),
]


def steps_of(name, layers, masked=False, units=3, **more):
    """A target at each step."""
    draw = Draw(name)
    mask = {"features_mask": draw.mask(SERIES[0])} if masked else {}
    return Case(name, chain(SERIES, layers, units, **more),
                {"features": draw.normal(*SERIES), "labels": draw.normal(SERIES[0], units),
                 **mask})


RECURRENT = [case for name, settings in CELLS for layer in [
    {"type": name.split()[0], "units": 5, **settings}]
             for case in (*both(name, [MIX, layer]),
                          steps_of(name + ", each step", [MIX, {
                              **layer, "return_sequences": True}]),
                          steps_of(name + ", each step, masked", [MIX, {
                              **layer, "return_sequences": True}], True))]
RECURRENT += [case for kind in ("lstm", "gru", "simple_rnn")
              for how in ("concat", "add", "multiply", "average")
              for layer in [{"type": kind, "units": 4, "bidirectional": how}]
              for case in (*both(f"{kind} both ways, {how}", [MIX, layer]),
                           steps_of(f"{kind} both ways, {how}, steps", [MIX, {
                               **layer, "return_sequences": True}], True))]
RECURRENT += [
    regression(f"{kind} of {f}", SERIES, [
        MIX, {"type": kind, "units": 5, "activation": f,
              # Gates without bounds would let states grow with the steps.
              **({} if kind == "simple_rnn" or f == "identity" else {"gate_activation": f})}],
        updater=SLOW)
    for kind in ("lstm", "gru", "simple_rnn")
    for f in ("identity", "relu", "sigmoid", "hard_sigmoid", "hard_tanh", "softsign")]
RECURRENT += [case for kind, settings in (
    ("lstm", {"peepholes": True}), ("gru", {"reset_before": True}), ("gru", {"bias": False}))
              for case in both(f"{kind} both ways of {'/'.join(settings)}", [
                  MIX, {"type": kind, "units": 4, "bidirectional": "concat", **settings}])]
RECURRENT += [
    regression("lstm wide", (11, 19), [{"type": "lstm", "units": 35}]),
    steps_of("lstm tbptt", [MIX, {"type": "lstm", "units": 4, "return_sequences": True}],
             tbptt_length=3),
    steps_of("gru tbptt, masked", [MIX, {"type": "gru", "units": 4, "return_sequences": True}],
             True, tbptt_length=2),
]

ONE = {"kernel": 3, "stride": 2}
LAYERS = [
    ("conv1d valid", {"type": "conv1d", "filters": 4, "kernel": 3}),
    ("conv1d same", {"type": "conv1d", "filters": 4, "kernel": 4, "padding": "same"}),
    ("conv1d causal", {"type": "conv1d", "filters": 4, "kernel": 3, "dilation": 2,
                       "padding": "causal", "activation": "sigmoid"}),
    ("conv1d of gaps", {"type": "conv1d", "filters": 4, "kernel": 2, "dilation": 3}),
    ("conv1d stride", {"type": "conv1d", "filters": 4, **ONE, "padding": "same"}),
    ("conv1d causal, stride", {"type": "conv1d", "filters": 4, **ONE, "padding": "causal"}),
    ("max_pool1d", {"type": "max_pool1d"}),
    ("max_pool1d same", {"type": "max_pool1d", **ONE, "padding": "same"}),
    ("average_pool1d", {"type": "average_pool1d"}),
    ("average_pool1d same", {"type": "average_pool1d", **ONE, "padding": "same"}),
    ("max_pool1d of each step", {"type": "max_pool1d", "kernel": 3, "stride": 1,
                                 "padding": "same"}),
    ("average_pool1d of each step", {"type": "average_pool1d", "kernel": 3, "stride": 1,
                                     "padding": "same"}),
    ("upsample1d", {"type": "upsample1d"}),
    ("zero_pad1d", {"type": "zero_pad1d", "padding": [2, 1]}),
    ("crop1d", {"type": "crop1d", "cropping": [0, 2]}),
    ("reverse", {"type": "reverse"}),
    ("batch_norm of steps", {"type": "batch_norm"}),
    ("layer_norm of steps", {"type": "layer_norm"}),
    ("group_norm of steps", {"type": "group_norm", "groups": 2, "epsilon": 0.01}),
    ("positional_embedding", {"type": "positional_embedding"}),
    ("positional_embedding of waves", {"type": "positional_embedding", "sinusoidal": True}),
    ("multi_head_attention", {"type": "multi_head_attention", "heads": 2, "head_size": 3}),
    ("multi_head_attention causal", {"type": "multi_head_attention", "heads": 2,
                                     "head_size": 4, "causal": True}),
    ("multi_head_attention, no bias", {"type": "multi_head_attention", "heads": 1,
                                       "head_size": 3, "bias": False}),
    ("dense of each step", {"type": "dense", "units": 4, "activation": "tanh"}),
    ("masking", {"type": "masking", "value": 0}),
    ("time_distributed", {"type": "layer_norm", "time_distributed": True}),
]
# Softmax takes off what is added to all queries' products alike.
SHIFTED = ("multi_head_attention1/key_bias",)
MOVED = [case for name, layer in LAYERS
         for case in both(name, [MIX, layer, END],
                          zero=SHIFTED if "attention" in name else ())]
# The layer behind them skips padding; with the mask turned it reads some.
TURNED = {"type": "reverse", "turns": "mask"}
MOVED += [case for name, layers in (
    ("hold", [{"type": "hold"}, TURNED]), ("reverse of all", [{"type": "reverse", "turns": "all"}]),
    ("reverse of the mask", [TURNED]),
    ("masking that clears", [{"type": "masking", "value": 0, "clears": True}, TURNED]))
          for case in both(name, [MIX, *layers, END])]
POOLED = [case for kind in ("max", "average", "sum", "pnorm")
          for case in both(f"global_pool of steps, {kind}", [
              MIX, {"type": "lstm", "units": 4, "return_sequences": True},
              {"type": "global_pool", "kind": kind}], updater=SLOW)]
POOLED += both("last_step", [MIX, {"type": "lstm", "units": 4, "return_sequences": True},
                             {"type": "last_step"}])


def tokens(name, **settings):
    draw = Draw(name)
    layers = [{"type": "embedding", "rows": 6, "units": 4, **settings},
              {"type": "gru", "units": 4}]
    return Case(name, chain((7,), layers), {"features": draw.classes(6, 7),
                                            "labels": draw.normal(3)})


def repeated():
    draw = Draw("repeat")
    return Case("repeat", chain((4,), [{"type": "dense", "units": 4, "activation": "tanh"},
                                       {"type": "repeat", "n": 5},
                                       {"type": "simple_rnn", "units": 3}]),
                {"features": draw.normal(4), "labels": draw.normal(3)})


def of_two(name, nodes, masked=()):
    """Two series, a and b, of five numbers a step when they have been mixed."""
    draw, steps = Draw(name), {"a": 7, "b": 5}
    data = {f"features/{n}": draw.normal(steps[n], 4) for n in steps}
    data |= {f"features_mask/{n}": draw.mask(steps[n]) for n in masked}
    begin = [{"name": "left", "from": "a", **MIX}, {"name": "right", "from": "b", **MIX}]
    end = [{"name": "end", **END},
           {"name": "y", "type": "output", "units": 3, "loss": "mean_squared_error"}]
    zero = tuple(n["name"] + "/key_bias" for n in nodes if "heads" in n)
    return Case(name, graph({n: (s, 4) for n, s in steps.items()}, [*begin, *nodes, *end], "y"),
                {**data, "labels": draw.normal(3)}, zero=zero)


ATTENTION = {"name": "seen", "type": "multi_head_attention", "heads": 2, "head_size": 3,
             "from": ["left", "right"]}
VECTOR_LIKE = [{"name": "code", "type": "last_step", "from": "left"},
               {"name": "like", "type": "repeat_like", "from": ["code", "right"]}]
GRAPHS = [
    of_two("attention of two", [ATTENTION]),
    of_two("attention of two, masked", [ATTENTION], "ab"),
    of_two("repeat_like", VECTOR_LIKE),
    of_two("repeat_like, masked", VECTOR_LIKE, "ab"),
]
CASES = [*RECURRENT, *MOVED, *POOLED, tokens("embedding"),
         tokens("embedding of mask_zero", mask_zero=True), repeated(), *GRAPHS]
