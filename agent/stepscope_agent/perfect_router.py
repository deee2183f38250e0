"""Perfectly balanced routing: the public way in. `logits` gives lists, `logits_tensor` the same on a device.

Put in place of what a learned gate says, these logits make every routing method choose the planned experts. What a
model then says is nonsense; how long it takes is what balanced experts would take.
"""

import sys
from typing import Any, List, Optional

from .routing import (
    CHOSEN,
    OTHERS,
    Plan,
    balanced_experts,
    logits_rows,
    plan_for,
    published_experts,
    softmax,
)

METHODS = (
    "default",
    "renormalize",
    "renormalize-naive",
    "deepseek-v3",
    "llama4",
    "minimax",
    "sigmoid-renorm",
)


def logits(
    tokens: int,
    experts: int,
    top_k: int,
    method: str = "renormalize",
    ep_size: int = 1,
    ep_rank: int = 0,
    n_group: int = 1,
    topk_group: int = 1,
    published: Optional[str] = None,
) -> List[List[float]]:
    """One row per token. `published`: "2025" or "2026", the schemes of TensorRT-LLM, for comparison."""
    check_method(method)
    if published is None:
        groups = (n_group, topk_group) if method == "deepseek-v3" else (1, 1)
        return logits_rows(
            balanced_experts(tokens, plan_for(experts, top_k, ep_size, ep_rank, *groups)), experts
        )
    if experts % ep_size:
        raise ValueError("%d experts cannot be spread evenly over %d GPUs" % (experts, ep_size))
    if published == "2025":
        rows = published_experts(tokens, experts, top_k, ep_size, ep_rank, turned=False)
        return [softmax(row) for row in logits_rows(rows, experts, 7.5, 0.5)]
    if published == "2026" and method != "deepseek-v3":
        return logits_rows(published_experts(tokens, experts, top_k, ep_size, ep_rank, turned=True), experts)
    raise ValueError("there is no published scheme %r for %s" % (published, method))


def check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueError("there is no routing method %r; known: %s" % (method, ", ".join(METHODS)))


def logits_tensor(tokens: int, plan: Plan, device: Any, dtype: Any) -> Any:
    """Computed on the device from a handful of numbers: nothing is copied there, nothing waits."""
    torch = sys.modules["torch"]
    turn = torch.arange(tokens, device=device) + plan.ep_rank * tokens
    slots = torch.arange(plan.top_k, device=device)
    block = turn % plan.blocks
    start = torch.div(turn, plan.blocks, rounding_mode="floor") * plan.top_k
    place = (start[:, None] + slots[None, :]) % plan.circle
    gpu = block[:, None] * plan.block_gpus + place % plan.block_gpus
    chosen = gpu * plan.per_gpu + torch.div(place, plan.block_gpus, rounding_mode="floor")
    result = torch.full((tokens, plan.experts), OTHERS, device=device, dtype=dtype)
    return result.scatter_(1, chosen, CHOSEN)
