"""What the agent does on a real GPU, written down: windows as nsys and torch recorded them, eager and from CUDA graphs,
what the agent costs, what the perfect router changes. Models of transformers with random weights, small enough to be
built in a second, shaped like the real ones.

    OUT=/tmp/evidence bash agent/gpu/evidence.sh          # everything, under six minutes

Results: $OUT/results.json, the captures beside it. Each part runs in a process of its own, as users run the agent.
"""

import argparse
import gzip
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.dirname(HERE)
MOST_BYTES = 12 * 1024 * 1024
SMALL = {"vocab_size": 4096}


# --- the profiled program ----------------------------------------------------------------------------------------


def build(name: str) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    if name == "gpt-oss":
        config = transformers.GptOssConfig(
            hidden_size=1024, intermediate_size=1024, num_hidden_layers=4, num_local_experts=32, num_experts_per_tok=4,
            num_attention_heads=16, num_key_value_heads=4, head_dim=64, **SMALL,
        )  # fmt: skip
    elif name == "deepseek-v3":
        config = transformers.DeepseekV3Config(
            hidden_size=1024, intermediate_size=2048, moe_intermediate_size=512, num_hidden_layers=4,
            first_k_dense_replace=1, n_routed_experts=64, num_experts_per_tok=8, n_group=8, topk_group=4,
            n_shared_experts=1, num_attention_heads=16, num_key_value_heads=16, q_lora_rank=256, kv_lora_rank=128,
            qk_rope_head_dim=32, qk_nope_head_dim=64, v_head_dim=64, **SMALL,
        )  # fmt: skip
    else:
        config = transformers.LlamaConfig(
            hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16,
            num_key_value_heads=4, **SMALL,
        )  # fmt: skip
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    return model.to("cuda").eval()


def cpu_stand_in(name: str) -> Any:
    """For trying this script where there is no GPU."""
    sys.path.insert(0, os.path.join(AGENT, "tests"))
    import models

    return models.model("dense" if name == "llama" else name)


def worker(args: argparse.Namespace) -> None:
    import torch

    has_gpu = torch.cuda.is_available()
    device = "cuda" if has_gpu else "cpu"
    model = build(args.model) if has_gpu else cpu_stand_in(args.model)
    extra = {"use_cache": False} if has_gpu else {}
    ids = torch.randint(0, 64, (args.batch, 1), device=device)
    result: Dict[str, Any] = {"model": args.model, "batch": args.batch, "steps": args.steps}

    def wait() -> None:
        if has_gpu:
            torch.cuda.synchronize()

    def timed(step: Any, count: int) -> List[float]:
        times = []
        for _ in range(count):
            wait()
            begun = time.perf_counter()
            step()
            wait()
            times.append((time.perf_counter() - begun) * 1e6)
        return times

    def eager() -> Any:
        return model(ids, **extra)

    with torch.inference_mode():
        prompt = torch.randint(0, 64, (args.batch, 32), device=device)
        model(prompt, **extra)
        for mode in args.mode.split(","):
            found = result[mode] = {}
            step = eager
            if mode == "graph":
                found["experts"], step = captured(torch, model, eager)
            timed(step, 4)
            times = timed(step, args.steps)
            # Many at once, the GPU never waited for: what the host costs when it runs ahead.
            begun = time.perf_counter()
            for _ in range(args.steps):
                step()
            launched = time.perf_counter() - begun
            wait()
            found["freeRunningUs"] = (time.perf_counter() - begun) / args.steps * 1e6
            found["launchUs"] = launched / args.steps * 1e6
            found["medianUs"] = statistics.median(times)
            found["p10Us"] = statistics.quantiles(times, n=10)[0]
    if args.bare:
        result["bareStepNs"] = bare_step()
    result["versions"] = {"torch": torch.__version__, "cuda": torch.version.cuda}
    if has_gpu:
        import transformers

        result["versions"]["transformers"] = transformers.__version__
        result["versions"]["gpu"] = torch.cuda.get_device_name()
    print(json.dumps(result), flush=True)


def captured(torch: Any, model: Any, eager: Any) -> Any:
    """The decode step as a graph. How experts are run decides whether that is possible: the first way that works."""
    trouble = []
    for way in (None, "grouped_mm", "batched_mm"):
        try:
            if way is not None:
                model.set_experts_implementation(way)
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):
                    eager()
            torch.cuda.current_stream().wait_stream(side)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                eager()
            graph.replay()
            torch.cuda.synchronize()
            return {"way": way or "default", "trouble": trouble}, graph.replay
        except Exception as error:
            trouble.append("%s: %s" % (way or "default", str(error).splitlines()[0][:200]))
            try:
                torch.cuda.synchronize()
            except Exception:
                break
    raise RuntimeError("no graph: %s" % "; ".join(trouble))


def bare_step() -> Optional[float]:
    """Nanoseconds of one step of the agent outside any window, with nothing in it."""
    try:
        import stepscope_agent
    except ImportError:
        return None
    session = stepscope_agent._session
    if session is None:
        return None
    count = 200_000
    begun = time.perf_counter_ns()
    for _ in range(count):
        session.end(
            session.begin("bare", 0 if session.source_rank < 0 else session.source_rank, lambda: None)
        )
    return (time.perf_counter_ns() - begun) / count


# --- the driver --------------------------------------------------------------------------------------------------


class Driver:
    def __init__(self, out: str, nsys: Optional[str], budget_s: float) -> None:
        self.out = out
        self.nsys = nsys
        self.ends = time.monotonic() + budget_s
        self.results: Dict[str, Any] = {"runs": []}

    def run(
        self, name: str, worker_args: List[str], variables: Dict[str, str], nsys: Optional[List[str]] = None
    ) -> Dict[str, Any]:
        row: Dict[str, Any] = {"name": name, "variables": variables}
        self.results["runs"].append(row)
        if time.monotonic() > self.ends:
            row["skipped"] = "out of time"
            return row
        command = [sys.executable, os.path.abspath(__file__), "worker", *worker_args]
        environ = {key: value for key, value in os.environ.items() if not key.startswith("STEPSCOPE_")}
        if variables:
            environ["PYTHONPATH"] = AGENT + os.pathsep + environ.get("PYTHONPATH", "")
            environ.update(variables)
        if nsys is not None:
            if self.nsys is None:
                row["skipped"] = "no nsys"
                return row
            command = [self.nsys, "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none",
                       "--cuda-graph-trace=node", "--force-overwrite=true", "-o", os.path.join(self.out, name),
                       *nsys, *command]  # fmt: skip
        begun = time.monotonic()
        try:
            ran = subprocess.run(
                command, env=environ, cwd=self.out, capture_output=True, text=True, timeout=120
            )
            row["status"] = ran.returncode
            lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
            row["result"] = json.loads(lines[-1]) if lines else None
            row["agentSaid"] = [line for line in ran.stderr.splitlines() if line.startswith("stepscope:")]
            if ran.returncode or not lines:
                row["trouble"] = (ran.stdout + ran.stderr)[-1500:]
        except subprocess.TimeoutExpired:
            row["trouble"] = "took over two minutes"
        row["tookS"] = round(time.monotonic() - begun, 1)
        if nsys is not None and row.get("status") == 0:
            self.export(name, row)
        self.save()
        return row

    def export(self, name: str, row: Dict[str, Any]) -> None:
        report = os.path.join(self.out, name + ".nsys-rep")
        database = os.path.join(self.out, name + ".sqlite")
        subprocess.run([str(self.nsys), "export", "--type=sqlite", "--force-overwrite=true", "-o", database, report],
                       capture_output=True, timeout=120)  # fmt: skip
        try:
            row["nsys"] = look_into(database)
        except Exception as error:
            row["nsys"] = {"trouble": str(error)}
        for path in (report, database):
            keep_small(path, row)

    def save(self) -> None:
        with open(os.path.join(self.out, "results.json"), "w") as file:
            json.dump(self.results, file, indent=1)


def look_into(database: str) -> Dict[str, Any]:
    """The steps marked, and how many kernels were launched inside each; names of layers at graph creation."""
    with sqlite3.connect(database) as file:
        tables = {name for (name,) in file.execute("select name from sqlite_master where type='table'")}
        ranges = []
        if "NVTX_EVENTS" in tables:
            ranges = file.execute(
                "select coalesce(n.text, s.value), n.start, n.end from NVTX_EVENTS n"
                " left join StringIds s on s.id = n.textId where n.end is not null order by n.start"
            ).fetchall()
        steps = [row for row in ranges if str(row[0]).startswith("stepscope.step ")]
        kernels = 0
        if "CUPTI_ACTIVITY_KIND_KERNEL" in tables:
            kernels = file.execute("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
        nodes = 0
        inside = 0
        if "CUDA_GRAPH_NODE_EVENTS" in tables:
            starts = [start for (start,) in file.execute("select start from CUDA_GRAPH_NODE_EVENTS")]
            layers = [row for row in ranges if ".layers." in str(row[0])]
            nodes = len(starts)
            inside = sum(1 for start in starts if any(a <= start <= b for _, a, b in layers))
    return {
        "steps": [text for text, _, _ in steps][:40],
        "ranges": len(ranges),
        "layerRanges": sum(1 for text, _, _ in ranges if ".layers." in str(text)),
        "kernels": kernels,
        "graphNodesCreated": nodes,
        "ofThoseInsideLayers": inside,
    }


def keep_small(path: str, row: Dict[str, Any]) -> None:
    if not os.path.exists(path):
        return
    with open(path, "rb") as source, gzip.open(path + ".gz", "wb", compresslevel=6) as packed:
        shutil.copyfileobj(source, packed)
    os.unlink(path)
    if os.path.getsize(path + ".gz") > MOST_BYTES:
        row.setdefault("leftOut", []).append(
            "%s: %d bytes packed" % (os.path.basename(path), os.path.getsize(path + ".gz"))
        )
        os.unlink(path + ".gz")


def steps_in_trace(path: str) -> Optional[List[str]]:
    if not os.path.exists(path):
        return None
    with gzip.open(path, "rt") as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    found = [
        (e.get("ts", 0), e["name"])
        for e in events
        if str(e.get("name", "")).startswith("stepscope.step ") and "gpu" not in str(e.get("cat"))
    ]
    return [name for _, name in sorted(found)]


def spread_of(path: str) -> Optional[Dict[str, Any]]:
    """Over all counted steps and layers: the largest difference between two experts, and most by mean."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        load = json.load(file)
    differences, ratios, sums = [], [], set()
    for step in load.get("counts", []):
        for row in step:
            if sum(row):
                differences.append(max(row) - min(row))
                ratios.append(max(row) * len(row) / sum(row))
                sums.add(sum(row))
    return {
        "iterations": load["iterations"],
        "layers": [layer["module"] for layer in load["layers"]],
        "sums": sorted(sums),
        "worstDifference": max(differences, default=None),
        "meanMaxOverMean": statistics.mean(ratios) if ratios else None,
    }


def everything(args: argparse.Namespace) -> None:
    out = os.path.abspath(os.environ.get("OUT", "evidence"))
    os.makedirs(out, exist_ok=True)
    driver = Driver(out, args.nsys, args.budget)
    window = {"STEPSCOPE_PROFILE_START_STOP": "10-15", "STEPSCOPE_MARKERS": "step,layers,moe,gc"}
    ranged = ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"]
    short = ["--steps", "14", "--batch", "8"]

    # The window as nsys sees it; then graphs captured under nsys, so that nodes are created inside named ranges.
    for model in ("llama", "gpt-oss", "deepseek-v3"):
        for mode in ("eager", "graph"):
            name = "nsys-%s-%s" % (model, mode)
            variables = {**window, "STEPSCOPE_SIDECAR": name + ".agent.json"}
            driver.run(name, ["--model", model, "--mode", mode, *short], variables, ranged)
    name = "nsys-gpt-oss-graph-creation"
    driver.run(name, ["--model", "gpt-oss", "--mode", "graph", "--steps", "4", "--batch", "8"],
               {"STEPSCOPE_MARKERS": "step,layers,moe", "STEPSCOPE_SIDECAR": name + ".agent.json"}, [])  # fmt: skip

    # What the agent costs: the three ways take turns, so that drift of the machine does not favour one.
    ways: Dict[str, Dict[str, str]] = {
        "without": {},
        "outside-window": {"STEPSCOPE_PROFILE_START_STOP": "100000000"},
        "step-markers": {"STEPSCOPE_MARKERS": "step"},
    }
    modes = "eager,graph" if args.graphs else "eager"
    for turn in range(args.turns):
        for way, variables in ways.items():
            extra = ["--bare"] if turn == 0 else []
            asked = ["--model", "llama", "--mode", modes, "--steps", "300", "--batch", "8", *extra]
            driver.run("overhead-%s-%d" % (way, turn), asked, variables)

    # Balance: many tokens, so that experts matter; counted outside what is timed.
    for model in ("gpt-oss", "deepseek-v3"):
        for mode, router in (
            ("eager", "learned"),
            ("eager", "perfect"),
            ("graph", "learned"),
            ("graph", "perfect"),
        ):
            name = "experts-%s-%s-%s" % (model, mode, router)
            variables = {"STEPSCOPE_PROFILE_START_STOP": "12-15", "STEPSCOPE_EXPERT_LOAD": name + ".json"}
            if router == "perfect":
                variables["ENABLE_PERFECT_ROUTER"] = "1"
            row = driver.run(
                name, ["--model", model, "--mode", mode, "--steps", "60", "--batch", "256"], variables
            )
            row["experts"] = spread_of(os.path.join(out, name + "-rank-0.json"))

    # The same window as torch sees it.
    for model, mode in (
        ("gpt-oss", "eager"),
        ("gpt-oss", "graph"),
        ("deepseek-v3", "eager"),
        ("llama", "graph"),
    ):
        name = "torch-%s-%s" % (model, mode)
        row = driver.run(
            name, ["--model", model, "--mode", mode, *short], {**window, "STEPSCOPE_TORCH_TRACE": name}
        )
        row["steps"] = steps_in_trace(os.path.join(out, name + "-rank-0.json.gz"))

    driver.results["overhead"] = overhead(driver.results["runs"])
    driver.save()
    print(json.dumps(driver.results["overhead"], indent=1))


def overhead(runs: List[Dict[str, Any]]) -> Dict[str, Any]:
    found: Dict[str, Dict[str, List[float]]] = {}
    for run in runs:
        if run["name"].startswith("overhead-") and run.get("result"):
            way = run["name"][len("overhead-") :].rsplit("-", 1)[0]
            for mode in ("eager", "graph"):
                for key in ("medianUs", "freeRunningUs", "launchUs"):
                    if mode in run["result"]:
                        numbers = found.setdefault("%s %s" % (mode, key), {}).setdefault(way, [])
                        numbers.append(round(run["result"][mode][key], 2))
            if run["result"].get("bareStepNs"):
                found.setdefault("bareStepNs", {})[way] = [round(run["result"]["bareStepNs"])]
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("worker")
    one.add_argument("--model", default="llama", choices=("llama", "gpt-oss", "deepseek-v3"))
    one.add_argument("--mode", default="eager", choices=("eager", "graph", "eager,graph"))
    one.add_argument("--steps", type=int, default=14)
    one.add_argument("--batch", type=int, default=8)
    one.add_argument("--bare", action="store_true")
    whole = commands.add_parser("all")
    whole.add_argument("--nsys", default=None)
    whole.add_argument("--budget", type=float, default=320.0, help="seconds after which nothing new is begun")
    whole.add_argument("--turns", type=int, default=2)
    whole.add_argument("--no-graphs", dest="graphs", action="store_false", help="for machines without a GPU")
    parsed = parser.parse_args()
    worker(parsed) if parsed.command == "worker" else everything(parsed)
