"""Runs programs one after the other, each without a profiler, then in a window of one. A lock keeps the measured parts of
several processes apart, so that imports and compilation may run beside each other. Used by the fifth set."""
import fcntl, gc, json, os, sys, time, traceback
import torch

LATEST = float(os.environ.get('PROGRAMS_T0', time.time())) + float(os.environ.get('PROGRAMS_LATEST', 1e9))  # no program starts after this
LOCK = open(os.environ.get('PROGRAMS_LOCK', '/tmp/programs.lock'), 'w')
cuda = torch.cuda.is_available()
sync = torch.cuda.synchronize if cuda else (lambda: None)
prof = torch.cuda.cudart() if cuda else None

def timed(step, n, warm=2):
    for _ in range(warm): step()
    sync(); t = time.time()
    for _ in range(n): step()
    sync(); return round((time.time() - t) / n * 1e3, 3)

def run(programs, stacks=(), shapes=(), stepped=(), restore=lambda: None):
    """A program gives its step, how many, and optionally the same without the cause. One that has `before` prepares it outside the lock."""
    mode, out, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    log = open(f'{out}/{os.environ.get("PROGRAMS_GROUP", mode)}.jsonl', 'a'); window = 0
    for program in programs:
        name = program.__name__
        if only and name not in only: continue
        if time.time() > LATEST: print('LATE', name, flush=True); continue
        window += 1; step = pair = None; line = {'name': name, 'mode': mode, 'window': window}
        try:
            before = getattr(program, 'before', None); got = before() if before else ()
            fcntl.flock(LOCK, fcntl.LOCK_EX)
            t0 = time.time(); made = program(*got) if before else program(); step, n = made[0], made[1]
            line['steps'] = n
            if len(made) > 2: pair = made[2]; line['without_ms'] = timed(pair, n)
            line['plain_ms'] = timed(step, n)
            if mode == 'torch':
                from torch.profiler import profile, ProfilerActivity as A
                with profile(activities=[A.CPU, A.CUDA], with_stack=name in stacks, record_shapes=name in shapes) as p:
                    t = time.time()
                    for _ in range(n):
                        step()
                        if name in stepped: p.step()
                    sync(); line['profiled_ms'] = round((time.time() - t) / n * 1e3, 3)
                fcntl.flock(LOCK, fcntl.LOCK_UN)
                p.export_chrome_trace(f'{out}/{name}.json.gz')
            else:
                prof and prof.cudaProfilerStart(); t = time.time()
                for _ in range(n): step()
                sync(); line['profiled_ms'] = round((time.time() - t) / n * 1e3, 3)
                prof and prof.cudaProfilerStop(); time.sleep(0.3)
        except BaseException as e:
            line['error'] = f'{type(e).__name__}: {str(e)[:300]}'; print('FAILED', name, flush=True); traceback.print_exc()
            if mode == 'nsys' and prof:  # the windows are numbered
                prof.cudaProfilerStart(); sync(); prof.cudaProfilerStop(); time.sleep(0.3)
        for s in (step, pair):
            if hasattr(s, 'close'):
                try: s.close()
                except Exception: pass
        step = pair = made = None; gc.collect()
        if cuda: torch.cuda.empty_cache()
        restore(); fcntl.flock(LOCK, fcntl.LOCK_UN); time.sleep(.05)  # another process may take it
        line['took_s'] = round(time.time() - t0, 1) if 't0' in dir() else None
        print('DONE' if 'error' not in line else 'FAILED', json.dumps(line), flush=True); log.write(json.dumps(line) + '\n'); log.flush()
    os._exit(0)
