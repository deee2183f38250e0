"""Host times of steps outside windows: every profiler slows the steps it records, and these show by how much.

    steps    . . . . . . . . . . . . . . . . . . . . . . . . . . .
    kept           [-before 1-][window 1][-after 1-]   [-before 2-][window 2] …

With STEPSCOPE_CALIBRATE nothing is recorded, and the steps themselves are kept:

    steps    . . . . . . . . . . . . . . .
    kept           [calibrated]              and the step after it, which ends the period of the last one

A step costs two clock reads and one append. Nothing is marked or traced. What a step costs is the time until the next
one starts: engines launch ahead, so the time spent in the call is something else. The reader subtracts the starts.
"""

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from .facts import StepFacts
from .request_ids import IdTable
from .windows import Window

"""Before each window, and after it."""
MOST_STEPS = 256
"""Segments of at most MOST_STEPS rows of about 40 bytes: this limits the file for a server with many live windows."""
MOST_SEGMENTS = 64
MOST_CALIBRATED = 4096


class QuietStep(NamedTuple):
    iteration: int
    start: int
    duration: int
    thread: int
    facts: StepFacts


class Segment(NamedTuple):
    """Steps next to a window, in the order they ended."""

    window: int
    side: str
    steps: list[QuietStep]

    def as_json(self, origin_monotonic: int, ids: IdTable) -> dict[str, Any]:
        requests = {step.iteration: ids.of_step(step.facts.requests) for step in self.steps}
        return {
            "window": self.window,
            "side": self.side,
            "steps": [
                [step.iteration, step.start - origin_monotonic, step.duration, step.thread, *step.facts[:4]]
                for step in self.steps
            ],
            "requests": {str(iteration): found for iteration, found in requests.items() if found is not None},
        }


class QuietSteps:
    def __init__(self, calibrate: Sequence[Window] = ()) -> None:
        self._calibrate = calibrate
        self.clear()

    def clear(self) -> None:
        self._recent: deque[QuietStep] = deque(maxlen=MOST_STEPS)
        self._segments: list[Segment] = []
        """The steps after a window, or those to calibrate, while they are being collected."""
        self._after: Optional[list[QuietStep]] = None
        if self._calibrate:
            self._after = []
            self._segments.append(Segment(0, "calibration", self._after))
        self.left_out = 0
        """Steps kept since the start: a file that was written with fewer is incomplete."""
        self.kept = 0

    @property
    def is_filling(self) -> bool:
        """More steps are expected after the last window, or to calibrate."""
        return self._after is not None

    def add(self, iteration: int, start: int, facts: StepFacts) -> bool:
        """Called when the step ends. True when this step completes the steps after a window, or those to calibrate."""
        step = QuietStep(iteration, start, time.monotonic_ns() - start, threading.get_ident(), facts)
        after = self._after
        if after is None:
            self._recent.append(step)
            return False
        if self._calibrate:
            return self._add_calibrated(after, step)
        after.append(step)
        self.kept += 1
        if len(after) < MOST_STEPS:
            return False
        self._after = None
        return True

    def _add_calibrated(self, steps: list[QuietStep], step: QuietStep) -> bool:
        if any(window.first <= step.iteration <= window.last + 1 for window in self._calibrate):
            steps.append(step)
            self.kept += 1
        if step.iteration <= self._calibrate[-1].last and len(steps) < MOST_CALIBRATED:
            return False
        self._after = None
        return True

    def window_opens(self, window: int) -> None:
        self._after = None
        self._keep(Segment(window, "before", list(self._recent)))
        self.kept += len(self._recent)
        self._recent.clear()

    def window_closes(self, window: int) -> None:
        after: list[QuietStep] = []
        if self._keep(Segment(window, "after", after)):
            self._after = after

    def _keep(self, segment: Segment) -> bool:
        if len(self._segments) >= MOST_SEGMENTS:
            self.left_out += 1
            return False
        self._segments.append(segment)
        return True

    def as_json(self, origin_monotonic: int, ids: IdTable) -> dict[str, Any]:
        return {
            "quietSteps": [
                segment.as_json(origin_monotonic, ids) for segment in self._segments if segment.steps
            ],
            "quietStepsLeftOut": self.left_out,
        }
