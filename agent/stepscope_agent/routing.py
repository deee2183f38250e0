"""Balanced routing, planned in plain Python: which experts each token should use, and logits that make a router choose
exactly those. The same math as src/moe in TypeScript; both are tested against test/fixtures/routing/vectors.json.

All experts form one circle in which GPUs alternate (GPU 0's first expert, GPU 1's first …, GPU 0's second …).
Each token takes the next k positions, and each rank continues where the previous rank ended. For any number of tokens,
the use counts of any two experts, and of any two GPUs, therefore differ by at most one. If a token may use only some
groups of experts, GPUs are split into blocks with that many groups, and blocks alternate by token. If the number of
tokens is not a whole number of rounds, the last few tokens fill one GPU after another, each to the same height.
"""

import math
from typing import NamedTuple

CHOSEN = 10.0
OTHERS = -10.0


class Plan(NamedTuple):
    """The parameters of the circle, from which both a list and a tensor can be filled."""

    experts: int
    top_k: int
    ep_size: int
    ep_rank: int
    block_gpus: int
    blocks: int
    per_gpu: int
    circle: int
    groups: int


def plan_for(
    experts: int, top_k: int, ep_size: int = 1, ep_rank: int = 0, n_group: int = 1, topk_group: int = 1
) -> Plan:
    """Raises for shapes without an exact plan, rather than being approximately balanced."""
    if not 1 <= top_k <= experts:
        raise ValueError("%d of %d experts cannot be chosen" % (top_k, experts))
    if ep_size < 1 or experts % ep_size:
        raise ValueError("%d experts cannot be spread evenly over %d GPUs" % (experts, ep_size))
    if not 0 <= ep_rank < ep_size:
        raise ValueError("rank %d does not exist among %d GPUs" % (ep_rank, ep_size))
    per_gpu = experts // ep_size
    reach = ep_size
    if n_group > 1:
        if experts % n_group or not 1 <= topk_group <= n_group:
            raise ValueError("%d of %d groups is not valid for %d experts" % (topk_group, n_group, experts))
        if top_k > topk_group * (experts // n_group):
            raise ValueError("%d groups contain fewer than %d experts" % (topk_group, top_k))
        reach = topk_group * (ep_size // n_group) if ep_size > n_group else min(ep_size, topk_group)
    fits = min(top_k, ep_size) <= reach
    block_gpus = ep_size if fits else reach
    circle = block_gpus * per_gpu
    if n_group > 1:
        divides = ep_size % n_group == 0 if ep_size > n_group else n_group % ep_size == 0
        if not divides or (not fits and ep_size % reach) or circle % top_k:
            raise ValueError(
                "no exact plan is known for %d of %d experts in %d groups on %d GPUs"
                % (top_k, experts, n_group, ep_size)
            )
    return Plan(experts, top_k, ep_size, ep_rank, block_gpus, ep_size // block_gpus, per_gpu, circle, n_group)


def left_over(tokens: int, plan: Plan) -> int:
    """Tokens at the end that fill one GPU after another: 0 if rounds are complete, or too few GPUs are reachable."""
    rest = tokens % plan.blocks
    # On a GPU with several groups, tokens would cross from one group into the next.
    if rest == 0 or plan.ep_size != plan.groups or plan.block_gpus < 2:
        return 0
    tail = rest + plan.blocks
    # Heights of at least k / (reach - 1) keep every token within reach.
    while tail * (plan.block_gpus - 1) < plan.ep_size:
        tail += plan.blocks
    return tail if tail <= tokens else 0


def balanced_experts(tokens: int, plan: Plan) -> list[list[int]]:
    if plan.blocks > 1:
        return _in_blocks(tokens, plan)
    rows = []
    for token in range(tokens):
        start = (plan.ep_rank * tokens + token) * plan.top_k
        places = [(start + i) % plan.experts for i in range(plan.top_k)]
        rows.append([place % plan.ep_size * plan.per_gpu + place // plan.ep_size for place in places])
    return rows


def _in_blocks(tokens: int, plan: Plan) -> list[list[int]]:
    k, gpus, reach, per_gpu = plan.top_k, plan.ep_size, plan.block_gpus, plan.per_gpu
    tail = left_over(tokens, plan)
    head = tokens - tail
    in_head, in_tail = head // plan.blocks * k, tail * k
    # Each rank continues with other experts than the previous rank.
    begin = plan.ep_rank * (tokens * k // gpus)
    rows = []
    for token in range(tokens):
        row = []
        for i in range(k):
            if token < head:
                place = token // plan.blocks * k + i
                gpu = token % plan.blocks * reach + place % reach
                local = place // reach
            else:
                at = (token - head) * k + i
                gpu = at * gpus // in_tail
                before = (in_head + reach - 1 - gpu % reach) // reach
                local = before + at - -(-gpu * in_tail // gpus)
            row.append(gpu * per_gpu + (begin + local) % per_gpu)
        rows.append(row)
    return rows


def published_experts(
    tokens: int, experts: int, top_k: int, ep_size: int, ep_rank: int, turned: bool
) -> list[list[int]]:
    """TensorRT-LLM: slot i goes to GPU i mod P, to its experts in turn; shifted by rank from 2026 on."""
    per_gpu = experts // ep_size
    rows = []
    for token in range(tokens):
        places = [token * top_k + i + (ep_rank if turned else 0) for i in range(top_k)]
        rows.append([at % ep_size * per_gpu + at // ep_size % per_gpu for at in places])
    return rows


def logits_rows(
    chosen: list[list[int]], experts: int, high: float = CHOSEN, low: float = OTHERS
) -> list[list[float]]:
    rows = []
    for picks in chosen:
        row = [low] * experts
        for expert in picks:
            row[expert] = high
        rows.append(row)
    return rows


def softmax(values: list[float]) -> list[float]:
    top = max(values)
    powers = [math.exp(value - top) for value in values]
    total = sum(powers)
    return [power / total for power in powers]
