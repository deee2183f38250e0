"""vLLM in this process, workloads of a fourth set, each a window. python vllm_more.py nsys|torch OUT CONFIG [name…]"""
import json, os, random, sys, threading, time
os.environ['VLLM_ENABLE_V1_MULTIPROCESSING'] = '0'
mode, out, conf = sys.argv[1:4]; only = sys.argv[4:]
def main():
    import torch
    from vllm import LLM, SamplingParams
    model = os.environ['MODEL']
    kw = dict(model=model, load_format='dummy', skip_tokenizer_init=True, max_model_len=16384, seed=0, max_num_seqs=256, max_num_batched_tokens=8192,
              gpu_memory_utilization=0.6, enable_prefix_caching=False, dtype='bfloat16', disable_log_stats=True, attention_backend='FLASH_ATTN')
    kw.update({'default': {}, 'prefix': dict(enable_prefix_caching=True), 'fp8': dict(quantization='fp8'), 'moe': {}, 'eager': dict(enforce_eager=True),
               'small': dict(num_gpu_blocks_override=420), 'sync': dict(async_scheduling=False)}[conf])
    llm = LLM(**kw); eng = llm.llm_engine; V = json.load(open(model + '/config.json'))['vocab_size']; rng = random.Random(1)
    P = lambda n, l: [{'prompt_token_ids': [rng.randrange(10, V - 10) for _ in range(l)]} for _ in range(n)]
    S = lambda n, **k: SamplingParams(temperature=k.pop('temperature', 0.0), max_tokens=n, ignore_eos=True, detokenize=False, **k)
    def drain():
        while eng.has_unfinished_requests(): eng.step()
    def window(name, before, step, n=14, warm=6):
        if only and name not in only: return
        try:
            before(); [step() for _ in range(warm)]; torch.cuda.synchronize(); t = time.perf_counter(); [step() for _ in range(n)]; torch.cuda.synchronize(); quiet = (time.perf_counter() - t) / n * 1e3
            if mode == 'torch':
                from torch.profiler import profile, ProfilerActivity as A
                with profile(activities=[A.CPU, A.CUDA]) as p:
                    t = time.perf_counter(); [step() for _ in range(n)]; torch.cuda.synchronize(); took = (time.perf_counter() - t) / n * 1e3
                p.export_chrome_trace(f'{out}/{conf}-{name}.json.gz')
            else:
                torch.cuda.cudart().cudaProfilerStart(); t = time.perf_counter(); [step() for _ in range(n)]; torch.cuda.synchronize(); took = (time.perf_counter() - t) / n * 1e3
                torch.cuda.cudart().cudaProfilerStop(); time.sleep(0.3)
            print('DONE', json.dumps(dict(conf=conf, name=name, steps=n, quiet_ms=round(quiet, 3), profiled_ms=round(took, 3))), flush=True)
        except Exception as e:
            print('FAILED', name, type(e).__name__, str(e)[:200], flush=True)
            if mode != 'torch': torch.cuda.cudart().cudaProfilerStart(); torch.cuda.synchronize(); torch.cuda.cudart().cudaProfilerStop(); time.sleep(0.3)
        drain()
    step = lambda: eng.step()
    go = lambda p, s: llm.enqueue(p, s, use_tqdm=False)
    if conf in ('default', 'fp8', 'moe', 'eager', 'sync'):
        window('one', lambda: go(P(1, 256), S(80)), step)
        window('batch128', lambda: go(P(128, 200), S(120)), step, 14, 20)
    if conf in ('default', 'moe'):
        window('longctx', lambda: go(P(8, 12000), S(80)), step, 14, 24)
        window('prefill8k', lambda: go(P(12, 8000), S(1)), step, 6, 2)
    if conf == 'default':
        window('logprobs', lambda: go(P(64, 100), S(80, logprobs=20, temperature=0.7)), step)
        window('penalties', lambda: go(P(64, 100), S(80, temperature=0.7, repetition_penalty=1.2, frequency_penalty=0.5, min_p=0.05)), step)
        def arrivals():
            if rng.random() < .5: go(P(1, 600), S(12))
            eng.step()
        window('arrivals', lambda: go(P(16, 100), S(200)), arrivals, 24)
        def client():  # a slow consumer in the same process between steps
            outs = eng.step(); json.dumps([list(range(4000)) for _ in outs] * 8)
        window('slow_client', lambda: go(P(16, 100), S(200)), client)
    if conf == 'prefix':
        pre = P(1, 6000)[0]['prompt_token_ids']; go([{'prompt_token_ids': pre + [7]}], S(1)); drain()
        window('hits', lambda: go([{'prompt_token_ids': pre + p['prompt_token_ids']} for p in P(160, 60)], S(4)), step, 12, 2)
    if conf == 'small':
        window('preempted', lambda: go(P(24, 300), S(400)), step, 40, 60)
main(); os._exit(0)
