"""The part of Stepscope that runs inside the profiled process: finds steps, records windows of them, marks them.

    STEPSCOPE_PROFILE_START_STOP=100-119 python serve.py      # without touching the program

    import stepscope_agent                                    # or in the program
    with stepscope_agent.step():
        …

It never raises into the program: a part that fails prints one line on stderr and is disabled. See docs/agent.md.
"""

import contextlib
from collections.abc import Iterator
from typing import Any, Optional

from _stepscope_start import is_asked_for

from .log import reason, say_once

__version__ = "0.1.0"

_session: Any = None
_is_active = False


def activate() -> None:
    """Called at Python startup or by the first import. Later calls do nothing."""
    global _session, _is_active
    if _is_active:
        return
    _is_active = True
    try:
        from .settings import read_settings

        settings = read_settings()
        from .agent import start

        _session = start(settings)
    except Exception as error:
        say_once("the agent is off: %s" % reason(error))


@contextlib.contextmanager
def step(
    ctx: Optional[tuple[int, int]] = None,
    gen: Optional[tuple[int, int]] = None,
    kv: Optional[int] = None,
) -> Iterator[None]:
    """One step, marked by the program: requests and tokens of prefill and decode, and the KV length of decode.

    Once a program marks its steps, no other source counts.
    """
    opened = None
    try:
        activate()
        if _session is not None:
            from .facts import StepFacts
            from .sources import EXPLICIT

            facts = StepFacts(*(ctx or (0, 0)), *(gen or (0, 0)), kv)
            opened = _session.begin(
                "stepscope_agent.step", EXPLICIT, lambda _in_window: facts, closes_window=True
            )
    except Exception as error:
        say_once("the agent is off: %s" % reason(error))
    failed = True
    try:
        yield
        failed = False
    finally:
        if opened is not None:
            _session.end(opened, failed)


def iteration() -> int:
    """The number of the most recently started step, -1 before the first."""
    return -1 if _session is None else int(_session.last_begun)


if is_asked_for():
    activate()
