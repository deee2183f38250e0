"""As in vLLM 0.25.1, this module builds layers out of a router and a runner."""

from types import SimpleNamespace

from vllm.model_executor.layers.fused_moe.router.base_router import (
    FusedTopKRouter,
    GroupedTopKRouter,
)
from vllm.model_executor.layers.fused_moe.runner.moe_runner import MoERunner


def FusedMoE(
    num_experts,
    top_k,
    prefix="",
    num_expert_group=None,
    topk_group=None,
    e_score_correction_bias=None,
    is_monolithic=False,
    eplb_state=None,
    **parallel,
):
    if num_expert_group is None:
        router = FusedTopKRouter(top_k, num_experts, eplb_state)
    else:
        router = GroupedTopKRouter(
            top_k, num_experts, num_expert_group, topk_group, e_score_correction_bias, eplb_state
        )
    sizes = {"tp_size": 1, "pcp_size": 1, "dp_size": 1, "ep_size": 1, "sp_size": 1}
    ranks = {"tp_rank": 0, "pcp_rank": 0, "dp_rank": 0, "ep_rank": 0}
    config = SimpleNamespace(**{**sizes, **ranks, "use_ep": False, **parallel})
    config.is_sequence_parallel = config.sp_size > 1
    moe_config = SimpleNamespace(num_experts=num_experts, moe_parallel_config=config)
    return MoERunner(prefix, moe_config, router, is_monolithic)
