"""One line on stderr per problem: the agent never raises into the host program and never repeats a message."""

import sys
import threading

_said: set[str] = set()
_lock = threading.Lock()


def say(text: str) -> None:
    try:
        sys.stderr.write("stepscope: %s\n" % text)
        sys.stderr.flush()
    except Exception:
        pass  # A closed stderr must not stop the host program.


def say_once(text: str) -> None:
    with _lock:
        if text in _said:
            return
        _said.add(text)
    say(text)


def reason(error: BaseException) -> str:
    """The type and first line of an error: messages may be pages long."""
    lines = str(error).strip().splitlines()
    return "%s: %s" % (type(error).__name__, lines[0]) if lines else type(error).__name__
