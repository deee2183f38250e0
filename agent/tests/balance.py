"""Checks the perfect router for 1 to 257 tokens, every kind of router, 1 to 8 GPUs: the experts that each router
actually chooses, after its own routing, with the agent's patch. Prints the worst differences as JSON.
"""

import json
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))

import models  # noqa: E402
import torch  # noqa: E402

from stepscope_agent import perfect_router, routers, routing, settings  # noqa: E402

EXPERTS, TOP_K, GROUPS, TOP_GROUPS = 32, 4, 8, 4


def chosen_by(block: Any, tokens: int) -> torch.Tensor:
    x = torch.randn(tokens, models.HIDDEN)
    if hasattr(block, "route_tokens_to_experts"):
        return block.route_tokens_to_experts(block.gate(x))[0]
    if isinstance(block, models.Qwen3MoeSparseMoeBlock):
        block(x[None])
        return block.last_chosen
    routed = block.router(x)
    if len(routed) == 2:
        return routed[0].topk(block.router.top_k, dim=-1)[1]
    return routed[2]


def spread(counts: torch.Tensor) -> int:
    return int(counts.max() - counts.min())


def measure(kind: str, gpus: int) -> dict[str, Any]:
    """One GPU count per process, because classes are patched only once."""
    environ = {
        "ENABLE_PERFECT_ROUTER": "1",
        "STEPSCOPE_EP_SIZE": str(gpus),
        "STEPSCOPE_EP_RANK": str(gpus - 1),
    }
    experts = 256 if kind == "deepseek-v3 in full" else EXPERTS
    top_k = 8 if kind == "deepseek-v3 in full" else TOP_K
    block = models.moe_block(kind.split()[0], experts, top_k, GROUPS, TOP_GROUPS)
    routers.Routers(settings.read_settings(environ), None).watch(block)
    worst: dict[str, Any] = {
        "kind": kind,
        "gpus": gpus,
        "expert": 0,
        "gpu": 0,
        "gpuOfOne": 0,
        "duplicates": 0,
    }
    block.eval()
    with torch.no_grad():
        for tokens in range(1, 258):
            chosen = chosen_by(block, tokens)
            counts = torch.bincount(chosen.flatten(), minlength=experts)
            distinct = chosen.sort(-1)[0]
            worst["duplicates"] += int((distinct[:, 1:] == distinct[:, :-1]).sum())
            worst["expert"] = max(worst["expert"], spread(counts))
            on_gpus = "gpuOfOne" if tokens == 1 else "gpu"
            worst[on_gpus] = max(worst[on_gpus], spread(counts.reshape(gpus, -1).sum(-1)))
    return worst


def vectors(path: str) -> list[str]:
    """The plans from TypeScript, compared with the torch version."""
    wrong = []
    with open(path) as file:
        plans = json.load(file)["plans"]
    for plan in plans:
        made = routing.plan_for(
            plan["experts"],
            plan["topK"],
            plan.get("gpus", 1),
            plan.get("rank", 0),
            plan.get("groups", 1),
            plan.get("topGroups", 1),
        )
        rows = routing.balanced_experts(plan["tokens"], made)
        if [expert for row in rows for expert in row] != plan["experts_of_tokens"]:
            wrong.append("lists: %r" % plan)
        tensor = perfect_router.logits_tensor(plan["tokens"], made, torch.device("cpu"), torch.float32)
        if tensor.tolist() != routing.logits_rows(rows, plan["experts"]):
            wrong.append("tensor: %r" % plan)
    return wrong


def published() -> dict[str, Any]:
    softmaxed = perfect_router.logits(3, 8, 2, ep_size=4, published="2025")
    turned = perfect_router.logits(4, 8, 2, ep_size=4, ep_rank=1, published="2026")
    best = [sorted(range(8), key=lambda e, row=row: -row[e])[:2] for row in softmaxed]
    return {
        "chosen2025": [sorted(row) for row in best],
        "row2025": [round(value, 6) for value in (max(softmaxed[0]), min(softmaxed[0]))],
        "chosen2026": [[e for e in range(8) if row[e] > 0] for row in turned],
        "row2026": turned[0],
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    gpus = int(sys.argv[2])
    print(
        json.dumps(
            {
                "measured": [measure(kind, gpus) for kind in (*models.MOE_KINDS, "deepseek-v3 in full")],
                "wrong": vectors(sys.argv[1]),
                "published": published(),
            }
        )
    )
