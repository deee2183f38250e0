"""What the system did to the thread that runs the steps: page faults, lost CPUs, time in the kernel; and where it runs.

    steps    . . . . [ window ] . . . . . . .
    read at          ^        ^           ^       the steps after the window are free of the profiler

One system call per reading, and none in the steps outside.
"""

import contextlib
import os
import sys
import threading
from typing import Any, NamedTuple, Optional

try:
    import resource

    _OF_THREAD: Optional[int] = getattr(resource, "RUSAGE_THREAD", None)
except ImportError:
    _OF_THREAD = None

MOST_ROWS = 128


class Reading(NamedTuple):
    thread: int
    iteration: int
    user: float
    system: float
    minor_faults: int
    major_faults: int
    voluntary: int
    involuntary: int


def read(iteration: int) -> Optional[Reading]:
    """Of the calling thread; None where the system does not count by thread."""
    if _OF_THREAD is None:
        return None
    used = resource.getrusage(_OF_THREAD)
    return Reading(
        threading.get_native_id(),
        iteration,
        used.ru_utime,
        used.ru_stime,
        used.ru_minflt,
        used.ru_majflt,
        used.ru_nvcsw,
        used.ru_nivcsw,
    )


class HostCounters:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._placement: Optional[dict[str, Any]] = None
        self._window = 0
        self._first: Optional[Reading] = None

    def window_opens(self, window: int, iteration: int) -> None:
        """Before the first step of the window."""
        self._end("after", iteration)
        self._window = window
        self._first = read(iteration)
        if self._placement is None:
            self._placement = _placement()

    def window_closes(self, iteration: int) -> None:
        """Before the profiler stops; `iteration` is the first one outside."""
        self._end("window", iteration)

    def quiet_steps_begin(self, iteration: int) -> None:
        self._first = read(iteration)

    def quiet_steps_end(self, iteration: int) -> None:
        self._end("after", iteration)

    def _end(self, part: str, iteration: int) -> None:
        first, self._first = self._first, None
        last = read(iteration) if first is not None else None
        # Another thread may close a window: its counters say nothing about this one.
        if first is None or last is None or first.thread != last.thread or len(self._rows) >= MOST_ROWS:
            return
        steps = last.iteration - first.iteration
        if steps <= 0:
            return
        self._rows.append(
            {
                "window": self._window,
                "part": part,
                "thread": first.thread,
                "first": first.iteration,
                "steps": steps,
                "userNs": round((last.user - first.user) * 1e9),
                "systemNs": round((last.system - first.system) * 1e9),
                "minorFaults": last.minor_faults - first.minor_faults,
                "majorFaults": last.major_faults - first.major_faults,
                "voluntarySwitches": last.voluntary - first.voluntary,
                "involuntarySwitches": last.involuntary - first.involuntary,
            }
        )

    def as_json(self) -> dict[str, Any]:
        return {"hostCounters": self._rows, "placement": self._placement}


def _placement() -> Optional[dict[str, Any]]:
    """Processors that the thread may use, the NUMA nodes of these, and that of its GPU; what is not known is null."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    with contextlib.suppress(OSError):
        cpus = sorted(os.sched_getaffinity(0))
        return {
            "cpus": len(cpus),
            "machineCpus": os.cpu_count(),
            "cpuNodes": sorted({node for node in map(_node_of_cpu, cpus) if node is not None}),
            "gpuNode": _node_of_gpu(),
        }
    return None


def _node_of_cpu(cpu: int) -> Optional[int]:
    with contextlib.suppress(OSError, ValueError):
        for name in os.listdir("/sys/devices/system/cpu/cpu%d" % cpu):
            if name.startswith("node") and name[4:].isdigit():
                return int(name[4:])
    return None


def _node_of_gpu() -> Optional[int]:
    """Of the current device of torch, if CUDA is in use already: asking must not start it."""
    with contextlib.suppress(Exception):
        cuda = sys.modules["torch"].cuda
        if not cuda.is_initialized():
            return None
        found = cuda.get_device_properties(cuda.current_device())
        address = "%04x:%02x:%02x.0" % (found.pci_domain_id, found.pci_bus_id, found.pci_device_id)
        with open("/sys/bus/pci/devices/%s/numa_node" % address, encoding="ascii") as file:
            node = int(file.read())
        return node if node >= 0 else None
    return None
