"""Records how the agent behaves on a real GPU: windows as recorded by nsys and torch, eager and with CUDA graphs, the
overhead of the agent, and the effect of the perfect router.

    OUT=/tmp/evidence bash agent/gpu/evidence.sh          # everything, about eight minutes
    OUT=/tmp/evidence bash agent/gpu/evidence.sh torch overhead

Results: $OUT/results.json, with the captures next to it. Each part runs in its own process, as users run the agent.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any, Optional

from captures import in_expert_load, in_nsys, in_sidecar, in_torch
from models import MODELS

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.dirname(HERE)
WINDOW = {"STEPSCOPE_PROFILE_START_STOP": "10-15", "STEPSCOPE_MARKERS": "step,layers,moe,gc"}
RANGED = ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"]


class Driver:
    def __init__(self, args: argparse.Namespace) -> None:
        self.out = os.path.abspath(os.environ.get("OUT", "evidence"))
        os.makedirs(self.out, exist_ok=True)
        self.nsys: Optional[str] = args.nsys
        self.ends = time.monotonic() + args.budget
        self.only: str = args.only
        self.tiny = ["--tiny"] if args.tiny else []
        self.runs: list[dict[str, Any]] = []

    def path(self, name: str) -> str:
        return os.path.join(self.out, name)

    def run(
        self, name: str, program: list[str], variables: dict[str, str], nsys: Optional[list[str]] = None
    ) -> dict[str, Any]:
        if self.only not in name:
            return {}
        row: dict[str, Any] = {"name": name, "program": " ".join(program), "variables": variables}
        self.runs.append(row)
        if time.monotonic() > self.ends:
            row["skipped"] = "out of time"
            return row
        command = [sys.executable, os.path.join(HERE, program[0]), *program[1:], *self.tiny]
        environ = {key: value for key, value in os.environ.items() if not key.startswith("STEPSCOPE_")}
        if variables:
            environ["PYTHONPATH"] = AGENT + os.pathsep + environ.get("PYTHONPATH", "")
            environ.update(variables)
        if nsys is not None:
            if self.nsys is None:
                row["skipped"] = "no nsys"
                return row
            command = [self.nsys, "profile", "--sample=none", "--cpuctxsw=none", "--cuda-graph-trace=node",
                       "--force-overwrite=true", "-o", self.path(name), *nsys, *command]  # fmt: skip
        begun = time.monotonic()
        try:
            ran = subprocess.run(
                command, env=environ, cwd=self.out, capture_output=True, text=True, timeout=150
            )
            lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
            row["status"] = ran.returncode
            row["result"] = json.loads(lines[-1]) if lines else None
            row["agentSaid"] = [line for line in ran.stderr.splitlines() if line.startswith("stepscope:")]
            if ran.returncode or not lines:
                row["trouble"] = (ran.stdout + ran.stderr)[-2500:]
        except subprocess.TimeoutExpired:
            row["trouble"] = "took over 150 seconds"
        row["tookS"] = round(time.monotonic() - begun, 1)
        if nsys is not None and row.get("status") == 0:
            self.export(name, row)
        row["sidecar"] = in_sidecar(self.path(name + ".agent.json"))
        self.save()
        print(name, row.get("status"), row["tookS"], row.get("trouble", ""), flush=True)
        return row

    def export(self, name: str, row: dict[str, Any]) -> None:
        database = self.path(name + ".sqlite")
        subprocess.run([str(self.nsys), "export", "--type=sqlite", "--force-overwrite=true", "-o", database,
                        self.path(name + ".nsys-rep")], capture_output=True, timeout=120)  # fmt: skip
        try:
            row["nsys"] = in_nsys(database)
        except Exception as error:
            row["nsys"] = {"trouble": str(error)}
        if row.get("result"):
            row["stepsAsTheyWere"] = agrees(
                row["nsys"].get("steps"), row["result"].get("truth"), row["variables"]
            )

    def save(self) -> None:
        with open(self.path("results.json"), "w") as file:
            json.dump({"runs": self.runs}, file, indent=1)


def agrees(steps: Any, truth: Any, variables: dict[str, str]) -> bool:
    """All steps of the window, or all available, each matching the program's own log."""
    if not steps or not truth:
        return False
    first, last = map(
        int, variables.get("STEPSCOPE_PROFILE_START_STOP", "0-%d" % (len(truth) - 1)).split("-")
    )
    return bool(steps == [[number, *row] for number, row in enumerate(truth) if first <= number <= last])


def windows_in_nsys(driver: Driver) -> None:
    for model in MODELS:
        for mode in ("eager", "graph"):
            name = "nsys-%s-%s" % (model, mode)
            variables = {**WINDOW, "STEPSCOPE_SIDECAR": name + ".agent.json"}
            driver.run(name, serve(model, mode), variables, ["--trace=cuda,nvtx", *RANGED])


def windows_in_torch(driver: Driver) -> None:
    for model in MODELS:
        for mode in ("eager", "graph"):
            name = "torch-%s-%s" % (model, mode)
            variables = {**WINDOW, "STEPSCOPE_TORCH_TRACE": name, "STEPSCOPE_SIDECAR": name + ".agent.json"}
            row = driver.run(name, serve(model, mode), variables)
            row["torch"] = in_torch(driver.path(name + "-rank-0.json.gz"))
            if row.get("result") and row["torch"]:
                row["stepsAsTheyWere"] = agrees(row["torch"]["steps"], row["result"]["truth"], variables)


def graphs_from_the_start(driver: Driver) -> None:
    """Recorded from the start, so that nodes are created inside named ranges: an independent check of node layers."""
    name = "creation-gpt-oss"
    variables = {"STEPSCOPE_MARKERS": "step,layers,moe", "STEPSCOPE_SIDECAR": name + ".agent.json"}
    program = [*serve("gpt-oss", "graph"), "--requests", "1"]
    driver.run(name, program, variables, ["--trace=cuda,nvtx"])


def overhead(driver: Driver) -> None:
    """Graph replay of a small model is the shortest step, and therefore the worst case."""
    ways = {
        "outside-window": {"STEPSCOPE_PROFILE_START_STOP": "100000000"},
        "step-markers": {"STEPSCOPE_MARKERS": "step"},
    }
    for way, variables in ways.items():
        for model, mode in (("llama", "graph"), ("llama", "eager"), ("gpt-oss", "eager")):
            name = "overhead-%s-%s-%s" % (way, model, mode)
            driver.run(name, ["overhead.py", "--model", model, "--mode", mode], variables)
    driver.run("overhead-step-markers-recorded", ["overhead.py", "--model", "llama", "--mode", "graph"],
               ways["step-markers"], ["--trace=nvtx"])  # fmt: skip


def perfect_router(driver: Driver) -> None:
    """The skewed learned router and the perfect one: captured, counted, and timed without a profiler."""
    for model in ("gpt-oss", "deepseek-v3"):
        for mode in ("eager", "graph"):
            for router in ("learned", "perfect"):
                name = "router-%s-%s-%s" % (model, mode, router)
                perfect = {"ENABLE_PERFECT_ROUTER": "1"} if router == "perfect" else {}
                program = [*serve(model, mode, 256), "--skew", "--experts", "grouped_mm"]
                load = {
                    "STEPSCOPE_EXPERT_LOAD": name + ".load.json",
                    "STEPSCOPE_SIDECAR": name + ".agent.json",
                }
                row = driver.run(name, program, {**WINDOW, **load, **perfect}, ["--trace=cuda,nvtx", *RANGED])
                row["experts"] = in_expert_load(driver.path(name + ".load-rank-0.json"))
                if mode == "graph":
                    # Without the agent, or with only the router: what users would time.
                    driver.run("timed-" + name, [*program, "--requests", "40"], perfect)


def long_pair(driver: Driver) -> None:
    """Twenty decode steps with each router, enough to compare; the runs alternate."""
    for turn in (1, 2):
        for router in ("learned", "perfect"):
            name = "pair-%s-%d" % (router, turn)
            perfect = {"ENABLE_PERFECT_ROUTER": "1"} if router == "perfect" else {}
            program = [*serve("gpt-oss", "graph", 256), "--skew", "--experts", "grouped_mm", "--tokens", "30"]
            window = {"STEPSCOPE_PROFILE_START_STOP": "70-89", "STEPSCOPE_MARKERS": "step,layers,moe"}
            load = {"STEPSCOPE_EXPERT_LOAD": name + ".load.json", "STEPSCOPE_SIDECAR": name + ".agent.json"}
            row = driver.run(name, program, {**window, **load, **perfect}, ["--trace=cuda,nvtx", *RANGED])
            row["experts"] = in_expert_load(driver.path(name + ".load-rank-0.json"))


def serve(model: str, mode: str, batch: int = 8) -> list[str]:
    return ["serve.py", "--model", model, "--mode", mode, "--batch", str(batch)]


PARTS = {
    "nsys": windows_in_nsys,
    "torch": windows_in_torch,
    "creation": graphs_from_the_start,
    "router": perfect_router,
    "pair": long_pair,
    "overhead": overhead,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--nsys", default=None)
    parser.add_argument(
        "--budget", type=float, default=540.0, help="seconds after which nothing new is begun"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only runs with TEXT in their name")
    parser.add_argument("--tiny", action="store_true", help="small models, for machines without a GPU")
    parsed = parser.parse_args()
    driver = Driver(parsed)
    for part in parsed.parts or PARTS:
        PARTS[part](driver)
    driver.save()
