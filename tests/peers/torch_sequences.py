"""The layers of dl-layers(5) that read sequences, [n, steps, features], as
torch_layers.py has the others.  Masks are [n, steps], 0 where a step is padding."""

import math

import torch
import torch.nn.functional as F

from torch_layers import convolve, first, last, pooled, windows
from torch_losses import activate


def keep(mask, new, old):
    return new if mask is None else torch.where(mask[:, None] > 0, new, old)


def lstm_cell(layer, p, x, state, units):
    h, c = state
    s = lambda v: activate(layer["gate_activation"], v)
    i, f, g, o = (x + h @ p["recurrent_weight"].T).chunk(4, -1)
    peep = p["peephole"] if "peephole" in p else torch.zeros(3, units, dtype=x.dtype)
    i, f = s(i + peep[0] * c), s(f + peep[1] * c)
    c = f * c + i * activate(layer["activation"], g)
    return s(o + peep[2] * c) * activate(layer["activation"], c), c


def gru_cell(layer, p, x, state, units):
    h, = state
    s = lambda v: activate(layer["gate_activation"], v)
    z, r, n = x.chunk(3, -1)
    weights = p["recurrent_weight"].chunk(3)
    z, r = s(z + h @ weights[0].T), s(r + h @ weights[1].T)
    if layer.get("reset_before"):
        n = n + (r * h) @ weights[2].T
    else:
        behind = p["bias"][3 * units:] if "bias" in p else 0
        n = n + r * (h @ weights[2].T + behind)
    return (z * h + (1 - z) * activate(layer["activation"], n),)


def rnn_cell(layer, p, x, state, units):
    return (activate(layer["activation"], x + state[0] @ p["recurrent_weight"].T),)


def plain(layer):
    """Whether PyTorch's own has these activations."""
    return (layer["activation"] == "tanh" and not layer.get("reset_before") and
            layer.get("gate_activation", "sigmoid") == "sigmoid")


def of_torch(layer, p, x):
    """PyTorch's own LSTM, GRU or RNN: the states after each step."""
    blocks, units = p["weight"].shape[0] // layer["units"], layer["units"]
    w, u = p["weight"], p["recurrent_weight"]
    bias = p.get("bias", torch.zeros(4 * units, dtype=x.dtype))[:blocks * units]
    behind = torch.zeros_like(bias)
    start = torch.zeros(1, len(x), units, dtype=x.dtype)
    if layer["type"] == "gru":
        order = [1, 0, 2]  # r, z, n are theirs
        w, u, bias = (torch.cat([v.chunk(3)[i] for i in order]) for v in (w, u, bias))
        last_of = p["bias"][3 * units:] if "bias" in p else torch.zeros(units, dtype=x.dtype)
        behind = torch.cat([torch.zeros(2 * units, dtype=x.dtype), last_of])
    arguments = ([w, u, bias, behind], True, 1, 0.0, False, False, True)
    if layer["type"] == "lstm":
        return torch.lstm(x, (start, start), *arguments)[0]
    return {"gru": torch.gru, "simple_rnn": torch.rnn_tanh}[layer["type"]](
        x, start, *arguments)[0]


def by_hand(run, layer, p, x, mask):
    cell, states = {"lstm": (lstm_cell, 2), "gru": (gru_cell, 1),
                    "simple_rnn": (rnn_cell, 1)}[layer["type"]]
    units, blocks = layer["units"], p["weight"].shape[0]
    projected = F.linear(x, p["weight"], p["bias"][:blocks] if "bias" in p else None)
    state = run.carried.get(layer["name"]) or tuple(
        torch.zeros(len(x), units, dtype=x.dtype) for _ in range(states))
    outputs = []
    for t in range(x.shape[1]):
        step = None if mask is None else mask[:, t]
        if run.truncate and t > 0 and t % run.truncate == 0:
            state = tuple(s.detach() for s in state)
        after = cell(layer, p, projected[:, t], state, units)
        state = tuple(keep(step, new, old) for new, old in zip(after, state))
        outputs.append(state[0])
    if run.segment:
        run.carried[layer["name"]] = tuple(s.detach() for s in state)
    return torch.stack(outputs, 1)


def direction(run, layer, p, x, mask):
    if plain(layer) and mask is None and "peephole" not in p and not (
            run.truncate or run.segment):
        return of_torch(layer, p, x)
    return by_hand(run, layer, p, x, mask)


def recurrent(run, layer, p, xs, masks):
    x, mask, how = xs[0], masks[0], layer["bidirectional"]
    ways = [direction(run, layer, p, x, mask)]
    if how != "none":
        backward = {k[len("backward_"):]: v for k, v in p.items() if k.startswith("backward_")}
        turned = None if mask is None else mask.flip(1)
        ways.append(direction(run, layer, backward, x.flip(1), turned).flip(1))
    if not layer["return_sequences"]:
        # A state that padding keeps is the one after the last step that counts.
        ways = [ways[0][:, -1]] + [y[:, 0] for y in ways[1:]]
    elif mask is not None:
        ways = [y * mask[..., None] for y in ways]
    both = {"none": lambda a: a, "concat": lambda a, b: torch.cat([a, b], -1),
            "add": lambda a, b: a + b, "multiply": lambda a, b: a * b,
            "average": lambda a, b: (a + b) / 2}[how](*ways)
    return both if layer["return_sequences"] else (both, None)


def window_mask(layer, mask):
    """1 for steps of the output whose window, with its gaps, has one that counts."""
    layer, pads = windows(layer, mask[..., None])
    reach = (layer["kernel"][0] - 1) * layer.get("dilation", [1])[0] + 1
    return F.max_pool1d(F.pad(mask[:, None], pads[0]), reach, layer["stride"])[:, 0]


def mask_behind(mask, made):
    """It stays where steps stay as many."""
    return mask if mask.shape == made.shape else made


def conv1d(run, layer, p, xs, masks):
    x, mask = xs[0], masks[0]
    if mask is not None:
        x = x * mask[..., None]
    y = activate(layer["activation"], convolve(layer, x, p["weight"], p.get("bias")))
    return y, None if mask is None else mask_behind(mask, window_mask(layer, mask))


def max_pool1d(run, layer, p, xs, masks):
    if masks[0] is None:
        return pooled("max", layer, xs[0])
    mask = window_mask(layer, masks[0])
    y = pooled("max", layer, xs[0].masked_fill(masks[0][..., None] == 0, -torch.inf))
    return torch.where(mask[..., None] > 0, y, 0.0), mask_behind(masks[0], mask)


def average_pool1d(run, layer, p, xs, masks):
    if masks[0] is None:
        return pooled("average", layer, xs[0])
    mask, layer = window_mask(layer, masks[0]), {**layer, "count_padding": True}
    total = pooled("average", layer, xs[0] * masks[0][..., None])
    share = pooled("average", layer, masks[0][..., None])
    return (torch.where(mask[..., None] > 0, total / share.clamp_min(1e-9), 0.0),
            mask_behind(masks[0], mask))


def global_pool(run, layer, p, xs, masks):
    x = xs[0].flatten(1, -2)
    counts = torch.ones_like(x[..., :1]) if masks[0] is None else masks[0][..., None]
    y = {"max": lambda: x.masked_fill(counts == 0, -torch.inf).amax(1),
         "average": lambda: (x * counts).sum(1) / counts.sum(1).clamp_min(1),
         "sum": lambda: (x * counts).sum(1),
         "pnorm": lambda: ((x * counts).abs() ** layer["p"]).sum(1) ** (1 / layer["p"]),
         }[layer["kind"]]()
    return torch.where(counts.amax(1) > 0, y, 0.0), None


def upsample1d(run, layer, p, xs, masks):
    x, mask = xs[0], masks[0]
    if mask is not None:
        mask = mask.repeat_interleave(layer["size"], 1)
    return last(F.interpolate(first(x), scale_factor=layer["size"])), mask


def zero_pad1d(run, layer, p, xs, masks):
    mask = masks[0]
    return (F.pad(xs[0], [0, 0, *layer["padding"]]),
            None if mask is None else F.pad(mask, layer["padding"], value=1))


def crop1d(run, layer, p, xs, masks):
    begin, end = layer["cropping"]
    kept = slice(begin, xs[0].shape[1] - end)
    return xs[0][:, kept], None if masks[0] is None else masks[0][:, kept]


def attention(run, layer, p, xs, masks):
    queries, keys, mask = xs[0], xs[-1], masks[-1]

    def project(x, part):
        return F.linear(x, p[part + "_weight"], p.get(part + "_bias"))
    split = [project(x, part).unflatten(-1, (layer["heads"], -1)).transpose(1, 2)
             for x, part in ((queries, "query"), (keys, "key"), (keys, "value"))]
    # All that padding sees is of no use, but must not be NaN.
    seen = None if mask is None else (mask[:, None, None, :] > 0)
    if layer["causal"]:
        steps = queries.shape[1]
        causal = torch.ones(steps, steps, dtype=torch.bool).tril()
        seen = causal if seen is None else causal & seen
    y = F.scaled_dot_product_attention(*split, attn_mask=seen)
    return project(y.transpose(1, 2).flatten(2), "output"), masks[0]


def positions(run, layer, p, xs, masks):
    if not layer["sinusoidal"]:
        return xs[0] + p["weight"]
    steps, features = xs[0].shape[1:]
    table = torch.tensor([[(math.sin, math.cos)[i % 2](t / 10000 ** (2 * (i // 2) / features))
                           for i in range(features)] for t in range(steps)])
    return xs[0] + table.to(xs[0].dtype)


def embedding(run, layer, p, xs, masks):
    rows, mask = xs[0].long(), masks[0]
    if layer["mask_zero"]:
        mask = (rows != 0).to(p["weight"].dtype) * (1 if mask is None else mask)
    return F.embedding(rows, p["weight"]), mask


def masking(run, layer, p, xs, masks):
    mask = (xs[0] != layer["value"]).any(-1).to(xs[0].dtype)
    if masks[0] is not None:
        mask = mask * masks[0]
    return xs[0] * mask[..., None] if layer.get("clears") else xs[0], mask


def last_step(run, layer, p, xs, masks):
    if masks[0] is None:
        return xs[0][:, -1], None
    steps = torch.arange(xs[0].shape[1])
    at = torch.where(masks[0] > 0, steps, 0).amax(1)
    return xs[0][torch.arange(len(at)), at], None


def of_steps(x, order):
    """The steps of x that order, [n, steps], names."""
    return x.gather(1, order[..., None].expand_as(x))


def reverse(run, layer, p, xs, masks):
    x, mask, turns = xs[0], masks[0], layer.get("turns", "counted")
    if turns != "counted":
        return (x if turns == "mask" else x.flip(1),
                None if mask is None else mask.flip(1))
    if mask is None:
        return x.flip(1)
    order = torch.arange(x.shape[1]).repeat(len(x), 1)
    for row, counts in zip(order, mask > 0):
        row[counts] = row[counts].flip(0)
    return of_steps(x, order)


def hold(run, layer, p, xs, masks):
    if masks[0] is None:
        return xs[0]
    steps = torch.arange(xs[0].shape[1])
    before = torch.where(masks[0] > 0, steps, -1).cummax(1).values
    return of_steps(xs[0], torch.where(before < 0, steps, before))


def repeat(run, layer, p, xs, masks):
    return xs[0][:, None].expand(-1, layer["n"], -1), None


def repeat_like(run, layer, p, xs, masks):
    return xs[0][:, None].expand(-1, xs[1].shape[1], -1), masks[1]


TYPES = {"lstm": recurrent, "gru": recurrent, "simple_rnn": recurrent, "conv1d": conv1d,
         "max_pool1d": max_pool1d, "average_pool1d": average_pool1d,
         "global_pool": global_pool, "upsample1d": upsample1d, "zero_pad1d": zero_pad1d,
         "crop1d": crop1d, "multi_head_attention": attention,
         "positional_embedding": positions, "embedding": embedding, "masking": masking,
         "last_step": last_step, "reverse": reverse, "hold": hold, "repeat": repeat,
         "repeat_like": repeat_like}
