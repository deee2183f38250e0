"""Runs programs one after the other: without a profiler, then in a window of one. Used by the sets of programs here."""
import gc, json, os, sys, time
import torch

def run(programs, stacks=(), shapes=(), stepped=(), restore=lambda: None):
    """stacks, shapes: programs recorded with these; stepped: those whose steps the profiler marks; restore: between two."""
    mode, out, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    for program in programs:
        name = program.__name__
        if only and name not in only: continue
        step = None
        try:
            step, n = program()
            for _ in range(3): step()
            torch.cuda.synchronize(); t = time.time()
            for _ in range(n): step()
            torch.cuda.synchronize(); plain = (time.time() - t) / n * 1e3
            if mode == 'torch':
                from torch.profiler import profile, ProfilerActivity as A
                with profile(activities=[A.CPU, A.CUDA], with_stack=name in stacks, record_shapes=name in shapes) as p:
                    t = time.time()
                    for _ in range(n):
                        step()
                        if name in stepped: p.step()
                    torch.cuda.synchronize(); took = (time.time() - t) / n * 1e3
                p.export_chrome_trace(f'{out}/{name}.json.gz')
            else:
                torch.cuda.cudart().cudaProfilerStart(); t = time.time()
                for _ in range(n): step()
                torch.cuda.synchronize(); took = (time.time() - t) / n * 1e3
                torch.cuda.cudart().cudaProfilerStop(); time.sleep(0.3)
            print('DONE', json.dumps({'name': name, 'steps': n, 'plain_ms': round(plain, 3), 'profiled_ms': round(took, 3)}), flush=True)
        except Exception as e:
            print('FAILED', json.dumps({'name': name, 'error': f'{type(e).__name__}: {str(e)[:300]}'}), flush=True)
            if mode == 'nsys':  # the windows are numbered
                torch.cuda.cudart().cudaProfilerStart(); torch.cuda.synchronize(); torch.cuda.cudart().cudaProfilerStop(); time.sleep(0.3)
        if hasattr(step, 'close'): step.close()
        step = None; gc.collect(); torch.cuda.empty_cache(); restore()
    os._exit(0)
