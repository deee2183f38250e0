"""`generate` of transformers on random weights: its decode step without a profiler, then under one.

    transformers_generate.py --name hf --model configs/llama8b --batch 8 --window cuda|torch|none --gate DIR
"""

import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--model", required=True)
parser.add_argument("--batch", type=int, nargs="+", default=[8])
parser.add_argument("--window", default="none")
parser.add_argument("--quiet", type=int, default=40)
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--gate", required=True)
parser.add_argument("--out", default=".")
asked = parser.parse_args()


def main():
    import torch
    import transformers
    from torch.profiler import ProfilerActivity, profile
    from transformers import AutoConfig, AutoModelForCausalLM, StoppingCriteria

    config = AutoConfig.from_pretrained(asked.model)
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    model.generation_config.eos_token_id = None

    class Watch(StoppingCriteria):
        """Called once after each step."""

        def __init__(self, batch, windows):
            self.batch, self.windows = batch, windows
            self.times = []
            self.recorded = None
            self.first = asked.quiet + 6

        def __call__(self, ids, scores, **_):
            self.times.append(time.perf_counter_ns())
            seen = len(self.times)
            if self.windows and seen == self.first:
                torch.cuda.synchronize()
                if asked.window == "cuda":
                    torch.cuda.profiler.start()
                elif asked.window == "torch":
                    self.recorded = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
                    self.recorded.start()
                self.times[-1] = time.perf_counter_ns()
            if self.windows and seen == self.first + asked.steps:
                torch.cuda.synchronize()
                if asked.window == "cuda":
                    torch.cuda.profiler.stop()
                elif asked.window == "torch":
                    self.recorded.stop()
                    self.recorded.export_chrome_trace(
                        os.path.join(asked.out, f"{asked.name}-b{self.batch}-torch.trace.json.gz")
                    )
            return torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)

    def run(batch, count, windows):
        ids = torch.randint(10, config.vocab_size - 10, (batch, 128), device="cuda")
        watch = Watch(batch, windows)
        with torch.inference_mode():
            model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=count,
                do_sample=False,
                pad_token_id=0,
                stopping_criteria=[watch],
            )
        return watch

    for batch in asked.batch:
        run(batch, 6, False)
    open(os.path.join(asked.gate, "ready." + asked.name), "w").close()
    while not os.path.exists(os.path.join(asked.gate, "go." + asked.name)):
        time.sleep(0.2)
    results = []
    for batch in asked.batch:
        watch = run(batch, asked.quiet + 6 + asked.steps + 4, asked.window != "none")
        periods = [round((b - a) / 1e6, 4) for a, b in zip(watch.times, watch.times[1:])]
        quiet = periods[4 : watch.first - 2]
        profiled = periods[watch.first - 1 : watch.first - 1 + asked.steps - 1]
        middle = lambda values: sorted(values)[len(values) // 2]  # noqa: E731
        results.append(
            dict(batch=batch, quietMs=middle(quiet), quiet=quiet, profiledMs=middle(profiled), profiled=profiled)
        )
        shown = {k: v for k, v in results[-1].items() if not isinstance(v, list)}
        print("RESULT", asked.name, transformers.__version__, shown, flush=True)
    with open(os.path.join(asked.out, asked.name + ".key.json"), "w") as file:
        json.dump(dict(name=asked.name, args=vars(asked), results=results), file)
    open(os.path.join(asked.gate, "done." + asked.name), "w").close()


if __name__ == "__main__":
    main()
