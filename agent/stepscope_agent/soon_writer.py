"""Writes a file some seconds after there is something new for it. Without windows nothing else writes before the end of
the process, and engines kill their workers without one."""

import contextlib
import threading
import time
from typing import Callable

"""Seconds from a step to the file that has it, and so many times what writing takes."""
WRITE_AFTER = 5.0
WRITE_SHARE = 50


class SoonWriter:
    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self._is_pending = False
        self._took = 0.0

    def ask(self) -> None:
        if self._is_pending:
            return
        self._is_pending = True
        timer = threading.Timer(max(WRITE_AFTER, WRITE_SHARE * self._took), self._run)
        timer.daemon = True
        timer.name = "stepscope-write"
        # No thread starts in a process that is ending; the end itself writes.
        with contextlib.suppress(RuntimeError):
            timer.start()

    def _run(self) -> None:
        began = time.monotonic()
        self._is_pending = False
        self._write()
        self._took = time.monotonic() - began
