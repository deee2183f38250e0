"""SGLang with its scheduler in a process of its own, several workloads, each a window. MODEL=… python sglang_workloads.py nsys|torch OUT CONFIG [name…]"""
import json, os, random, sys, time
mode, out, conf = sys.argv[1:4]; only = sys.argv[4:]
PLANT = '/tmp/sgl-plant'

def scheduler(*a, **k):
    """In the scheduler's process: what the file says happens before every batch; each batch is written down."""
    import gc, threading
    from sglang.srt.managers import scheduler as s
    plain = s.Scheduler.run_batch; busy = []; steps = open(os.environ['STEPS'], 'a', buffering=1)
    def spin(): 
        x = 0
        while busy: x += sum(range(200))
    def run_batch(self, batch, *a, **k):
        what = open(PLANT).read()
        if what == 'slow':
            t = time.perf_counter()
            while time.perf_counter() - t < 0.004: pass
        elif what == 'gc': gc.collect()
        elif what == 'gil' and not busy: busy.append(1); [threading.Thread(target=spin, daemon=True).start() for _ in range(2)]
        elif what != 'gil': busy.clear()
        began = time.monotonic_ns(); result = plain(self, batch, *a, **k)
        tokens = int(batch.extend_num_tokens) if batch.forward_mode.is_extend() else batch.batch_size()
        steps.write(json.dumps(dict(step=self.forward_ct, mode=batch.forward_mode.name, bs=batch.batch_size(), tokens=tokens, m0=began)) + '\n')
        return result
    s.Scheduler.run_batch = run_batch
    return s.run_scheduler_process(*a, **k)

def main():
    open(PLANT, 'w').close()
    os.environ['STEPS'] = out + '/' + conf + '.steps.jsonl'
    from sglang.srt.entrypoints.engine import Engine
    model = os.environ['MODEL']
    kw = dict(model_path=model, load_format='dummy', skip_tokenizer_init=True, dtype='bfloat16', random_seed=0, context_length=8192, mem_fraction_static=0.6,
              attention_backend='fa3', sampling_backend='pytorch', grammar_backend='none', disable_radix_cache=True, log_level='warning',
              cuda_graph_backend_prefill='disabled', max_running_requests=128, chunked_prefill_size=2048, max_prefill_tokens=4096, skip_server_warmup=True,
              cuda_graph_bs_decode=[1, 2, 4, 8, 16, 32, 64, 128], cuda_graph_max_bs_decode=128)
    nograph = {'cuda_graph_backend_decode': 'disabled'}
    kw.update({'graphs': {}, 'nooverlap': dict(disable_overlap_schedule=True), 'nograph': nograph, 'triton': dict(attention_backend='triton'),
               'mixedchunk': dict(enable_mixed_chunk=True, chunked_prefill_size=512), 'stacks': {},
               'radix': dict(disable_radix_cache=False)}[conf])
    if 'cuda_graph_backend_decode' in kw: del kw['cuda_graph_bs_decode'], kw['cuda_graph_max_bs_decode']
    class Planted(Engine): run_scheduler_process_func = staticmethod(scheduler)
    eng = Planted(**kw); V = json.load(open(model + '/config.json'))['vocab_size']; rng = random.Random(1)
    P = lambda n, l: [[rng.randrange(10, V - 10) for _ in range(l)] for _ in range(n)]
    def gen(n, l, new, **k):
        eng.generate(input_ids=P(n, l), sampling_params=[dict(temperature=k.pop('temperature', 0.0), max_new_tokens=new, ignore_eos=True, **k)] * n)
    def key():
        try: return [json.loads(l) for l in open(os.environ['STEPS'])]
        except FileNotFoundError: return []
    def window(name, work, n=14, skip=8, plant='', **more):
        if only and name not in only: return
        try:
            open(PLANT, 'w').write(plant)
            work(); c = len(key()); t = time.perf_counter(); work(); quiet = time.perf_counter() - t; time.sleep(.05); seen = key()[c:]
            p = dict(output_dir=out, num_steps=n, profile_id=f'{conf}-{name}', start_step=max(r['step'] for r in key()) + 1 + skip)
            p.update(dict(activities=['CUDA_PROFILER']) if mode == 'nsys' else dict(activities=['CPU', 'GPU'], with_stack=conf == 'stacks', record_shapes=False))
            eng.start_profile(**p); work(); work() if len(seen) < n + skip + 2 else None; time.sleep(0.6)
            dec = [r for r in seen[skip:skip + n]]
            iv = [(b['m0'] - a['m0']) / 1e6 for a, b in zip(dec, dec[1:])]
            prof = [r for r in key() if r['step'] >= p['start_step']][:n]
            pv = [(b['m0'] - a['m0']) / 1e6 for a, b in zip(prof, prof[1:])]
            med = lambda v: round(sorted(v)[len(v) // 2], 3) if v else None
            print('DONE', json.dumps(dict(conf=conf, name=name, quiet_ms=med(iv), profiled_ms=med(pv), mean_quiet=round(sum(iv) / max(1, len(iv)), 3), modes=[(r['mode'][0], r['bs'], r['tokens']) for r in prof])), flush=True)
        except Exception as e:
            print('FAILED', name, type(e).__name__, str(e)[:300], flush=True)
        open(PLANT, 'w').close()
    window('decode8', lambda: gen(8, 128, 48))
    if conf == 'mixedchunk':
        window('mixed', lambda: gen(48, 700, 40), 14, 4); os._exit(0)
    if conf == 'radix':
        pre = P(1, 3000)[0]
        window('shared_prefix', lambda: eng.generate(input_ids=[pre + P(1, 40)[0] for _ in range(16)], sampling_params=dict(temperature=0, max_new_tokens=24, ignore_eos=True)), 14, 0); os._exit(0)
    window('long', lambda: gen(64, 4000, 40), 12, 140)
    window('prefill', lambda: gen(60, 3000, 1), 10, 6)
    window('sampling', lambda: gen(64, 64, 40, temperature=0.8, top_p=0.9, top_k=50, presence_penalty=0.5))
    if conf != 'triton':
        window('slow', lambda: gen(8, 128, 48), plant='slow')
    if conf in ('graphs', 'stacks', 'nooverlap'):
        window('gil', lambda: gen(8, 128, 48), plant='gil')
        window('gc', lambda: gen(8, 128, 48), plant='gc')
        def low():
            for _ in range(8): gen(1, 64, 3); time.sleep(.03)
        window('low_load', low, 14, 4)
        window('one', lambda: gen(1, 128, 48))
    sys.stdout.flush(); eng.shutdown(); os._exit(0)
if __name__ == '__main__': main()
