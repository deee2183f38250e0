"""Model routers by class name: replaces the learned gate and counts the chosen experts.

Names and shapes come from transformers 4.57 to 5.x. Return values differ between models and releases, so routers are
not reimplemented: the original router runs with one tensor changed. While it runs, the result of its gate's linear
layer is discarded and planned logits take its place.
"""

import contextlib
import re
import sys
import threading
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Optional

from .expert_load import ExpertLoad
from .import_hooks import after_import_of_any
from .log import reason, say_once
from .patching import is_compiling, wrap_method
from .planned_logits import LogitsCache, Plans, RouterShape, set_to_zero
from .ranks import current_rank
from .routing import Plan
from .settings import Settings

_SOFTMAX_ROUTER = re.compile(r"^\w+TopKRouter$")
"""DeepSeek-V3 and similar models use a lowercase k."""
_GROUP_ROUTER = re.compile(r"^\w+TopkRouter$")
_LLAMA4_ROUTER = re.compile(r"^Llama4Router$")
"""Before transformers 5, the gate is a plain linear layer inside the block."""
_BLOCK = re.compile(r"^\w+SparseMoeBlock$")
"""These have their own implementation, or routers that engine_routers.py patches."""
_ENGINES = ("tensorrt_llm.", "vllm.", "sglang.")


def method_of(name: str) -> Optional[str]:
    if _LLAMA4_ROUTER.match(name):
        return "llama4"
    if _GROUP_ROUTER.match(name):
        return "deepseek-v3"
    if _SOFTMAX_ROUTER.match(name) or _BLOCK.match(name):
        return "renormalize"
    return None


class Routers:
    def __init__(self, settings: Settings, experts: Optional[ExpertLoad]) -> None:
        self._settings = settings
        self._experts = experts
        self._cache = LogitsCache()
        self._plans = Plans()
        """By router: determined at the first call, used at every call."""
        self._shapes: weakref.WeakKeyDictionary[Any, tuple[Optional[RouterShape], Optional[Plan]]]
        self._shapes = weakref.WeakKeyDictionary()
        self._neutral: weakref.WeakSet[Any] = weakref.WeakSet()
        self._local = threading.local()

    def install(self) -> None:
        after_import_of_any(_holds_models, self._patch_classes_of)

    def watch(self, model: Any) -> None:
        """Routers of models that are not from transformers."""
        for module in model.modules():
            if not type(module).__module__.startswith(_ENGINES):
                self.patch_class(type(module))

    def _patch_classes_of(self, module: ModuleType) -> None:
        for thing in list(vars(module).values()):
            if isinstance(thing, type) and thing.__module__ == module.__name__:
                self.patch_class(thing)

    def patch_class(self, owner: type) -> None:
        method = method_of(owner.__name__)
        if method is not None:
            around = self._around_block if _BLOCK.match(owner.__name__) else self._around_router
            wrap_method(owner, "forward", around(method))
        if self._experts is not None and "route_tokens_to_experts" in vars(owner):
            wrap_method(owner, "route_tokens_to_experts", self._count_routed)

    def _around_router(self, method: str) -> Any:
        def around(original: Any, router: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_inside() or is_compiling():
                return original(router, *args, **kwargs)
            shape, planned = self._known(router, router, method)
            if shape is None:
                return original(router, *args, **kwargs)
            with self._inside():
                if planned is None:
                    result = original(router, *args, **kwargs)
                else:
                    self._neutralize(router)
                    with _mode_type()(self._cache, planned, None, None):
                        result = original(router, *args, **kwargs)
            if self._experts is not None:
                self._count(router, shape, result)
            return result

        return around

    def _around_block(self, method: str) -> Any:
        def around(original: Any, block: Any, *args: Any, **kwargs: Any) -> Any:
            gate: Any = getattr(block, "gate", None)
            if type(gate).__name__ != "Linear" or self._is_inside() or is_compiling():
                return original(block, *args, **kwargs)
            shape, planned = self._known(block, gate, method)
            if shape is None:
                return original(block, *args, **kwargs)
            experts = self._experts

            def count(chosen: Any) -> None:
                if experts is not None:
                    experts.add(id(gate), shape.experts, shape.top_k, chosen)

            if planned is None and experts is None:
                return original(block, *args, **kwargs)
            if planned is not None:
                self._neutralize(block)
            with self._inside(), _mode_type()(self._cache, planned, gate.weight, (shape, count)):
                return original(block, *args, **kwargs)

        return around

    def _is_inside(self) -> bool:
        return getattr(self._local, "depth", 0) > 0

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """A class that calls its inherited forward is one router, counted once."""
        self._local.depth = 1
        try:
            yield
        finally:
            self._local.depth = 0

    def _count_routed(self, original: Any, block: Any, *args: Any, **kwargs: Any) -> Any:
        if self._is_inside():
            return original(block, *args, **kwargs)
        with self._inside():
            result = original(block, *args, **kwargs)
        try:
            gate = getattr(block, "gate", block)
            shape = self._shape_of(gate, gate, "deepseek-v3") or self._shape_of(block, gate, "deepseek-v3")
            chosen = _chosen_in(result)
            if shape is not None and chosen is not None and self._experts is not None and not is_compiling():
                self._experts.add(id(gate), shape.experts, shape.top_k, chosen)
        except Exception as error:
            say_once("some experts are not counted: %s" % reason(error))
        return result

    def _count(self, router: Any, shape: RouterShape, result: Any) -> None:
        try:
            assert self._experts is not None
            chosen = _chosen_in(result)
            if chosen is not None:
                self._experts.add(id(router), shape.experts, shape.top_k, chosen)
            elif shape.method == "llama4":
                self._experts.add_counts(id(router), shape.experts, shape.top_k, (result[0] > 0).sum(0))
        except Exception as error:
            say_once("some experts are not counted: %s" % reason(error))

    def _known(self, owner: Any, gate: Any, method: str) -> tuple[Optional[RouterShape], Optional[Plan]]:
        known = self._shapes.get(owner)
        if known is None:
            shape = self._shape_of(owner, gate, method)
            known = self._shapes[owner] = (shape, None if shape is None else self._planned(shape))
        return known

    def _shape_of(self, owner: Any, gate: Any, method: str) -> Optional[RouterShape]:
        try:
            weight = getattr(gate, "weight", None)
            if weight is None:
                weight = gate.linear.weight
            experts = int(weight.shape[0])
            top_k = _first(owner, "top_k", "num_experts_per_tok")
            if top_k is None:
                return None
            if method != "deepseek-v3":
                return RouterShape(method, experts, top_k)
            groups = _first(owner, "n_group", "num_group") or 1
            return RouterShape(method, experts, top_k, groups, _first(owner, "topk_group") or 1)
        except Exception as error:
            say_once("%s is not patched: %s" % (type(owner).__name__, reason(error)))
            return None

    def _planned(self, shape: RouterShape) -> Optional[Plan]:
        if not self._settings.perfect_router:
            return None
        size = self._settings.ep_size
        rank = current_rank() % size if self._settings.ep_rank is None else self._settings.ep_rank
        return self._plans.plan_of(shape, size, rank)

    def _neutralize(self, router: Any) -> None:
        """A learned bias is added during expert selection; it would override the plan."""
        if router in self._neutral:
            return
        self._neutral.add(router)
        set_to_zero(getattr(router, "e_score_correction_bias", None))


def _holds_models(name: str) -> bool:
    return name.startswith("transformers.models.") and ".modeling_" in name


def _first(owner: Any, *names: str) -> Optional[int]:
    for place in (owner, getattr(owner, "config", None)):
        for name in names:
            value = getattr(place, name, None)
            if isinstance(value, int):
                return value
    return None


def _chosen_in(result: Any) -> Any:
    for part in result if isinstance(result, (tuple, list)) else (result,):
        is_table = hasattr(part, "is_floating_point") and part.dim() == 2
        if is_table and str(part.dtype) in ("torch.int64", "torch.int32"):
            return part
    return None


_mode: Any = None


def _mode_type() -> Any:
    """Defined late: its base class is torch's."""
    global _mode
    if _mode is None:
        _mode = _make_mode_type()
    return _mode


def _make_mode_type() -> Any:
    torch = sys.modules["torch"]
    from torch.overrides import TorchFunctionMode  # torch is loaded by now

    linear = torch.nn.functional.linear
    top_k_calls = (torch.topk, torch.Tensor.topk)

    class RouterMode(TorchFunctionMode):  # type: ignore[misc]
        """`weight`: the weight of the gate's linear layer; None if the router has only one."""

        def __init__(self, cache: LogitsCache, planned: Optional[Plan], weight: Any, counting: Any) -> None:
            super().__init__()
            self._cache = cache
            self._planned = planned
            self._weight = weight
            self._counting = counting
            self._is_done = False

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            plan = self._planned
            if func is linear and plan is not None and not self._is_done and self._is_gate(args, plan):
                self._is_done = True
                tokens = result.numel() // result.shape[-1]
                planned = self._cache.get(tokens, plan, result.device, result.dtype)
                # A copy: some routers modify their logits in place.
                return planned.clone().reshape(result.shape)
            if self._counting is not None and func in top_k_calls:
                shape, count = self._counting
                if args and args[0].shape[-1] == shape.experts and result[1].shape[-1] == shape.top_k:
                    count(result[1])
            return result

        def _is_gate(self, args: Any, plan: Plan) -> bool:
            if self._weight is not None:
                return len(args) > 1 and args[1] is self._weight
            return len(args) > 1 and args[1].dim() == 2 and args[1].shape[0] == plan.experts

    return RouterMode
