"""A network with data, which both sides of parity.py train, and what cases are
made with."""

import dataclasses
import zlib

import torch

BATCH, BATCHES = 6, 3
RATE = {"type": "sgd", "learning_rate": 0.05}


@dataclasses.dataclass
class Case:
    name: str
    network: dict
    data: dict
    batch: int = BATCH
    steps: int = 20  # 0: predictions alone
    zero: tuple = ()  # parameters whose gradients are 0 but for rounding
    bounds: dict = dataclasses.field(default_factory=dict)  # others than 1e-5
    pretrain: str = ""  # the layer that learns by itself
    double: bool = False  # beside PyTorch's float64, as its float32 is too far from it

    @property
    def groups(self):
        first = ["first/", "first_mask/"]
        return [*first, "last/", "last_mask/"] if self.steps else first


class Draw:
    """Numbers that follow from a case's name alone."""

    def __init__(self, name, examples=BATCH * BATCHES):
        self.random = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        self.examples = examples

    def normal(self, *shape):
        return torch.randn(self.examples, *shape, generator=self.random)

    def uniform(self, *shape):
        return torch.rand(self.examples, *shape, generator=self.random)

    def classes(self, count, *shape):
        return torch.randint(count, (self.examples, *shape), generator=self.random,
                             dtype=torch.int32)

    def mask(self, steps):
        """Padding at the ends, and holes; the first step of each counts."""
        lengths = 1 + self.classes(steps, 1)
        kept = (torch.arange(steps) < lengths) & (self.uniform(steps) < 0.8)
        kept[:, 0] = True
        return kept.float()


def chain(shape, layers, units=3, loss="mean_squared_error", output=None, **top):
    """A network of these layers and an output."""
    last = output or {"type": "output", "units": units, "loss": loss}
    return {"seed": 3, "input": {"shape": list(shape)}, "updater": RATE, **top,
            "layers": [*layers, last]}


def graph(shapes, nodes, outputs, **top):
    return {"seed": 3, "inputs": [{"name": n, "shape": list(s)} for n, s in shapes.items()],
            "updater": RATE, **top, "nodes": nodes, "outputs": outputs}


def regression(name, shape, layers, units=3, targets=None, **more):
    """Of reals; more: of Case, and of the network."""
    own = {k: more.pop(k) for k in ("steps", "zero", "bounds", "batch") if k in more}
    draw = Draw(name, own.get("batch", BATCH) * BATCHES)
    mask = {"features_mask": draw.mask(shape[0])} if more.pop("masked", False) else {}
    targets = [units] if targets is None else targets
    return Case(name, chain(shape, layers, units, **more),
                {"features": draw.normal(*shape), "labels": draw.normal(*targets), **mask}, **own)
