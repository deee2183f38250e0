"""`%stepscope FILE… [options]` in a notebook: the report of `stepscope report`, inline."""

from __future__ import annotations

import shlex

from ._engine import StepscopeError, file_word
from ._page import Page, page_of

USAGE = "For example: %stepscope profile.sqlite --phase decode --height 900"


def show(line: str) -> Page:
    """Shows the report of a profile.

    %stepscope FILE… [--height PIXELS] [options of stepscope report]
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise StepscopeError("%s: %s" % (line, error), USAGE, "usage") from None
    height = 720
    if "--height" in words:
        at = words.index("--height")
        value = words[at + 1] if at + 1 < len(words) else ""
        if not value.isdigit() or not 100 <= int(value) <= 10000:
            raise StepscopeError("--height needs pixels from 100 to 10000.", USAGE, "usage")
        height = int(value)
        del words[at : at + 2]
    if "-o" in words or "--output" in words:
        raise StepscopeError(
            "%stepscope shows the report and writes no file.", "Use: stepscope report FILE -o FILE", "usage"
        )
    # Files come first; what follows the first option is the engine's to read.
    count = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    files, options = words[:count], words[count:]
    if not files:
        raise StepscopeError("No profile was given.", USAGE, "usage")
    bound = [] if "--max-size" in options else ["--max-size", "8"]
    return page_of([file_word(file) for file in files], [*options, *bound], height)
