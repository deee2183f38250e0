"""The parts of vLLM 0.25.1's routers that the agent uses, with their signatures; routing itself in plain torch."""

import torch


class BaseRouter:
    def __init__(self, top_k, global_num_experts, eplb_state=None):
        self.top_k, self.global_num_experts, self.eplb_state = top_k, global_num_experts, eplb_state

    def _apply_eplb_mapping(self, topk_ids):
        return topk_ids

    def select_experts(self, hidden_states, router_logits, topk_indices_dtype=None, *, input_ids=None):
        topk_weights, topk_ids = self._compute_routing(hidden_states, router_logits, topk_indices_dtype)
        return topk_weights, self._apply_eplb_mapping(topk_ids)


class FusedTopKRouter(BaseRouter):
    def _compute_routing(self, hidden_states, router_logits, indices_type, *, input_ids=None):
        weights, ids = torch.topk(router_logits.float().softmax(-1), self.top_k, dim=-1)
        return weights, ids.to(torch.int32)


class GroupedTopKRouter(BaseRouter):
    def __init__(
        self, top_k, global_num_experts, num_expert_group, topk_group, e_score_correction_bias, eplb_state
    ):
        super().__init__(top_k, global_num_experts, eplb_state)
        self.num_expert_group, self.topk_group = num_expert_group, topk_group
        self.e_score_correction_bias = e_score_correction_bias

    def _compute_routing(self, hidden_states, router_logits, indices_type, *, input_ids=None):
        scores = router_logits.float().sigmoid() + self.e_score_correction_bias
        grouped = scores.view(scores.shape[0], self.num_expert_group, -1)
        best = grouped.topk(2, dim=-1)[0].sum(-1).topk(self.topk_group, dim=-1)[1]
        mask = torch.zeros(grouped.shape[:2]).scatter_(1, best, 1).unsqueeze(-1).expand_as(grouped)
        allowed = scores.masked_fill(mask.reshape(scores.shape) == 0, float("-inf"))
        weights, ids = allowed.topk(self.top_k, dim=-1)
        return weights, ids.to(torch.int32)
