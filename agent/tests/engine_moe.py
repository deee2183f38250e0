"""MoE layers of engines under the agent, with stand-ins that have the engines' signatures: `engine_moe.py NAME`. Each
prints one JSON object; test/agent-engines.test.ts sets the variables and checks the output."""

import json
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "fakes")]

import torch  # noqa: E402

import stepscope_agent  # noqa: E402

EXPERTS, TOP_K, HIDDEN = 16, 4, 8


def spread(chosen: torch.Tensor, experts: int = EXPERTS) -> int:
    routed = chosen[(chosen >= 0) & (chosen < experts)].long()
    counts = torch.bincount(routed, minlength=experts)
    return int(counts.max() - counts.min())


class Model(torch.nn.Module):
    """Gate and experts per layer, as in a decoder."""

    def __init__(self, layers: list[Any]) -> None:
        super().__init__()
        self.gates = torch.nn.ModuleList(torch.nn.Linear(HIDDEN, EXPERTS) for _ in layers)
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for gate, layer in zip(self.gates, self.layers):
            x = layer(x, gate(x))
        return x


def vllm() -> None:
    """Two kinds of routers and a kernel that routes itself; warm-up before and between steps; then compiled."""
    from vllm.model_executor.layers.fused_moe.layer import FusedMoE

    torch.manual_seed(0)
    bias = torch.randn(EXPERTS) * 3
    layers = [
        FusedMoE(EXPERTS, TOP_K, "model.layers.0.mlp.experts"),
        FusedMoE(EXPERTS, TOP_K, "model.layers.1.mlp.experts", 4, 2, bias),
        FusedMoE(EXPERTS, TOP_K, "model.layers.2.mlp.experts", is_monolithic=True),
    ]
    model = Model(layers)
    run = model
    if os.environ.get("SCENARIO_COMPILE"):
        run = torch.compile(model, fullgraph=True, backend="eager", dynamic=False)
    spreads, choices, addresses = [], [], set()
    with torch.inference_mode():
        run(torch.randn(50, HIDDEN))
        for tokens in (7, 33, 1):
            with stepscope_agent.step(gen=(tokens, tokens)):
                run(torch.randn(tokens, HIDDEN))
            choices.append(
                [
                    torch.bincount(layer.chosen[-1].flatten().long(), minlength=EXPERTS).tolist()
                    for layer in layers
                ]
            )
            spreads.append([spread(layer.chosen[-1]) for layer in layers])
            addresses.add(layers[0].logits[-1].data_ptr())
            run(torch.randn(9, HIDDEN))
    print(
        json.dumps(
            {"spreads": spreads, "choices": choices, "addresses": len(addresses), "bias": bool(bias.any())}
        )
    )


def vllm_ranks() -> None:
    """Which tokens a rank plans and counts: expert parallel over tensor parallel ranks, data parallel, and gathered."""
    from vllm.model_executor.layers.fused_moe.layer import FusedMoE

    result = {}
    for name, parallel, gathered in (
        ("tensor", {"use_ep": True, "ep_size": 4, "ep_rank": 1}, False),
        ("data", {"use_ep": True, "ep_size": 4, "ep_rank": 1, "dp_size": 4, "dp_rank": 1}, False),
        ("gathered", {"use_ep": True, "ep_size": 4, "ep_rank": 1, "dp_size": 4, "dp_rank": 1}, True),
    ):
        layer = FusedMoE(EXPERTS, TOP_K, name, **parallel)
        layer.do_naive_dispatch_combine = gathered
        with torch.inference_mode(), stepscope_agent.step(gen=(3, 3)):
            layer(torch.randn(3, HIDDEN), torch.randn(3, EXPERTS))
        result[name] = [sorted(row) for row in layer.chosen[-1].tolist()]
    print(json.dumps(result))


def vllm_refused() -> None:
    """Layers where balanced logits do not balance the GPUs keep the learned router."""
    from vllm.model_executor.layers.fused_moe.layer import FusedMoE

    balanced = FusedMoE(EXPERTS, TOP_K, "a", eplb_state=object())
    robin = FusedMoE(EXPERTS, TOP_K, "b")
    robin.expert_placement_strategy = "round_robin"
    changed = []
    with torch.inference_mode():
        for layer in (balanced, robin):
            logits = torch.randn(5, EXPERTS)
            layer(torch.randn(5, HIDDEN), logits)
            changed.append(not torch.equal(layer.logits[-1], logits))
    print(json.dumps({"changed": changed}))


def vllm_unknown() -> None:
    """A version without the known method."""
    from vllm.model_executor.layers.fused_moe.runner.moe_runner import MoERunner

    del MoERunner._apply_quant_method
    import vllm.model_executor.layers.fused_moe.layer  # noqa: F401

    print("{}")


def sglang() -> None:
    from sglang.srt.layers.moe.topk import TopK

    kinds = {
        "standard": TopK(TOP_K, layer_id=3),
        "triton": TopK(TOP_K, layer_id=4, output_format="triton"),
        "bypassed": TopK(TOP_K, layer_id=5, output_format="bypassed"),
        "shared": TopK(TOP_K + 1, layer_id=6, num_fused_shared_experts=1),
        "padded": TopK(TOP_K, layer_id=7),
    }
    torch.manual_seed(0)
    spreads: dict[str, int] = {}
    with torch.inference_mode(), stepscope_agent.step(gen=(13, 13)):
        for kind, top_k in kinds.items():
            more = {"num_token_non_padded": 8} if kind == "padded" else {}
            result = top_k(torch.randn(13, HIDDEN), torch.randn(13, EXPERTS), **more)
            if kind == "triton":
                histogram = result.routing_data.expt_hist
                spreads[kind] = int(histogram.max() - histogram.min())
            elif kind == "bypassed":
                spreads[kind] = spread(result.router_logits.topk(TOP_K)[1])
            else:
                spreads[kind] = spread(result.topk_ids)
    print(json.dumps({"spreads": spreads}))


if __name__ == "__main__":
    torch.set_num_threads(1)
    globals()[sys.argv[1]]()
