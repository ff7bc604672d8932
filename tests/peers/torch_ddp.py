"""One rank of PyTorch's DistributedDataParallel on gloo: prints a line of JSON
with the seconds of each measured step, and what its line carried meanwhile.

--hook: plain, fp16 or powersgd (rank 1, with error feedback, as its defaults
are but for the 1000 plain steps at the start)."""

import argparse
import datetime
import json
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

import torch_network
import torch_updaters
from files import channels_first, read_batches, read_model
from hosts import sent_bytes

POWERSGD_BEGINS = 2  # steps; error feedback wants at least two


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--batch", type=int, required=True, help="of this rank")
    parser.add_argument("--hook", default="plain")
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    return parser.parse_args()


def add_hook(model, name):
    if name == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif name == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1,
                                            start_powerSGD_iter=POWERSGD_BEGINS)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


def main():
    args = parse()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=10))
    rank, ranks = dist.get_rank(), dist.get_world_size()
    network, normalizer, tensors = read_model(args.model)
    model, trained = torch_network.build(network, tensors)
    output = network["layers"][-1]
    batches = [(torch.from_numpy(channels_first(x)), torch_network.targets(x, y, output))
               for x, y in read_batches(args.data, args.batch, normalizer)][rank::ranks]
    # With several buckets PowerSGD's collectives come out of order on gloo, and
    # it stops; in one bucket they cannot.
    whole = {"bucket_cap_mb": 4096} if args.hook == "powersgd" else {}
    parallel = torch.nn.parallel.DistributedDataParallel(model, **whole)
    add_hook(parallel, args.hook)
    loss_of = torch_network.loss_of(output)
    update = torch_updaters.fast_optimizer(torch_updaters.groups_of(trained), False)

    def step(i):
        x, y = batches[i % len(batches)]
        parallel.zero_grad(set_to_none=True)
        loss_of(parallel(x), y).backward()
        update(i, 0)

    for i in range(args.warmup):
        step(i)
    seconds, before = [], sent_bytes()
    for i in range(args.warmup, args.warmup + args.steps):
        begin = time.perf_counter()
        step(i)
        seconds.append(time.perf_counter() - begin)
    carried = sent_bytes() - before
    dist.barrier()
    print(json.dumps({"seconds": seconds, "sent": carried}), flush=True)
    dist.destroy_process_group()


main()
