"""JAX programs, each in a window of the CUDA profiler. python jax_programs.py OUT [name…]"""
import ctypes, glob, json, os, sys, time
os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
import jax, jax.numpy as jnp, numpy as np
from jax import lax
rt = None
for p in glob.glob(os.path.dirname(os.path.dirname(jax.__file__)) + '/nvidia/**/libcudart.so*', recursive=True) + ['/usr/local/cuda/lib64/libcudart.so']:
    try: rt = ctypes.CDLL(p); break
    except OSError: pass
start, stop = rt.cudaProfilerStart, rt.cudaProfilerStop
L, D, H, F, V = 12, 2048, 16, 5632, 32000
def params(key=0, layers=L):
    k = jax.random.PRNGKey(key); n = lambda *s: (jax.random.normal(k, s, jnp.float32) * .02).astype(jnp.bfloat16)
    return dict(emb=n(V, D), head=n(D, V), layers=[dict(q=n(D, D), k=n(D, D), v=n(D, D), o=n(D, D), g=n(D, F), u=n(D, F), d=n(F, D), a=jnp.ones(D, jnp.bfloat16), b=jnp.ones(D, jnp.bfloat16)) for _ in range(layers)])
def norm(x, w): return (x * lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-6)).astype(x.dtype) * w
def block(p, x, ck, cv, pos):
    B, T, _ = x.shape; h = norm(x, p['a']); sh = lambda y: y.reshape(B, T, H, D // H)
    q, k, v = sh(h @ p['q']), sh(h @ p['k']), sh(h @ p['v'])
    ck = lax.dynamic_update_slice(ck, k, (0, pos, 0, 0)); cv = lax.dynamic_update_slice(cv, v, (0, pos, 0, 0))
    s = jnp.einsum('bthd,bshd->bhts', q, ck).astype(jnp.float32) / 11.3
    m = jnp.arange(ck.shape[1])[None, :] <= pos + jnp.arange(T)[:, None]
    a = jax.nn.softmax(jnp.where(m, s, -1e9), -1).astype(x.dtype)
    x = x + jnp.einsum('bhts,bshd->bthd', a, cv).reshape(B, T, D) @ p['o']
    h = norm(x, p['b']); return x + (jax.nn.silu(h @ p['g']) * (h @ p['u'])) @ p['d'], ck, cv
def forward(P, ids, cache, pos):
    x = P['emb'][ids]; new = []
    for p, (ck, cv) in zip(P['layers'], cache): x, ck, cv = block(p, x, ck, cv, pos); new.append((ck, cv))
    return x[:, -1] @ P['head'], new
def cache(B, S, layers=L): return [(jnp.zeros((B, S, H, D // H), jnp.bfloat16), jnp.zeros((B, S, H, D // H), jnp.bfloat16)) for _ in range(layers)]
step = jax.jit(lambda P, t, c, pos: (lambda r: (jnp.argmax(r[0], -1)[:, None], r[1]))(forward(P, t, c, pos)), donate_argnums=2)
logits = jax.jit(forward, donate_argnums=2)
def decode(B, S, read):
    P = params(); s = [jnp.ones((B, 1), jnp.int32), cache(B, S), 1]
    def run():
        s[0], s[1] = step(P, s[0], s[1], s[2]); s[2] += 1
        if read: np.asarray(s[0])
    return run, 16
def jax_decode(): return decode(8, 512, True)
def jax_decode_ahead(): return decode(8, 512, False)
def jax_long(): return decode(32, 8192, True)
def jax_prefill():
    P = params(); ids = jnp.ones((8, 1024), jnp.int32); f = jax.jit(lambda P, i, c: jnp.argmax(forward(P, i, c, 0)[0], -1))
    c = cache(8, 1024)
    return lambda: f(P, ids, c).block_until_ready(), 8
def jax_host_sampling():
    P = params(); s = [jnp.ones((32, 1), jnp.int32), cache(32, 512), 1]; r = np.random.default_rng(0)
    def run():
        l, s[1] = logits(P, s[0], s[1], s[2]); l = np.asarray(l, np.float32); l = np.exp(l - l.max(-1, keepdims=True)); l /= l.sum(-1, keepdims=True)
        o = np.argsort(-l, -1); s[0] = jnp.asarray(o[np.arange(32), r.integers(0, 40, 32)][:, None].astype(np.int32)); s[2] += 1
    return run, 10
def jax_fori():  # 24 tokens inside one call
    P = params()
    @jax.jit
    def gen(t, c):
        def body(i, s): t, c = s; l, c = forward(P, t, c, i); return jnp.argmax(l, -1)[:, None].astype(jnp.int32), c
        return lax.fori_loop(1, 25, body, (t, c))[0]
    c = cache(8, 256)
    return lambda: np.asarray(gen(jnp.ones((8, 1), jnp.int32), c)), 2
def jax_scan_layers():  # layers as lax.scan
    P = params(); st = jax.tree.map(lambda *a: jnp.stack(a), *P['layers'])
    @jax.jit
    def f(t, ck, cv, pos):
        x = P['emb'][t]
        def body(x, w): p, a, b = w; x, a, b = block(p, x, a, b, pos); return x, (a, b)
        x, (ck, cv) = lax.scan(body, x, (st, ck, cv)); return jnp.argmax(x[:, -1] @ P['head'], -1)[:, None].astype(jnp.int32), ck, cv
    s = [jnp.ones((8, 1), jnp.int32), jnp.zeros((L, 8, 512, H, D // H), jnp.bfloat16), jnp.zeros((L, 8, 512, H, D // H), jnp.bfloat16), 1]
    def run(): s[0], s[1], s[2] = f(s[0], s[1], s[2], s[3]); s[3] += 1; np.asarray(s[0])
    return run, 12
def jax_recompile():
    P = params(layers=4); n = [64]; f = jax.jit(lambda i, c: forward(P, i, c, 0)[0])
    def run(): n[0] += 1; f(jnp.ones((4, n[0]), jnp.int32), cache(4, 512, 4)).block_until_ready()
    return run, 4
def jax_eager():  # nothing compiled: one program for each operation
    P = params(layers=4); s = [jnp.ones((4, 1), jnp.int32), cache(4, 128, 4), 1]
    def run(): l, s[1] = forward(P, s[0], s[1], s[2]); s[0] = jnp.argmax(l, -1)[:, None]; s[2] += 1
    return run, 6
out, only = sys.argv[1], sys.argv[2:]
for f in [jax_decode, jax_decode_ahead, jax_long, jax_prefill, jax_host_sampling, jax_fori, jax_scan_layers, jax_recompile, jax_eager]:
    if only and f.__name__ not in only: continue
    try:
        run, n = f(); [run() for _ in range(3)]; jax.effects_barrier(); (jnp.zeros(1) + 1).block_until_ready(); t = time.time(); [run() for _ in range(n)]; (jnp.zeros(1) + 1).block_until_ready(); q = (time.time() - t) / n * 1e3
        start(); t = time.time(); [run() for _ in range(n)]; (jnp.zeros(1) + 1).block_until_ready(); p = (time.time() - t) / n * 1e3; stop(); time.sleep(.3)
        print('DONE', json.dumps(dict(name=f.__name__, steps=n, plain_ms=round(q, 3), profiled_ms=round(p, 3))), flush=True)
    except Exception as e:
        print('FAILED', f.__name__, type(e).__name__, str(e)[:300], flush=True); start(); stop(); time.sleep(.3)
    run = None
os._exit(0)
