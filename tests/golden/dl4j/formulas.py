"""What layers of Deeplearning4j compute, in float64, with channels first."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def softmax(x, axis=1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sides(size, kernel, stride, pad, dilation, mode):
    """Padding before and behind."""
    reach = kernel + (kernel - 1) * (dilation - 1)
    if mode == "Same":
        total = max(0, (-(-size // stride) - 1) * stride + reach - size)
        return total // 2, total - total // 2
    if mode == "Causal":
        return (kernel - 1) * dilation, 0
    return pad, pad


def windows(x, kernel, stride, pad, dilation, mode, fill):
    """[N, C, out..., kernel...]"""
    d = len(kernel)
    around = [sides(x.shape[2 + k], kernel[k], stride[k], pad[k], dilation[k], mode) for k in range(d)]
    x = np.pad(x, [(0, 0), (0, 0)] + around, constant_values=fill)
    reach = [kernel[k] + (kernel[k] - 1) * (dilation[k] - 1) for k in range(d)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + d)))
    some = (slice(None),) * 2 + tuple(slice(None, None, s) for s in stride) + tuple(slice(None, None, s) for s in dilation)
    return view[some]


def conv(x, w, b, stride, pad=None, dilation=None, mode="Truncate"):
    """w: [filters, channels, kernel...]"""
    d = w.ndim - 2
    seen = windows(x, w.shape[2:], stride, pad or [0] * d, dilation or [1] * d, mode, 0)
    letters = "xyz"[:d], "ijk"[:d]
    y = np.einsum(f"nc{letters[0]}{letters[1]},fc{letters[1]}->nf{letters[0]}", seen, w)
    return y + b.reshape((1, -1) + (1,) * d)


def depthwise(x, w, mode="Truncate", stride=(1, 1)):
    """w: [kernel, kernel, channels, multiplier]; output channel c multiplier + m."""
    seen = windows(x, w.shape[:2], stride, [0, 0], [1, 1], mode, 0)
    y = np.einsum("ncabij,ijcm->ncmab", seen, w)
    return y.reshape((len(x), -1) + y.shape[3:])


def deconv(x, w, b, stride, pad):
    """w: [channels, filters, kernel, kernel]"""
    n, _, height, width = x.shape
    kh, kw = w.shape[2:]
    y = np.zeros((n, w.shape[1], (height - 1) * stride + kh, (width - 1) * stride + kw))
    for i in range(height):
        for j in range(width):
            y[:, :, i * stride:i * stride + kh, j * stride:j * stride + kw] += np.einsum("nc,cfij->nfij", x[:, :, i, j], w)
    y = y[:, :, pad:y.shape[2] - pad, pad:y.shape[3] - pad]
    return y + b[None, :, None, None]


def pool(x, kind, kernel, stride, pad=None, mode="Truncate", include=True, p=2):
    d = len(kernel)
    pad = pad or [0] * d
    axes = tuple(range(-d, 0))
    see = lambda v, fill: windows(v, kernel, stride, pad, [1] * d, mode, fill)
    if kind == "MAX":
        return see(x, -np.inf).max(axes)
    if kind == "PNORM":
        return (np.abs(see(x, 0)) ** p).sum(axes) ** (1 / p)
    total = see(x, 0).sum(axes)
    if kind == "SUM":
        return total
    return total / (np.prod(kernel) if include else see(np.ones_like(x), 0).sum(axes))


def batch_norm(x, gamma, beta, mean, variance, eps=1e-5):
    at = (1, -1) + (1,) * (x.ndim - 2)
    return gamma.reshape(at) * (x - mean.reshape(at)) / np.sqrt(variance.reshape(at) + eps) + beta.reshape(at)


def lrn(x, k=2, n=5, alpha=1e-4, beta=0.75):
    total = np.zeros_like(x)
    for c in range(x.shape[1]):
        low, high = max(0, c - n // 2), min(x.shape[1], c + n // 2 + 1)
        total[:, c] = (x[:, low:high] ** 2).sum(1)
    return x / (k + alpha * total) ** beta


def lstm(x, w, rw, b, act=np.tanh, gate=sigmoid, peepholes=False):
    """x: [N, C, T]; blocks of columns: candidate, forget, output, input."""
    n = rw.shape[0]
    h = c = np.zeros((len(x), n))
    out = []
    for t in range(x.shape[2]):
        a, f, o, i = np.split(x[:, :, t] @ w + h @ rw[:, :4 * n] + b, 4, 1)
        if peepholes:
            f, i = f + c * rw[:, 4 * n], i + c * rw[:, 4 * n + 2]
        c = gate(f) * c + gate(i) * act(a)
        if peepholes:
            o = o + c * rw[:, 4 * n + 1]
        h = gate(o) * act(c)
        out.append(h)
    return np.stack(out, 2)


def simple_rnn(x, w, rw, b, act=np.tanh):
    h, out = np.zeros((len(x), rw.shape[0])), []
    for t in range(x.shape[2]):
        h = act(x[:, :, t] @ w + h @ rw + b)
        out.append(h)
    return np.stack(out, 2)


def both(cell, x, forward, backward, join):
    return join(cell(x, *forward), cell(x[:, :, ::-1], *backward)[:, :, ::-1])


def each_step(f, x):
    return np.stack([f(x[:, :, t]) for t in range(x.shape[2])], 2)
