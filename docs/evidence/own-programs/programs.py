"""Programs of one's own with a known bottleneck. python programs.py torch|nsys OUT [NAME…]"""
import contextlib, gc, json, os, random, sys, threading, time
import torch, torch.nn as nn, torch.nn.functional as F
from harness import run
dev = 'cuda'
torch.manual_seed(0)
from transformers import LlamaConfig, LlamaForCausalLM
torch.set_grad_enabled(False)

def llama(layers=16, hidden=2048, heads=16, inter=5632, vocab=32000, dtype=torch.bfloat16, **kw):
    c = LlamaConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=heads//2,
                    intermediate_size=inter, vocab_size=vocab, max_position_embeddings=16384, **kw)
    with torch.device(dev):
        torch.set_default_dtype(dtype); m = LlamaForCausalLM(c).eval(); torch.set_default_dtype(torch.float32)
    return m

class Decode:
    """A loop of one's own over past_key_values."""
    def __init__(s, m, batch, prompt, pick=None):
        s.m, s.pick = m, pick or (lambda l: l[:, -1].argmax(-1, keepdim=True))
        ids = torch.randint(0, 30000, (batch, prompt), device=dev)
        o = m(ids, use_cache=True); s.past = o.past_key_values; s.tok = o.logits[:, -1].argmax(-1, keepdim=True)
    def __call__(s):
        o = s.m(s.tok, past_key_values=s.past, use_cache=True); s.tok = s.pick(o.logits)

def eager_decode():  # launch-bound
    return Decode(llama(), 1, 64), 20

def big_batch_decode():  # memory-bound on KV + weights: large batch, long context, GPU busy
    return Decode(llama(layers=8, hidden=8192, heads=64, inter=28672), 32, 2048), 10

def prefill_compute():  # compute-bound: one long prompt batch per step
    m = llama(layers=8, hidden=4096, heads=32, inter=14336); ids = torch.randint(0, 30000, (4, 4096), device=dev)
    return (lambda: m.model(ids, use_cache=False)), 6

def cpu_sampling():  # logits go to the CPU and are sampled there by numpy
    import numpy as np
    def pick(l):
        p = torch.softmax(l[:, -1].float(), -1).cpu().numpy().astype('float64'); nxt = []
        for row in p:
            row = np.sort(row)[::-1]; row = row / row.sum(); nxt.append(int(np.random.choice(len(row), p=row)))
        return torch.tensor(nxt, device=dev)[:, None]
    return Decode(llama(layers=8, vocab=128000), 16, 64, pick), 10

def offload():  # weights of each layer are copied from pageable CPU memory before use
    L = [torch.randn(4096, 4096, dtype=torch.bfloat16) for _ in range(12)]; x = torch.randn(256, 4096, device=dev, dtype=torch.bfloat16)
    def step():
        y = x
        for w in L: y = torch.relu(y @ w.to(dev))
        return y
    return step, 8

def offload_pinned():  # the same, pinned and asynchronous on the same stream: PCIe-bound, host runs ahead
    L = [torch.randn(4096, 4096, dtype=torch.bfloat16).pin_memory() for _ in range(12)]; x = torch.randn(256, 4096, device=dev, dtype=torch.bfloat16)
    def step():
        y = x
        for w in L: y = torch.relu(y @ w.to(dev, non_blocking=True))
        return y
    return step, 8

def tokenizing():  # an encoder whose batches are prepared by Python between the calls
    from transformers import BertConfig, BertModel
    with torch.device(dev): m = BertModel(BertConfig(num_hidden_layers=12)).eval().half()
    text = [' '.join(random.choices(['alpha', 'beta', 'gamma', 'delta'], k=400)) for _ in range(64)]; vocab = {}
    def prepare():
        rows = []
        for t in text:
            ids = []
            for w in t.split():
                for i in range(0, len(w), 3): ids.append(vocab.setdefault(w[i:i+3], len(vocab)) % 30000)
            rows.append((ids + [0] * 512)[:512])
        return torch.tensor(rows)
    def step(): return m(prepare().to(dev)).pooler_output.sum().item()
    return step, 10

def unet():  # convolutions: compute-bound, not an LLM
    def block(a, b): return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(32, b), nn.SiLU(), nn.Conv2d(b, b, 3, padding=1), nn.GroupNorm(32, b), nn.SiLU())
    m = nn.Sequential(nn.Conv2d(4, 320, 3, padding=1), block(320, 640), block(640, 1280), block(1280, 640), block(640, 320), nn.Conv2d(320, 4, 3, padding=1)).to(dev).half()
    x = torch.randn(4, 4, 128, 128, device=dev, dtype=torch.half)
    def step():
        nonlocal x
        x = x - 0.01 * m(x)
    return step, 12

def moe_loop():  # experts in a Python loop with nonzero(): the host waits for the GPU once per expert
    H, E, T = 2048, 16, 512
    W1 = torch.randn(4, E, H, 4096, device=dev, dtype=torch.bfloat16) * .02; W2 = torch.randn(4, E, 4096, H, device=dev, dtype=torch.bfloat16) * .02
    G = torch.randn(4, H, E, device=dev, dtype=torch.bfloat16); x0 = torch.randn(T, H, device=dev, dtype=torch.bfloat16)
    def step():
        x = x0
        for l in range(4):
            w, idx = torch.topk(torch.softmax(x @ G[l], -1), 2); y = torch.zeros_like(x)
            for e in range(E):
                rows, k = torch.where(idx == e)
                if rows.numel() == 0: continue
                y.index_add_(0, rows, (F.silu(x[rows] @ W1[l, e]) @ W2[l, e]) * w[rows, k, None])
            x = F.layer_norm(x + y, (H,))
        return x
    return step, 10

def training():  # forward, backward and AdamW: no prefill, no decode
    m = llama(layers=6).train(); opt = torch.optim.AdamW(m.parameters(), lr=1e-4); ids = torch.randint(0, 30000, (4, 1024), device=dev)
    def step():
        with torch.enable_grad():
            loss = m(ids, labels=ids).loss; loss.backward()
        opt.step(); opt.zero_grad(set_to_none=True); return loss.item()
    return step, 6

def fp32():  # 32-bit on CUDA cores
    torch.backends.cuda.matmul.allow_tf32 = False; torch.backends.cuda.enable_cudnn_sdp(True)
    m = llama(layers=4, hidden=2048, dtype=torch.float32); ids = torch.randint(0, 30000, (4, 1024), device=dev)
    return (lambda: m.model(ids, use_cache=False)), 5

def empty_cache():  # the allocator is emptied after every step
    m = llama(layers=8); ids = torch.randint(0, 30000, (8, 1024), device=dev)
    def step(): m.model(ids, use_cache=False); torch.cuda.empty_cache()
    return step, 8

def waiting_for_requests():  # the server has nothing to do most of the time
    d = Decode(llama(layers=4), 4, 32)
    def step(): d(); torch.cuda.synchronize(); time.sleep(0.02)
    return step, 15

def compiled_graph():  # torch.compile, CUDA graphs: busy
    m = llama(layers=16); ids = torch.randint(0, 30000, (8, 128), device=dev)
    f = torch.compile(m.model, mode='reduce-overhead', fullgraph=False)
    def step(): torch.compiler.cudagraph_mark_step_begin(); return f(input_ids=ids, use_cache=False).last_hidden_state.sum()
    return step, 20

def two_streams():  # prefill on one stream beside decode on another
    m = llama(layers=8); d = Decode(m, 8, 256); ids = torch.randint(0, 30000, (1, 4096), device=dev); side = torch.cuda.Stream()
    def step():
        with torch.cuda.stream(side): m.model(ids, use_cache=False)
        d(); torch.cuda.synchronize()
    return step, 8

def pipe_logging():  # each step writes its activations' statistics: .item() in a hook of every layer
    m = llama(layers=16)
    for l in m.model.layers: l.register_forward_hook(lambda mod, a, o: [(o[0] if isinstance(o, tuple) else o).abs().max().item()] and None)
    return Decode(m, 8, 64), 12

def gil_thread():  # a metrics thread holds the GIL
    stop = threading.Event()
    def busy():
        while not stop.is_set(): sum(i * i for i in range(20000))
    d = Decode(llama(layers=8), 4, 64); t = threading.Thread(target=busy, daemon=True, name='metrics'); t.start()
    d.close = stop.set
    return d, 3

def mamba():  # a state-space model with transformers' slow path: thousands of tiny kernels
    from transformers import MambaConfig, MambaForCausalLM
    with torch.device(dev): m = MambaForCausalLM(MambaConfig(num_hidden_layers=8, hidden_size=1024, vocab_size=32000)).eval().half()
    ids = torch.randint(0, 30000, (2, 128), device=dev)
    return (lambda: m(ids, use_cache=False)), 4

def generate():  # transformers' generate(): one prefill, then decode, eager
    m = llama(layers=12); m.generation_config.pad_token_id = 0; m.generation_config.eos_token_id = None
    ids = torch.randint(0, 30000, (4, 512), device=dev)
    return (lambda: m.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False)), 3

def assisted():  # speculative decoding with a draft model
    m, a = llama(layers=12), llama(layers=2, hidden=1024, heads=16, inter=2816)
    for x in (m, a): x.generation_config.pad_token_id = 0; x.generation_config.eos_token_id = None
    ids = torch.randint(0, 30000, (1, 128), device=dev)
    return (lambda: m.generate(ids, attention_mask=torch.ones_like(ids), assistant_model=a, max_new_tokens=16, do_sample=False)), 3

def whisper():  # encoder and decoder
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    with torch.device(dev): m = WhisperForConditionalGeneration(WhisperConfig(encoder_layers=12, decoder_layers=12, d_model=768, encoder_attention_heads=12, decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072)).eval().half()
    m.generation_config.forced_decoder_ids = None; m.config.forced_decoder_ids = None
    f = torch.randn(4, 80, 3000, device=dev, dtype=torch.half)
    def step():
        e = m.model.encoder(f).last_hidden_state; t = torch.full((4, 1), 50257, device=dev); past = None
        for _ in range(8):
            o = m.model.decoder(input_ids=t, encoder_hidden_states=e, past_key_values=past, use_cache=True); past = o.past_key_values
            t = m.proj_out(o.last_hidden_state[:, -1:]).argmax(-1)
    return step, 4


def nocudnn_decode():  # eager_decode without cuDNN attention
    torch.backends.cuda.enable_cudnn_sdp(False)
    return eager_decode()

def fp32_tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    m = llama(layers=4, hidden=2048, dtype=torch.float32); ids = torch.randint(0, 30000, (4, 1024), device=dev)
    return (lambda: m.model(ids, use_cache=False)), 5

def fp32_bf16():
    m = llama(layers=4, hidden=2048); ids = torch.randint(0, 30000, (4, 1024), device=dev)
    return (lambda: m.model(ids, use_cache=False)), 5

def kept_cache():  # empty_cache without emptying
    m = llama(layers=8); ids = torch.randint(0, 30000, (8, 1024), device=dev)
    return (lambda: m.model(ids, use_cache=False)), 8

def graph_decode():  # a decode step with a static cache, replayed by a CUDA graph of one's own
    from transformers import StaticCache
    m = llama(layers=16); B = 8; c = StaticCache(config=m.config, max_cache_len=1024)
    tok = torch.randint(0, 30000, (B, 1), device=dev); pos = torch.tensor([700], device=dev)
    def f(): return m(tok, past_key_values=c, cache_position=pos, position_ids=pos[None], use_cache=True).logits[:, -1].argmax(-1, keepdim=True)
    st = torch.cuda.Stream(); st.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(st):
        for _ in range(3): f()
    torch.cuda.current_stream().wait_stream(st)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): o = f()
    def step(): g.replay(); tok.copy_(o); return o.tolist()
    return step, 15

def dequant():  # weights kept in int8 and converted before every product
    W = [(torch.randint(-127, 127, (4096, 4096), device=dev, dtype=torch.int8), torch.rand(4096, 1, device=dev, dtype=torch.bfloat16)) for _ in range(24)]
    x0 = torch.randn(16, 4096, device=dev, dtype=torch.bfloat16)
    def step():
        x = x0
        for w, s_ in W: x = F.rms_norm(x @ (w.to(torch.bfloat16) * s_).T, (4096,))
        return x.sum().item()
    return step, 12

def long_context():  # decode over 30,000 cached tokens: attention reads the cache
    torch.backends.cuda.enable_cudnn_sdp(False)
    Ks = [torch.randn(8, 32, 30000, 128, device=dev, dtype=torch.bfloat16) for _ in range(4)]; Vs = [torch.randn_like(k) for k in Ks]
    q = torch.randn(8, 32, 1, 128, device=dev, dtype=torch.bfloat16); w = torch.randn(4096, 4096, device=dev, dtype=torch.bfloat16)
    def step():
        x = q
        for k, v in zip(Ks, Vs):
            x = F.scaled_dot_product_attention(x, k, v); x = (x.reshape(8, 4096) @ w).reshape(8, 32, 1, 128) * 0.01
        return x
    return step, 15

def mixed():  # every fifth step prefills a prompt, the others decode
    torch.backends.cuda.enable_cudnn_sdp(False)
    m = llama(layers=16); d = Decode(m, 16, 256); ids = torch.randint(0, 30000, (2, 2048), device=dev); n = [0]
    def step():
        n[0] += 1
        if n[0] % 5 == 0: m.model(ids, use_cache=False)
        else: d()
        torch.cuda.synchronize()
    return step, 20

ALL = [nocudnn_decode, fp32_tf32, fp32_bf16, kept_cache, graph_decode, dequant, long_context, mixed, eager_decode, big_batch_decode, prefill_compute, cpu_sampling, offload, offload_pinned, tokenizing, unet, moe_loop, training, fp32,
       empty_cache, waiting_for_requests, compiled_graph, two_streams, pipe_logging, gil_thread, mamba, generate, assisted, whisper]
STACKS = {'cpu_sampling', 'tokenizing', 'pipe_logging', 'gil_thread', 'waiting_for_requests'}
SHAPES = {'prefill_compute', 'unet', 'training', 'offload', 'big_batch_decode'}
STEPPED = {'unet', 'training', 'eager_decode', 'tokenizing'}  # prof.step() marks each
def restore(): torch.backends.cuda.matmul.allow_tf32 = False; torch.backends.cuda.enable_cudnn_sdp(True)
run(ALL, STACKS, SHAPES, STEPPED, restore)
