"""An expert-parallel layer, rank by rank on one GPU: what does uneven routing cost, and does our model predict it?

Eight ranks have eight experts each. The work of each rank (gather its tokens, two grouped GEMMs with SwiGLU between
them) is run and timed in turn. The slowest rank determines the time of the layer, as when ranks wait for each other in
combine. Measured for synthetic learned routing of several skews, for the same tokens with experts placed by load, and
for perfectly even routing. The expert-time model is fitted to a series of even loads from few to many tokens.

    python3 bench/expert-parallel.py [--out FOLDER]      needs PyTorch 2.8 or newer and a GPU with grouped GEMMs (sm90)

Writes expert-parallel.json into FOLDER, by default $OUT, otherwise here. Put it into test/fixtures/moe and the test
"predictions hold against measurements on a GPU" compares with it.
"""

import argparse
import json
import os
import statistics

import torch
import torch.nn.functional as F

RANKS, EXPERTS, TOKENS, TOP_K = 8, 64, 8192, 4
HIDDEN, WIDTH = 2048, 1408
SKEWS = (0.0, 0.4, 0.8, 1.2)
WARM_UP, REPEATS = 10, 40
PER_RANK = EXPERTS // RANKS


def routed(skew: float, seed: int) -> torch.Tensor:
    """Experts of each token, [token, k]: sampled without replacement, popular ones first; popularity is shuffled."""
    generator = torch.Generator().manual_seed(seed)
    weights = (torch.arange(EXPERTS, dtype=torch.float64) + 1) ** -skew
    weights = weights[torch.randperm(EXPERTS, generator=generator)]
    return torch.multinomial(weights.expand(TOKENS, EXPERTS), TOP_K, replacement=False, generator=generator)


def perfect() -> torch.Tensor:
    """Slots go to ranks round-robin, and within a rank to its experts round-robin."""
    slot = torch.arange(TOKENS * TOP_K)
    return ((slot % RANKS) * PER_RANK + (slot // RANKS) % PER_RANK).view(TOKENS, TOP_K)


def placed_by_load(counts: list) -> list:
    """Experts of each rank: heaviest first, to the lightest rank with free slots."""
    ranks, loads = [[] for _ in range(RANKS)], [0] * RANKS
    for expert in sorted(range(EXPERTS), key=lambda e: -counts[e]):
        rank = min((r for r in range(RANKS) if len(ranks[r]) < PER_RANK), key=lambda r: loads[r])
        ranks[rank].append(expert)
        loads[rank] += counts[expert]
    return ranks


class Layer:
    def __init__(self) -> None:
        device, dtype = "cuda", torch.bfloat16
        scale = HIDDEN**-0.5
        self.up = torch.randn(EXPERTS, HIDDEN, 2 * WIDTH, device=device, dtype=dtype) * scale
        self.down = torch.randn(EXPERTS, WIDTH, HIDDEN, device=device, dtype=dtype) * scale
        self.tokens = torch.randn(TOKENS, HIDDEN, device=device, dtype=dtype)

    def rank_time(self, experts: list, rows: torch.Tensor, counts: list) -> float:
        """Nanoseconds, median; `rows`: tokens in the order of this rank's experts, `counts`: how many each has."""
        if rows.numel() == 0:
            return 0.0
        up, down = self.up[experts].contiguous(), self.down[experts].contiguous()
        ends = torch.tensor(counts, device="cuda").cumsum(0).to(torch.int32)
        rows = rows.cuda()

        def work() -> None:
            taken = self.tokens[rows]
            gate, value = torch._grouped_mm(taken, up, offs=ends).chunk(2, -1)
            torch._grouped_mm(F.silu(gate) * value, down, offs=ends)

        for _ in range(WARM_UP):
            work()
        times = []
        for _ in range(REPEATS):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            # The host runs ahead of the GPU when the clock starts, so launch overhead does not count.
            torch.cuda._sleep(2_000_000)
            begin.record()
            work()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e6)
        return statistics.median(times)

    def measure(self, chosen: torch.Tensor, ranks: list) -> dict:
        flat = chosen.flatten()
        token = torch.arange(flat.numel()) // TOP_K
        counts = torch.bincount(flat, minlength=EXPERTS).tolist()
        rank_ns, rank_pairs = [], []
        for experts in ranks:
            rows = torch.cat([token[flat == expert] for expert in experts])
            own = [counts[expert] for expert in experts]
            rank_ns.append(self.rank_time(experts, rows, own))
            rank_pairs.append(sum(own))
        return {"counts": counts, "ranks": ranks, "rankPairs": rank_pairs, "rankNs": rank_ns, "stepNs": max(rank_ns)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.environ.get("OUT", "."))
    folder = parser.parse_args().out
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    layer = Layer()
    in_order = [list(range(rank * PER_RANK, (rank + 1) * PER_RANK)) for rank in range(RANKS)]
    fit = []
    for pairs in (64, 128, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384):
        own = [pairs // PER_RANK] * PER_RANK
        rows = torch.arange(pairs) % TOKENS
        fit.append({"pairs": pairs, "ns": layer.rank_time(in_order[0], rows, own)})
    cases = []
    for skew in SKEWS:
        chosen = routed(skew, seed=int(skew * 10) + 3)
        plain = layer.measure(chosen, in_order)
        cases.append({"skew": skew, "plain": plain, "placed": layer.measure(chosen, placed_by_load(plain["counts"]))})
    figures = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "shape": {"ranks": RANKS, "experts": EXPERTS, "tokens": TOKENS, "topK": TOP_K, "hidden": HIDDEN, "width": WIDTH},
        "fit": fit,
        "cases": cases,
        "perfect": layer.measure(perfect(), in_order),
    }
    path = os.path.join(folder, "expert-parallel.json")
    with open(path, "w") as file:
        json.dump(figures, file, indent=1)
        file.write("\n")
    even = figures["perfect"]["stepNs"]
    print(f"{figures['gpu']}, perfect {even / 1e3:.1f} us")
    for case in cases:
        plain, placed = case["plain"], case["placed"]
        spread = max(plain["rankPairs"]) * RANKS / sum(plain["rankPairs"])
        print(
            f"skew {case['skew']}: busiest by mean {spread:.2f}, in order {plain['stepNs'] / 1e3:.1f} us "
            f"({plain['stepNs'] / even:.2f} x perfect), placed {placed['stepNs'] / 1e3:.1f} us"
        )
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
