"""Routers of vLLM and SGLang: planned logits in front of their fused MoE layers, and counts of the chosen experts.

    gate ──▶ router logits ──(planned logits take their place)──▶ top-k ──(chosen experts are counted)──▶ experts

The gate has run by then, so its cost stays. The patched methods run in Python whenever a forward runs eagerly or is
captured into a CUDA graph. In vLLM they are inside the custom ops `vllm::moe_forward` and `moe_forward_shared`, which
torch.compile does not trace. The planned logits are a view of an existing tensor: replacing them launches nothing.

Names are those of vLLM 0.25 to 0.32 and SGLang 0.5.17. How many GPUs share the experts, and whose tokens this process
routes, comes from the engine.
"""

import sys
import threading
import weakref
from types import ModuleType
from typing import Any, NamedTuple, Optional

from .expert_load import ExpertLoad
from .import_hooks import after_import
from .log import reason, say, say_once
from .patching import is_compiling, wrap_method
from .planned_logits import LogitsCache, Plans, RouterShape, set_to_zero
from .routing import CHOSEN, Plan
from .settings import Settings


class Placement(NamedTuple):
    """`source`: which of the different batches this process routes. `copy`: 0 in the one process that counts a batch
    which several processes route in the same way (tensor parallel ranks, gathered tokens)."""

    ep_size: int
    source: int
    copy: int


class Layer:
    """What is known of one MoE layer after its first call."""

    def __init__(self, key: int, name: str, shape: RouterShape, placement: Placement) -> None:
        self.key = key
        self.name = name
        self.shape = shape
        self.counts = placement.copy == 0
        self.plan: Optional[Plan] = None
        self.is_checked = False
        """Only the logits decide: the k largest are the chosen experts."""
        self.is_plain = False


class EngineRouters:
    def __init__(self, settings: Settings, experts: Optional[ExpertLoad]) -> None:
        self._wants_plan = settings.perfect_router
        self._experts = experts
        self._cache = LogitsCache()
        self._plans = Plans()
        self._layers: weakref.WeakKeyDictionary[Any, Optional[Layer]] = weakref.WeakKeyDictionary()
        self._local = threading.local()

    def install(self) -> None:
        after_import("vllm.model_executor.layers.fused_moe.layer", self._watch_vllm)
        after_import("sglang.srt.layers.moe.topk", self._watch_sglang)

    # --- vLLM --------------------------------------------------------------------------------------------------

    def _watch_vllm(self, _layer: ModuleType) -> None:
        """`layer` builds runners and has imported them."""
        runner = _class_in("vllm.model_executor.layers.fused_moe.runner.moe_runner", "MoERunner")
        if runner is None or not wrap_method(runner, "_apply_quant_method", self._around_vllm):
            self._not_found("vLLM", "MoERunner._apply_quant_method")
            return
        router = _class_in("vllm.model_executor.layers.fused_moe.router.base_router", "BaseRouter")
        # Called with the experts as the model numbers them, before a load balancer renames them.
        if router is None or not wrap_method(router, "_apply_eplb_mapping", self._around_vllm_choice):
            self._not_found("vLLM", "BaseRouter._apply_eplb_mapping", "expert counts are incomplete")

    def _around_vllm(self, original: Any, runner: Any, *args: Any, **kwargs: Any) -> Any:
        # On a CPU, vLLM has no custom op around its MoE layers and torch.compile traces them.
        if is_compiling():
            return original(runner, *args, **kwargs)
        logits = _argument("router_logits", 1, args, kwargs)
        layer = self._layer_of(runner, logits, _describe_vllm)
        if layer is None:
            return original(runner, *args, **kwargs)
        logits = self._planned(layer, logits)
        args, kwargs = _with_argument("router_logits", 1, logits, args, kwargs)
        self._local.layer, self._local.has_chosen = layer, False
        try:
            result = original(runner, *args, **kwargs)
        finally:
            self._local.layer = None
        if not self._local.has_chosen:
            self._count_inside_kernel(layer, logits)
        return result

    def _around_vllm_choice(self, original: Any, router: Any, *args: Any, **kwargs: Any) -> Any:
        layer = getattr(self._local, "layer", None)
        if layer is not None:
            self._local.has_chosen = True
            self._chosen(layer, _argument("topk_ids", 0, args, kwargs))
        return original(router, *args, **kwargs)

    # --- SGLang ------------------------------------------------------------------------------------------------

    def _watch_sglang(self, module: ModuleType) -> None:
        top_k = getattr(module, "TopK", None)
        if top_k is None or not wrap_method(top_k, "forward", self._around_sglang):
            self._not_found("SGLang", "TopK.forward")
            return
        wrap_method(top_k, "enter_torch_compile", self._around_sglang_compile)

    def _around_sglang(self, original: Any, top_k: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(top_k, *args, **kwargs)
        logits = _argument("router_logits", 1, args, kwargs)
        is_mapped = kwargs.get("expert_location_dispatch_info") is not None
        layer = self._layer_of(
            top_k, logits, lambda owner, experts: _describe_sglang(owner, experts, is_mapped)
        )
        if layer is None:
            return original(top_k, *args, **kwargs)
        logits = self._planned(layer, logits)
        args, kwargs = _with_argument("router_logits", 1, logits, args, kwargs)
        result = original(top_k, *args, **kwargs)
        chosen = getattr(result, "topk_ids", None)
        histogram = getattr(getattr(result, "routing_data", None), "expt_hist", None)
        if chosen is not None:
            self._chosen(layer, chosen)
        elif histogram is not None and self._experts is not None and layer.counts:
            self._experts.add_counts(layer.key, layer.shape.experts, layer.shape.top_k, histogram, layer.name)
        else:
            self._count_inside_kernel(layer, logits)
        return result

    def _around_sglang_compile(self, original: Any, top_k: Any, *args: Any, **kwargs: Any) -> Any:
        say_once(
            "SGLang compiles parts of this model with torch.compile: there, the learned router stays active and "
            "experts are not counted"
        )
        return original(top_k, *args, **kwargs)

    # --- both --------------------------------------------------------------------------------------------------

    def _not_found(self, engine: str, what: str, effect: str = "") -> None:
        version = getattr(sys.modules.get(engine.lower()), "__version__", "of unknown version")
        effect = effect or "the learned router stays active and experts are not counted"
        say("%s %s has no %s: %s" % (engine, version, what, effect))

    def _layer_of(self, owner: Any, logits: Any, describe: Any) -> Optional[Layer]:
        try:
            if owner in self._layers:
                return self._layers[owner]
            layer: Optional[Layer] = None
            self._layers[owner] = None
            name, shape, placement, bias, obstacle = describe(owner, int(logits.shape[-1]))
            layer = Layer(id(owner), name, shape, placement)
            layer.is_plain = obstacle is None and bias is None and shape.n_group == 1
            if self._wants_plan:
                if obstacle is None:
                    layer.plan = self._plans.plan_of(
                        shape, placement.ep_size, placement.source if placement.ep_size > 1 else 0
                    )
                else:
                    say_once("the learned router stays active: %s" % obstacle)
            if layer.plan is not None:
                set_to_zero(bias)
            if placement.copy and self._experts is not None:
                say_once("expert counts: another rank routes the same tokens and counts them")
            self._layers[owner] = layer
            return layer
        except Exception as error:
            say_once("some MoE layers are not patched: %s" % reason(error))
            return None

    def _planned(self, layer: Layer, logits: Any) -> Any:
        if layer.plan is None:
            return logits
        try:
            return self._cache.get(logits.shape[0], layer.plan, logits.device, logits.dtype)
        except Exception as error:
            layer.plan = None
            say_once("the learned router is active again: %s" % reason(error))
            return logits

    def _chosen(self, layer: Layer, chosen: Any) -> None:
        if layer.plan is not None and not layer.is_checked:
            self._check(layer, chosen)
        if self._experts is not None and layer.counts:
            shape = layer.shape
            self._experts.add(layer.key, shape.experts, shape.top_k, chosen, layer.name)

    def _check(self, layer: Layer, chosen: Any) -> None:
        """Once per layer, during the engine's warm-up: reads one value back from the device."""
        try:
            torch = sys.modules["torch"]
            if chosen.is_cuda and torch.cuda.is_current_stream_capturing():
                return
            layer.is_checked = True
            assert layer.plan is not None
            planned = self._cache.get(chosen.shape[0], layer.plan, chosen.device, torch.float32)
            ids = chosen[:, : layer.shape.top_k].long()
            is_routed = (ids >= 0) & (ids < layer.shape.experts)
            as_planned = planned.gather(1, torch.where(is_routed, ids, torch.zeros_like(ids))) == CHOSEN
            if not bool((as_planned | ~is_routed).all()):
                say_once("PERFECT ROUTER HAS NO EFFECT in some layers: they chose other experts than planned")
        except Exception as error:
            say_once("the planned experts could not be checked: %s" % reason(error))

    def _count_inside_kernel(self, layer: Layer, logits: Any) -> None:
        """The kernel chooses the experts itself and does not return them: the same choice is computed once more."""
        if self._experts is None or not layer.counts:
            return
        if not layer.is_plain:
            say_once("experts are not counted: this MoE kernel chooses them itself, with groups or a bias")
            return
        say_once("expert counts: this MoE kernel chooses experts itself; counting adds a top-k per layer")
        try:
            chosen = sys.modules["torch"].topk(logits, layer.shape.top_k, dim=-1)[1]
        except Exception as error:
            say_once("experts are not counted: %s" % reason(error))
            return
        self._experts.add(layer.key, layer.shape.experts, layer.shape.top_k, chosen, layer.name)


Description = tuple[str, RouterShape, Placement, Any, Optional[str]]


def _describe_vllm(runner: Any, experts: int) -> Description:
    router, config = runner.router, runner.moe_config
    groups = getattr(router, "num_expert_group", None) or 1
    shape = RouterShape("vllm", experts, int(router.top_k), groups, getattr(router, "topk_group", None) or 1)
    obstacle = None
    if type(router).__name__ == "RoutingSimulatorRouter":
        obstacle = "VLLM_MOE_ROUTING_SIMULATION_STRATEGY chooses the experts"
    elif getattr(router, "eplb_state", None) is not None:
        obstacle = "vLLM's expert load balancer places the experts; run without --enable-eplb"
    elif getattr(router, "hash_indices_table", None) is not None:
        obstacle = "this model chooses experts by token id"
    elif experts != config.num_experts:
        obstacle = "the gate has %d outputs for %d experts" % (experts, config.num_experts)
    elif getattr(runner, "expert_placement_strategy", "linear") != "linear":
        obstacle = "experts are placed round-robin; run with --expert-placement-strategy linear"
    bias = getattr(router, "e_score_correction_bias", None)
    return (
        str(runner.layer_name),
        shape,
        _placement_in_vllm(runner, config.moe_parallel_config),
        bias,
        obstacle,
    )


def _placement_in_vllm(runner: Any, parallel: Any) -> Placement:
    """`ep_rank` and, without expert parallelism, `tp_rank` run over data, context and tensor parallel ranks."""
    size, rank = (parallel.ep_size, parallel.ep_rank) if parallel.use_ep else (1, parallel.tp_rank)
    if getattr(runner, "do_naive_dispatch_combine", False) or parallel.pcp_size > 1:
        # Tokens of all ranks have been gathered.
        return Placement(size, 0, rank)
    if parallel.is_sequence_parallel:
        return Placement(size, rank, 0)
    together = (size if parallel.use_ep else parallel.tp_size) // max(1, parallel.dp_size)
    return Placement(size, parallel.dp_rank, rank % max(1, together))


def _describe_sglang(top_k: Any, experts: int, is_mapped: bool) -> Description:
    config = top_k.topk_config
    groups = (config.num_expert_group, config.topk_group) if config.use_grouped_topk else (1, 1)
    shape = RouterShape(
        "sglang",
        experts,
        config.top_k - (config.num_fused_shared_experts or 0),
        groups[0] or 1,
        groups[1] or 1,
    )
    name = "" if top_k.layer_id is None else "layers.%d" % top_k.layer_id
    obstacle = None
    if is_mapped:
        obstacle = "SGLang's expert load balancer places the experts; run without --enable-eplb"
    else:
        for variable in ("SGLANG_SIMULATE_UNIFORM_EXPERTS", "SGLANG_SIMULATE_ROUND_ROBIN_EXPERTS"):
            environ = getattr(sys.modules.get("sglang.srt.environ"), "envs", None)
            if environ is not None and hasattr(environ, variable) and getattr(environ, variable).get():
                obstacle = "%s chooses the experts" % variable
    return name, shape, _placement_in_sglang(), config.correction_bias, obstacle


def _placement_in_sglang() -> Placement:
    """Without an all-to-all backend, every rank routes the tokens of all ranks."""
    parallel = sys.modules["sglang.srt.runtime_context"].get_parallel()
    backend = sys.modules["sglang.srt.layers.moe.utils"].get_moe_a2a_backend()
    if backend.is_none():
        return Placement(parallel.moe_ep_size, 0, parallel.tp_rank)
    return Placement(parallel.moe_ep_size, parallel.moe_ep_rank, 0)


def _class_in(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)


def _argument(name: str, position: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return kwargs[name] if name in kwargs else args[position] if position < len(args) else None


def _with_argument(
    name: str, position: int, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if name in kwargs:
        return args, {**kwargs, name: value}
    return (*args[:position], value, *args[position + 1 :]), kwargs
