"""CTranslate2 (a C++ engine: no Python between two tokens) with random weights. python ctranslate2_programs.py nsys OUT [NAME…]
The comment beside each name is what is known, written before any page was read."""
import os, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
from locked_harness import run, cuda
import ctranslate2
from ctranslate2.specs import transformer_spec as ts, common_spec as cs
r = np.random.default_rng(0); h, L, heads, kv, inter, vocab = (2048, 12, 16, 16, 5632, 32000) if cuda else (64, 2, 4, 4, 128, 200)
base = (r.standard_normal(1 << 22, dtype=np.float32) * .02).astype(np.float16)
def w(*s): return np.resize(base, s)
def saved(quant):
    spec = ts.TransformerDecoderModelSpec.from_config(L, heads, activation=cs.Activation.SWISH, ffn_glu=True, rms_norm=True, rotary_dim=0, rotary_interleave=False, num_heads_kv=kv)
    d = spec.decoder; d.scale_embeddings = False; d.embeddings.weight = w(vocab, h); d.projection.weight = w(vocab, h); d.layer_norm.gamma = np.ones(h, np.float16)
    for l in d.layer:
        l.self_attention.layer_norm.gamma = np.ones(h, np.float16); l.ffn.layer_norm.gamma = np.ones(h, np.float16)
        l.self_attention.linear[0].weight = w(h + 2 * kv * (h // heads), h); l.self_attention.linear[1].weight = w(h, h)
        l.ffn.linear_0.weight = w(inter, h); l.ffn.linear_0_noact.weight = w(inter, h); l.ffn.linear_1.weight = w(h, inter)
    spec.register_vocabulary([f't{i}' for i in range(vocab - 3)] + ['<s>', '</s>', '<unk>']); spec.config.bos_token = '<s>'; spec.config.eos_token = '</s>'; spec.config.unk_token = '<unk>'; spec.config.layer_norm_epsilon = 1e-5
    spec.validate(); spec.optimize(quantization=quant); p = tempfile.mkdtemp(); spec.save(p); return p
paths = {q: saved(q) for q in (None, 'int8')}  # before any measurement
def generator(quant=None, **k): return ctranslate2.Generator(paths[quant], device='cuda' if cuda else 'cpu', compute_type=quant or ('float16' if cuda else 'float32'), **k)
def prompts(b, n): return [[f't{int(x)}' for x in r.integers(0, vocab - 3, n)] for _ in range(b)]
def gen(g, b, n, new, **k): p = prompts(b, n); return lambda: g.generate_batch(p, max_length=new, min_length=new, include_prompt_in_result=False, end_token=['</s>'], **k)
def ct_one():  # known: one request: weights of 1 B parameters read for each token (0.5 ms), some 300 small kernels launched by C++: launches or weights; no Python. One call is a prompt and 12 tokens
    return gen(generator(), 1, 64, 12), 3
def ct_batch():  # known: 64 requests of 512 tokens: the GPU works nearly all the time
    return gen(generator(), 64, 512, 8), 2
def ct_int8():  # known: weights in int8: each product has kernels that quantise before and dequantise behind it
    return gen(generator('int8'), 8, 64, 12), 3
def ct_callback():  # known: a Python callback for each token that takes 4 ms; the engine waits for it. Pair: without
    g = generator()
    def slow(s): time.sleep(0); t = time.perf_counter(); [None for _ in iter(lambda: time.perf_counter() - t < .004, False)]; return False
    return gen(g, 1, 64, 10, callback=slow), 3, gen(g, 1, 64, 10)
def ct_top_p():  # known: sampling by top-p: sorting of the vocabulary, or on the host
    return gen(generator(), 16, 64, 10, sampling_topk=0, sampling_topp=.9, sampling_temperature=.8), 2
def ct_beam():  # known: four beams: the cache is gathered for every token
    return gen(generator(), 8, 256, 10, beam_size=4), 2
run([ct_one, ct_batch, ct_int8, ct_callback, ct_top_p, ct_beam])
