"""Processes that share one GPU and reduce with vLLM's custom all-reduce; one of them has more work.

    python shared_gpu.py OUT [WORLD] [SLOW_RANK]

NCCL refuses two ranks on one device. The custom all-reduce only needs memory that each process can open, so its real
kernels run here, with the GPU's time slices between them. Right before every all-reduce a kernel of one thread stores
the GPU's own clock, which all processes share: an account of the arrivals that the profiler has no part in.
"""

import json
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import triton
import triton.language as tl
from torch.profiler import ProfilerActivity, profile, record_function

STEPS = 12
LAYERS = 4
WORK = 4
EXTRA = 8


@triton.jit
def note_time(into, at):
    tl.store(into + at, tl.extra.cuda.globaltimer())


def shared_reducer(device):
    """vLLM's CustomAllreduce without its questions about NVLink between different GPUs."""
    from vllm import _custom_ops as ops
    from vllm.distributed.device_communicators.custom_all_reduce import CustomAllreduce

    reducer = object.__new__(CustomAllreduce)
    group = dist.group.WORLD
    reducer.disabled, reducer._IS_CAPTURING = False, False
    reducer.group, reducer.device, reducer.max_size = group, device, 8 << 20
    reducer.rank, reducer.world_size, reducer.fully_connected = dist.get_rank(), dist.get_world_size(), True
    reducer.meta_ptrs = CustomAllreduce.create_shared_buffer(ops.meta_size() + reducer.max_size, group, True)
    reducer.buffer_ptrs = CustomAllreduce.create_shared_buffer(reducer.max_size, group)
    reducer.rank_data = torch.empty(8 << 20, dtype=torch.uint8, device=device)
    reducer._ptr = ops.init_custom_ar(reducer.meta_ptrs, reducer.rank_data, reducer.rank, True)
    ops.register_buffer(reducer._ptr, reducer.buffer_ptrs)
    return reducer


def run(rank, out, world, slow):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29563")
    device = torch.device("cuda:0")
    torch.cuda.set_device(device)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    reducer = shared_reducer(device)
    weight = torch.randn(2048, 2048, device=device, dtype=torch.bfloat16) / 45
    values = torch.ones(8, 2048, device=device, dtype=torch.bfloat16)
    arrivals = torch.zeros(STEPS * LAYERS + 1, dtype=torch.int64, device=device)

    def layer(at):
        hidden = values
        for _ in range(WORK + (EXTRA if rank == slow else 0)):
            hidden = hidden @ weight
        note_time[(1,)](arrivals, at)
        return reducer.all_reduce(hidden)

    summed = reducer.all_reduce(torch.full_like(values, rank + 1))
    assert torch.all(summed == world * (world + 1) / 2), summed
    for _ in range(4):
        layer(STEPS * LAYERS)
    torch.cuda.synchronize()
    dist.barrier()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for step in range(STEPS):
            with record_function(f"step {step}"):
                for at in range(LAYERS):
                    layer(step * LAYERS + at)
                torch.cuda.synchronize()
    profiler.export_chrome_trace(f"{out}/shared_rank{rank}.json")
    with open(f"{out}/noted_rank{rank}.json", "w", encoding="utf-8") as file:
        json.dump(arrivals[: STEPS * LAYERS].tolist(), file)
    print("RESULT", rank, "of", world, "done", flush=True)
    dist.barrier()
    os._exit(0)


if __name__ == "__main__":
    world = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    slow = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    mp.spawn(run, args=(sys.argv[1], world, slow), nprocs=world)
