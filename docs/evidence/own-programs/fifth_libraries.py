"""Programs of libraries nobody had tried: litgpt, rwkv, optimum-quanto, lm-format-enforcer, AOTInductor. python fifth_libraries.py nsys|torch OUT [NAME…]
The comment beside each name is what is known, written before any page was read."""
import os, random, sys, tempfile, time, types
from unittest import mock
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ['RWKV_V7_ON'] = '1'; os.environ['RWKV_CUDA_ON'] = '0'
import torch, torch.nn as nn, torch.nn.functional as F
from locked_harness import run, cuda, sync
torch.manual_seed(0); dev = 'cuda' if cuda else 'cpu'; BF = torch.bfloat16 if cuda else torch.float32

def lit(layers=12):  # litgpt's model and its own generate(); its trainer (lightning) is not needed
    import importlib, importlib.machinery
    for n in ('lightning', 'lightning.fabric', 'lightning.fabric.plugins', 'lightning.fabric.accelerators', 'lightning.fabric.utilities', 'lightning.fabric.strategies', 'lightning.fabric.utilities.load', 'lightning.fabric.utilities.types', 'lightning.fabric.utilities.init', 'lightning.fabric.loggers', 'lightning.pytorch', 'lightning.pytorch.loggers', 'lightning.pytorch.cli', 'lightning.pytorch.callbacks', 'lightning_utilities', 'lightning_utilities.core', 'lightning_utilities.core.imports', 'jsonargparse', 'litgpt.utils', 'litgpt.tokenizer', 'litgpt.prompts'):
        if n not in sys.modules: m = mock.MagicMock(); m.__spec__ = importlib.machinery.ModuleSpec(n, None); m.__path__ = []; sys.modules[n] = m
    if 'litgpt' not in sys.modules:
        root = next(p for p in sys.path if os.path.isdir(os.path.join(p, 'litgpt'))); p = types.ModuleType('litgpt'); p.__path__ = [os.path.join(root, 'litgpt')]; sys.modules['litgpt'] = p
    from litgpt.config import Config
    from litgpt.model import GPT
    from litgpt.generate.base import generate
    h, inter = (2048, 5632) if cuda else (64, 128)
    c = Config(name='own', block_size=2048, vocab_size=32000, padded_vocab_size=32000, n_layer=layers if cuda else 2, n_head=16 if cuda else 4, n_embd=h, rotary_percentage=1.0, parallel_residual=False, bias=False, norm_class_name='RMSNorm', mlp_class_name='LLaMAMLP', intermediate_size=inter)
    torch.set_default_dtype(BF)
    with torch.device(dev): m = GPT(c).eval().requires_grad_(False)
    torch.set_default_dtype(torch.float32); m.max_seq_length = 512
    with torch.device(dev): m.set_kv_cache(batch_size=1, dtype=BF)
    return m.to(dev), generate
def litgpt_generate():  # known: eager, one request, about 15 small kernels per layer: launch-bound. A call is a prompt of 128 and 10 tokens
    m, generate = lit(); x = torch.randint(5, 30000, (128,), device=dev)
    return (lambda: generate(m, x, 138, temperature=.8, top_k=50)), 3
def rwkv_one():  # known: RWKV-7, one token at a time, TorchScript: some 50 tiny kernels per layer: launch-bound
    from rwkv.model import RWKV
    L, d, hs, v = (12, 1024, 64, 16000) if cuda else (2, 128, 64, 100); z = {}; g = lambda *s: torch.randn(*s) * .02
    z['emb.weight'] = g(v, d); z['head.weight'] = g(v, d); z['ln_out.weight'] = torch.ones(d); z['ln_out.bias'] = torch.zeros(d); z['blocks.0.ln0.weight'] = torch.ones(d); z['blocks.0.ln0.bias'] = torch.zeros(d)
    for i in range(L):
        b = f'blocks.{i}.'; a = b + 'att.'; f = b + 'ffn.'
        for n in ('ln1', 'ln2'): z[b + n + '.weight'] = torch.ones(d); z[b + n + '.bias'] = torch.zeros(d)
        for n in 'rwkvag': z[a + 'x_' + n] = g(1, 1, d)
        for n, k in (('w', 64), ('a', 64), ('v', 32)): z[a + n + '0'] = g(1, 1, d); z[a + n + '1'] = g(d, k); z[a + n + '2'] = g(k, d)
        z[a + 'g1'] = g(d, 128); z[a + 'g2'] = g(128, d); z[a + 'k_k'] = g(1, 1, d); z[a + 'k_a'] = g(1, 1, d); z[a + 'r_k'] = g(d // hs, hs)
        for n in ('receptance', 'key', 'value', 'output'): z[a + n + '.weight'] = g(d, d)
        z[a + 'ln_x.weight'] = torch.ones(d); z[a + 'ln_x.bias'] = torch.zeros(d); z[f + 'x_k'] = g(1, 1, d); z[f + 'key.weight'] = g(4 * d, d); z[f + 'value.weight'] = g(d, 4 * d)
    p = tempfile.mkdtemp() + '/m'; torch.save(z, p + '.pth'); m = RWKV(model=p, strategy='cuda fp16' if cuda else 'cpu fp32'); s = [None, 5]
    def step(): o, s[0] = m.forward([s[1]], s[0]); s[1] = int(o[:1000 if cuda else 100].argmax())
    return step, 12
def hf(layers=12):
    import transformers as T
    T.logging.set_verbosity_error(); h, inter = (2048, 5632) if cuda else (64, 128)
    torch.set_default_dtype(BF)
    with torch.device(dev): m = T.LlamaForCausalLM(T.LlamaConfig(num_hidden_layers=layers if cuda else 2, hidden_size=h, num_attention_heads=16 if cuda else 4, intermediate_size=inter, vocab_size=32000)).eval().requires_grad_(False)
    torch.set_default_dtype(torch.float32)
    if cuda: torch.backends.cuda.enable_cudnn_sdp(False)
    return m
def generating(m, b, n, new, **k):
    i = torch.randint(5, 30000, (b, n), device=dev); a = dict(attention_mask=torch.ones_like(i), do_sample=False, min_new_tokens=new, max_new_tokens=new, pad_token_id=0); a.update(k)
    return lambda: m.generate(i, **a)
def quanto_int8():  # known: weights kept in int8 and made 16-bit (or a slow mixed product) in each pass; with and without are a pair
    from optimum.quanto import quantize, freeze, qint8
    m = hf(); q = hf(); quantize(q, weights=qint8); freeze(q)
    return generating(q, 8, 128, 8), 2, generating(m, 8, 128, 8)
def format_enforcer():  # known: lm-format-enforcer decides in Python which tokens may follow, for each of 4 requests and each token; masks are made on the host. Pair: without
    from lmformatenforcer import TokenEnforcer, TokenEnforcerTokenizerData, RegexParser
    r = random.Random(0); abc = 'abcdefghijklmnopqrstuvwxyz0123456789 ,.{}":'; toks = [(i, ''.join(r.choices(abc, k=r.randrange(1, 6))), r.random() < .4) for i in range(32000)]
    e = TokenEnforcer(TokenEnforcerTokenizerData(toks, lambda ids: ''.join(toks[i][1] for i in ids), 2, False, 32000), RegexParser(r'[a-h ]{4,300}')); m = hf(8)
    def allowed(b, ids):
        a = e.get_allowed_tokens(ids.tolist()); return getattr(a, 'allowed_tokens', a)
    return generating(m, 4, 48, 8, prefix_allowed_tokens_fn=allowed, min_new_tokens=1), 2, generating(m, 4, 48, 8)
def aoti_before():
    class Block(nn.Module):
        def __init__(s, h=1024): super().__init__(); s.qkv, s.o, s.up, s.down, s.n1, s.n2 = nn.Linear(h, 3 * h), nn.Linear(h, h), nn.Linear(h, 4 * h), nn.Linear(4 * h, h), nn.LayerNorm(h), nn.LayerNorm(h)
        def forward(s, x, k, v):
            q, kn, vn = s.qkv(s.n1(x)).view(x.shape[0], 1, 3, 16, 64).permute(2, 0, 3, 1, 4).unbind(0)
            a = F.scaled_dot_product_attention(q, torch.cat([k, kn], 2), torch.cat([v, vn], 2)).transpose(1, 2).reshape(x.shape)
            x = x + s.o(a); return x + s.down(F.gelu(s.up(s.n2(x))))
    class Net(nn.Module):
        def __init__(s): super().__init__(); s.b = nn.ModuleList(Block() for _ in range(6)); s.head = nn.Linear(1024, 16000)
        def forward(s, x, k, v):
            for i, b in enumerate(s.b): x = b(x, k[i], v[i])
            return s.head(x).argmax(-1)
    m = Net().to(dev).to(BF).eval(); a = (torch.randn(4, 1, 1024, device=dev, dtype=BF), torch.randn(6, 4, 16, 255, 64, device=dev, dtype=BF), torch.randn(6, 4, 16, 255, 64, device=dev, dtype=BF))
    with torch.no_grad():
        ep = torch.export.export(m, a); f = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(ep, package_path=tempfile.mktemp(suffix='.pt2')))
    return f, a
def aoti(f, a):  # known: compiled ahead of time, small model: launched by C++ (some 50 kernels); the tokens are fetched each step
    return (lambda: f(*a).tolist()), 16
aoti.before = aoti_before
ALL = [litgpt_generate, rwkv_one, quanto_int8, format_enforcer, aoti]
if __name__ == '__main__': torch.set_grad_enabled(False); run(ALL, stacks=('format_enforcer',))
