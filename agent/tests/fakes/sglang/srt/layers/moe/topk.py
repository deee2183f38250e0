"""The parts of SGLang 0.5.17's TopK that the agent uses, with their signatures; routing itself in plain torch."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

import sglang.srt.layers.moe.utils
import sglang.srt.runtime_context  # noqa: F401


class StandardTopKOutput(NamedTuple):
    topk_weights: Any
    topk_ids: Any
    router_logits: Any


class TritonKernelTopKOutput(NamedTuple):
    routing_data: Any
    gather_indx: Any
    scatter_indx: Any


class BypassedTopKOutput(NamedTuple):
    hidden_states: Any
    router_logits: Any
    topk_config: Any


class MultiPlatformOp(torch.nn.Module):
    """The forward of a device is chosen when the object is built."""

    def __init__(self):
        super().__init__()
        self._forward_method = self.forward_native

    def enter_torch_compile(self, num_tokens):
        pass

    def forward(self, *args, **kwargs):
        return self._forward_method(*args, **kwargs)


class TopK(MultiPlatformOp):
    def __init__(self, top_k, *, layer_id=None, num_fused_shared_experts=0, output_format=None):
        super().__init__()
        self.layer_id = layer_id
        self.topk_config = SimpleNamespace(
            top_k=top_k,
            use_grouped_topk=False,
            topk_group=None,
            num_expert_group=None,
            num_fused_shared_experts=num_fused_shared_experts,
            correction_bias=None,
            output_format=output_format,
        )

    def forward_native(
        self,
        hidden_states,
        router_logits,
        *,
        num_token_non_padded=None,
        expert_location_dispatch_info=None,
    ):
        config, experts = self.topk_config, router_logits.shape[-1]
        if config.output_format == "bypassed":
            return BypassedTopKOutput(hidden_states, router_logits, config)
        weights, ids = torch.topk(router_logits.softmax(-1), config.top_k, dim=-1)
        ids = ids.to(torch.int32)
        if config.output_format == "triton":
            histogram = torch.bincount(ids.flatten(), minlength=experts).int()
            return TritonKernelTopKOutput(SimpleNamespace(expt_hist=histogram), None, None)
        if config.num_fused_shared_experts:
            ids[:, -1] = experts
        if num_token_non_padded is not None:
            ids[num_token_non_padded:] = -1
        return StandardTopKOutput(weights, ids, router_logits)
