"""Programs that use other libraries than the sets before: python other_libraries.py torch|nsys OUT [name…]"""
import os, random, sys, threading, time
os.environ.setdefault('DEV', 'CUDA')
import torch, torch.nn as nn, torch.nn.functional as F
from harness import run
dev = 'cuda'
torch.manual_seed(0); torch.set_grad_enabled(False); torch.backends.cuda.enable_cudnn_sdp(False)
from transformers import LlamaConfig, LlamaForCausalLM

def made(cls, config, dtype=torch.bfloat16):
    with torch.device(dev):
        torch.set_default_dtype(dtype); m = cls(config).eval(); torch.set_default_dtype(torch.float32)
    return m
def llama(layers=16, hidden=2048, heads=16, inter=5632, vocab=32000, **kw):
    return made(LlamaForCausalLM, LlamaConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=heads // 2,
        intermediate_size=inter, vocab_size=vocab, max_position_embeddings=16384, **kw))
def ids(b, n, vocab=30000): return torch.randint(0, vocab, (b, n), device=dev)
def generating(m, b, n, new):
    x = ids(b, n)
    return lambda: m.generate(x, max_new_tokens=new, min_new_tokens=new, do_sample=False, pad_token_id=0, eos_token_id=None)

def tinygrad_llm():  # tinygrad's own model, one token after the other, its kernels in one graph
    from tinygrad.llm.model import Transformer, TransformerConfig
    m = Transformer(TransformerConfig(num_blocks=8, dim=2048, hidden_dim=5632, n_heads=16, n_kv_heads=8, norm_eps=1e-5, vocab_size=32000, head_dim=128,
        rope_theta=10000.0, rope_dim=128, v_head_dim=128, max_context=512))
    it = m.generate([random.randrange(30000) for _ in range(64)])
    for _ in range(4): next(it)
    return (lambda: next(it)), 12
def gla():  # gated linear attention: prompts of 2,000 tokens, no cache grows
    from fla.models import GLAConfig, GLAForCausalLM
    m = made(GLAForCausalLM, GLAConfig(hidden_size=1024, num_hidden_layers=12, num_heads=4, vocab_size=32000))
    x = ids(4, 2048); return (lambda: m(x, use_cache=False)), 8
def rwkv7_decode():
    from fla.models import RWKV7Config, RWKV7ForCausalLM
    m = made(RWKV7ForCausalLM, RWKV7Config(hidden_size=1024, num_hidden_layers=12, head_dim=64, vocab_size=32000))
    s = {}
    def step():
        if 'past' not in s: o = m(ids(8, 128), use_cache=True)
        else: o = m(s['tok'], past_key_values=s['past'], use_cache=True)
        s['past'] = o.past_key_values; s['tok'] = o.logits[:, -1].argmax(-1, keepdim=True)
    return step, 12
def delta_generate():
    from fla.models import GatedDeltaNetConfig, GatedDeltaNetForCausalLM
    m = made(GatedDeltaNetForCausalLM, GatedDeltaNetConfig(hidden_size=1024, num_hidden_layers=12, head_dim=128, num_heads=6, vocab_size=32000))
    return generating(m, 4, 512, 12), 2
def flux():  # a diffusion transformer: 6 denoising steps, then the image decoder, per image
    from diffusers import FluxTransformer2DModel, AutoencoderKL, FlowMatchEulerDiscreteScheduler
    with torch.device(dev):
        torch.set_default_dtype(torch.bfloat16)
        t = FluxTransformer2DModel(num_layers=6, num_single_layers=12, attention_head_dim=128, num_attention_heads=12, joint_attention_dim=1024, pooled_projection_dim=768).eval()
        v = AutoencoderKL(block_out_channels=(128, 256, 512, 512), down_block_types=('DownEncoderBlock2D',) * 4, up_block_types=('UpDecoderBlock2D',) * 4, latent_channels=16, layers_per_block=2).eval()
        torch.set_default_dtype(torch.float32)
    sch = FlowMatchEulerDiscreteScheduler()
    txt = torch.randn(1, 256, 1024, device=dev, dtype=torch.bfloat16); pool = torch.randn(1, 768, device=dev, dtype=torch.bfloat16)
    ti = torch.zeros(256, 3, device=dev); ii = torch.zeros(4096, 3, device=dev)
    def image():
        x = torch.randn(1, 4096, 64, device=dev, dtype=torch.bfloat16); sch.set_timesteps(6, device=dev)
        for s in sch.timesteps:
            e = t(hidden_states=x, timestep=s.expand(1).to(x.dtype) / 1000, pooled_projections=pool, encoder_hidden_states=txt, txt_ids=ti, img_ids=ii, guidance=None).sample
            x = sch.step(e, s, x).prev_sample
        return v.decode(x.view(1, 64, 64, 16, 4)[..., 0].permute(0, 3, 1, 2)).sample.float().cpu()
    return image, 3
def lora():  # adapters that are not merged: three GEMMs for one
    from peft import LoraConfig, get_peft_model
    m = get_peft_model(llama(), LoraConfig(r=16, target_modules=['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'])).to(torch.bfloat16).eval()
    o = m(ids(8, 128), use_cache=True); s = [o.past_key_values, o.logits[:, -1].argmax(-1, keepdim=True)]
    def step(): o = m(s[1], past_key_values=s[0], use_cache=True); s[1] = o.logits[:, -1].argmax(-1, keepdim=True)
    return step, 12
def continuous():  # transformers' own continuous batching
    from transformers import GenerationConfig
    m = llama(layers=12); m.set_attn_implementation('paged|sdpa'); g = GenerationConfig(max_new_tokens=24, do_sample=False, eos_token_id=-1, pad_token_id=0, use_cuda_graph=False)
    return (lambda: m.generate_batch(inputs=[[random.randrange(30000) for _ in range(random.randrange(20, 200))] for _ in range(12)], generation_config=g, progress_bar=False)), 1
def aot():  # compiled ahead of time by inductor, run without torch's dispatcher
    m = llama(layers=8).model
    class W(nn.Module):
        def __init__(s): super().__init__(); s.m = m
        def forward(s, x): return s.m(input_ids=x, use_cache=False).last_hidden_state
    x = ids(4, 256); e = torch.export.export(W(), (x,), strict=False); p = torch._inductor.aoti_compile_and_package(e); f = torch._inductor.aoti_load_package(p)
    return (lambda: f(x)), 12
def scripted():  # TorchScript, traced and frozen
    net = nn.Sequential(*[nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, activation='gelu') for _ in range(8)]).to(dev).half().eval()
    x = torch.randn(8, 128, 512, device=dev, dtype=torch.half); f = torch.jit.freeze(torch.jit.trace(net, x)); return (lambda: f(x)), 15
def four_threads():  # four threads, each with a model and a stream of its own
    ms = [llama(layers=4, hidden=1024, heads=8, inter=2816) for _ in range(4)]; xs = [ids(1, 64) for _ in range(4)]
    def one(i, n):
        with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(n): ms[i](xs[i], use_cache=False).logits[:, -1].argmax(-1).tolist()
    def step():
        ts = [threading.Thread(target=one, args=(i, 6)) for i in range(4)]; [t.start() for t in ts]; [t.join() for t in ts]
    return step, 3
def streaming():  # speech in pieces: 40 ms of sound arrive, a small network, the next piece
    net = nn.Sequential(nn.Conv1d(80, 256, 3, 2, 1), nn.GELU(), nn.Conv1d(256, 256, 3, 2, 1), nn.GELU()).to(dev); g = nn.GRU(256, 512, 2, batch_first=True).to(dev); h = [None]
    def step():
        time.sleep(.04); y = net(torch.randn(1, 80, 16).to(dev)); o, h[0] = g(y.transpose(1, 2), h[0]); return o.argmax(-1).tolist()
    return step, 10
def flex():  # compiled block-sparse attention: sliding window in a long prompt
    from torch.nn.attention.flex_attention import flex_attention, create_block_mask
    f = torch.compile(flex_attention); n = 16384
    bm = create_block_mask(lambda b, h, q, k: (q >= k) & (q - k < 1024), None, None, n, n, device=dev)
    q = torch.randn(1, 16, n, 128, device=dev, dtype=torch.bfloat16); w = torch.randn(2048, 2048, device=dev, dtype=torch.bfloat16)
    def step():
        x = q
        for _ in range(6): x = f(x, q, q, block_mask=bm); x = (x.transpose(1, 2).reshape(n, 2048) @ w).view(1, n, 16, 128).transpose(1, 2).contiguous() * 1e-2
        return x
    return step, 6
def repeated_embedding():  # a table on the CPU, looked up and copied in every step
    table = torch.randn(2_000_000, 256); net = nn.Sequential(nn.Linear(256 * 32, 1024), nn.ReLU(), nn.Linear(1024, 1)).to(dev)
    def step(): return net(table[torch.randint(0, 2_000_000, (2048, 32))].view(2048, -1).to(dev)).sigmoid().cpu()
    return step, 10
run([tinygrad_llm, gla, rwkv7_decode, delta_generate, flux, lora, continuous, aot, scripted, four_threads, streaming, flex, repeated_embedding],
    stacks={'continuous', 'four_threads', 'lora', 'repeated_embedding'}, shapes={'gla', 'flux'})
