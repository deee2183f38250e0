"""The agent's overhead per step: steps with the agent and steps that bypass it alternate in one process, in random
order, and the medians are compared. Bypassing means calling the original methods that the agent wrapped.

Run with the agent's variables set; without them there is nothing to compare.
"""

import argparse
import json
import random
import statistics
import time
from typing import Any, Callable

from models import add_arguments, build

Step = Callable[[], Any]


def steps_of(model: Any, ids: Any, mode: str) -> tuple[Step, Step]:
    """The step with the agent, and without."""
    import torch

    def eager() -> Any:
        return model(ids, use_cache=False)

    for _ in range(3):
        eager()
    if mode == "eager":
        plain_call = type(model).__call__.__wrapped__
        return eager, lambda: plain_call(model, ids, use_cache=False)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        eager()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        eager()
    plain_replay = torch.cuda.CUDAGraph.replay.__wrapped__
    return graph.replay, lambda: plain_replay(graph)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument(
        "--run", type=int, default=10, help="steps launched at once where the GPU is not waited for"
    )
    args = parser.parse_args()

    import torch

    model = build(args.model, args.tiny)
    if args.experts:
        model.set_experts_implementation(args.experts)
    ids = torch.randint(0, 4096, (args.batch, 1), device=next(model.parameters()).device)
    has_gpu = torch.cuda.is_available()

    def seconds(step: Step, count: int) -> float:
        if has_gpu:
            torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(count):
            step()
        if has_gpu:
            torch.cuda.synchronize()
        return (time.perf_counter() - begun) / count

    result: dict[str, Any] = {"model": args.model, "mode": args.mode, "batch": args.batch}
    with torch.inference_mode():
        ways = dict(zip(("with", "without"), steps_of(model, ids, args.mode)))
        chance = random.Random(0)
        for name, count, pairs in (("oneByOne", 1, args.pairs), ("runs", args.run, args.pairs // 4)):
            times: dict[str, list[float]] = {"with": [], "without": []}
            for pair in range(pairs + 5):
                order = list(ways)
                chance.shuffle(order)
                for way in order:
                    took = seconds(ways[way], count)
                    # The first pairs are warm-up.
                    if pair >= 5:
                        times[way].append(took * 1e6)
            found = {way: statistics.median(values) for way, values in times.items()}
            difference = statistics.median(a - b for a, b in zip(times["with"], times["without"]))
            result[name] = {
                "pairs": pairs,
                "stepsEach": count,
                "withUs": round(found["with"], 2),
                "withoutUs": round(found["without"], 2),
                "overheadPercent": round((found["with"] / found["without"] - 1) * 100, 3),
                "medianDifferenceUs": round(difference, 2),
                "medianDifferencePercent": round(difference / found["without"] * 100, 3),
            }
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
