"""What a profile says about a set of windows, each figure from its definition and nothing else."""

import re
from functools import cache
from statistics import median

from intervals import clip, common, gaps, length, union

STEP = re.compile(
    r"^(\[Executor\] _forward_step|execute_(\d+_)?context_\d+\(|step\[|(prefill|decode)\[bs="
    r"|stepscope\.step \d|sgl step \d)"
)
PROFILER_STEP = re.compile(r"^ProfilerStep#\d+$")

COMMUNICATION = re.compile(
    r"nccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|one_?shot|two_?shot|deep_ep::|multimem"
    r"|barrier_all|cross_device|moefinalize.*allreduce|mnnvl",
    re.I,
)
GEMM = re.compile(
    r"gemm|nvjet|xmma|Cijk|matmul|gemv|cublasLt|cutlass::(device_)?kernel<.*(Gemm|gemm)|bmm_|splitK|LLBf16Dotprod"
    r"|fused_moe_kernel|dot_kernel|wvSplitK|_mm_|marlin|machete",
    re.I,
)
# Convolutions multiply matrices too, under names of their own; FBGEMM is a library of embeddings as well.
NO_GEMM = re.compile(
    r"implicit|conv|scudnn|igemm_(fwd|bwd|wrw)|fprop|wgrad|dgrad|fmha|flash|attention|fbgemm|embedding", re.I
)
FP32_GEMM = re.compile(r"sgemm|simt.*gemm|gemm.*simt|ffma", re.I)
NARROW = re.compile(r"e4m3|e5m2|e2m1|fp8|fp4|f8_|int8|mxf|nvf4|marlin|machete|_bmm_|bmm_", re.I)
ELEMENTWISE = re.compile(r"elementwise|triton_poi|CatArray|copy_kernel|_silu|gelu|act_and_mul", re.I)


@cache
def is_gemm(name):
    return bool(GEMM.search(name)) and not NO_GEMM.search(name) and not COMMUNICATION.search(name)


class Readings:
    """`rows`: the chosen windows, one per step and device: device, startNs, endNs."""

    def __init__(self, trace, rows):
        windows = [(row["device"], row["startNs"], row["endNs"]) for row in rows]
        self.trace, self.windows = trace, windows
        self.steps = max(1, len(windows))
        self.inside = []
        self.busy = []
        by_device = {}
        for work in trace.work:
            by_device.setdefault(work.device, []).append(work)
        self.by_device = by_device
        for device, start, end in windows:
            here = [work for work in by_device.get(device, ()) if work.start < end and work.end > start]
            self.inside.append([work for work in here if start <= work.start < end])
            self.busy.append(clip(union((work.start, work.end) for work in here), start, end))

    def only(self, rows):
        return Readings(self.trace, rows)

    def wall_ns(self):
        return sum(end - start for _, start, end in self.windows) / self.steps

    def busy_ns(self):
        return sum(length(busy) for busy in self.busy) / self.steps

    def idle_ns(self):
        return self.wall_ns() - self.busy_ns()

    def kernels(self):
        """Of the step in the middle, when steps are sorted by how many kernels begin in them."""
        return median(sum(1 for work in here if work.kind == "kernel") for here in self.inside)

    def summed_ns(self, holds):
        return sum(work.end - work.own_start for here in self.inside for work in here if holds(work)) / self.steps

    def gemm_ns(self, also=lambda name: True):
        return self.summed_ns(lambda work: work.kind == "kernel" and is_gemm(work.name) and also(work.name))

    def graph_share(self):
        everything = self.summed_ns(lambda work: True)
        return self.summed_ns(lambda work: work.in_graph) / everything if everything else 0

    def exposed_communication_ns(self):
        """Time in which nothing but communication runs; two kernels of one stream at once count as the earlier one."""
        total = 0
        for (device, start, end), _ in zip(self.windows, self.busy, strict=True):
            parts = {True: [], False: []}
            for work in self.by_device.get(device, ()):
                if work.end > start and work.start < end:
                    parts[bool(COMMUNICATION.search(work.name))].append((work.own_start, work.end))
            waits, other = union(parts[True]), union(parts[False])
            total += length(clip(waits, start, end)) - length(clip(common(waits, other), start, end))
        return total / self.steps

    def rank_waits_ns(self, skip_first=False):
        """Exposed communication before the last device comes; the n-th kernel of a name on each is one collective."""
        by_name = {}
        for device, list_of_work in self.by_device.items():
            for work in list_of_work:
                if work.kind == "kernel" and COMMUNICATION.search(work.name):
                    by_name.setdefault(work.name, {}).setdefault(device, []).append(work)
        collectives = []
        for devices in by_name.values():
            if len(devices) < 2 or len({len(own) for own in devices.values()}) > 1:
                continue
            collectives.extend(zip(*devices.values(), strict=True))
        collectives.sort(key=lambda calls: max(work.own_start for work in calls))
        waits = {}
        for calls in collectives[1 if skip_first else 0 :]:
            last = max(work.own_start for work in calls)
            for work in calls:
                waits.setdefault(work.device, []).append((work.own_start, min(last, work.end)))
        total = 0
        for device, start, end in self.windows:
            waiting = union(waits.get(device, ()))
            other = union(
                (work.own_start, work.end)
                for work in self.by_device.get(device, ())
                if work.end > start and work.start < end and not COMMUNICATION.search(work.name)
            )
            total += length(clip(waiting, start, end)) - length(clip(common(waiting, other), start, end))
        return total / self.steps

    def late_ns(self):
        """Idle time that ends in work whose launch was called after the idle time began: the host was late."""
        total = 0
        for (_, start, end), here, busy in zip(self.windows, self.inside, self.busy, strict=True):
            first_at = {}
            for work in here:
                first_at.setdefault(work.start, work)
            for a, b in gaps(busy, start, end):
                work = first_at.get(b)
                call = self.trace.call_of.get(work.launch) if work and work.launch is not None else None
                if call is None or call.end > a:
                    total += b - a
        return total / self.steps

    def idle_in_ranges_ns(self, pattern):
        named = union((a, b) for a, b, text, _ in self.trace.ranges if re.search(pattern, text))
        return (
            sum(
                length(common(gaps(busy, start, end), clip(named, start, end)))
                for (_, start, end), busy in zip(self.windows, self.busy, strict=True)
            )
            / self.steps
        )

    def idle_in_calls_ns(self, pattern, least=0):
        named = union(
            (call.start, call.end)
            for call in self.trace.calls
            if re.search(pattern, call.name) and call.end - call.start >= least
        )
        return (
            sum(
                length(common(gaps(busy, start, end), clip(named, start, end)))
                for (_, start, end), busy in zip(self.windows, self.busy, strict=True)
            )
            / self.steps
        )

    def calls(self, pattern):
        """Calls that begin in the time from the first window to the last, per step."""
        spans = union((start, end) for _, start, end in self.windows)
        return [
            call
            for call in self.trace.calls
            if re.search(pattern, call.name) and any(a <= call.start < b for a, b in spans)
        ]

    def dram_percent(self):
        """DRAM read and write over the windows, as if all of it happened while the GPU was busy."""
        inside = union((start, end) for _, start, end in self.windows)
        moved = 0
        for values in self.trace.samples.values():
            values.sort()
            for (before, _), (at, value) in zip(values, values[1:], strict=False):
                moved += value * length(clip(inside, before, at))
        return moved / (self.busy_ns() * self.steps)

    def markers(self):
        """Steps by the file's own markers: the outermost ones, on the thread that has most of them."""
        for pattern in (STEP, PROFILER_STEP):
            threads = {}
            for start, end, text, thread in sorted(self.trace.ranges, key=lambda one: (one[0], -one[1])):
                if pattern.match(text):
                    own = threads.setdefault(thread, [])
                    if not own or start >= own[-1]:
                        own.append(end)
            if threads:
                return max(len(own) for own in threads.values())
        return 0
