"""Models from a real transformers, with small configurations: `transformers_models.py NAME…` runs prompts of several
lengths and prints a digest of every output, a line for each model. Each runs in a process forked once transformers is
imported, as that takes seconds, and what it leaves in the folder is moved to one of its name. For a Python with
transformers, which the system Python rarely has."""

import hashlib
import json
import os
import sys
from typing import Any

LENGTHS = (1, 2, 3, 5, 7, 16, 31, 64, 100, 257)
SHAPE = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 256}


def config(name: str) -> Any:
    import transformers as known

    if name == "mixtral":
        return known.MixtralConfig(
            intermediate_size=64, num_key_value_heads=2, num_local_experts=8, num_experts_per_tok=2, **SHAPE
        )
    if name == "qwen3-moe":
        return known.Qwen3MoeConfig(
            intermediate_size=64, moe_intermediate_size=32, num_key_value_heads=2, num_experts=16,
            num_experts_per_tok=4, head_dim=16, **SHAPE,
        )  # fmt: skip
    if name == "llama4":
        return known.Llama4TextConfig(
            intermediate_size=64, intermediate_size_mlp=64, num_key_value_heads=2, num_local_experts=8,
            num_experts_per_tok=1, head_dim=16, interleave_moe_layer_step=1, **SHAPE,
        )  # fmt: skip
    if name == "gpt-oss":
        return known.GptOssConfig(
            intermediate_size=64, num_key_value_heads=2, num_local_experts=8, num_experts_per_tok=2, head_dim=16,
            **SHAPE,
        )  # fmt: skip
    if name == "deepseek-v3":
        return known.DeepseekV3Config(
            intermediate_size=64, moe_intermediate_size=32, num_key_value_heads=4, n_routed_experts=16,
            num_experts_per_tok=4, n_group=4, topk_group=2, first_k_dense_replace=0, q_lora_rank=16, kv_lora_rank=16,
            qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=16, **SHAPE,
        )  # fmt: skip
    raise KeyError(name)


def main(name: str) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config(name)).eval()
    digest = hashlib.sha256()
    with torch.inference_mode():
        for length in LENGTHS:
            logits = model(torch.randint(0, 256, (1, length)), use_cache=False).logits
            digest.update(logits.numpy().tobytes())
    print(json.dumps({"model": name, "version": transformers.__version__, "digest": digest.hexdigest()}))


if __name__ == "__main__":
    import torch
    import transformers

    # What every model needs, so that each child does not import it anew.
    _ = transformers.AutoModelForCausalLM, transformers.PreTrainedModel
    for model_name in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            # Threads of the parent are not in the child.
            torch.set_num_threads(1)
            main(model_name)
            sys.exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(1)
        os.makedirs(model_name, exist_ok=True)
        for left in [entry.name for entry in os.scandir() if entry.is_file()]:
            os.replace(left, os.path.join(model_name, left))
