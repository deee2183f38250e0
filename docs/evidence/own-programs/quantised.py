"""More programs of one's own: quantised weights, MoE and MLA of transformers, offloading, emit_nvtx, schedules. python quantised.py nsys|torch OUT [name…]"""
import os, sys, threading, time, random
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch
from harness import run
dev = 'cuda'; torch.manual_seed(0)
import transformers as T
transformers = T; T.logging.set_verbosity_error()
def made(cls, c, dtype=torch.bfloat16):
    torch.set_default_dtype(dtype)
    try:
        with torch.device(dev): m = cls(c).eval()
    finally: torch.set_default_dtype(torch.float32)
    return m.requires_grad_(False)
def llama(layers=16, hidden=2048, heads=16, inter=5632, vocab=32000, **k):
    return made(T.LlamaForCausalLM, T.LlamaConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=k.pop('kv', heads), intermediate_size=inter, vocab_size=vocab, max_position_embeddings=65536, **k))
ids = lambda b, n, v=30000: torch.randint(5, v, (b, n), device=dev)
def gen(m, b, n, new, **k):
    i = ids(b, n); k = dict(do_sample=False, min_new_tokens=new, max_new_tokens=new, pad_token_id=0, **k)
    return lambda: m.generate(i, attention_mask=torch.ones_like(i), **k)
class nocudnn:
    def __enter__(s): torch.backends.cuda.enable_cudnn_sdp(False)
    def __exit__(s, *a): torch.backends.cuda.enable_cudnn_sdp(True)
def bnb_replace(m, kind):
    import bitsandbytes as bnb
    for n, c in list(m.named_modules()):
        if isinstance(c, torch.nn.Linear) and 'lm_head' not in n:
            par = m.get_submodule(n.rpartition('.')[0]); w = c.weight.data
            if kind == 'nf4':
                q = bnb.nn.Linear4bit(c.in_features, c.out_features, bias=False, compute_dtype=torch.bfloat16, quant_type='nf4'); q.weight = bnb.nn.Params4bit(w.cpu(), requires_grad=False, quant_type='nf4')
            else:
                q = bnb.nn.Linear8bitLt(c.in_features, c.out_features, bias=False, has_fp16_weights=False, threshold=6.0); q.weight = bnb.nn.Int8Params(w.cpu().half(), requires_grad=False, has_fp16_weights=False)
            setattr(par, n.rpartition('.')[2], q.to(dev))
    return m
@torch.no_grad()
def bnb_nf4(): torch.backends.cuda.enable_cudnn_sdp(False); m = bnb_replace(llama(), 'nf4'); return torch.no_grad()(gen(m, 1, 128, 10)), 2
def bnb_nf4_prefill(): torch.backends.cuda.enable_cudnn_sdp(False); m = bnb_replace(llama(8, 4096, 32, 14336), 'nf4'); i = ids(4, 1024); return torch.no_grad()(lambda: (m(i, use_cache=False), torch.cuda.synchronize())), 8
def bnb_int8(): torch.backends.cuda.enable_cudnn_sdp(False); m = bnb_replace(llama(), 'int8'); return torch.no_grad()(gen(m, 8, 128, 8)), 2
def ao_int8():
    from torchao.quantization import quantize_, Int8WeightOnlyConfig
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(); quantize_(m, Int8WeightOnlyConfig()); return torch.no_grad()(gen(m, 8, 128, 8)), 2
def qwen_moe():
    torch.backends.cuda.enable_cudnn_sdp(False)
    m = made(T.Qwen3MoeForCausalLM, T.Qwen3MoeConfig(num_hidden_layers=8, hidden_size=2048, num_attention_heads=16, num_key_value_heads=4, head_dim=128, moe_intermediate_size=768, num_experts=64, num_experts_per_tok=8, vocab_size=32000))
    return torch.no_grad()(gen(m, 16, 128, 8)), 2
def gpt_oss():
    torch.backends.cuda.enable_cudnn_sdp(False)
    m = made(T.GptOssForCausalLM, T.GptOssConfig(num_hidden_layers=8, hidden_size=2048, intermediate_size=2048, num_attention_heads=16, num_key_value_heads=4, head_dim=128, num_local_experts=32, num_experts_per_tok=4, vocab_size=32000, layer_types=['sliding_attention', 'full_attention'] * 4))
    return torch.no_grad()(gen(m, 8, 256, 8)), 2
def mla():
    torch.backends.cuda.enable_cudnn_sdp(False)
    m = made(T.DeepseekV3ForCausalLM, T.DeepseekV3Config(num_hidden_layers=6, hidden_size=2048, intermediate_size=5632, moe_intermediate_size=1024, num_attention_heads=16, num_key_value_heads=16, n_routed_experts=32, num_experts_per_tok=4, n_group=4, topk_group=2, first_k_dense_replace=1, vocab_size=32000))
    return torch.no_grad()(gen(m, 8, 256, 8)), 2
def gemma_sliding():
    torch.backends.cuda.enable_cudnn_sdp(False)
    m = made(T.Gemma3ForCausalLM, T.Gemma3TextConfig(num_hidden_layers=12, hidden_size=2048, intermediate_size=8192, num_attention_heads=8, num_key_value_heads=4, head_dim=256, vocab_size=262144, sliding_window=512))
    return torch.no_grad()(gen(m, 4, 512, 8)), 2
def prompt_lookup():
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(); base = ids(1, 32).repeat(1, 8)
    return torch.no_grad()(lambda: m.generate(base, attention_mask=torch.ones_like(base), do_sample=False, max_new_tokens=24, min_new_tokens=24, prompt_lookup_num_tokens=5, pad_token_id=0)), 3
def accelerate_offload():
    import accelerate
    torch.backends.cuda.enable_cudnn_sdp(False); m = accelerate.cpu_offload(llama(8, 4096, 32, 11008).cpu(), torch.device(dev)); i = ids(1, 64); return torch.no_grad()(lambda: (m(i, use_cache=False), torch.cuda.synchronize())), 4
def emit_nvtx_decode():
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(8); i = ids(8, 1); p = [m(ids(8, 128), use_cache=True).past_key_values]
    @torch.no_grad()
    def step():
        with torch.autograd.profiler.emit_nvtx(): m(i, past_key_values=p[0], use_cache=True)
        torch.cuda.synchronize()
    return step, 12
def nvtx_named():  # ranges of the author's own
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(12); i = ids(8, 1); p = [None]; n = torch.cuda.nvtx; c = [0]
    @torch.no_grad()
    def step():
        c[0] += 1
        if c[0] % 8 == 1:
            n.range_push('Prefill batch'); p[0] = m(ids(8, 512), use_cache=True).past_key_values; n.range_pop()
        n.range_push(f'Decode token {c[0] % 8}'); n.range_push('model'); l = m(i, past_key_values=p[0], use_cache=True).logits; n.range_pop(); n.range_push('sample'); torch.multinomial(torch.softmax(l[:, -1].float(), -1), 1).cpu(); n.range_pop(); n.range_pop()
    return step, 24
def scheduled():  # the profiler's own steps
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(12); i = ids(16, 1); p = m(ids(16, 256), use_cache=True).past_key_values
    return torch.no_grad()(lambda: m(i, past_key_values=p, use_cache=True).logits[:, -1].argmax(-1).cpu()), 12
def padded():  # one long text in a batch of short ones
    torch.backends.cuda.enable_cudnn_sdp(False); m = made(T.BertModel, T.BertConfig(num_hidden_layers=24, hidden_size=1024, num_attention_heads=16, intermediate_size=4096)); i = ids(64, 512); a = torch.zeros_like(i); a[:, :20] = 1; a[0] = 1
    return torch.no_grad()(lambda: m(i, attention_mask=a).last_hidden_state.sum().item()), 10
def inductor_decode():
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(12); c = T.StaticCache(config=m.config, max_cache_len=512); f = torch.compile(m.forward); i = ids(8, 1); k = [200]
    @torch.no_grad()
    def step(): k[0] += 1; f(input_ids=i, past_key_values=c, cache_position=torch.tensor([k[0] % 500], device=dev), use_cache=True).logits[:, -1].argmax(-1).cpu()
    return step, 12
def two_models():  # a router picks one of two models for each token
    torch.backends.cuda.enable_cudnn_sdp(False); a, b = llama(8), llama(16); i = ids(4, 1); r = random.Random(1); pa = a(ids(4, 64), use_cache=True).past_key_values; pb = b(ids(4, 64), use_cache=True).past_key_values
    @torch.no_grad()
    def step(): (a(i, past_key_values=pa, use_cache=True) if r.random() < .6 else b(i, past_key_values=pb, use_cache=True)).logits[:, -1].argmax(-1).tolist()
    return step, 20
def streamer():  # generate() in a thread, tokens taken out by another
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(); import queue
    class S(T.generation.streamers.BaseStreamer):
        def __init__(s): s.q = queue.Queue()
        def put(s, v): s.q.put(v.tolist() if hasattr(v, 'tolist') else v)
        def end(s): s.q.put(None)
    def step():
        s = S(); g = torch.no_grad()(gen(m, 1, 128, 16, streamer=s)); t = threading.Thread(target=g); t.start()
        while s.q.get() is not None: time.sleep(.001)
        t.join()
    return step, 2
def mha_grad():  # nobody turned gradients off
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(12).requires_grad_(True); i = ids(8, 512)
    return lambda: m(i, use_cache=False).logits[:, -1].argmax(-1).cpu(), 8
def big_decode_fp8():  # large batch, FP8 products by torch._scaled_mm
    w = [torch.randn(8192, 8192, device=dev).to(torch.float8_e4m3fn) for _ in range(24)]; x = torch.randn(256, 8192, device=dev, dtype=torch.bfloat16); s = torch.ones((), device=dev)
    def step():
        y = x
        for a in w: y = torch._scaled_mm(y.clamp(-400, 400).to(torch.float8_e4m3fn), a.t(), s, s, out_dtype=torch.bfloat16) * 0.01
        y.sum().item()
    return step, 12
def tiny_gpu_copy_loop():  # 300 small tensors sent one by one before each batch
    torch.backends.cuda.enable_cudnn_sdp(False); m = llama(8); cpu = [torch.randint(5, 30000, (64,)) for _ in range(300)]
    @torch.no_grad()
    def step(): x = torch.stack([c.to(dev) for c in cpu])[:16]; m(x, use_cache=False).logits[:, -1].argmax(-1).cpu()
    return step, 8
ALL = [bnb_nf4, bnb_nf4_prefill, bnb_int8, ao_int8, qwen_moe, gpt_oss, mla, gemma_sliding, prompt_lookup, accelerate_offload, emit_nvtx_decode, nvtx_named, scheduled, padded, inductor_decode, two_models, streamer, mha_grad, big_decode_fp8, tiny_gpu_copy_loop]
run(ALL, stepped=('scheduled',), stacks=('two_models',), shapes=('qwen_moe',))
