"""Programs of a fifth set, each with a bottleneck that was put there. python fifth_programs.py nsys|torch OUT [NAME…]
The comment beside each name is what is known, written before any page was read."""
import asyncio, collections, concurrent.futures, gc, json, os, queue, random, socket, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F
import transformers as T
from locked_harness import run, cuda, sync
T.logging.set_verbosity_error(); torch.set_grad_enabled(False); torch.manual_seed(0)
dev = 'cuda' if cuda else 'cpu'; tiny = not cuda; BF = torch.bfloat16 if cuda else torch.float32
if cuda: torch.backends.cuda.enable_cudnn_sdp(False)

def made(cls, c, where=dev):
    torch.set_default_dtype(BF)
    try:
        with torch.device(where): return cls(c).eval()
    finally: torch.set_default_dtype(torch.float32)
def llama(layers=16, hidden=2048, heads=16, inter=5632, vocab=32000, where=dev, **k):
    if tiny: layers, hidden, heads, inter = 2, 64, 4, 128; k.pop('kv', 0)
    return made(T.LlamaForCausalLM, T.LlamaConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=k.pop('kv', heads), intermediate_size=inter, vocab_size=vocab, max_position_embeddings=65536, **k), where)
ids = lambda b, n, v=30000: torch.randint(5, v, (b, n if not tiny else min(n, 32)), device=dev)
greedy = lambda l: l[:, -1].argmax(-1, keepdim=True)
class Decode:
    def __init__(s, m, batch, prompt, pick=greedy):
        o = m(ids(batch, prompt), use_cache=True); s.m, s.past, s.pick, s.tok = m, o.past_key_values, pick, greedy(o.logits)
    def __call__(s): s.tok = s.pick(s.m(s.tok, past_key_values=s.past, use_cache=True).logits)
class Closing:
    def __init__(s, f, close): s.f, s.close = f, close
    def __call__(s): return s.f()

def cpu_draft():  # known: four passes of a draft model on the CPU (all cores) take most of a step; the GPU waits. Pair: draft on the GPU
    big = llama(12); d = llama(6, 1024, 8, 2816, where='cpu'); g = llama(6, 1024, 8, 2816)
    def stepper(draft, where):
        t = torch.randint(5, 30000, (1, 32)).to(where)
        def step():
            x = t
            for _ in range(4): x = torch.cat([x, greedy(draft(x, use_cache=False).logits)], 1)
            big(x.to(dev), use_cache=False).logits[:, -5:].argmax(-1).tolist()
        return step
    return stepper(d, 'cpu'), 10, stepper(g, dev)

def cpu_lm_head():  # known: the last product (128,000 words) runs on the CPU, main thread and OpenMP. Pair: on the GPU
    m = llama(8, vocab=1000); w = (torch.randn(2000 if tiny else 128000, m.config.hidden_size) * .02).to(BF); wg = w.to(dev); s = [ids(8, 1, 900), m.model(ids(8, 128, 900), use_cache=True).past_key_values]
    def body(): return m.model(s[0], past_key_values=s[1], use_cache=True).last_hidden_state[:, -1]
    def cpu(): F.linear(body().cpu(), w).argmax(-1).tolist()
    def gpu(): F.linear(body(), wg).argmax(-1).tolist()
    return cpu, 10, gpu

def kv_offload():  # known: transformers' offloaded cache: keys and values of each layer come over PCIe for each token. Pair: the plain cache
    m = llama(12); i = ids(8, 1024); new = 8
    def g(**k): return lambda: m.generate(i, attention_mask=torch.ones_like(i), do_sample=False, min_new_tokens=new, max_new_tokens=new, pad_token_id=0, **k)
    return g(cache_implementation='offloaded'), 2, g()

def lora_switch():  # known: each request merges its adapter into all weights (GPU: 7 products and additions of 2,048 x 5,632 per layer) before one pass. Pair: no switch
    m = llama(12); ls = [l for l in m.model.layers for l in l.modules() if isinstance(l, nn.Linear)]
    ad = [[(torch.randn(l.out_features, 16, device=dev, dtype=BF) * .01, torch.randn(16, l.in_features, device=dev, dtype=BF) * .01) for l in ls] for _ in range(4)]; r = random.Random(0); cur = [0]; x = ids(1, 256)
    def switch():
        n = (cur[0] + r.randrange(1, 4)) % 4
        for l, (a, b), (c, d) in zip(ls, ad[cur[0]], ad[n]): l.weight.data.sub_(a @ b); l.weight.data.add_(c @ d)
        cur[0] = n
    def step(): switch(); m(x, use_cache=False).logits[:, -1].argmax(-1).tolist()
    return step, 12, lambda: m(x, use_cache=False).logits[:, -1].argmax(-1).tolist()

def asyncio_serving():  # known: the event loop serialises 16 streams of JSON (about 6 ms) between two steps; the model runs in an executor. Pair: none of it
    m = llama(8); pool = concurrent.futures.ThreadPoolExecutor(1); loop = asyncio.new_event_loop(); d = Decode(m, 16, 64, lambda l: greedy(l)); hist = [[{'token': i, 'logprobs': {str(j): -j * .1 for j in range(20)}} for i in range(40)] for _ in range(16)]
    def model(): d(); return d.tok.flatten().tolist()
    async def one(body):
        t = await loop.run_in_executor(pool, model)
        if body:
            for h, k in zip(hist, t): h.append({'token': k, 'logprobs': {str(j): -j * .1 for j in range(20)}}); h.pop(0); json.loads(json.dumps(h))
    return Closing(lambda: loop.run_until_complete(one(True)), lambda: pool.shutdown()), 12, lambda: loop.run_until_complete(one(False))

def ngram_rules():  # known: transformers' no-repeat-n-gram and bad-words processors run in Python over 1,500 tokens of 8 requests for each token. Pair: without them
    m = llama(8); i = ids(8, 1500); k = dict(do_sample=False, min_new_tokens=8, max_new_tokens=8, pad_token_id=0)
    return (lambda: m.generate(i, attention_mask=torch.ones_like(i), no_repeat_ngram_size=3, repetition_penalty=1.1, **k)), 2, (lambda: m.generate(i, attention_mask=torch.ones_like(i), **k))

def nccl_alone():  # known: an all-reduce of NCCL behind attention and MLP of each layer with one rank: no data moves, the host launches; launch-bound. Pair: without it
    import torch.distributed as D
    if not D.is_initialized(): D.init_process_group('nccl' if cuda else 'gloo', init_method=f'file://{tempfile.mktemp()}', rank=0, world_size=1)
    m = llama(16); hooks = []
    def on():
        for l in m.model.layers:
            for p in (l.self_attn.o_proj, l.mlp.down_proj): hooks.append(p.register_forward_hook(lambda mod, a, o: (D.all_reduce(o), o)[1]))
    def off():
        for h in hooks: h.remove()
        hooks.clear()
    d = Decode(m, 8, 128); state = [None]
    def as_(w):
        def step():
            if state[0] != w: (on if w else off)(); state[0] = w
            d(); sync()
        return step
    return as_(True), 12, as_(False)

def stop_check():  # known: weights of a large model are read for one token (memory-bound); the check for the end waits for the GPU, which costs next to nothing. Pair: no check
    m = llama(12, 8192, 64, 22016, kv=8); d = Decode(m, 1, 64); e = Decode(m, 1, 64)
    def step():
        d()
        if (d.tok == 2).all().item(): d.tok = d.tok + 1
    return step, 12, e

def many_objects():  # known: each step builds 150,000 Python objects that the collector traverses; host work outside the pass. Pair: none
    d = Decode(llama(8), 8, 64); keep = collections.deque(maxlen=6)
    def step(): d(); d.tok.tolist(); keep.append([{'id': i, 'text': str(i), 'at': [i, i + 1]} for i in range(50000 if not tiny else 50)])
    return step, 10, lambda: (d(), d.tok.tolist())

def starved_cpu():  # known: the process may run on one core only, which three others keep busy: it gets a quarter of it. Pair: the core alone
    d = Decode(llama(8), 8, 64); old = os.sched_getaffinity(0); core = {sorted(old)[-1]}; ps = []
    def pin(c):
        for t in os.listdir('/proc/self/task'):
            try: os.sched_setaffinity(int(t), c)
            except OSError: pass
    def neighbours(n):
        while len(ps) < n: p = subprocess.Popen([sys.executable, '-c', 'while True: pass']); os.sched_setaffinity(p.pid, core); ps.append(p)
        while len(ps) > n: p = ps.pop(); p.kill(); p.wait()
    def as_(n):
        def step():
            if not getattr(as_, 'pinned', 0): pin(core); as_.pinned = 1
            if len(ps) != n: neighbours(n)
            d(); d.tok.tolist()
        return step
    def close(): neighbours(0); pin(old)
    return Closing(as_(3), close), 8, as_(0)

def recapture():  # known: a CUDA graph is captured and instantiated again for every token, then replayed once. Pair: replay only
    m = llama(12); x = ids(8, 64)
    f = lambda: m(x, use_cache=False).logits[:, -1].argmax(-1)
    def cap():
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g): o = f()
        return g, o
    if not cuda: return f, 3, f
    f(); sync(); g0, o0 = cap()
    def again(): g, o = cap(); g.replay(); o.tolist()
    def replay(): g0.replay(); o0.tolist()
    return again, 10, replay

def pinning():  # known: a new pinned buffer for every batch: cudaHostAlloc of 48 MB and more each step. Pair: one buffer kept
    net = nn.Sequential(nn.Conv2d(3, 64, 7, 4, 3), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 1000)).to(dev); n = [16 << 20 if cuda else 1 << 18]; kept = torch.empty(3 * 512 * 512 * 16).pin_memory() if cuda else torch.empty(3 * 64 * 64 * 16)
    def look(b): return net(b[:kept.numel()].view(16, 3, *([512] * 2 if cuda else [64] * 2)).to(dev, non_blocking=True)).argmax(-1).tolist()
    def step(): n[0] += 17 << 20 if cuda else 0; b = torch.empty(n[0], pin_memory=cuda); look(b)
    return step, 8, lambda: look(kept)

def poll_and_sleep():  # known: the host asks every 3 ms whether the event has passed: it sleeps past the end of the GPU's work (step of about 2 ms becomes 3 to 6). Pair: synchronize
    x = torch.randn(2048 if cuda else 64, 2048 if cuda else 64, device=dev, dtype=BF); w = torch.randn_like(x) * .02
    def gpu():
        y = x
        for _ in range(60): y = y @ w
        return y
    def ev():
        gpu()
        if cuda: e = torch.cuda.Event(); e.record(); return e
    def step():
        e = ev()
        while e is not None and not e.query(): time.sleep(.003)
    return step, 20, lambda: (gpu(), sync())

def repeated_kv():  # known: keys and values of 4 heads are copied out to 32 for every token of 32 requests with 4,000 tokens: copies, not attention. Pair: enable_gqa
    L, b, n, h, kv, e = (12, 32, 4000, 32, 4, 128) if cuda else (2, 2, 16, 4, 2, 8); k = [torch.randn(b, kv, n, e, device=dev, dtype=BF) for _ in range(L)]; v = [torch.randn_like(a) for a in k]; q = torch.randn(b, h, 1, e, device=dev, dtype=BF); w = [torch.randn(h * e, h * e, device=dev, dtype=BF) * .01 for _ in range(L)]
    def as_(rep):
        def step():
            x = q
            for l in range(L):
                o = F.scaled_dot_product_attention(x, k[l].repeat_interleave(h // kv, 1), v[l].repeat_interleave(h // kv, 1)) if rep else F.scaled_dot_product_attention(x, k[l], v[l], enable_gqa=True)
                x = (o.reshape(b, 1, -1) @ w[l]).view(b, 1, h, e).transpose(1, 2)
            x.sum().item()
        return step
    return as_(True), 12, as_(False)

def periodic_save():  # known: every eighth step the state is written to a file: 24 of 27 steps are fast. Pair: none
    d = Decode(llama(12), 8, 64); c = [0]; blob = os.urandom(1 << 20) * (120 if cuda else 1); f = tempfile.TemporaryFile()
    def step():
        c[0] += 1; d(); d.tok.tolist()
        if c[0] % 8 == 0: f.seek(0); f.write(blob); f.flush(); os.fsync(f.fileno())
    return step, 24, lambda: (d(), d.tok.tolist())

def retrieval_call():  # known: each step asks a local server over a socket, which answers after 12 ms; the host waits in recv. Pair: without
    srv = socket.create_server(('127.0.0.1', 0)); port = srv.getsockname()[1]
    code = f"import socket,time\ns=socket.create_connection(('127.0.0.1',{port}))\nwhile True:\n  b=s.recv(4096)\n  if not b: break\n  time.sleep(.012); s.sendall(b'x'*20000)"
    p = subprocess.Popen([sys.executable, '-c', code]); c, _ = srv.accept(); m = llama(8); x = ids(4, 256)
    def model(): m(x, use_cache=False).logits[:, -1].argmax(-1).tolist()
    def step():
        c.sendall(b'q' * 100); n = 0
        while n < 20000: n += len(c.recv(65536))
        model()
    return Closing(step, lambda: (c.close(), p.kill(), p.wait())), 12, model

def adapter_from_disk():  # known: each request loads its adapter from a file (torch.load of 60 MB) before one pass. Pair: kept in memory
    d = tempfile.mkdtemp(); m = llama(8); x = ids(2, 256); t = {f'l{i}': torch.randn(1 << 20 if cuda else 64, dtype=torch.float32) for i in range(15)}; torch.save(t, f'{d}/a.pt'); k = {a: b.to(dev) for a, b in t.items()}
    def go(w): m(x, use_cache=False).logits[:, -1].argmax(-1).tolist(); return sum(a.sum() for a in w.values()).item()
    return (lambda: go({a: b.to(dev) for a, b in torch.load(f'{d}/a.pt').items()})), 8, lambda: go(k)

def sample_one_by_one():  # known: 64 requests are sampled one after the other, each with .item(): 64 waits per step. Pair: sampled together
    m = llama(8); one = lambda l: torch.stack([torch.tensor([torch.multinomial(torch.softmax(r.float() / .8, -1), 1).item()]) for r in l[:, -1]]).to(dev)
    return Decode(m, 64, 64, one), 8, Decode(m, 64, 64, lambda l: torch.multinomial(torch.softmax(l[:, -1].float() / .8, -1), 1).cpu().to(dev))

def real_tokenizer():  # known: 64 long texts are split by the tokenizers library (Rust, its own threads) before each batch; the main thread waits for them. Pair: split before
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    r = random.Random(0); words = [''.join(r.choices('abcdefghijklmnop', k=r.randrange(3, 9))) for _ in range(3000)]; text = lambda n: ' '.join(r.choices(words, k=n)); t = Tokenizer(models.BPE()); t.pre_tokenizer = pre_tokenizers.ByteLevel(); t.train_from_iterator([text(3000)], trainers.BpeTrainer(vocab_size=3000, special_tokens=['<p>']))
    t.enable_truncation(128); t.enable_padding(length=128); docs = [[text(6000 if cuda else 50) for _ in range(64)] for _ in range(3)]
    m = made(T.BertModel, T.BertConfig(num_hidden_layers=12 if cuda else 1, hidden_size=768, num_attention_heads=12)); c = [0]
    def go(e): return m(torch.tensor([x.ids for x in e], device=dev)).pooler_output.float().sum().item()
    kept = t.encode_batch(docs[0])
    def step(): c[0] += 1; go(t.encode_batch(docs[c[0] % 3]))
    return step, 10, lambda: go(kept)

def numpy_retrieval():  # known: before each pass numpy multiplies a query with 300,000 vectors (BLAS threads) and partitions the scores. Pair: without
    m = llama(8); x = ids(4, 256); base = np.random.rand(300000 if cuda else 100, 512).astype(np.float32); q = np.random.rand(512, 8).astype(np.float32)
    def model(): m(x, use_cache=False).logits[:, -1].argmax(-1).tolist()
    def step(): s = base @ q; np.argpartition(s, 20, 0)[:20].tolist(); model()
    return step, 10, model

def tiny_chunks():  # known: a prompt of 4,096 tokens in pieces of 32: the weights are read 128 times; memory-bound on weights, not compute.
    m = llama(8, 4096, 32, 14336); x = ids(1, 4096)
    def as_(c):
        s = {'p': None, 'at': 0}
        def step():
            if s['at'] >= 2048 or s['p'] is None: s['p'] = T.DynamicCache(); s['at'] = 0
            m.model(x[:, :c], past_key_values=s['p'], use_cache=True); s['at'] += c; sync()
        return step
    return as_(32), 24

def whole_logits():  # known: logits of all 2,048 positions of 4 prompts and 128,000 words are computed and cast to 32 bits; only the last is used. Pair: logits_to_keep=1
    m = llama(4, vocab=128000 if cuda else 500); x = ids(4, 2048, 400)
    return (lambda: m(x, use_cache=False).logits.float()[:, -1].argmax(-1).tolist()), 8, lambda: m(x, use_cache=False, logits_to_keep=1).logits.float()[:, -1].argmax(-1).tolist()

def queue_of_batches():  # known: a thread prepares batches (numpy, about 25 ms each) and hands them over by a queue of length two: the model's thread waits in queue.get. Pair: prepared before
    m = llama(8); q = queue.Queue(2); stop = threading.Event(); size = 700000 if cuda else 100
    def prepare():
        while not stop.is_set():
            a = np.random.rand(size); a.sort(); b = (a[:4 * 256 if cuda else 32] * 1000).astype(np.int64).reshape(4, -1)
            while not stop.is_set():
                try: q.put(b, timeout=.05); break
                except queue.Full: pass
    threading.Thread(target=prepare, daemon=True).start(); kept = q.get()
    def go(b): m(torch.from_numpy(b).to(dev), use_cache=False).logits[:, -1].argmax(-1).tolist()
    return Closing(lambda: go(q.get()), lambda: stop.set()), 10, lambda: go(kept)

def other_process_decides():  # known: each token goes to another process by multiprocessing's pipe, which answers after 8 ms of Python. Pair: without
    code = "import sys,time,struct\nwhile True:\n  b=sys.stdin.buffer.read(8)\n  if not b: break\n  t=time.perf_counter()\n  while time.perf_counter()-t<.008: pass\n  sys.stdout.buffer.write(b); sys.stdout.buffer.flush()"
    p = subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE); d = Decode(llama(8), 8, 64)
    def step(): d(); d.tok.tolist(); p.stdin.write(b'12345678'); p.stdin.flush(); p.stdout.read(8)
    return Closing(step, lambda: (p.kill(), p.wait())), 12, lambda: (d(), d.tok.tolist())

def late_start():  # known: the GPU is busy nearly all the time with large products; nothing is lost but 16 bits could be 8. Two host threads idle
    w = [torch.randn(8192, 8192, device=dev, dtype=BF) * .01 for _ in range(8)] if cuda else [torch.randn(8, 8).to(BF)]; x = torch.randn(4096 if cuda else 4, w[0].shape[0], device=dev, dtype=BF)
    def step():
        y = x
        for a in w: y = y @ a
        y[0, 0].item()
    return step, 16

def qwen_vl():  # known: an image encoder over 2,304 patches, a prompt and 7 tokens per request, eager: launches (the GPU waits most of the time)
    c = T.Qwen2_5_VLConfig(text_config=dict(hidden_size=1536, num_hidden_layers=12 if cuda else 1, num_attention_heads=12, num_key_value_heads=2, intermediate_size=4096, vocab_size=32000, rope_scaling={'type': 'mrope', 'mrope_section': [16, 24, 24]}), vision_config=dict(depth=12 if cuda else 1, hidden_size=1280, num_heads=16, intermediate_size=3420, out_hidden_size=1536, fullatt_block_indexes=[5, 11]), image_token_id=31000, vision_start_token_id=31001, vision_end_token_id=31002)
    m = made(T.Qwen2_5_VLForConditionalGeneration, c); g = torch.tensor([[1, 48, 48]] if cuda else [[1, 8, 8]], device=dev); n = int(g.prod()); px = torch.randn(n, 1176, device=dev, dtype=BF); i = torch.cat([ids(1, 20), torch.tensor([[31001]], device=dev), torch.full((1, n // 4), 31000, device=dev), torch.tensor([[31002]], device=dev), ids(1, 20)], 1)
    mm = (i == 31000).int()
    return (lambda: m.generate(input_ids=i, attention_mask=torch.ones_like(i), pixel_values=px, image_grid_thw=g, mm_token_type_ids=mm, do_sample=False, min_new_tokens=8, max_new_tokens=8, pad_token_id=0)), 3

def compiled_shapes(f):  # known: torch.compile (mode reduce-overhead) with a batch size that is new in each step: a graph is recorded again each time. Pair: one size
    n = [32]
    def go(b): torch.compiler.cudagraph_mark_step_begin(); return f(torch.randn(b, 1024, device=dev, dtype=BF)).sum().item()
    def step(): n[0] += 8; go(n[0])
    return step, 10, lambda: go(8)
def compile_before():
    blocks = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024), nn.LayerNorm(1024)) for _ in range(8)]).to(dev).to(BF); f = torch.compile(blocks, mode='reduce-overhead', dynamic=True) if cuda else blocks
    for b in (8, 16, 24, 8, 16): torch.compiler.cudagraph_mark_step_begin(); f(torch.randn(b, 1024, device=dev, dtype=BF)).sum().item()
    return (f,)
compiled_shapes.before = compile_before

GROUPS = {
 'a': [cpu_draft, cpu_lm_head, retrieval_call, lora_switch, asyncio_serving, ngram_rules, starved_cpu, recapture, stop_check, queue_of_batches, whole_logits, late_start],
 'b': [kv_offload, nccl_alone, many_objects, pinning, poll_and_sleep, repeated_kv, periodic_save, adapter_from_disk, sample_one_by_one, real_tokenizer, numpy_retrieval, tiny_chunks, other_process_decides, qwen_vl, compiled_shapes],
 't': [cpu_lm_head, sample_one_by_one, recapture, starved_cpu, kv_offload, asyncio_serving, repeated_kv, retrieval_call, lora_switch, numpy_retrieval, many_objects],
}
if __name__ == '__main__':
    def restore():
        if cuda: torch.backends.cuda.enable_cudnn_sdp(False)
    run(GROUPS[os.environ.get('PROGRAMS_GROUP', 'a')], stacks=('many_objects', 'asyncio_serving'), shapes=('lora_switch',), stepped=('repeated_kv',), restore=restore)
