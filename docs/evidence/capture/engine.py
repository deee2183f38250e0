"""A PyTorch engine with no marker and no window of its own: Llama's shape, random weights, 40 forward passes.

One pass over the prompts, then one token at a time from a cache, as an inference server would.
"""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

LAYERS, BATCH, PROMPT, STEPS = 22, 8, 64, 40

config = LlamaConfig(
    hidden_size=1024,
    intermediate_size=2816,
    num_hidden_layers=LAYERS,
    num_attention_heads=16,
    num_key_value_heads=4,
    vocab_size=32000,
)
torch.manual_seed(0)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
prompts = torch.randint(0, config.vocab_size, (BATCH, PROMPT), device="cuda")
with torch.no_grad():
    model.generate(prompts, max_new_tokens=STEPS, min_new_tokens=STEPS, do_sample=False, pad_token_id=0)
torch.cuda.synchronize()
print("done")
