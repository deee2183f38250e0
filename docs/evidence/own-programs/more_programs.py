"""More programs of one's own with a known bottleneck. python more_programs.py torch|nsys OUT [NAME…]"""
import contextlib, gc, json, os, random, subprocess, sys, threading, time
import torch, torch.nn as nn, torch.nn.functional as F
from harness import run
dev = 'cuda'
torch.manual_seed(0)
from transformers import LlamaConfig, LlamaForCausalLM
torch.set_grad_enabled(False)
torch.backends.cuda.enable_cudnn_sdp(False)

def made(cls, config, dtype=torch.bfloat16):
    with torch.device(dev):
        torch.set_default_dtype(dtype); m = cls(config).eval(); torch.set_default_dtype(torch.float32)
    return m

def llama(layers=16, hidden=2048, heads=16, inter=5632, vocab=32000, dtype=torch.bfloat16, **kw):
    return made(LlamaForCausalLM, LlamaConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads,
        num_key_value_heads=heads//2, intermediate_size=inter, vocab_size=vocab, max_position_embeddings=16384, **kw), dtype)

class Decode:
    def __init__(s, m, batch, prompt, pick=None):
        s.m, s.pick = m, pick or (lambda l: l[:, -1].argmax(-1, keepdim=True))
        ids = torch.randint(0, 30000, (batch, prompt), device=dev)
        o = m(ids, use_cache=True); s.past = o.past_key_values; s.tok = o.logits[:, -1].argmax(-1, keepdim=True)
    def __call__(s):
        o = s.m(s.tok, past_key_values=s.past, use_cache=True); s.tok = s.pick(o.logits)

def beam():  # beam search: the cache is reordered for every token
    m = llama(); ids = torch.randint(0, 30000, (2, 512), device=dev)
    return (lambda: m.generate(ids, num_beams=4, max_new_tokens=8, min_new_tokens=8, do_sample=False, pad_token_id=0, eos_token_id=None)), 2

def recompile():  # torch.compile with a new length in every step: compiled again each time
    m = llama(layers=4); f = torch.compile(m.model, dynamic=False); n = [64]
    torch._dynamo.config.recompile_limit = 64
    def step(): n[0] += 8; return f(input_ids=torch.randint(0, 30000, (1, n[0]), device=dev), use_cache=False).last_hidden_state.sum().item()
    return step, 4

def nan_check():  # each layer asks whether a value is not a number: a wait per layer
    m = llama()
    def look(mod, a, o):
        if torch.isnan(o[0] if isinstance(o, tuple) else o).any(): raise ValueError
    for l in m.model.layers: l.register_forward_hook(look)
    return Decode(m, 8, 128), 12

def pageable_images():  # a batch of images from pageable memory, then a small network
    net = nn.Sequential(nn.Conv2d(3, 64, 7, 4, 3), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 1000)).to(dev)
    x = torch.randn(64, 3, 512, 512)
    return (lambda: net(x.to(dev)).argmax(-1).tolist()), 10

def pinned_images():
    net = nn.Sequential(nn.Conv2d(3, 64, 7, 4, 3), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 1000)).to(dev)
    x = torch.randn(64, 3, 512, 512).pin_memory()
    return (lambda: net(x.to(dev, non_blocking=True)).argmax(-1).tolist()), 10

def logits_to_cpu():  # all logits to the CPU in every step
    m = llama(layers=4, vocab=128000); keep = []
    def pick(l): keep.append(l[:, -1].float().cpu()); keep[:-1] = []; return l[:, -1].argmax(-1, keepdim=True)
    return Decode(m, 128, 64, pick), 12

def fp8_ffn():  # large FP8 products: compute-bound
    a = torch.randn(8192, 8192, device=dev).to(torch.float8_e4m3fn); ws = [torch.randn(8192, 8192, device=dev).to(torch.float8_e4m3fn).t() for _ in range(8)]; one = torch.tensor(1.0, device=dev)
    def step():
        x = a
        for w in ws: x = torch._scaled_mm(x, w, scale_a=one, scale_b=one, out_dtype=torch.bfloat16).clamp(-400, 400).to(torch.float8_e4m3fn)
        return x
    return step, 20

def one_by_one():  # 16 sequences, each decoded alone: not batched
    m = llama(layers=8); ds = [Decode(m, 1, 32 + i) for i in range(16)]
    def step():
        for d in ds: d()
        torch.cuda.synchronize()
    return step, 4

def t5():  # encoder and decoder
    from transformers import T5Config, T5ForConditionalGeneration
    m = made(T5ForConditionalGeneration, T5Config(d_model=1024, d_kv=64, d_ff=4096, num_layers=12, num_heads=16, vocab_size=32128, decoder_start_token_id=0))
    ids = torch.randint(5, 30000, (8, 256), device=dev)
    return (lambda: m.generate(input_ids=ids, max_new_tokens=10, min_new_tokens=10, do_sample=False)), 2

def slow_loader():  # a data loader that takes longer than the network
    from transformers import ViTConfig, ViTModel
    m = made(ViTModel, ViTConfig(hidden_size=768, num_hidden_layers=12, num_attention_heads=12), torch.float16)
    class D(torch.utils.data.Dataset):
        def __len__(s): return 100000
        def __getitem__(s, i): time.sleep(0.004); return torch.randn(3, 224, 224)
    it = iter(torch.utils.data.DataLoader(D(), batch_size=16, num_workers=2, pin_memory=True))
    def step(): return m(next(it).to(dev, torch.float16, non_blocking=True)).pooler_output.sum().item()
    return step, 12

def lstm():  # cuDNN's LSTM
    m = nn.LSTM(1024, 1024, 4).to(dev).half(); x = torch.randn(200, 32, 1024, device=dev, dtype=torch.float16)
    return (lambda: m(x)[0].sum()), 12

def diffusion():  # a transformer that denoises with guidance: compute-bound
    blocks = nn.ModuleList([nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True, norm_first=True, activation='gelu') for _ in range(12)]).to(dev).bfloat16().eval()
    lat = torch.randn(4, 4096, 2048, device=dev, dtype=torch.bfloat16); s = torch.linspace(1, 0, 50).tolist(); n = [0]
    def step():
        t = s[n[0] % 50]; n[0] += 1; x = torch.cat([lat, lat])
        for b in blocks: x = b(x)
        c, u = x.chunk(2); lat.add_((u + 4.0 * (c - u)) * (0.01 * t)); lat.clamp_(-3, 3)
    return step, 8

def gc_every_step():  # the garbage collector runs after each step over many objects
    d = Decode(llama(), 4, 64); junk = [{'a': [i]} for i in range(1200000)]
    def step(): d(); gc.collect()
    step.junk = junk
    return step, 8

def sync_every_layer():  # torch.cuda.synchronize() after each layer
    m = llama()
    for l in m.model.layers: l.register_forward_hook(lambda *_: torch.cuda.synchronize())
    return Decode(m, 16, 512), 12

def naive_attention():  # scores and probabilities are written to memory: softmax and copies, not GEMMs
    m = llama(layers=8, attn_implementation='eager'); ids = torch.randint(0, 30000, (2, 6144), device=dev)
    return (lambda: m.model(ids, use_cache=False)), 5

def big_vocabulary():  # a small model with 256,000 words: the last product dominates
    m = llama(layers=4, hidden=4096, heads=32, inter=4096, vocab=256000); return Decode(m, 64, 64), 20

def sorting():  # top-p by sorting all logits
    def pick(l):
        p, i = torch.softmax(l[:, -1].float(), -1).sort(-1, descending=True); c = p.cumsum(-1); p[c - p > 0.9] = 0
        return i.gather(1, torch.multinomial(p, 1))
    return Decode(llama(layers=4, vocab=128000), 128, 64, pick), 15

def beside_another():  # another process keeps the same GPU busy
    code = "import torch\na=torch.randn(8192,8192,device='cuda',dtype=torch.bfloat16)\nwhile True:\n  for _ in range(50): a@a\n  torch.cuda.synchronize()"
    m = llama(layers=8, hidden=4096, heads=32, inter=14336); ids = torch.randint(0, 30000, (2, 2048), device=dev)
    p = subprocess.Popen([sys.executable, '-c', code]); time.sleep(12)
    class S:
        def __call__(s): m.model(ids, use_cache=False)
        def close(s): p.kill(); p.wait()
    return S(), 6

def alone():  # the same without the other process
    m = llama(layers=8, hidden=4096, heads=32, inter=14336); ids = torch.randint(0, 30000, (2, 2048), device=dev)
    return (lambda: m.model(ids, use_cache=False)), 6

def growing_cache():  # a cache of one's own that is copied for every token
    L, B, H, D = 16, 32, 32, 128; ks = [torch.randn(B, H, 4096, D, device=dev, dtype=torch.bfloat16) for _ in range(L)]; vs = [k.clone() for k in ks]
    w = [torch.randn(H*D, 3*H*D, device=dev, dtype=torch.bfloat16) * 0.01 for _ in range(L)]; x0 = torch.randn(B, H*D, device=dev, dtype=torch.bfloat16)
    def step():
        x = x0
        for i in range(L):
            q, k, v = (x @ w[i]).view(B, 3, H, 1, D).unbind(1)
            ks[i] = torch.cat([ks[i], k], 2); vs[i] = torch.cat([vs[i], v], 2)
            x = F.rms_norm(F.scaled_dot_product_attention(q, ks[i], vs[i]).reshape(B, H*D), (H*D,))
    return step, 8

def two_threads():  # two threads, each with its own model and stream
    ds = [Decode(llama(layers=8), 4, 64) for _ in range(2)]; ss = [torch.cuda.Stream() for _ in ds]
    def run(d, s):
        with torch.inference_mode(), torch.cuda.stream(s):
            for _ in range(2): d()
    def step():
        ts = [threading.Thread(target=run, args=x) for x in zip(ds, ss)]
        for t in ts: t.start()
        for t in ts: t.join()
        torch.cuda.synchronize()
    return step, 6

def graph_per_layer():  # a CUDA graph for each of 48 small layers
    L = 48; ws = [torch.randn(1024, 1024, device=dev, dtype=torch.bfloat16) * 0.03 for _ in range(L)]; x = torch.randn(4, 1024, device=dev, dtype=torch.bfloat16); gs = []
    torch.cuda.synchronize(); s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for w in ws: F.rms_norm(F.silu(x @ w), (1024,))
    torch.cuda.synchronize()
    for w in ws:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g): x.copy_(F.rms_norm(F.silu(x @ w) + x, (1024,)))
        gs.append(g)
    def step():
        for g in gs: g.replay()
        return x[0, 0].item()
    step.keep = (ws, gs)
    return step, 20

def embedding_service():  # BERT, one text at a time, waiting for requests
    from transformers import BertConfig, BertModel
    m = made(BertModel, BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096), torch.float16); r = random.Random(1)
    def step(): time.sleep(r.random() * 0.04); return m(torch.randint(0, 30000, (1, r.randrange(20, 400)), device=dev)).pooler_output.float().cpu().tolist()
    return step, 15

def triton_every_shape():  # a Triton kernel whose size is a constant: compiled for each new size
    import triton, triton.language as tl
    src = """
import triton, triton.language as tl
@triton.jit
def scale(x, y, n, N: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < N) * 2, mask=i < N)
"""
    open('/tmp/scale_kernel.py', 'w').write(src); sys.path.insert(0, '/tmp'); from scale_kernel import scale
    d = Decode(llama(layers=8), 4, 64); n = [1000 + os.getpid() % 1000 * 7]
    def step():
        n[0] += 1; x = torch.randn(n[0], device=dev); scale[(triton.cdiv(n[0], 1024),)](x, x, n[0], n[0], 1024); d()
    return step, 8

def mixtral():  # experts, eager
    from transformers import MixtralConfig, MixtralForCausalLM
    m = made(MixtralForCausalLM, MixtralConfig(hidden_size=2048, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=8, intermediate_size=4096, num_local_experts=16, num_experts_per_tok=2, vocab_size=32000))
    return Decode(m, 32, 64), 10

def prefetched():  # weights come over PCIe on a second stream while the last layer computes: hidden
    hs = [torch.randn(4096, 4096, dtype=torch.bfloat16).pin_memory() for _ in range(12)]; bufs = [torch.empty(4096, 4096, device=dev, dtype=torch.bfloat16) for _ in range(2)]
    x0 = torch.randn(32768, 4096, device=dev, dtype=torch.bfloat16) * 0.01; side = torch.cuda.Stream(); main = torch.cuda.current_stream()
    def step():
        x = x0; side.wait_stream(main)
        with torch.cuda.stream(side): bufs[0].copy_(hs[0], non_blocking=True); ready = side.record_event()
        for i in range(12):
            main.wait_event(ready)
            if i < 11:
                side.wait_stream(main)
                with torch.cuda.stream(side): bufs[(i+1) % 2].copy_(hs[i+1], non_blocking=True); ready = side.record_event()
            x = x @ bufs[i % 2]
        return x
    return step, 12

def own_speculation():  # four tokens of a small model, then one pass of the large one, accepted by .item()
    big, small = llama(layers=16), llama(layers=2, hidden=1024, heads=8, inter=2816)
    b, s = Decode(big, 1, 64), Decode(small, 1, 64)
    def step():
        toks = []
        for _ in range(4): s(); toks.append(s.tok)
        o = big(torch.cat(toks, 1), past_key_values=b.past, use_cache=True).logits.argmax(-1)
        return (o == torch.cat(toks, 1)).sum().item()
    return step, 10

def irregular():  # prompts come at random between decode steps
    m = llama(layers=16); d = Decode(m, 16, 256); r = random.Random(3)
    def step():
        if r.random() < 0.25: m.model(torch.randint(0, 30000, (1, r.choice([300, 900, 2000])), device=dev), use_cache=False)
        else: d()
    return step, 24

def printing():  # each step formats and prints tokens slowly (JSON to a file, flushed)
    d = Decode(llama(layers=8), 64, 64); f = open('/tmp/tokens.log', 'w')
    def step():
        d()
        for i, t in enumerate(d.tok.flatten().tolist()):
            for _ in range(20): f.write(json.dumps({'seq': i, 'token': t, 'pad': list(range(30))})); f.flush()
    return step, 8

def busy_gpu_small_batch():  # batch 1 of a large model, launches run ahead: memory-bound
    return Decode(llama(layers=8, hidden=8192, heads=64, inter=28672), 1, 128), 12

def clip():  # two encoders one after the other
    from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig
    c = CLIPConfig(text_config=CLIPTextConfig(hidden_size=512, num_hidden_layers=12, num_attention_heads=8).to_dict(), vision_config=CLIPVisionConfig(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, image_size=224, patch_size=32).to_dict())
    m = made(CLIPModel, c, torch.float16); ids = torch.randint(0, 40000, (64, 77), device=dev); px = torch.randn(64, 3, 224, 224, device=dev, dtype=torch.float16)
    return (lambda: m(input_ids=ids, pixel_values=px).logits_per_image.argmax(-1).tolist()), 12

def static_generate():  # generate() with a static cache, compiled and replayed as graphs
    m = llama(layers=8); ids = torch.randint(0, 30000, (4, 100), device=dev)
    return (lambda: m.generate(ids, max_new_tokens=12, min_new_tokens=12, do_sample=False, cache_implementation='static', pad_token_id=0, eos_token_id=None)), 2

def long_batch():  # large batch and long context with a cache that grows by copying
    return Decode(llama(layers=8, hidden=4096, heads=32, inter=11008), 48, 3000), 8

def gil_decode():  # a metrics thread computes in Python all the time
    d = Decode(llama(layers=8), 4, 64); on = [True]
    def busy():
        x = 0
        while on[0]: x += sum(i * i for i in range(1000))
    t = threading.Thread(target=busy, daemon=True); t.start()
    class S:
        def __call__(s): d()
        def close(s): on[0] = False; t.join()
    return S(), 5

def reranker():  # cross-encoder; texts are split and counted by Python before each batch
    from transformers import BertConfig, BertModel
    m = made(BertModel, BertConfig(hidden_size=768, num_hidden_layers=12, num_attention_heads=12), torch.float16); words = ['w%d' % i for i in range(3000)]; r = random.Random(2); vocab = {w: i for i, w in enumerate(words)}
    def step():
        texts = [' '.join(r.choice(words) for _ in range(200)) for _ in range(32)]; ids = torch.tensor([[vocab[w] for w in t.split()] for t in texts])
        return m(ids.to(dev)).pooler_output.sum().item()
    return step, 10

def retrieval():  # exact search: queries against 4 million vectors, then the top 100
    db = torch.randn(4000000, 256, device=dev, dtype=torch.float16); q = torch.randn(8, 256, device=dev, dtype=torch.float16)
    return (lambda: (q @ db.t()).topk(100, -1).indices.cpu()), 12

def recommender():  # embedding tables: random reads from memory
    t = [nn.EmbeddingBag(2000000, 128, mode='sum', device=dev, dtype=torch.float16) for _ in range(12)]; idx = [torch.randint(0, 2000000, (16384, 30), device=dev) for _ in t]
    mlp = nn.Sequential(nn.Linear(128*12, 1024), nn.ReLU(), nn.Linear(1024, 1)).to(dev).half()
    return (lambda: mlp(torch.cat([e(i) for e, i in zip(t, idx)], 1)).sum()), 15

def keep_hidden():  # hidden states of each layer are moved to the CPU
    m = llama(layers=12); ids = torch.randint(0, 30000, (4, 1024), device=dev)
    def step():
        keep = []; hs = [l.register_forward_hook(lambda mod, a, o: keep.append((o[0] if isinstance(o, tuple) else o).cpu()) or None) for l in m.model.layers]
        m.model(ids, use_cache=False); [h.remove() for h in hs]
    return step, 6

def autocast_decode():  # 32-bit weights under autocast: cast again in every step
    m = llama(layers=8, hidden=4096, heads=32, inter=11008, dtype=torch.float32); d = Decode(m, 4, 64)
    def step():
        with torch.autocast('cuda', torch.bfloat16, cache_enabled=False): d()
    return step, 10

def bf16_decode():  # the same with 16-bit weights
    return Decode(llama(layers=8, hidden=4096, heads=32, inter=11008), 4, 64), 10

def many_adapters():  # one small pair of products per adapter, in a Python loop
    m = llama(layers=8); A = [[torch.randn(2048, 16, device=dev, dtype=torch.bfloat16) * 0.01 for _ in range(16)] for _ in range(8)]; B = [[torch.randn(16, 2048, device=dev, dtype=torch.bfloat16) * 0.01 for _ in range(16)] for _ in range(8)]
    for i, l in enumerate(m.model.layers):
        def hook(mod, a, o, i=i):
            x = o[0] if isinstance(o, tuple) else o; y = x + torch.cat([x[k:k+1] @ A[i][k] @ B[i][k] for k in range(16)]); return (y,) + o[1:] if isinstance(o, tuple) else y
        l.register_forward_hook(hook)
    return Decode(m, 16, 64), 8

def vision_language():  # an image encoder, a prompt, then five tokens
    from transformers import ViTConfig, ViTModel
    v = made(ViTModel, ViTConfig(hidden_size=1024, num_hidden_layers=12, num_attention_heads=16, image_size=448, patch_size=14)); m = llama(layers=12); px = torch.randn(4, 3, 448, 448, device=dev, dtype=torch.bfloat16); w = torch.randn(1024, 2048, device=dev, dtype=torch.bfloat16) * 0.02
    def step():
        e = v(px).last_hidden_state @ w; o = m(inputs_embeds=e, use_cache=True); t = o.logits[:, -1:].argmax(-1)
        for _ in range(5): o = m(t, past_key_values=o.past_key_values, use_cache=True); t = o.logits[:, -1:].argmax(-1)
        return t.tolist()
    return step, 4

def preprocessing():  # images are resized and normalised by numpy before each batch
    import numpy as np
    net = nn.Sequential(*[nn.Conv2d(a, b, 3, 2, 1) for a, b in [(3, 64), (64, 128), (128, 256), (256, 512)]], nn.AdaptiveAvgPool2d(1), nn.Flatten()).to(dev).half(); raw = np.random.randint(0, 255, (16, 512, 512, 3), dtype=np.uint8)
    def step():
        x = ((raw[:, ::2, ::2].astype('float32') / 255 - 0.45) / 0.22).transpose(0, 3, 1, 2).copy(); return net(torch.from_numpy(x).to(dev).half()).sum().item()
    return step, 10

def graph_and_sync_copy():  # a replayed graph, fed by a blocking copy and read back every step
    m = [torch.randn(4096, 4096, device=dev, dtype=torch.bfloat16) * 0.01 for _ in range(24)]; x = torch.zeros(8, 4096, device=dev, dtype=torch.bfloat16); host = torch.randn(8, 4096, dtype=torch.bfloat16)
    def f():
        y = x
        for w in m: y = F.silu(y @ w)
        return y
    s = torch.cuda.Stream()
    with torch.cuda.stream(s): f()
    torch.cuda.synchronize(); g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): o = f()
    def step(): x.copy_(host); g.replay(); r = o.float().cpu().numpy().sum(); time.sleep(0.0005); return r
    step.keep = (g, m)
    return step, 25

def inductor_decode():  # torch.compile without graphs
    m = llama(layers=8); m.forward = torch.compile(m.forward, dynamic=True); return Decode(m, 8, 64), 10

def small_training():  # a training loop with loss.item() and clipping
    torch.set_grad_enabled(True); m = llama(layers=6, dtype=torch.float32).train(); o = torch.optim.AdamW(m.parameters(), 1e-4, foreach=False); ids = torch.randint(0, 30000, (8, 512), device=dev)
    class S:
        def __call__(s):
            with torch.autocast('cuda', torch.bfloat16): l = m(input_ids=ids, labels=ids).loss
            l.backward(); torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0); o.step(); o.zero_grad(); return l.item()
        def close(s): torch.set_grad_enabled(False)
    return S(), 5

ALL = [beam, recompile, nan_check, pageable_images, pinned_images, logits_to_cpu, fp8_ffn, one_by_one, t5, slow_loader, lstm, diffusion, gc_every_step,
       sync_every_layer, naive_attention, big_vocabulary, sorting, beside_another, alone, growing_cache, two_threads, graph_per_layer, embedding_service,
       triton_every_shape, mixtral, prefetched, own_speculation, irregular, printing, busy_gpu_small_batch,
       clip, static_generate, long_batch, gil_decode, reranker, retrieval, recommender, keep_hidden, autocast_decode, bf16_decode, many_adapters,
       vision_language, preprocessing, graph_and_sync_copy, inductor_decode, small_training]
STACKS = {'printing', 'gc_every_step', 'nan_check', 'triton_every_shape', 'slow_loader', 'reranker', 'gil_decode', 'many_adapters'}
SHAPES = {'fp8_ffn', 'naive_attention', 'big_vocabulary', 'diffusion', 'growing_cache', 'clip', 'retrieval', 'autocast_decode'}
run(ALL, STACKS, SHAPES)
