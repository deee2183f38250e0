"""Four processes, real all-reduces over gloo on CPUs, and a planted slow rank.

    python gloo_run.py OUT [SLOW_RANK]

Each rank writes its PyTorch trace, and its own clock readings right before and after every all-reduce: an
independent account of who arrived when, which the profiler has no part in.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile, record_function

WORLD = 4
STEPS = 12
LAYERS = 4
WORK_S = 0.003
EXTRA_S = 0.004


def run(rank: int, out: str, slow: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29561")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    values = torch.ones(1 << 14)
    for _ in range(5):
        dist.all_reduce(values)
    noted = []
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for step in range(STEPS):
            with record_function(f"step {step}"):
                for _ in range(LAYERS):
                    time.sleep(WORK_S + (EXTRA_S if rank == slow else 0))
                    before = time.time_ns()
                    dist.all_reduce(values)
                    noted.append([before, time.time_ns()])
                    values.fill_(1)
    profiler.export_chrome_trace(f"{out}/gloo_rank{rank}.json")
    with open(f"{out}/noted_rank{rank}.json", "w", encoding="utf-8") as file:
        json.dump(noted, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2), nprocs=WORLD)
