"""The agent's file next to the capture: docs/agent-format.md. Without variables, arguments or prompts."""

import contextlib
import hashlib
import json
import os
import platform
import sys
import threading
import time
from typing import Any, NamedTuple, Optional

from .facts import StepFacts
from .patching import patched
from .ranks import current_rank, with_rank, world_size
from .request_ids import MOST_OF_A_FILE, IdTable

FORMAT = 1
"""Rows are about 200 bytes: this limits the file, and the memory used until it is written."""
MOST_ITERATIONS = 50_000

_ENGINES = ("tensorrt_llm", "vllm", "sglang", "transformers")


class Origin(NamedTuple):
    """Times are relative to these: nanoseconds since 1970 exceed the exact integer range of JSON readers."""

    wall: int
    monotonic: int


class StepRow:
    __slots__ = (
        "iteration",
        "facts",
        "start",
        "start_monotonic",
        "duration",
        "thread",
        "source",
        "failed",
        "window",
    )

    def __init__(self, iteration: int, facts: StepFacts, source: str, window: int) -> None:
        self.iteration = iteration
        self.facts = facts
        self.source = source
        self.window = window
        self.thread = threading.get_native_id()
        self.duration = -1
        self.failed = False
        self.start = time.time_ns()
        self.start_monotonic = time.monotonic_ns()

    def end(self, failed: bool) -> None:
        self.duration = time.monotonic_ns() - self.start_monotonic
        self.failed = failed

    def as_json(self, origin: "Origin", ids: IdTable) -> dict[str, Any]:
        facts = self.facts
        row: dict[str, Any] = {
            "iteration": self.iteration,
            "startNs": self.start - origin.wall,
            "startMonotonicNs": self.start_monotonic - origin.monotonic,
            "durationNs": self.duration,
            "thread": self.thread,
            "phase": facts.phase,
            "contextRequests": facts.context_requests,
            "contextTokens": facts.context_tokens,
            "generationRequests": facts.generation_requests,
            "generationTokens": facts.generation_tokens,
            "window": self.window,
        }
        if facts.generation_kv is not None:
            row["generationKvTokens"] = facts.generation_kv
        requests = ids.of_step(facts.requests)
        if requests is not None:
            row["requests"] = requests
        if self.failed:
            row["failed"] = True
        return row


class Sidecar:
    def __init__(self, path: Optional[str]) -> None:
        self.path = path
        self.origin = Origin(time.time_ns(), time.monotonic_ns())
        self.rows: list[StepRow] = []
        self.left_out = 0
        self._ids = 0

    def add(self, row: StepRow) -> None:
        if len(self.rows) < MOST_ITERATIONS:
            requests = row.facts.requests
            if requests is not None:
                self._ids += len(requests[0]) + len(requests[1])
                if self._ids > MOST_OF_A_FILE:
                    row.facts = row.facts._replace(requests=None)
            self.rows.append(row)
        else:
            self.left_out += 1

    def write(
        self, extra: dict[str, Any], pauses: list[dict[str, int]], trace: Optional[str], ids: IdTable
    ) -> str:
        path = _beside(trace) if self.path is None else _of_this_rank(self.path)
        rows = [row for row in self.rows if row.duration >= 0]
        iterations = [row.as_json(self.origin, ids) for row in rows]
        document = {
            "stepscopeAgent": FORMAT,
            "originNs": str(self.origin.wall),
            "originMonotonicNs": str(self.origin.monotonic),
            "machine": machine_name(),
            "pid": os.getpid(),
            "rank": current_rank(),
            "worldSize": world_size(),
            "versions": versions(),
            "patched": patched,
            "stepsFrom": rows[-1].source if rows else None,
            **extra,
            "gcPauses": [self._shifted(pause) for pause in pauses],
            "iterationsLeftOut": self.left_out,
            "requestIds": ids.hashes(),
            "iterations": iterations,
        }
        write_whole(path, json.dumps(document, separators=(",", ":")).encode("utf-8"))
        return path

    def _shifted(self, pause: dict[str, int]) -> dict[str, int]:
        wall, monotonic = (
            pause["startNs"] - self.origin.wall,
            pause["startMonotonicNs"] - self.origin.monotonic,
        )
        return {**pause, "startNs": wall, "startMonotonicNs": monotonic}


def _of_this_rank(path: str) -> str:
    """All ranks get the same name and must not overwrite each other's files."""
    return with_rank(path, (".agent.json", ".json")) if world_size() > 1 else path


def _beside(trace: Optional[str]) -> str:
    if trace is None:
        return "stepscope-agent-%d.json" % os.getpid()
    for extension in (".json.gz", ".json"):
        if trace.endswith(extension):
            trace = trace[: -len(extension)]
            break
    return trace + ".agent.json"


def machine_name() -> Optional[str]:
    """Names the machine since its last boot: files with the same name have the same monotonic clock."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
    except (OSError, ValueError):
        return None
    return hashlib.sha256(("stepscope " + boot).encode("ascii", "replace")).hexdigest()[:16]


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    torch = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = str(getattr(torch, "__version__", ""))
        cuda = getattr(getattr(torch, "version", None), "cuda", None)
        if cuda:
            found["cuda"] = str(cuda)
    for name in _ENGINES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version:
            found[name] = str(version)
    return found


def write_whole(path: str, data: bytes) -> None:
    """Writes atomically: a concurrent reader must not find a partial file."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    half = "%s.%d.part" % (path, os.getpid())
    try:
        with open(half, "wb") as file:
            file.write(data)
        os.replace(half, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(half)
        raise
