"""Perfectly balanced routing: the public API. `logits` returns lists, `logits_tensor` the same on a device.

In place of a learned gate's output, these logits make every routing method choose the planned experts. The model's
answers are then meaningless; its run time is that of balanced experts.
"""

import sys
from typing import Any, Optional

from .routing import (
    CHOSEN,
    OTHERS,
    Plan,
    balanced_experts,
    left_over,
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
) -> list[list[float]]:
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
    raise ValueError("unknown published scheme %r for %s" % (published, method))


def check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueError("unknown routing method %r; known: %s" % (method, ", ".join(METHODS)))


def logits_tensor(tokens: int, plan: Plan, device: Any, dtype: Any) -> Any:
    """Computed on the device from a few numbers, without copies and without synchronizing."""
    torch = sys.modules["torch"]

    def by(values: Any, divisor: int) -> Any:
        return torch.div(values, divisor, rounding_mode="floor")

    token = torch.arange(tokens, device=device)[:, None]
    slot = torch.arange(plan.top_k, device=device)[None, :]
    if plan.blocks == 1:
        place = ((plan.ep_rank * tokens + token) * plan.top_k + slot) % plan.experts
        chosen = place % plan.ep_size * plan.per_gpu + by(place, plan.ep_size)
    else:
        # Same as routing._in_blocks, for all tokens at once.
        k, gpus, reach = plan.top_k, plan.ep_size, plan.block_gpus
        tail = left_over(tokens, plan)
        head = tokens - tail
        begin = plan.ep_rank * (tokens * k // gpus)
        place = by(token, plan.blocks) * k + slot
        gpu, local = token % plan.blocks * reach + place % reach, by(place, reach)
        if tail:
            at = (token - head) * k + slot
            late_gpu = by(at * gpus, tail * k)
            before = by(head // plan.blocks * k + reach - 1 - late_gpu % reach, reach)
            late = before + at + by(-late_gpu * (tail * k), gpus)
            gpu, local = torch.where(token < head, gpu, late_gpu), torch.where(token < head, local, late)
        chosen = gpu * plan.per_gpu + (begin + local) % plan.per_gpu
    result = torch.full((tokens, plan.experts), OTHERS, device=device, dtype=dtype)
    return result.scatter_(1, chosen, CHOSEN)
