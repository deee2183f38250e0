"""Plans of balanced routing by router shape, and their logits as tensors that CUDA graphs may read."""

import math
import sys
import threading
from collections import OrderedDict
from typing import Any, NamedTuple, Optional

from .log import say, say_once
from .perfect_router import logits_tensor
from .routing import Plan, plan_for

MOST_CACHED_BYTES = 256 * 1024 * 1024
"""Enough for the batch sizes of most CUDA graphs: one tensor serves all of them."""
LEAST_ROWS = 1024
WARNING = (
    "PERFECT ROUTER IS ON (ENABLE_PERFECT_ROUTER=1): experts are chosen in turn, not by the model. "
    "THE MODEL'S ANSWERS ARE WRONG. Only its speed is meaningful."
)


class RouterShape(NamedTuple):
    method: str
    experts: int
    top_k: int
    n_group: int = 1
    topk_group: int = 1


class Plans:
    """One plan per shape of router and place among the GPUs. A shape without an exact plan is reported once."""

    def __init__(self) -> None:
        self._known: dict[tuple[RouterShape, int, int], Optional[Plan]] = {}

    def plan_of(self, shape: RouterShape, ep_size: int, ep_rank: int) -> Optional[Plan]:
        key = (shape, ep_size, ep_rank)
        if key not in self._known:
            try:
                self._known[key] = plan_for(
                    shape.experts, shape.top_k, ep_size, ep_rank, shape.n_group, shape.topk_group
                )
                say_once(WARNING)
            except ValueError as error:
                self._known[key] = None
                say("the learned router stays active: %s" % error)
        return self._known[key]


class LogitsCache:
    """Planned logits by shape; tensors that a CUDA graph reads keep their address.

    Along one circle, the rows of any number of tokens on any rank are consecutive rows of one sequence, so every batch
    size is a view of one tensor. Plans in blocks depend on the number of tokens: one tensor each, with LRU eviction.
    """

    def __init__(self) -> None:
        self._circles: dict[Any, Any] = {}
        self._known: OrderedDict[Any, Any] = OrderedDict()
        """By identity: the circle of a graph that was captured earlier may have been replaced by a longer one."""
        self._in_graphs: dict[int, Any] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, tokens: int, plan: Plan, device: Any, dtype: Any) -> Any:
        """A view that is shared by all callers: copy it before changing it."""
        if plan.blocks > 1:
            return self._get(tokens, plan, device, dtype)
        period = plan.experts // math.gcd(plan.experts, plan.top_k)
        first = plan.ep_rank * tokens % period
        circle = plan._replace(ep_rank=0)
        key = (circle, device, dtype)
        capturing = _is_capturing(device)
        with self._lock:
            known = self._circles.get(key)
        if known is None or known.shape[0] < first + tokens:
            known = _made(max(first + tokens, LEAST_ROWS), circle, device, dtype)
            if not capturing:
                with self._lock:
                    self._circles[key] = known
        elif capturing:
            self._in_graphs[id(known)] = known
        return known[first : first + tokens]

    def _get(self, tokens: int, plan: Plan, device: Any, dtype: Any) -> Any:
        key = (tokens, plan, device, dtype)
        capturing = _is_capturing(device)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                if capturing:
                    self._in_graphs[id(known)] = known
                return known
        made = _made(tokens, plan, device, dtype)
        if capturing:
            # Created during capture, it belongs to the graph: it has no data until the graph is replayed.
            return made
        with self._lock:
            self._known[key] = made
            self._bytes += made.numel() * made.element_size()
            while self._bytes > MOST_CACHED_BYTES and len(self._known) > 1:
                _, old = self._known.popitem(last=False)
                self._bytes -= old.numel() * old.element_size()
        return made


def set_to_zero(bias: Any) -> None:
    """A learned bias is added during expert selection; it would override the plan."""
    if bias is not None:
        with sys.modules["torch"].no_grad():
            bias.zero_()


def _made(tokens: int, plan: Plan, device: Any, dtype: Any) -> Any:
    torch = sys.modules["torch"]
    with torch.inference_mode(False), torch.no_grad():
        return logits_tensor(tokens, plan, device, dtype)


def _is_capturing(device: Any) -> bool:
    return bool(device.type == "cuda" and sys.modules["torch"].cuda.is_current_stream_capturing())
