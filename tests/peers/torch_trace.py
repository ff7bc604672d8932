"""What peer-trace does, by PyTorch: predictions, a gradient, and steps of
training from the same parameters, which keep our names and layouts."""

import json

import torch

import torch_layers
import torch_sequences
import torch_steps
import torch_updaters
from torch_losses import loss_of, outputs_of

TYPES = {**torch_layers.TYPES, **torch_sequences.TYPES}
WITH_LOSS = ("output", "center_loss", "loss")


def graph_of(network):
    """(names of the inputs, nodes with "from" as lists, names of the outputs)"""
    if "nodes" in network:
        inputs, nodes = [i["name"] for i in network["inputs"]], network["nodes"]
        outputs = network["outputs"]
    else:
        inputs, nodes, outputs = ["features"], network["layers"], network["layers"][-1]["name"]
    owners, before, graph = {n["name"]: n for n in nodes}, inputs[0], []
    for node in nodes:
        sources = node.get("from", before)
        settings = {**owners[node["shares"]], "name": node["name"]} if "shares" in node else node
        graph.append({**settings, "owner": node.get("shares", node["name"]),
                      "from": [sources] if isinstance(sources, str) else sources})
        before = node["name"]
    return inputs, graph, [outputs] if isinstance(outputs, str) else outputs


def part(batch, kind, name, several):
    return batch.get(f"{kind}/{name}" if several else kind)


class Run:
    """A network with its parameters; state of the pass in progress."""

    def __init__(self, trace, metadata, dtype):
        self.network = json.loads(metadata["network"])
        self.inputs, self.graph, self.outputs = graph_of(self.network)
        # Steps after which gradients stop, or parameters move and states go on.
        self.truncate, self.segment = self.network.get("tbptt_length"), None
        if self.network.get("tbptt_update"):
            self.truncate, self.segment = None, self.truncate
        self.carried = {}
        roles = json.loads(metadata["roles"])
        start = {name[len("start/"):]: value.to(dtype) for name, value in trace.items()
                 if name.startswith("start/")}
        self.parameters = {n: v.clone().requires_grad_() for n, v in start.items() if n in roles}
        self.statistics = {n: v.clone() for n, v in start.items() if n not in roles}
        self.dtype, self.roles = dtype, roles
        # Has the right to masks, as the page says, if there is a recurrent layer. as the
        # page has it, where a recurrent layer is.
        self.sequences = any(n["type"] in ("lstm", "gru", "simple_rnn") for n in self.graph)

    def is_sequence(self, x):
        return x.ndim == 3

    def own(self, name):
        return {n[len(name) + 1:]: v for n, v in self.parameters.items()
                if n.startswith(name + "/")}

    def apply(self, node, xs, masks):
        """(value, mask)"""
        f, steps = TYPES[node["type"]], None
        if node.get("time_distributed"):
            steps, xs = xs[0].shape[1], [x.flatten(0, 1) for x in xs]
        result = f(self, node, self.own(node["owner"]), xs,
                   [None] * len(xs) if steps else masks)
        if isinstance(result, tuple) and not steps:
            return result
        x = result[0] if isinstance(result, tuple) else result
        known = [m for m in masks if m is not None]
        return (x.unflatten(0, (-1, steps)) if steps else x,
                torch.stack(known).prod(0) if known else None)

    def forward(self, batch, training):
        """({node: (value, mask)}); losses of layers go to self.extra."""
        self.training, self.extra, self.moved, self.labels = training, [], {}, {}
        several = len(self.inputs) > 1
        values = {n: (part(batch, "features", n, several),
                      part(batch, "features_mask", n, several)) for n in self.inputs}
        for node in self.graph:
            if node["type"] in WITH_LOSS:
                self.labels[node["name"]] = part(batch, "labels", node["name"],
                                                 len(self.outputs) > 1)
            sources = [values[n] for n in node["from"]]
            values[node["name"]] = self.apply(node, [x for x, _ in sources],
                                              [m for _, m in sources])
        return values

    def predict(self, batch):
        """[(value, mask)] of the outputs"""
        with torch.no_grad():
            self.carried = {}
            values, result = self.forward(batch, False), []
            for name in self.outputs:
                node = next(n for n in self.graph if n["name"] == name)
                z, mask = values[name]
                y = outputs_of(node, z)
                examples = len(next(iter(batch.values())))
                result.append((y.unflatten(0, (-1, examples)).mean(0), mask))
        return result

    def loss(self, batch):
        values = self.forward(batch, True)
        total = sum(self.extra)
        for name in self.outputs:
            node = next(n for n in self.graph if n["name"] == name)
            z, mask = values[name]
            given = part(batch, "labels_mask", name, len(self.outputs) > 1)
            if given is not None:
                mask = given if mask is None or given.ndim > 1 else mask * given[:, None]
            target = self.labels[name]
            if node.get("target", "labels") != "labels":
                target = values[node["target"]][0].detach()
            total = total + loss_of(node, z, target, mask)
        return total

    def segments(self, batch):
        """Parts of the sequences that are trained one after the other."""
        self.carried = {}
        steps = batch["features"].shape[1] if self.segment else 1
        for begin in range(0, steps, self.segment or 1):
            yield {n: t[:, begin:begin + self.segment] if self.segment and t.ndim > 1 else t
                   for n, t in batch.items()}

    def differentiate(self, batch):
        """The loss; gradients lie at the parameters, statistics in self.moved."""
        for p in self.parameters.values():
            p.grad = None
        loss = self.loss(batch)
        if loss.requires_grad:
            loss.backward()
        for p in self.parameters.values():
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad
        return loss.item()

    def groups(self):
        """[(layer, [Group])] as torch_updaters has them, of what is trained."""
        result = []
        for node in self.graph:
            if node["owner"] != node["name"] or node.get("frozen"):
                continue
            cost, groups = node.get("regularization", {}), []
            for name, p in self.own(node["name"]).items():
                role = self.roles[node["name"] + "/" + name]
                bias = "_bias" if role == "bias" else ""
                updater = node["bias_updater" if bias else "updater"]
                costs = [0, 0, 0] if role == "other" else [
                    cost.get(key + bias, 0) for key in ("l1", "l2", "weight_decay")]
                if role == "weight":
                    costs[2] += updater.get("weight_decay", 0)
                groups.append(torch_updaters.Group([p], updater, *costs, role=role))
            if groups:
                result.append((node, groups))
        return result


def batches_of(tensors, batch, dtype):
    count = len(next(iter(tensors.values()))) // batch
    real = {n: t.to(dtype) if t.is_floating_point() else t for n, t in tensors.items()}
    return [{n: t[i * batch:(i + 1) * batch] for n, t in real.items()} for i in range(count)]


def trace_of(trace, metadata, batches, steps, dtype):
    """The same names as in peer-trace's file, and its losses and scores."""
    run, result = Run(trace, metadata, dtype), {}

    def note(group, tensors):
        result.update({f"{group}/{n}": t.detach().clone() for n, t in tensors.items()})

    def predict(group):
        for i, (y, mask) in enumerate(run.predict(batches[0])):
            result[f"{group}/{i}"] = y
            if mask is not None:
                result[f"{group}_mask/{i}"] = mask
    predict("first")
    layers = run.groups()
    update = torch_steps.step_of(layers)
    losses, scores, iteration = [], [], 0
    for i in range(steps):
        scores.append(torch_steps.score(layers))
        losses.append(0)
        for part in run.segments(batches[i % len(batches)]):
            losses[-1] += run.differentiate(part)
            run.statistics.update(run.moved)
            if iteration == 0:
                frozen = {n["name"] for n in run.graph if n.get("frozen")}
                note("gradient", {n: p.grad for n, p in run.parameters.items()
                                  if n.rsplit("/", 1)[0] not in frozen})
            update(iteration, i // len(batches))
            iteration += 1
    note("end", run.parameters)
    note("end", run.statistics)
    predict("last")
    return result, losses, scores
