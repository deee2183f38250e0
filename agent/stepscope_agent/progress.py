"""A small file that shows how far the program is: its last step and batch, for whoever waits for a window.

Rewritten at most ten times per second, by renaming, so that a reader never sees half of it.
"""

import json
import os
import time

from .facts import StepFacts
from .log import reason, say_once

EVERY_NS = 100_000_000


class Progress:
    def __init__(self, path: str) -> None:
        self._path = path
        self._next = 0

    def note(self, iteration: int, facts: StepFacts) -> None:
        now = time.monotonic_ns()
        if now < self._next:
            return
        self._next = now + EVERY_NS
        text = json.dumps(
            {
                "iteration": iteration,
                "batch": facts.context_requests + facts.generation_requests,
                "tokens": facts.context_tokens + facts.generation_tokens,
                "prefill": facts.context_requests > 0,
            }
        )
        beside = "%s.%d" % (self._path, os.getpid())
        try:
            with open(beside, "w") as file:
                file.write(text)
            os.replace(beside, self._path)
        except OSError as error:
            say_once("progress is not written: %s" % reason(error))
            self._next = 1 << 62
