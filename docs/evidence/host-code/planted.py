"""One real vLLM engine with known culprits in its host code, one at a time; a window of the agent for each.

    STEPSCOPE_TRIGGER=FILE STEPSCOPE_MARKERS=step,gc PYTHONPATH=agent:$PYTHONPATH \
      planted.py --name nsys --model configs/llama8b --gate DIR --out DIR [--culprits none,item,lock]

Each culprit is sized to about `--ms` milliseconds a step before anything is recorded: the same work every time, not a
sleep. They hide where such code is found in real engines: behind the output processor, in front of the scheduler, in
front of the model runner. NAME.key.json holds what each took, and the steps without a profiler.
"""

import argparse
import gc
import json
import logging
import mmap
import os
import random
import subprocess
import sys
import threading
import time

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--model", required=True)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--quiet", type=int, default=40)
parser.add_argument("--ms", type=float, default=4)
parser.add_argument(
    "--culprits", default="none,tokenizer,item,logging,lock,page-faults,gc,busy-core,none,pageable,pinned,copies"
)
parser.add_argument("--gate", required=True)
parser.add_argument("--out", default=".")
asked = parser.parse_args()
TRIGGER = os.environ["STEPSCOPE_TRIGGER"]


class Meter:
    """How long the culprit took, call by call."""

    def __init__(self):
        self.ms = []

    def of(self, work):
        def measured():
            began = time.perf_counter_ns()
            work()
            self.ms.append((time.perf_counter_ns() - began) / 1e6)

        return measured


# Another process: computes for a while, then answers; ends when its input ends.
API_SERVER = """
import sys, time
for line in sys.stdin:
    until = time.perf_counter() + float(sys.argv[1]) / 1e3
    while time.perf_counter() < until:
        sum(range(1000))
    sys.stdout.write("none\\n")
    sys.stdout.flush()
"""


def repeats_for(once, wanted_ms):
    once()
    began = time.perf_counter()
    for _ in range(5):
        once()
    return max(1, round(wanted_ms / 1e3 / ((time.perf_counter() - began) / 5)))


def build_culprits(torch, runner):
    """Name to (place, function)."""
    import numpy
    from transformers import AutoTokenizer

    made = {}
    tokenizer = AutoTokenizer.from_pretrained(asked.model)
    history = list(range(5, 405))

    def decode_history():
        return tokenizer.decode(history)

    decodes = repeats_for(decode_history, asked.ms)

    def detokenize_answers():
        for _ in range(decodes):
            decode_history()

    made["tokenizer"] = ("output", detokenize_answers)

    lengths = torch.arange(64, device="cuda")
    landing = torch.zeros(64, dtype=lengths.dtype, pin_memory=True)

    def read_one():
        return lengths[7].item()

    reads = repeats_for(read_one, asked.ms)

    def read_lengths():
        return sum(lengths[i % 64].item() for i in range(reads))

    def copy_lengths():
        for i in range(reads):
            landing[i % 64].copy_(lengths[i % 64], non_blocking=True)

    made["item"] = ("runner", read_lengths)
    made["copies"] = ("runner", copy_lengths)

    logger = logging.getLogger("serving.requests")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    handler = logging.FileHandler(os.path.join(asked.gate, asked.name + ".requests.log"))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger.addHandler(handler)

    def log_one():
        logger.info("request %s has %d tokens, %s", "req-17", 512, {"priority": 0, "arrival": 17.25})

    records = repeats_for(log_one, asked.ms)

    def log_requests():
        for _ in range(records):
            log_one()

    made["logging"] = ("scheduler", log_requests)

    lock = threading.Lock()
    wanted = threading.Event()

    def export_metrics():
        """Holds the lock while it writes; gives the engine a moment to take it."""
        while True:
            wanted.wait()
            with lock:
                wanted.clear()
                time.sleep(asked.ms / 1e3)

    threading.Thread(target=export_metrics, name="metrics", daemon=True).start()

    def update_metrics():
        wanted.set()
        while wanted.is_set():
            time.sleep(0)
        with lock:
            pass

    made["lock"] = ("scheduler", update_metrics)

    def stage_buffer():
        """A mapping of its own: the allocator would give back memory whose pages are there already."""
        with mmap.mmap(-1, 4 << 20) as memory:
            pages = numpy.frombuffer(memory, dtype=numpy.uint8)
            pages[::4096] = 1
            del pages

    buffers = repeats_for(stage_buffer, asked.ms)

    def stage_prompts():
        for _ in range(buffers):
            stage_buffer()

    made["page-faults"] = ("scheduler", stage_prompts)

    kept = [{"id": i, "tags": [i]} for i in range(20_000)]
    collections = repeats_for(gc.collect, asked.ms)

    def free_requests():
        for _ in range(collections):
            gc.collect()

    made["gc"] = ("output", free_requests)
    made["gc"][1].kept = kept

    mask = numpy.zeros(12 << 20, dtype=numpy.uint8)
    pinned = torch.zeros(12 << 20, dtype=torch.uint8, pin_memory=True)
    place = torch.zeros(12 << 20, dtype=torch.uint8, device="cuda")

    def upload_mask():
        place.copy_(torch.from_numpy(mask))

    def upload_pinned_mask():
        place.copy_(pinned, non_blocking=True)

    def build_mask(positions=512):
        allowed = numpy.zeros((positions, positions), dtype=bool)
        for row in range(0, positions, 8):
            allowed[row : row + 8, : row + 8] = True
        return numpy.where(allowed, 0.0, -numpy.inf)

    masks = repeats_for(build_mask, asked.ms)

    def prepare_masks():
        for _ in range(masks):
            build_mask()

    made["mask"] = ("runner", prepare_masks)

    answer = {"id": "cmpl-1", "choices": [{"index": i, "text": "word " * 16, "logprobs": [-0.5] * 8} for i in range(8)]}

    def encode_answer():
        return json.dumps(answer)

    encodings = repeats_for(encode_answer, asked.ms)

    def stream_answers():
        for _ in range(encodings):
            encode_answer()

    made["json"] = ("output", stream_answers)

    def allocate():
        block = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
        del block
        torch.cuda.empty_cache()

    blocks = repeats_for(allocate, asked.ms)

    def grow_workspace():
        for _ in range(blocks):
            allocate()

    made["malloc"] = ("runner", grow_workspace)

    command = [sys.executable, "-S", "-c", API_SERVER, str(asked.ms)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def ask_api_server():
        server.stdin.write(b"next requests?\n")
        server.stdout.readline()

    made["pipe"] = ("scheduler", ask_api_server)
    made["pageable"] = ("runner", upload_mask)
    made["pinned"] = ("runner", upload_pinned_mask)
    return made


class BusyCore:
    """Other programs on the only core of the engine's thread. One alone steals little: the engine sleeps while the GPU
    works, and the scheduler prefers who slept."""

    PROGRAMS = 4

    def __enter__(self):
        self._before = os.sched_getaffinity(0)
        core = sorted(self._before)[3]
        os.sched_setaffinity(0, {core})
        spin = "import os\nos.sched_setaffinity(0, {%d})\nwhile True: pass" % core
        command = ["nice", "-n", "-10", sys.executable, "-S", "-c", spin]
        self._others = [subprocess.Popen(command, env={"PATH": os.environ["PATH"]}) for _ in range(self.PROGRAMS)]

    def __exit__(self, *_error):
        for other in self._others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, self._before)


def median(values):
    ordered = sorted(values)
    return round(ordered[len(ordered) // 2], 4) if ordered else None


def main():
    import torch
    from vllm import LLM, SamplingParams

    llm = LLM(
        model=asked.model,
        load_format="dummy",
        skip_tokenizer_init=True,
        max_model_len=4096,
        seed=0,
        max_num_seqs=128,
        max_num_batched_tokens=2048,
        gpu_memory_utilization=0.05,
        kv_cache_memory_bytes=3 << 30,
        enable_prefix_caching=False,
        dtype="bfloat16",
        disable_log_stats=True,
        attention_backend="FLASH_ATTN",
        async_scheduling=False,
        compilation_config=dict(cudagraph_capture_sizes=[1, 2, 4, 8]),
    )
    engine = llm.llm_engine
    core = engine.engine_core.engine_core
    runner = core.model_executor.driver_worker.worker.model_runner
    vocabulary = json.load(open(asked.model + "/config.json"))["vocab_size"]
    rng = random.Random(1)

    def fill(tokens):
        prompts = [
            {"prompt_token_ids": [rng.randrange(10, vocabulary - 10) for _ in range(128)]} for _ in range(asked.batch)
        ]
        sampling = SamplingParams(temperature=0.0, max_tokens=tokens, ignore_eos=True, detokenize=False)
        llm.enqueue(prompts, sampling, use_tqdm=False)

    def drain():
        while engine.has_unfinished_requests():
            engine.step()

    fill(8)
    drain()
    culprits = build_culprits(torch, runner)
    places = {"output": [], "scheduler": [], "runner": []}

    def put(owner, method, place):
        original = getattr(owner, method)

        def with_culprits(*args, **kwargs):
            for work in places[place]:
                work()
            return original(*args, **kwargs)

        setattr(owner, method, with_culprits)

    put(engine.output_processor, "process_outputs", "output")
    put(core.scheduler, "schedule", "scheduler")
    put(runner, "execute_model", "runner")

    def steps(count):
        times, before = [], time.perf_counter_ns()
        for _ in range(count):
            engine.step()
            now = time.perf_counter_ns()
            times.append(round((now - before) / 1e6, 4))
            before = now
        return times

    open(os.path.join(asked.gate, "ready." + asked.name), "w").close()
    while not os.path.exists(os.path.join(asked.gate, "go." + asked.name)):
        time.sleep(0.2)
    results = []
    for window, name in enumerate(asked.culprits.split(","), 1):
        fill(asked.quiet + asked.steps + 60)
        meter = Meter()
        if name in culprits:
            place, work = culprits[name]
            places[place].append(meter.of(work))
        busy = BusyCore() if name == "busy-core" else None
        if busy:
            busy.__enter__()
        steps(10)
        meter.ms.clear()
        quiet = steps(asked.quiet)
        took = median(meter.ms)
        with open(TRIGGER, "w") as trigger:
            trigger.write(str(asked.steps))
        time.sleep(0.05)
        profiled = steps(asked.steps + 8)
        if busy:
            busy.__exit__()
        for works in places.values():
            works.clear()
        drain()
        results.append(
            dict(window=window, culprit=name, culpritMs=took, quietMs=median(quiet), quiet=quiet, profiled=profiled)
        )
        shown = dict(window=window, culpritMs=took, quietMs=median(quiet), profiledMs=median(profiled))
        print("RESULT", asked.name, name, shown, flush=True)
        with open(os.path.join(asked.out, asked.name + ".key.json"), "w") as file:
            json.dump(dict(name=asked.name, args=vars(asked), results=results), file)
    open(os.path.join(asked.gate, "done." + asked.name), "w").close()


if __name__ == "__main__":
    main()
