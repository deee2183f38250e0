"""Holds what `stepscope analyze --format json` says about a profile against an independent reading of that profile.

    claims.py ANALYSIS.json PROFILE...     one profile, in one file or several
    claims.py                              many: a JSON list [ANALYSIS.json, PROFILE...] on each line of standard input

prints, on a line for each, a JSON list of checks: what was claimed, what this reading finds, and whether they agree.
Claims that this reading has no definition for are listed as not checked.
"""

import gc
import json
import re
import sys
from trace import read

from intervals import length, union
from readings import ELEMENTWISE, FP32_GEMM, NARROW, PROFILER_STEP, STEP, Readings

ALLOCATION = r"^(cuda|hip)(Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister)|^cuMem(Alloc|Free)"
LAUNCH = r"Launch"

# One short run that keeps whatever it reads: looking for circles in it would take longer than reading.
gc.disable()


class Checks:
    def __init__(self):
        self.rows = []

    def near(self, what, claimed, found, share=0.05, slack=0.0):
        self._add(what, claimed, found, abs(claimed - found) <= share * max(abs(claimed), abs(found)) + slack)

    def at_most(self, what, claimed, found, share=0.05, slack=1000):
        self._add(what, claimed, found, claimed <= found * (1 + share) + slack)

    def holds(self, what, true):
        self._add(what, True, bool(true), bool(true))

    def unknown(self, what):
        self.rows.append({"what": what, "agrees": None})

    def _add(self, what, claimed, found, agrees):
        self.rows.append({"what": what, "claimed": claimed, "found": found, "agrees": agrees})


def number(text, pattern):
    match = re.search(pattern, text)
    return float(match.group(1).replace(",", "")) if match else None


def check_finding(checks, finding, of, everything, iterations, recording):
    """`recording`: idle time by cause that the profiler added. Costs are without it, the file is with it."""
    rule, claim, cost = finding["rule"], finding["claim"], finding.get("costNs")
    trace = of.trace
    if rule in ("launch-overhead", "prefill-launches"):
        checks.near(f"{rule}: kernels", number(claim, r"([\d,]+) kernel launches"), of.kernels(), 0.02, 0.6)
        checks.holds(f"{rule}: most GPU time is outside graphs", of.graph_share() < 0.5)
        checks.at_most(f"{rule}: cost", cost, of.late_ns())
    elif rule in ("exposed-host-work", "host-work-in-step"):
        checks.at_most(f"{rule}: cost", cost, of.late_ns())
    elif rule == "sync-in-decode":
        checks.holds(f"{rule}: the host waits", of.calls(r"Synchronize|Memcpy"))
        checks.at_most(f"{rule}: cost", cost, of.idle_ns())
    elif rule == "blocking-in-layers":
        copies = {id(trace.call_of.get(work.launch)): work for work in trace.work if work.kind == "copy"}
        waits = [
            call
            for call in of.calls(r"Synchronize|Memcpy")
            if "Synchronize" in call.name or (id(call) in copies and call.end >= copies[id(call)].end)
        ]
        checks.at_most(f"{rule}: waits", number(claim, r"GPU ([\d,.]+) times"), len(waits) / of.steps, 0.1, 1)
        checks.at_most(f"{rule}: cost", cost, of.idle_ns())
    elif rule == "garbage-collection":
        profiled = cost + recording.get("garbage-collection", 0)
        checks.near(f"{rule}: cost", profiled, of.idle_in_ranges_ns("Python GC|^GC"), 0.05)
    elif rule == "gil-contention":
        profiled = cost + recording.get("gil", 0)
        checks.near(f"{rule}: cost", profiled, of.idle_in_ranges_ns("Waiting for GIL"), 0.1)
    elif rule == "steady-allocations":
        calls = len(everything.calls(ALLOCATION))
        per_step = number(claim, r"([\d,.]+) calls? per step")
        claimed = per_step if per_step is not None else number(claim, r"([\d,.]+) calls")
        checks.near(f"{rule}: calls", claimed, calls / everything.steps if per_step is not None else calls, 0.05, 1)
        profiled = cost + recording.get("allocation", 0)
        checks.near(f"{rule}: cost", profiled, of.idle_in_calls_ns(ALLOCATION), 0.1)
    elif rule == "launch-stall":
        checks.near(f"{rule}: cost", cost, of.idle_in_calls_ns(LAUNCH, 300_000), 0.15)
    elif rule == "pageable-copies":
        checks.near(f"{rule}: time", cost, of.summed_ns(lambda work: work.pageable), 0.05)
    elif rule == "link-bound":
        checks.at_most(f"{rule}: cost", cost, of.summed_ns(lambda work: work.kind == "copy"))
        checks.holds(f"{rule}: most of the GPU's time", cost > 0.1 * of.wall_ns())
    elif rule == "memory-bandwidth":
        checks.near(f"{rule}: DRAM", number(claim, r"DRAM at (\d+)%"), of.dram_percent(), 0, 4)
    elif rule == "fp8-available":
        wide = of.gemm_ns(lambda name: not NARROW.search(name) and not FP32_GEMM.search(name))
        checks.near(f"{rule}: 16-bit GEMMs", cost, wide, 0.08)
    elif rule == "attention-heavy":
        attends = re.compile(r"att|fmha|mha|flash|sdpa|xqa|splitkv|_fwd_(grouped_)?kernel_stage|BatchDecode", re.I)
        checks.near(f"{rule}: attention", cost, of.summed_ns(lambda work: attends.search(work.name)), 0.1)
    elif rule == "fp32-gemm":
        checks.near(f"{rule}: FP32 GEMMs", cost, of.gemm_ns(lambda name: FP32_GEMM.search(name)), 0.05)
    elif rule == "unfused-attention":
        between = lambda work: ELEMENTWISE.search(work.name) or "oftmax" in work.name or "oftMax" in work.name
        checks.at_most(f"{rule}: cost", cost, of.summed_ns(between), 0.15)
        checks.holds(f"{rule}: a softmax ran", any("oftmax" in w.name or "oftMax" in w.name for w in trace.work))
    elif rule == "costly-sampling":
        chooses = re.compile(r"sort|topk|top_k|topp|sampl|argmax|ArgMax|multinomial|scan|index|gather|scatter|penalt|logprob|rank", re.I)
        checks.at_most(f"{rule}: cost", cost, of.summed_ns(lambda work: chooses.search(work.name)), 0.15)
    elif rule == "concatenation":
        checks.near(f"{rule}: cost", cost, of.summed_ns(lambda work: "CatArray" in work.name), 0.15)
    elif rule == "unfused-elementwise":
        checks.at_most(f"{rule}: cost", cost, of.summed_ns(lambda work: ELEMENTWISE.search(work.name)), 0.15)
    elif rule == "exposed-communication":
        checks.near(f"{rule}: cost", cost, of.exposed_communication_ns() - of.rank_waits_ns(), 0.1)
    elif rule == "waiting-for-slowest-rank":
        checks.near(f"{rule}: cost", cost, of.rank_waits_ns(skip_first=True), 0.02)
    elif rule == "low-utilisation":
        checks.near(f"{rule}: busy", number(claim, r"busy ([\d.]+)%"), 100 * of.busy_ns() / of.wall_ns(), 0, 1)
    elif rule == "client-profiled":
        checks.holds(f"{rule}: no GPU work, no launches", not trace.work)
    elif rule == "graph-being-captured":
        launches = [call for call in trace.calls if "LaunchKernel" in call.name]
        kernels = [work for work in trace.work if work.kind == "kernel"]
        checks.holds(f"{rule}: more launches than kernels", len(launches) > 2 * len(kernels))
    elif rule == "graph-kernels-hidden":
        checks.holds(f"{rule}: replays are blocks", any(work.kind == "graph" for work in trace.work))
    elif rule == "one-rank":
        checks.near(f"{rule}: ranks", number(claim, r"of (\d+) given"), trace.world, 0)
    elif rule == "stacks-recorded":
        checks.holds(f"{rule}: Python calls were recorded", trace.frames)
    elif rule == "too-few-steps":
        claimed = number(claim, r"Only (\d+) steady")
        checks.near(f"{rule}: steps", claimed, sum(1 for row in iterations if row["selected"]), 0)
    elif rule == "warm-up-inside":
        slow = [row["wallNs"] for row in iterations if row["state"] == "warm-up"]
        checks.holds(f"{rule}: each takes longer", all(ns > 1.02 * everything.wall_ns() for ns in slow))
    elif rule == "first-step-unlike":
        own = sorted((start, end - start) for _, start, end in of.windows)
        rest = [ns for start, ns in own if start > own[0][0]]
        checks.holds(f"{rule}: it takes longer", rest and own[0][1] > 1.2 * sum(rest) / len(rest))
    elif rule == "whole-run-captured":
        inside = length(union((start, end) for _, start, end in everything.windows))
        times = [work.end for work in trace.work] + [call.end for call in trace.calls]
        starts = [work.start for work in trace.work] + [call.start for call in trace.calls]
        checks.holds(f"{rule}: steps fill less than half", inside < 0.5 * (max(times) - min(starts)))
    elif rule == "no-steps":
        checks.holds(
            f"{rule}: no known marker", not any(STEP.match(r[2]) or PROFILER_STEP.match(r[2]) for r in trace.ranges)
        )
    else:
        checks.unknown(rule)


def check_figures(checks, analyses, of, iterations):
    budget = analyses["step-budget"].get("rows") or []
    if not of.windows:
        return
    busy = sum(row["wallNs"] - row["idleNs"] for row in budget) / len(budget)
    checks.near("GPU work per step", busy, of.busy_ns(), 0.01, 50)
    for row in analyses["kernels-per-step"].get("rows") or []:
        own = [one for one in budget if one["phase"] == row["phase"]]
        if own:
            checks.near(f"kernels per {row['phase']} step", row["kernels"], of.only(own).kernels(), 0.02, 1)
    if iterations and analyses["iterations"]["summary"]["foundBy"] == "marker":
        checks.near("steps", len(iterations), of.markers(), 0)
    families = analyses["kernel-families"].get("rows") or []
    total = sum(row["totalNs"] for row in families)
    if total:
        gemm = sum(row["totalNs"] for row in families if row["family"] == "gemm")
        claimed = 100 * gemm / total
        everything = of.summed_ns(lambda work: work.kind != "graph")
        checks.near("GEMM, % of GPU time", claimed, 100 * of.gemm_ns() / everything if everything else 0, 0, 2.5)


def checks_of(analysis, *profiles):
    with open(analysis) as file:
        document = json.load(file)["data"]
    analyses = document["analyses"]
    trace = read(profiles, int(document["clock"]["originNs"]))
    budget = analyses["step-budget"].get("rows") or []
    iterations = analyses["iterations"].get("rows") or []
    everything = Readings(trace, budget)
    undisturbed = analyses["undisturbed-step"].get("rows") or []
    checks = Checks()
    check_figures(checks, analyses, everything, iterations)
    for finding in analyses["findings"]["rows"][:3]:
        own = [row for row in budget if finding.get("phase") in (None, row["phase"])]
        added = [row["profilerByCause"] for row in undisturbed if row["phase"] == finding.get("phase")]
        check_finding(checks, finding, everything.only(own), everything, iterations, added[0] if added else {})
    return checks.rows


def main():
    # Starting Python a hundred times takes as long as half of the reading.
    for files in [sys.argv[1:]] if len(sys.argv) > 1 else map(json.loads, sys.stdin):
        print(json.dumps(checks_of(*files)), flush=True)


if __name__ == "__main__":
    main()
