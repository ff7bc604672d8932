"""PyTorch's side: see peer_step.cpp for the conversation.

--compile, --channels-last: how the model is run.  --exact: the updaters'
formulas of dl-network(5) instead of PyTorch's fused optimizers.  The data are
in memory as normalized float32 in the layout that the model works in."""

import math
import time

import torch

import torch_graph
import torch_network
import torch_updaters
from files import channels_first, read_batches, read_model
from serve import arguments, serve


def main():
    args = arguments("--compile", "--channels-last", "--exact")
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    network, normalizer, tensors = read_model(args.model)
    if "nodes" in network:
        model, trained = torch_graph.build(network, tensors, args.exact)
        output = next(n for n in network["nodes"] if n["name"] == network["outputs"][0])
    else:
        model, trained = torch_network.build(network, tensors)
        output = network["layers"][-1]

    def read(shard):
        layout = torch.channels_last if args.channels_last else torch.contiguous_format
        return [(torch.from_numpy(channels_first(x)).contiguous(memory_format=layout),
                 torch_network.targets(x, y, output))
                for x, y in read_batches(shard, args.batch, normalizer)]
    batches = read(args.data)
    if args.channels_last:
        model = model.to(memory_format=torch.channels_last)
    if args.predict:
        return serve(predicting(args, model, output, batches), lambda z: z[0].tolist())
    accuracy = accuracy_on(read(args.test), model) if args.test else None
    return serve(training(args, model, trained, output, batches), accuracy=accuracy)


def predicting(args, model, output, batches):
    model = torch.nn.Sequential(model, *torch_network.activation(output)).eval()
    if args.compile:
        model = torch.compile(model)

    @torch.inference_mode()
    def step(i):
        return model(batches[i % len(batches)][0])
    return step


def accuracy_on(tests, model):
    @torch.inference_mode()
    def accuracy():
        model.eval()
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in tests)
        model.train()
        return right / sum(len(y) for _, y in tests)
    return accuracy


def fastest(ways, *arguments):
    """Of ways to do the same, by a few calls of each."""
    def seconds(way):
        try:
            for _ in range(3):  # while it is compiled
                way(*arguments)
        except Exception:  # of whatever kind: PyTorch cannot compile all
            return math.inf
        begin = time.perf_counter()
        for _ in range(20):
            way(*arguments)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter() - begin
    return min(ways, key=seconds) if len(ways) > 1 else ways[0]


def training(args, model, trained, output, batches, mode=None):
    """mode: of torch.compile(), which then may compile the optimizer, too."""
    loss_of = torch_network.loss_of(output)
    layers = torch_updaters.groups_of(trained)
    parameters = [p for p in model.parameters() if p.requires_grad]
    updates = [torch_updaters.exact_optimizer(layers) if args.exact
               else torch_updaters.fast_optimizer(layers, args.compile)]
    if args.compile and mode:
        updates.append(torch.compile(updates[0], mode=mode))

    latent = torch_network.own_losses(model)

    def forward(x, y):
        loss = loss_of(model(x), y)
        for code in latent:
            loss = loss + code.divergence
        return loss
    if args.compile:
        forward = torch.compile(forward, mode=mode)

    def step(i):
        x, y = batches[i % len(batches)]
        for p in parameters:
            p.grad = None
        loss = forward(x, y)
        loss.backward()
        if len(updates) > 1:
            updates[:] = [fastest(updates, i, 0)]
        updates[0](i, i // len(batches))
        return loss.item()
    return step


if __name__ == "__main__":
    main()
