"""Python garbage collections as ranges and pauses: each one blocks every thread that needs the interpreter."""

import gc
import threading
import time
from typing import Any, Callable

from .ranges import ranges

MOST_PAUSES = 20_000


class GcWatch:
    def __init__(self, is_live: Callable[[], bool], with_ranges: bool) -> None:
        self._is_live = is_live
        self._with_ranges = with_ranges
        self._open_since = 0
        self._wall = 0
        self._has_range = False
        self.pauses: list[dict[str, int]] = []
        self.left_out = 0

    def install(self) -> None:
        gc.callbacks.append(self._called)

    def remove(self) -> None:
        if self._called in gc.callbacks:
            gc.callbacks.remove(self._called)

    def _called(self, moment: str, info: dict[str, Any]) -> None:
        # Collections do not nest, so one open pause is enough. Exceptions raised here do not propagate.
        if moment == "start":
            if not self._is_live():
                return
            self._wall, self._open_since = time.time_ns(), time.monotonic_ns()
            if self._with_ranges:
                ranges.push("stepscope.gc gen%d" % info["generation"])
                self._has_range = True
        elif self._open_since:
            if self._has_range:
                ranges.pop()
                self._has_range = False
            pause = {
                "generation": info["generation"],
                "startNs": self._wall,
                "startMonotonicNs": self._open_since,
                "durationNs": time.monotonic_ns() - self._open_since,
                "collected": info.get("collected", 0),
                "thread": threading.get_native_id(),
            }
            self._open_since = 0
            if len(self.pauses) < MOST_PAUSES:
                self.pauses.append(pause)
            else:
                self.left_out += 1
