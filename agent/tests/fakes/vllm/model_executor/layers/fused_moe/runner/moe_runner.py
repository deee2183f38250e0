"""The parts of vLLM 0.25.1's MoE runner that the agent uses, with their signatures. As there, layers run inside a
custom op that torch.compile does not trace, and are found by name."""

import torch

_layers = {}
_library = torch.library.Library("vllm", "DEF")
_library.define("moe_forward(Tensor hidden_states, Tensor router_logits, str layer_name) -> Tensor")


def _moe_forward(hidden_states, router_logits, layer_name):
    return _layers[layer_name]._forward_impl(hidden_states, router_logits, None)


_library.impl("moe_forward", _moe_forward, "CPU")
if hasattr(torch.library, "register_fake"):
    torch.library.register_fake("vllm::moe_forward", lambda hidden, _logits, _name: torch.empty_like(hidden))


class MoERunner(torch.nn.Module):
    expert_placement_strategy = "linear"
    do_naive_dispatch_combine = False

    def __init__(self, layer_name, moe_config, router, is_monolithic):
        super().__init__()
        self.layer_name, self.moe_config, self.router = layer_name, moe_config, router
        self.is_monolithic = is_monolithic
        self.chosen, self.logits = [], []
        _layers[layer_name] = self

    def _apply_quant_method(self, hidden_states, router_logits, shared_experts_input, input_ids=None):
        self.logits.append(router_logits)
        if self.is_monolithic:
            self.chosen.append(torch.topk(router_logits, self.router.top_k, dim=-1)[1])
        else:
            _, topk_ids = self.router.select_experts(
                hidden_states=hidden_states, router_logits=router_logits, topk_indices_dtype=None
            )
            self.chosen.append(topk_ids)
        return None, hidden_states + 1

    def _forward_impl(self, hidden_states, router_logits, shared_experts_input, input_ids=None):
        return self._apply_quant_method(
            hidden_states=hidden_states,
            router_logits=router_logits,
            shared_experts_input=shared_experts_input,
            input_ids=input_ids,
        )[1]

    def forward(self, hidden_states, router_logits, input_ids=None):
        return torch.ops.vllm.moe_forward(hidden_states, router_logits, self.layer_name)
