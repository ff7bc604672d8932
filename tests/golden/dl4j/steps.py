"""steps.zip and steps-after.zip: a model with the state of every updater, and what two further steps make of it.

Of DL4J's rules: gradients are the mean over the mini-batch, l1 and l2 are added before the updater, weight decay behind it.
"""

import pathlib

import numpy as np

import formulas as f
from cases import Numbers
from zips import chain, layer, output, save

LEARNING = "org.nd4j.linalg.learning."
FIXED = {"@class": "org.nd4j.linalg.schedule.FixedSchedule"}
SIZES = [3, 4, 3, 4, 3, 4, 3, 4, 3, 2]
BATCH = np.array([[i / 8, i % 3 / 4, i * 5 % 7 / 8] for i in range(8)])
CLASSES = np.array([i % 2 for i in range(8)])

BETAS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
UPDATERS = [("Sgd", {"learningRate": 0.1}), ("Nesterovs", {"learningRate": 0.05, "momentum": 0.8}),
            ("AdaGrad", {"learningRate": 0.05, "epsilon": 1e-6}), ("RmsProp", {"learningRate": 0.01, "rmsDecay": 0.9, "epsilon": 1e-8}),
            ("AdaDelta", {"rho": 0.9, "epsilon": 1e-6}), ("Adam", {"learningRate": 0.01, **BETAS}),
            ("AdaMax", {"learningRate": 0.01, **BETAS}), ("AMSGrad", {"learningRate": 0.01, **BETAS}),
            ("AdaBelief", {"learningRate": 0.01, **BETAS, "epsilon": 1e-14})]
STATES = [0, 1, 1, 1, 2, 2, 2, 3, 2]
COSTS = [[], [("L2", "l2", 0.01)], [("L1", "l1", 0.02)], [("L1", "l1", 0.01), ("L2", "l2", 0.02)], [], [("L2", "l2", 0.03)],
         [("WeightDecay", "coeff", 0.1)], [], []]


def update(kind, c, g, s, t):
    """What is subtracted; s: its state, t: steps before this one."""
    lr = c.get("learningRate")
    if kind == "Sgd":
        return lr * g
    if kind == "Nesterovs":
        v = s[0].copy()
        s[0] = c["momentum"] * v - lr * g
        return c["momentum"] * v - (1 + c["momentum"]) * s[0]
    if kind == "AdaGrad":
        s[0] = s[0] + g * g
        return lr * g / (np.sqrt(s[0]) + c["epsilon"])
    if kind == "RmsProp":
        s[0] = c["rmsDecay"] * s[0] + (1 - c["rmsDecay"]) * g * g
        return lr * g / (np.sqrt(s[0]) + c["epsilon"])
    if kind == "AdaDelta":
        s[0] = c["rho"] * s[0] + (1 - c["rho"]) * g * g
        u = g * np.sqrt(s[1] + c["epsilon"]) / np.sqrt(s[0] + c["epsilon"])
        s[1] = c["rho"] * s[1] + (1 - c["rho"]) * u * u
        return u
    b1, b2, e = c["beta1"], c["beta2"], c["epsilon"]
    s[0] = b1 * s[0] + (1 - b1) * g
    alpha = lr * np.sqrt(1 - b2 ** (t + 1)) / (1 - b1 ** (t + 1))
    if kind == "AdaMax":
        s[1] = np.maximum(b2 * s[1], abs(g)) + 1e-32
        return lr / (1 - b1 ** (t + 1)) * s[0] / s[1]
    if kind == "AdaBelief":
        s[1] = b2 * s[1] + (1 - b2) * (g - s[0]) ** 2 + e
        return alpha * s[0] / (np.sqrt(s[1]) + e)
    s[1] = b2 * s[1] + (1 - b2) * g * g
    if kind == "Adam":
        return alpha * s[0] / (np.sqrt(s[1]) + e)
    s[2] = np.maximum(s[2], s[1])
    return alpha * s[0] / (np.sqrt(s[2]) + e)


def gradients(weights, biases):
    values = [BATCH]
    for w, b in zip(weights[:-1], biases[:-1]):
        values.append(np.tanh(values[-1] @ w + b))
    delta = f.softmax(values[-1] @ weights[-1] + biases[-1])
    delta[np.arange(len(delta)), CLASSES] -= 1
    delta /= len(delta)
    of_weights, of_biases = [], []
    for k in reversed(range(len(weights))):
        of_weights.insert(0, values[k].T @ delta)
        of_biases.insert(0, delta.sum(0))
        delta = (delta @ weights[k].T) * (1 - values[k] ** 2)
    return of_weights, of_biases


def step(weights, biases, states, t):
    for k, (gw, gb) in enumerate(zip(*gradients(weights, biases))):
        decay = 0
        for kind, _, cost in COSTS[k]:
            if kind == "WeightDecay":  # of the learning rate
                decay = cost * UPDATERS[k][1]["learningRate"]
            else:
                gw = gw + cost * (np.sign(weights[k]) if kind == "L1" else weights[k])
        g = np.concatenate([gw.ravel("F"), gb])
        u = update(*UPDATERS[k], g, states[k], t)
        n = gw.size
        weights[k] = weights[k] - (u[:n].reshape(gw.shape, order="F") + decay * weights[k])
        biases[k] = biases[k] - u[n:]


def make(folder):
    p = Numbers()
    weights, biases, layers = [], [], []
    for k, (kind, numbers) in enumerate(UPDATERS):
        nin, nout = SIZES[k:k + 2]
        weights.append(p(nin, nout))
        biases.append(p(nout))
        costs = [{"@class": LEARNING + "regularization." + name + ("" if name == "WeightDecay" else "Regularization"),
                  key: {**FIXED, "value": cost}, **({"applyLR": True} if name == "WeightDecay" else {})} for name, key, cost in COSTS[k]]
        one = {"nin": nin, "nout": nout, "iupdater": {"@class": LEARNING + "config." + kind, **numbers}, "regularization": costs}
        layers.append(layer("DenseLayer", "TanH", **one) if k < 8 else output("OutputLayer", **one))
    states = [[p.random.uniform(0.001, 0.01, w.size + b.size).astype("f4").astype("f8") for _ in range(n)]
              for w, b, n in zip(weights, biases, STATES)]
    flat = [s for layer_states in states for s in layer_states]
    made = chain(layers)
    made["iterationCount"] = 3
    save(folder / "steps.zip", made, p.all, state=np.concatenate(flat))
    for t in (3, 4):
        step(weights, biases, states, t)
    after = [part for w, b in zip(weights, biases) for part in (w.ravel("F"), b)]
    save(folder / "steps-after.zip", made, after)

