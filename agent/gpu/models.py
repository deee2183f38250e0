"""Transformers models with random weights: built in a second, shaped like the real ones. `tiny` is for trying the
scripts on machines without a GPU."""

import argparse
from typing import Any

MODELS = ("llama", "gpt-oss", "deepseek-v3")


def build(name: str, tiny: bool = False) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    width = 64 if tiny else 1024
    heads = {"num_attention_heads": 2 if tiny else 16, "vocab_size": 4096, "hidden_size": width}
    if name == "gpt-oss":
        config = transformers.GptOssConfig(
            intermediate_size=width, num_hidden_layers=4, num_local_experts=32, num_experts_per_tok=4,
            num_key_value_heads=2, head_dim=64, **heads,
        )  # fmt: skip
    elif name == "deepseek-v3":
        config = transformers.DeepseekV3Config(
            intermediate_size=2 * width, moe_intermediate_size=width // 2, num_hidden_layers=4,
            first_k_dense_replace=1, n_routed_experts=64, num_experts_per_tok=8, n_group=8, topk_group=4,
            n_shared_experts=1, num_key_value_heads=heads["num_attention_heads"], q_lora_rank=256, kv_lora_rank=128,
            qk_rope_head_dim=32, qk_nope_head_dim=64, v_head_dim=64, **heads,
        )  # fmt: skip
    else:
        config = transformers.LlamaConfig(
            intermediate_size=11 * width // 4, num_hidden_layers=8, num_key_value_heads=2, **heads
        )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    return model.to(device).eval()


def skew_router(model: Any) -> None:
    """Random gates use experts almost evenly; trained gates are skewed. Here the routers' biases favor some
    experts."""
    import torch

    generator = torch.Generator().manual_seed(1)
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if name.endswith(("router.bias", "e_score_correction_bias")):
            # DeepSeek-V3 scores are between 0 and 1 and differ little; softmax logits differ more.
            scale = 0.05 if name.endswith("e_score_correction_bias") else 1.0
            with torch.no_grad():
                tensor.copy_(torch.randn(tensor.shape, generator=generator) * scale)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="llama", choices=MODELS)
    parser.add_argument("--mode", default="eager", choices=("eager", "graph"))
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--tiny", action="store_true", help="for machines without a GPU")
    parser.add_argument("--experts", default=None, help="how experts run: eager, grouped_mm, batched_mm")
