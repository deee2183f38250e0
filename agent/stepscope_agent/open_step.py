"""A step in progress, and what its source tells about it."""

from typing import Callable, Optional

from .facts import UNKNOWN, StepFacts
from .log import reason, say_once
from .sidecar import StepRow

"""Called with True for steps in a window, with False for the counts alone, which must cost next to nothing."""
FactsReader = Callable[[bool], Optional[StepFacts]]


class OpenStep:
    """One open step on one thread; `row` is set only in a window, `quiet_start` only outside."""

    __slots__ = ("iteration", "row", "quiet_start", "facts", "open_ranges", "closes_window")

    def __init__(self, iteration: int, closes_window: bool) -> None:
        self.iteration = iteration
        self.row: Optional[StepRow] = None
        self.quiet_start = 0
        self.facts = UNKNOWN
        self.open_ranges = 0
        self.closes_window = closes_window


def facts_of(read_facts: FactsReader, in_window: bool) -> StepFacts:
    try:
        return read_facts(in_window) or UNKNOWN
    except Exception as error:
        say_once("steps are recorded without batch and token counts: %s" % reason(error))
        return UNKNOWN
