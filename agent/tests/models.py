"""Two-layer models in the shape of real ones: a dense decoder, and experts behind each kind of router, under the class
names of transformers. Small enough for a CPU, with real modules, hooks and routing.
"""

from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

HIDDEN = 32
VOCABULARY = 64


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.out = nn.Linear(HIDDEN, HIDDEN, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) / HIDDEN**0.5
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.out(scores.masked_fill(mask, float("-inf")).softmax(-1) @ v)


class DenseMlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(HIDDEN, 64)
        self.down = nn.Linear(64, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.up(x)))


class Experts(nn.Module):
    def __init__(self, experts: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(experts, HIDDEN, HIDDEN) * 0.1)

    def forward(self, x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        for slot in range(chosen.shape[1]):
            out += weights[:, slot, None].to(x.dtype) * torch.einsum(
                "th,tho->to", x, self.weight[chosen[:, slot]]
            )
        return out


class GptOssTopKRouter(nn.Module):
    """top-k, then softmax."""

    def __init__(self, experts: int, top_k: int) -> None:
        super().__init__()
        self.top_k, self.num_experts = top_k, experts
        self.weight = nn.Parameter(torch.randn(experts, HIDDEN))
        self.bias = nn.Parameter(torch.randn(experts))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits = F.linear(x, self.weight, self.bias)
        top, chosen = torch.topk(logits, self.top_k, dim=-1)
        return logits, F.softmax(top, dim=1), chosen


class MixtralTopKRouter(nn.Module):
    """softmax, top-k, divided by the sum; the others of this kind do not divide ("default")."""

    divides = True

    def __init__(self, experts: int, top_k: int) -> None:
        super().__init__()
        self.top_k, self.num_experts, self.hidden_dim = top_k, experts, HIDDEN
        self.weight = nn.Parameter(torch.randn(experts, HIDDEN))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits = F.linear(x, self.weight)
        top, chosen = torch.topk(F.softmax(logits.float(), dim=-1), self.top_k, dim=-1)
        if self.divides:
            top = top / top.sum(-1, keepdim=True)
        return logits, top, chosen


class OlmoeTopKRouter(MixtralTopKRouter):
    divides = False


class Llama4Router(nn.Linear):
    def __init__(self, experts: int, top_k: int) -> None:
        super().__init__(HIDDEN, experts, bias=False)
        self.num_experts, self.top_k = experts, top_k
        with torch.no_grad():
            self.weight.normal_()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = super().forward(x)
        top, chosen = torch.topk(logits, self.top_k, dim=1)
        scores = torch.full_like(logits, float("-inf")).scatter_(1, chosen, top)
        return torch.sigmoid(scores.float()).to(scores.dtype), logits


class DeepseekV3TopkRouter(nn.Module):
    """Returns only logits; the enclosing block chooses, as in transformers 5."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.n_routed_experts = config.n_routed_experts
        self.weight = nn.Parameter(torch.randn(config.n_routed_experts, HIDDEN))
        self.register_buffer("e_score_correction_bias", torch.randn(config.n_routed_experts) * 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x.view(-1, HIDDEN).type(torch.float32), self.weight.type(torch.float32))


class Glm4MoeTopkRouter(DeepseekV3TopkRouter):
    """The same math, but the router itself chooses, as in transformers 5.17; some call groups `num_group`."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.top_k, self.num_experts = config.num_experts_per_tok, config.n_routed_experts
        self.num_group, self.topk_group = config.n_group, config.topk_group

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits = F.linear(x.view(-1, HIDDEN).type(torch.float32), self.weight.type(torch.float32))
        scores = logits.sigmoid()
        biased = scores + self.e_score_correction_bias
        grouped = biased.view(-1, self.num_group, self.num_experts // self.num_group)
        best = torch.topk(grouped.topk(2, dim=-1)[0].sum(-1), k=self.topk_group, dim=-1, sorted=False)[1]
        mask = torch.zeros(grouped.shape[:2]).scatter_(1, best, 1).unsqueeze(-1).expand_as(grouped)
        allowed = biased.masked_fill(mask.reshape(biased.shape) == 0, float("-inf"))
        chosen = torch.topk(allowed, k=self.top_k, dim=-1, sorted=False)[1]
        weights = scores.gather(1, chosen)
        return logits, weights / (weights.sum(-1, keepdim=True) + 1e-20), chosen


class MoeBlock(nn.Module):
    def __init__(self, router: nn.Module) -> None:
        super().__init__()
        self.router = router
        self.experts = Experts(router.num_experts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = x.reshape(-1, HIDDEN)
        routed = self.router(flat)
        if len(routed) == 2:
            scores = routed[0]
            weights, chosen = scores.topk(self.router.top_k, dim=-1)
        else:
            _, weights, chosen = routed
        self.last_chosen = chosen
        return self.experts(flat, chosen, weights).reshape(x.shape)


class DeepseekV3MoE(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.gate = DeepseekV3TopkRouter(config)
        self.experts = Experts(config.n_routed_experts)
        self.n_group, self.topk_group = config.n_group, config.topk_group
        self.n_routed_experts, self.top_k = config.n_routed_experts, config.num_experts_per_tok

    def route_tokens_to_experts(self, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = logits.sigmoid()
        biased = scores + self.gate.e_score_correction_bias
        grouped = biased.view(-1, self.n_group, self.n_routed_experts // self.n_group)
        best = torch.topk(grouped.topk(2, dim=-1)[0].sum(-1), k=self.topk_group, dim=-1, sorted=False)[1]
        mask = torch.zeros(grouped.shape[:2]).scatter_(1, best, 1).unsqueeze(-1).expand_as(grouped)
        allowed = biased.masked_fill(mask.reshape(biased.shape) == 0, 0.0)
        chosen = torch.topk(allowed, k=self.top_k, dim=-1, sorted=False)[1]
        weights = scores.gather(1, chosen)
        return chosen, 2.5 * weights / (weights.sum(-1, keepdim=True) + 1e-20)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = x.reshape(-1, HIDDEN)
        chosen, weights = self.route_tokens_to_experts(self.gate(flat))
        self.last_chosen = chosen
        return self.experts(flat, chosen, weights).reshape(x.shape)


class Qwen3MoeSparseMoeBlock(nn.Module):
    """Before transformers 5: the gate is a plain linear layer of the block."""

    def __init__(self, experts: int, top_k: int) -> None:
        super().__init__()
        self.num_experts, self.top_k = experts, top_k
        self.gate = nn.Linear(HIDDEN, experts, bias=False)
        with torch.no_grad():
            self.gate.weight.normal_()
        self.experts = Experts(experts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = x.reshape(-1, HIDDEN)
        weights, chosen = torch.topk(F.softmax(self.gate(flat), dim=1, dtype=torch.float), self.top_k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        self.last_chosen = chosen
        return self.experts(flat, chosen, weights).reshape(x.shape)


class Layer(nn.Module):
    def __init__(self, mlp: nn.Module) -> None:
        super().__init__()
        self.input_layernorm = nn.LayerNorm(HIDDEN)
        self.self_attn = Attention()
        self.mlp = mlp

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(x)


class Body(nn.Module):
    def __init__(self, mlps: list[nn.Module]) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, HIDDEN)
        self.layers = nn.ModuleList(Layer(mlp) for mlp in mlps)


class CausalLm(nn.Module):
    def __init__(self, mlps: list[nn.Module]) -> None:
        super().__init__()
        self.model = Body(mlps)
        self.lm_head = nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def forward(self, input_ids: torch.Tensor, past_key_values: Any = None) -> torch.Tensor:
        x = self.model.embed_tokens(input_ids)
        for layer in self.model.layers:
            x = layer(x)
        return self.lm_head(x)


MOE_KINDS = ("gpt-oss", "mixtral", "olmoe", "llama4", "deepseek-v3", "glm4", "qwen3-linear-gate")


def moe_block(
    kind: str, experts: int = 16, top_k: int = 4, n_group: int = 4, topk_group: int = 2
) -> nn.Module:
    if kind == "gpt-oss":
        return MoeBlock(GptOssTopKRouter(experts, top_k))
    if kind == "mixtral":
        return MoeBlock(MixtralTopKRouter(experts, top_k))
    if kind == "olmoe":
        return MoeBlock(OlmoeTopKRouter(experts, top_k))
    if kind == "llama4":
        return MoeBlock(Llama4Router(experts, 1))
    if kind == "qwen3-linear-gate":
        return Qwen3MoeSparseMoeBlock(experts, top_k)
    config = SimpleNamespace(
        n_routed_experts=experts, num_experts_per_tok=top_k, n_group=n_group, topk_group=topk_group
    )
    return MoeBlock(Glm4MoeTopkRouter(config)) if kind == "glm4" else DeepseekV3MoE(config)


def model(kind: str = "dense", **shape: int) -> CausalLm:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    mlps = [DenseMlp() if kind == "dense" else moe_block(kind, **shape) for _ in range(2)]
    return CausalLm(mlps).eval()


def prompt(rows: int, length: int) -> torch.Tensor:
    return torch.arange(rows * length).reshape(rows, length) % VOCABULARY
