"""vLLM in this process, several workloads, each a window. python vllm_workloads.py nsys|torch OUT config [name…]"""
import gc, json, os, random, sys, threading, time
os.environ['VLLM_ENABLE_V1_MULTIPROCESSING'] = '0'
mode, out, conf = sys.argv[1:4]; only = sys.argv[4:]
def main():
    import torch
    from vllm import LLM, SamplingParams
    model = os.environ['MODEL']
    kw = dict(model=model, load_format='dummy', skip_tokenizer_init=True, max_model_len=4096, seed=0, max_num_seqs=128, max_num_batched_tokens=2048,
              gpu_memory_utilization=0.6, enable_prefix_caching=False, dtype='bfloat16', disable_log_stats=True, attention_backend='FLASH_ATTN')
    kw.update({'graphs': dict(async_scheduling=False), 'async': dict(async_scheduling=True),
               'nograph': dict(async_scheduling=False, compilation_config={'cudagraph_mode': 'NONE'}),
               'piecewise': dict(async_scheduling=False, compilation_config={'cudagraph_mode': 'PIECEWISE'}),
               'ngram': dict(async_scheduling=False, speculative_config={'method': 'ngram', 'num_speculative_tokens': 4, 'prompt_lookup_max': 4, 'prompt_lookup_min': 2}),
               'small_chunks': dict(async_scheduling=False, max_num_batched_tokens=256)}[conf])
    llm = LLM(**kw); eng = llm.llm_engine; V = json.load(open(model + '/config.json'))['vocab_size']; rng = random.Random(1)
    P = lambda n, l: [{'prompt_token_ids': [rng.randrange(10, V - 10) for _ in range(l)]} for _ in range(n)]
    R = lambda n, l: [{'prompt_token_ids': ([rng.randrange(10, V - 10) for _ in range(16)] * (l // 16))} for _ in range(n)]
    S = lambda n, **k: SamplingParams(temperature=k.pop('temperature', 0.0), max_tokens=n, ignore_eos=True, detokenize=False, **k)
    from vllm.v1.core.sched.scheduler import Scheduler
    plain_schedule = Scheduler.schedule
    def drain():
        while eng.has_unfinished_requests(): eng.step()
    def window(name, before, step, n=14):
        if only and name not in only: return
        try:
            before(); [step() for _ in range(6)]; torch.cuda.synchronize(); t = time.perf_counter(); [step() for _ in range(n)]; torch.cuda.synchronize(); quiet = (time.perf_counter() - t) / n * 1e3
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
        Scheduler.schedule = plain_schedule; drain()
    step = lambda: eng.step()
    window('decode8', lambda: llm.enqueue(P(8, 128), S(60), use_tqdm=False), step)
    if conf == 'ngram':
        window('repeating8', lambda: llm.enqueue(R(8, 256), S(200), use_tqdm=False), step); return
    window('decode128long', lambda: (llm.enqueue(P(120, 1400), S(160), use_tqdm=False), [eng.step() for _ in range(86)]), step)
    def more():
        if len(getattr(eng, '_q', [])) == 0: llm.enqueue(P(4, 2000), S(1), use_tqdm=False)
    window('prefill', lambda: llm.enqueue(P(60, 2000), S(1), use_tqdm=False), step, 8)
    window('mixed', lambda: (llm.enqueue(P(32, 100), S(300), use_tqdm=False), [eng.step() for _ in range(4)], llm.enqueue(P(20, 900), S(4), use_tqdm=False)), step, 12)
    if conf not in ('graphs', 'async'): return
    window('sampling', lambda: llm.enqueue(P(64, 64), S(60, temperature=0.8, top_p=0.9, top_k=50, logprobs=10, presence_penalty=0.5), use_tqdm=False), step)
    def slow(self, *a, **k):
        t = time.perf_counter()
        while time.perf_counter() - t < 0.004: pass
        return plain_schedule(self, *a, **k)
    def plant(): Scheduler.schedule = slow; llm.enqueue(P(8, 128), S(60), use_tqdm=False)
    window('slow_scheduler', plant, step)
    def lowload():
        llm.enqueue(P(1, 64), S(3), use_tqdm=False); drain(); time.sleep(0.03)
    window('low_load', lambda: None, lowload, 6)
    stop = []
    def busy():
        x = 0
        while not stop: x += sum(range(200))
    def gil(): [threading.Thread(target=busy, daemon=True).start() for _ in range(2)]; llm.enqueue(P(8, 128), S(60), use_tqdm=False)
    window('gil', gil, step); stop.append(1)
main(); os._exit(0)
