"""Programs to run under the agent, one per function: `scenarios.py NAME`. Each prints one JSON object at its end.

test/agent.test.ts sets the variables, runs them and checks the output.
"""

import contextlib
import gc
import hashlib
import json
import os
import signal
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def say(**result: Any) -> None:
    print(json.dumps(result), flush=True)


def decode(model: Any, steps: int, rows: int = 2, at: Any = None) -> str:
    """A prefill of 5 tokens per row, then `steps` of one; the digest of every output."""
    import models
    import torch

    digest = hashlib.sha256()
    with torch.inference_mode():
        for step in range(steps + 1):
            if at is not None:
                at(step)
            out = model(models.prompt(rows, 5 if step == 0 else 1))
            digest.update(out.numpy().tobytes())
    return digest.hexdigest()


def plain() -> None:
    import models

    kind = os.environ.get("SCENARIO_MODEL", "dense")
    say(digest=decode(models.model(kind), 20))


def patched_names() -> None:
    import models
    import torch

    model = models.model()
    decode(model, 1)
    finders = [type(finder).__module__ for finder in sys.meta_path]
    say(
        wrapped=hasattr(torch.nn.Module.__call__, "_stepscope_wrapped")
        or hasattr(type(model).__call__, "_stepscope_wrapped"),
        agent=sorted(name for name in sys.modules if name.startswith("stepscope")),
        finders=finders,
        callbacks=len(gc.callbacks),
    )


def kv_cache() -> None:
    import models
    import torch

    model = models.model()

    class DynamicCache:
        length = 0

        def get_seq_length(self) -> int:
            return self.length

    cache = DynamicCache()
    with torch.no_grad():
        for length in (7, 1, 1):
            model(models.prompt(3, length), past_key_values=cache)
            cache.length += length
    say()


def explicit() -> None:
    import models
    import torch

    import stepscope_agent

    model = models.model()
    with torch.no_grad():
        for i in range(8):
            with stepscope_agent.step(ctx=(1, 16) if i == 3 else None, gen=(4, 4), kv=100 + i):
                # Two forwards, one step, as marked by the program.
                model(models.prompt(1, 1))
                model(models.prompt(1, 1))
    say(iteration=stepscope_agent.iteration())


def collect() -> None:
    import models

    def at(step: int) -> None:
        if step == 4:
            gc.collect()

    class Collecting(models.CausalLm):
        def forward(self, input_ids: Any, past_key_values: Any = None) -> Any:
            gc.collect()
            return super().forward(input_ids)

    model = Collecting([models.DenseMlp(), models.DenseMlp()])
    decode(model, 8, at=at)
    say()


def live_signal() -> None:
    import models

    def at(step: int) -> None:
        if step == 7:
            os.kill(os.getpid(), signal.SIGUSR2)

    decode(models.model(), 20, at=at)
    say()


def live_file() -> None:
    import models

    def at(step: int) -> None:
        if step in (5, 15):
            time.sleep(0.05)
            with open(os.environ["STEPSCOPE_TRIGGER"], "w") as file:
                file.write(os.environ.get("SCENARIO_TRIGGER_TEXT", "") if step == 5 else "nonsense")
            time.sleep(0.05)

    decode(models.model(), 30, at=at)
    say()


def raises() -> None:
    import models
    import torch

    class Fragile(models.CausalLm):
        calls = 0

        def forward(self, input_ids: Any, past_key_values: Any = None) -> Any:
            Fragile.calls += 1
            if Fragile.calls in (5, 9):
                raise ValueError("the model's own trouble")
            return super().forward(input_ids)

    model = Fragile([models.DenseMlp(), models.DenseMlp()])
    with torch.no_grad():
        for _ in range(7):
            with contextlib.suppress(ValueError):
                model(models.prompt(1, 1))
        say()
        for _ in range(7):
            model(models.prompt(1, 1))


def forks() -> None:
    """A child forked during a window runs its own steps, which are not recorded."""
    import models

    model = models.model()

    def at(step: int) -> None:
        if step == 4:
            pid = os.fork()
            if pid == 0:
                decode(model, 10)
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(pid, 0)

    decode(model, 10, at=at)
    say(pid=os.getpid())


def works_in_child() -> None:
    """The steps run in a worker that was forked before the first step."""
    import multiprocessing

    import models

    model = models.model()
    worker = multiprocessing.get_context("fork").Process(target=decode, args=(model, 10))
    worker.start()
    worker.join()
    say(pid=worker.pid, status=worker.exitcode)


def threads() -> None:
    import stepscope_agent

    seen: list[int] = []

    def work() -> None:
        for _ in range(50):
            with stepscope_agent.step(gen=(1, 1)), stepscope_agent.step(gen=(9, 9)):
                pass

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    say(iteration=stepscope_agent.iteration(), seen=seen)


def exits_inside() -> None:
    import models

    def at(step: int) -> None:
        if step == 6:
            say()
            sys.exit(3)

    decode(models.model(), 20, at=at)


def terminated_inside() -> None:
    import models

    def at(step: int) -> None:
        if step == 6:
            say()
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    decode(models.model(), 20, at=at)


def broken_cuda() -> None:
    import models
    import torch

    def refuse() -> Any:
        raise OSError("libcudart is broken")

    torch.cuda.is_available = lambda: True
    torch.cuda.cudart = refuse
    say(digest=decode(models.model(), 20))


def counted_cuda() -> None:
    """The iterations during which the CUDA profiler was on, with a fake cudart that records calls."""
    import models
    import torch

    calls: list[Any] = []
    now = {"step": -1}
    runtime = SimpleNamespace(
        cudaProfilerStart=lambda: calls.append(["start", now["step"]]) or 0,
        cudaProfilerStop=lambda: calls.append(["stop", now["step"]]) or 0,
    )
    torch.cuda.is_available = lambda: True
    torch.cuda.cudart = lambda: runtime
    torch.cuda.synchronize = lambda: calls.append(["synchronize", now["step"]])
    decode(models.model(), 20, at=lambda step: now.update(step=step))
    say(calls=calls)


def generates() -> None:
    sys.path.insert(0, os.path.join(HERE, "fakes"))
    import models
    from transformers.generation.utils import GenerationMixin

    class Model(models.CausalLm, GenerationMixin):
        pass

    import torch

    # An encoder that runs first also counts as a model, until generate determines the real one.
    encoder = models.model()
    with torch.no_grad():
        encoder(models.prompt(1, 3))
    model = Model([models.DenseMlp(), models.DenseMlp()])
    tokens = model.generate(models.prompt(2, 6), max_new_tokens=8)
    say(shape=list(tokens.shape), written=os.path.exists("trace-rank-0.json.gz"))


def vllm() -> None:
    sys.path.insert(0, os.path.join(HERE, "fakes"))
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner, scheduled

    runner = GPUModelRunner()
    plans = [
        scheduled(["a"], [], {"a": 12}),
        scheduled([], [], {}),
        scheduled(["b"], [("a", 12, 1)], {"a": 1, "b": 7}),
        scheduled([], [("a", 13, 2), ("b", 7, 0)], {"a": 1, "b": 5}),
        scheduled([], [("a", 14, 3), ("b", 12, 1)], {"a": 1, "b": 1}),
        scheduled([], [("a", 15, 4), ("b", 13, 2)], {"a": 3, "b": 3}),
    ]
    for plan in plans:
        runner.execute_model(plan)
        if plan.num_scheduled_tokens:
            runner.sample_tokens(None)
    say(seen=len(runner.seen))


def sglang() -> None:
    sys.path.insert(0, os.path.join(HERE, "fakes"))
    from sglang.srt.managers.scheduler import Scheduler
    from sglang.srt.model_executor.model_runner import ModelRunner

    class Mode:
        def __init__(self, name: str) -> None:
            self.name = name

        def __getattr__(self, asked: str) -> Any:
            return lambda: asked == "is_" + self.name

    def batch(mode: str, **more: Any) -> Any:
        return SimpleNamespace(forward_mode=Mode(mode), **more)

    runner = ModelRunner()
    # Warm-up calls the runner directly.
    runner.forward(batch("decode", batch_size=1, seq_lens_sum=4))
    scheduler = Scheduler(runner)
    scheduler.run_batch(batch("extend", batch_size=lambda: 2, extend_num_tokens=30, seq_lens_sum=30))
    scheduler.run_batch(batch("decode", batch_size=lambda: 2, seq_lens_sum=34))
    scheduler.run_batch(
        batch("mixed", batch_size=lambda: 3, extend_num_tokens=12, decoding_reqs=[1, 2], seq_lens_sum=50)
    )
    scheduler.run_batch(batch("target_verify", batch_size=lambda: 2, extend_num_tokens=8, seq_lens_sum=60))
    scheduler.run_batch(batch("draft_extend_v2", batch_size=lambda: 2, extend_num_tokens=6, seq_lens_sum=66))
    scheduler.run_batch(batch("prebuilt", batch_size=lambda: 2, extend_num_tokens=0, seq_lens_sum=66))
    scheduler.run_batch(batch("idle", batch_size=lambda: 0, seq_lens_sum=0))
    say()


def tensorrt_llm() -> None:
    sys.path.insert(0, os.path.join(HERE, "fakes"))
    from tensorrt_llm._torch.pyexecutor.py_executor import PyExecutor

    executor = PyExecutor()
    warm = PyExecutor()
    warm.is_warmup = True
    request = SimpleNamespace(context_chunk_size=64, py_draft_tokens=[])
    for i in range(6):
        warm.run_pass(SimpleNamespace(context_requests=[], generation_requests=[request]))
        executor.run_pass(
            SimpleNamespace(context_requests=[request] if i == 0 else [], generation_requests=[request] * i)
        )
    say()


def named_only() -> None:
    import models
    import torch

    model = models.model()
    with torch.no_grad():
        for _ in range(3):
            model(models.prompt(1, 4))
    say()


def unheard_modules() -> None:
    """A router in a transformers module, patched on import."""
    sys.path.insert(0, os.path.join(HERE, "fakes"))
    import torch
    from transformers.models.mixtral.modeling_mixtral import MixtralTopKRouter

    router = MixtralTopKRouter(8, 2)
    with torch.no_grad():
        _, weights, chosen = router(torch.randn(12, 32))
    counts = torch.bincount(chosen.flatten(), minlength=8).tolist()
    say(counts=counts, weights=weights.unique().tolist())


def warms_up() -> None:
    """An engine that runs its model before it serves: these runs do not count as iterations."""
    sys.path.insert(0, os.path.join(HERE, "fakes"))
    import models
    import torch
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner, scheduled

    model = models.model()
    with torch.no_grad():
        for _ in range(5):
            model(models.prompt(1, 8))
        runner = GPUModelRunner()
        for i in range(4):
            runner.execute_model(scheduled([], [("a", 12 + i, 1 + i)], {"a": 1}))
            runner.sample_tokens()
    say()


if __name__ == "__main__":
    scenario = globals()[sys.argv[1]]
    scenario()
