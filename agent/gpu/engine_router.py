"""One offline engine on random weights, with the agent's variables set by the caller; prints one JSON line.

    export PYTHONPATH=$REPO/agent
    python3 engine_router.py --engine vllm --model configs/qwen3-30b-a3b --batch 64
    STEPSCOPE_EXPERT_LOAD=load.json ENABLE_PERFECT_ROUTER=1 python3 engine_router.py --engine sglang --model …

Decode is timed first. With STEPSCOPE_EXPERT_LOAD, a further generation is counted: the script touches the trigger file
that it names in STEPSCOPE_TRIGGER, and the agent writes its file when that window closes.
"""

import argparse
import glob
import json
import os
import random
import sys
import time

from expert_balance import balance, wait_for

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--engine", choices=("vllm", "sglang"), required=True)
parser.add_argument("--model", required=True, help="a folder with config.json")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--layers", type=int, default=0, help="override num_hidden_layers (fast start)")
parser.add_argument("--in-len", type=int, default=128)
parser.add_argument("--out-len", type=int, default=64)
parser.add_argument("--steps", type=int, default=32, help="steps to count")
parser.add_argument("--repeat", type=int, default=3)
parser.add_argument("--gpu-mem", type=float, default=0.6)
parser.add_argument("--eager", action="store_true", help="no CUDA graphs, no torch.compile")
parser.add_argument("--extra", default="{}", help="JSON: further keyword arguments of the engine")

VLLM = json.loads("""{"load_format": "dummy", "skip_tokenizer_init": true, "dtype": "bfloat16", "seed": 0,
 "max_model_len": 2048, "max_num_batched_tokens": 8192, "enable_prefix_caching": false, "disable_log_stats": true,
 "attention_backend": "FLASH_ATTN"}""")
SGLANG = json.loads("""{"load_format": "dummy", "skip_tokenizer_init": true, "dtype": "bfloat16", "random_seed": 0,
 "context_length": 2048, "attention_backend": "fa3", "sampling_backend": "pytorch", "grammar_backend": "none",
 "disable_radix_cache": true, "log_level": "warning", "cuda_graph_backend_prefill": "disabled",
 "skip_server_warmup": true}""")


def overrides(args: argparse.Namespace, config: dict) -> dict:
    if not args.layers:
        return {}
    kinds = {"layer_types": config["layer_types"][: args.layers]} if "layer_types" in config else {}
    return {"num_hidden_layers": args.layers, **kinds}


def start_vllm(args: argparse.Namespace, config: dict):
    from vllm import LLM, SamplingParams

    options = {**VLLM, "model": args.model, "enforce_eager": args.eager, "max_num_seqs": max(args.batch, 64)}
    options.update(gpu_memory_utilization=args.gpu_mem, hf_overrides=overrides(args, config))
    llm = LLM(**{**options, **json.loads(args.extra)})

    def generate(prompts: list, tokens: int) -> list:
        sampling = SamplingParams(temperature=0.0, max_tokens=tokens, ignore_eos=True, detokenize=False)
        inputs = [{"prompt_token_ids": prompt} for prompt in prompts]
        return [len(one.outputs[0].token_ids) for one in llm.generate(inputs, sampling, use_tqdm=False)]

    return generate, lambda: None


def start_sglang(args: argparse.Namespace, config: dict):
    from sglang.srt.entrypoints.engine import Engine

    sizes = sorted({1, 2, 4, 8, 16, 32, 64, args.batch})
    prefill = max(8192, args.batch * args.in_len)
    options = {**SGLANG, "model_path": os.path.abspath(args.model), "mem_fraction_static": args.gpu_mem}
    options.update(
        max_running_requests=sizes[-1], json_model_override_args=json.dumps(overrides(args, config))
    )
    options.update(chunked_prefill_size=prefill, max_prefill_tokens=max(16384, prefill))
    if args.eager:
        options["cuda_graph_backend_decode"] = "disabled"
    else:
        options.update(cuda_graph_bs_decode=sizes, cuda_graph_max_bs_decode=sizes[-1])
    engine = Engine(**{**options, **json.loads(args.extra)})

    def generate(prompts: list, tokens: int) -> list:
        sampling = {"temperature": 0.0, "max_new_tokens": tokens, "ignore_eos": True}
        answers = engine.generate(input_ids=prompts, sampling_params=sampling)
        return [one["meta_info"]["completion_tokens"] for one in answers]

    return generate, engine.shutdown


def main() -> None:
    args = parser.parse_args()
    with open(os.path.join(args.model, "config.json")) as file:
        config = json.load(file)
    load = os.environ.get("STEPSCOPE_EXPERT_LOAD")
    trigger = None
    if load:
        trigger = os.environ.setdefault("STEPSCOPE_TRIGGER", os.path.abspath("engine-router.trigger"))
        for old in glob.glob(os.path.splitext(load)[0] + "-rank-*"):
            os.remove(old)
    log = os.path.abspath("engine-router.log")
    terminal = os.dup(2)
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 2)
    result = {"engine": args.engine, "batch": args.batch, "eager": args.eager, "counts": bool(load)}
    result["perfect"] = os.environ.get("ENABLE_PERFECT_ROUTER") == "1"
    try:
        begun = time.time()
        generate, stop = (start_vllm if args.engine == "vllm" else start_sglang)(args, config)
        result["start_s"] = round(time.time() - begun, 1)
        rng = random.Random(0)
        top = config["vocab_size"] - 10

        def seconds(tokens: int) -> float:
            prompts = [[rng.randrange(10, top) for _ in range(args.in_len)] for _ in range(args.batch)]
            begun = time.perf_counter()
            assert generate(prompts, tokens) == [tokens] * args.batch
            return time.perf_counter() - begun

        seconds(8)
        times = [(seconds(args.out_len) - seconds(1)) / (args.out_len - 1) * 1e3 for _ in range(args.repeat)]
        result["decode_ms"] = round(min(times), 4)
        result["decode_ms_all"] = [round(one, 4) for one in times]
        if load and trigger:
            with open(trigger, "w") as file:
                file.write(str(args.steps))
            time.sleep(0.1)
            seconds(args.steps + 16)
            heads = wait_for(os.path.splitext(load)[0] + "-rank-*.json")
            if heads:
                result.update(balance(heads[0], args.batch, config["num_experts_per_tok"]))
            else:
                result["reason"] = "the agent wrote no expert counts; see its messages in `agent`"
        stop()
    except BaseException as error:
        result["error"] = "%s: %s" % (type(error).__name__, str(error)[:500])
    os.dup2(terminal, 2)
    with open(log, errors="replace") as file:
        text = file.read()
    result["agent"] = sorted(
        {line[line.index("stepscope:") :] for line in text.splitlines() if "stepscope:" in line}
    )
    if not result["agent"] and (load or result["perfect"]):
        result["reason"] = result.get("reason", "") or "the agent printed nothing: is agent/ on PYTHONPATH?"
    if "error" in result:
        sys.stderr.write(text[-6000:])
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
