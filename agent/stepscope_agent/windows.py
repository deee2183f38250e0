"""The iterations to record: `10-15,30-35,40`, ends inclusive, as in the variables."""

from typing import NamedTuple


class Window(NamedTuple):
    first: int
    last: int


def parse_windows(text: str) -> list[Window]:
    """Sorted, with overlapping windows merged: one capture cannot be opened twice."""
    windows: list[Window] = []
    for piece in text.split(","):
        piece = piece.strip()
        if not piece:
            continue
        first, dash, last = piece.partition("-")
        if not first.strip().isdigit() or (dash and not last.strip().isdigit()):
            raise ValueError("%r is not a range of iterations; write A-B, a list, or a number" % piece)
        window = Window(int(first), int(last) if dash else int(first))
        if window.last < window.first:
            raise ValueError("%r ends before it begins" % piece)
        windows.append(window)
    windows.sort()
    joined: list[Window] = []
    for window in windows:
        if joined and window.first <= joined[-1].last:
            joined[-1] = Window(joined[-1].first, max(joined[-1].last, window.last))
        else:
            joined.append(window)
    return joined
