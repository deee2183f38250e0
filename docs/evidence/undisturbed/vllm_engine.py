"""One real vLLM engine, stepped by hand: its decode step without a profiler, then the same under each profiler.

    vllm_engine.py --name graphs --model configs/llama8b --batch 1 8 64 --windows none,torch,stacks --gate DIR

`--windows cuda` opens the window of `nsys profile -c cudaProfilerApi`. Times are those of this process between two
returns of `engine.step()`. The engine loads, says that it is ready in the folder of the gate and waits for its turn:
several load at once, one measures.
"""

import argparse
import json
import os
import random
import time

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--model", required=True)
parser.add_argument("--batch", type=int, nargs="+", default=[8])
parser.add_argument("--windows", default="none")
parser.add_argument("--steps", type=int, default=16)
parser.add_argument("--quiet", type=int, default=80, help="steps measured without a profiler")
parser.add_argument("--gate", required=True)
parser.add_argument("--out", default=os.environ.get("OUT", "."))
parser.add_argument("--eager", action="store_true")
parser.add_argument("--async-scheduling", action="store_true")
parser.add_argument("--fp8", action="store_true")
parser.add_argument("--layers", type=int, default=0)
parser.add_argument("--turns", type=int, default=0, help="many short windows, each after steps without a profiler")
parser.add_argument("--mixed", action="store_true", help="one more window with prefill between decode")
asked = parser.parse_args()


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def main():
    import torch
    from vllm import LLM, SamplingParams

    config = json.load(open(asked.model + "/config.json"))
    settings = dict(
        model=asked.model,
        load_format="dummy",
        skip_tokenizer_init=True,
        max_model_len=4096,
        seed=0,
        max_num_seqs=128,
        max_num_batched_tokens=2048,
        gpu_memory_utilization=0.05,
        kv_cache_memory_bytes=3 << 30,
        enforce_eager=asked.eager,
        enable_prefix_caching=False,
        dtype="bfloat16",
        disable_log_stats=True,
        attention_backend="FLASH_ATTN",
        async_scheduling=asked.async_scheduling,
        profiler_config=dict(profiler="cuda"),
    )
    if not asked.eager:
        settings["compilation_config"] = dict(cudagraph_capture_sizes=[1, 2, 4, 8, 16, 32, 64])
    if asked.fp8:
        settings["quantization"] = "fp8"
    if asked.layers:
        settings["hf_overrides"] = dict(num_hidden_layers=asked.layers)
    began = time.time()
    llm = LLM(**settings)
    engine = llm.llm_engine
    loaded = round(time.time() - began, 1)
    rng = random.Random(1)
    vocabulary = config["vocab_size"]

    def prompts(count, length=128):
        return [
            {"prompt_token_ids": [rng.randrange(10, vocabulary - 10) for _ in range(length)]} for _ in range(count)
        ]

    def sampling(tokens):
        return SamplingParams(temperature=0.0, max_tokens=tokens, ignore_eos=True, detokenize=False)

    def steps(count, during=None):
        """Milliseconds between returns of the engine."""
        times = []
        before = time.perf_counter_ns()
        for number in range(count):
            if during:
                during(number)
            engine.step()
            now = time.perf_counter_ns()
            times.append(round((now - before) / 1e6, 4))
            before = now
        return times

    def fill(batch, tokens):
        llm.enqueue(prompts(batch), sampling(tokens), use_tqdm=False)
        for _ in range(8):
            engine.step()

    def drain():
        while engine.has_unfinished_requests():
            engine.step()

    for batch in asked.batch:
        llm.generate(prompts(batch), sampling(6), use_tqdm=False)
    trace_kinds = [kind for kind in asked.windows.split(",") if kind in ("torch", "stacks")]
    if trace_kinds:
        from torch.profiler import ProfilerActivity, profile

        activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        fill(1, 20)
        with profile(activities=activities, with_stack=True):
            engine.step()
        drain()
    open(os.path.join(asked.gate, "ready." + asked.name), "w").close()
    while not os.path.exists(os.path.join(asked.gate, "go." + asked.name)):
        time.sleep(0.2)

    def window(kind, batch, during=None, label="", count=None, is_kept=True):
        count = count or (6 if kind == "stacks" else asked.steps)
        torch.cuda.synchronize()
        if kind == "cuda":
            torch.cuda.profiler.start()
            times = steps(count, during)
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()
            return times
        with profile(activities=activities, with_stack=kind == "stacks") as recorded:
            times = steps(count, during)
            torch.cuda.synchronize()
        if is_kept:
            recorded.export_chrome_trace(os.path.join(asked.out, f"{asked.name}-b{batch}-{kind}{label}.trace.json.gz"))
        return times

    def turns(batch):
        """The speed of a host drifts within seconds: a step is compared with its neighbors."""
        rows = []
        for _ in range(asked.turns):
            for kind in asked.windows.split(","):
                engine.step()
                rows.append(dict(kind=kind, quiet=steps(10), profiled=window(kind, batch, count=6, is_kept=False)))
        return rows

    results = []
    for batch in asked.batch:
        fill(batch, asked.quiet + 90 + 18 * 2 * asked.turns)
        quiet = steps(asked.quiet)
        result = dict(batch=batch, quietMs=median(quiet), quiet=quiet)
        for kind in asked.windows.split(","):
            if kind == "none":
                continue
            times = window(kind, batch)
            result[kind] = times
            result[kind + "Ms"] = median(times[3:])
        if asked.turns:
            result["turns"] = turns(batch)
        after = steps(40)
        result["afterMs"] = median(after[10:])
        drain()
        results.append(result)
        print("RESULT", asked.name, {k: v for k, v in result.items() if k == "batch" or k.endswith("Ms")}, flush=True)
    if asked.mixed:
        batch = asked.batch[0]
        fill(batch, asked.quiet + 90 + 18 * 2 * asked.turns)

        def arrive(number):
            if number in (4, 9):
                llm.enqueue(prompts(3, 700 if number == 4 else 300), sampling(40), use_tqdm=False)

        quiet = steps(asked.steps, arrive)
        for _ in range(45):
            engine.step()
        for kind in asked.windows.split(","):
            if kind != "none":
                results.append(dict(batch=batch, mixed=True, quiet=quiet, **{kind: window(kind, batch, arrive, "-mixed")}))
        drain()
    json.dump(
        dict(name=asked.name, args=vars(asked), loadS=loaded, results=results),
        open(os.path.join(asked.out, asked.name + ".key.json"), "w"),
    )
    open(os.path.join(asked.gate, "done." + asked.name), "w").close()


if __name__ == "__main__":
    main()
