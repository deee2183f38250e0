"""Which requests a step ran, so that clients' latencies can be joined to steps. Only hashes are written.

A step keeps references to the engine's own strings; they are hashed when the file is written. `stepscope load` hashes
the id in each answer the same way.
"""

import hashlib
import re
from typing import Any, Optional

"""Of a step in prefill, and in decode."""
RequestIds = tuple[tuple[str, ...], tuple[str, ...]]

"""A step with more requests has none: its list would cost more than the rest of the step's row."""
MOST_OF_A_STEP = 256
"""Of all steps in a file: about 6 bytes each."""
MOST_OF_A_FILE = 400_000

"""Engines add a prefix and a number to the id that clients see: cmpl-2f3a…-0, and a random end in newer releases."""
_CORE = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}")


def hash_of(request: str) -> str:
    found = _CORE.search(request)
    core = found.group() if found else request
    return hashlib.sha256(("stepscope " + core).encode("utf-8", "replace")).hexdigest()[:12]


def ids_of(context: Any, generation: Any) -> Optional[RequestIds]:
    found = (tuple(context), tuple(generation))
    if len(found[0]) + len(found[1]) > MOST_OF_A_STEP:
        return None
    return found


class IdTable:
    """Numbers requests in the order they appear: most are in hundreds of steps."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._left = MOST_OF_A_FILE

    def of_step(self, ids: Optional[RequestIds]) -> Optional[list[list[int]]]:
        """None if they are not known, or the file has enough."""
        if ids is None:
            return None
        self._left -= len(ids[0]) + len(ids[1])
        if self._left < 0:
            return None
        return [[self._number(str(request)) for request in part] for part in ids]

    def _number(self, request: str) -> int:
        return self.numbers.setdefault(request, len(self.numbers))

    def hashes(self) -> list[str]:
        return [hash_of(request) for request in self.numbers]
