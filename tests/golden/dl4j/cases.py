"""The cases of make.py, and the numbers of each."""

import numpy as np

from zips import flat

CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


class Numbers:
    """Parameters in the order in which they are drawn, each in DL4J's order of elements."""

    def __init__(self):
        self.random = np.random.default_rng(7)
        self.all = []

    def __call__(self, *shape, order="f", low=None):
        value = self.random.normal(size=shape) * 0.5 if low is None else self.random.uniform(low, low + 1, shape)
        value = value.astype("f4")
        self.all.append(flat(value, order))
        return value.astype("f8")

    def input(self, *shape):
        return self.random.normal(size=shape).astype("f4").astype("f8")


def dense(x, w, b):
    return x @ w + b


def cell(p, nin, n, peepholes=0):
    return p(nin, 4 * n), p(n, 4 * n + peepholes), p(4 * n)
