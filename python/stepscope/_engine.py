"""Runs the bundled engine. Answers are files and JSON documents; only the two lines of an error are text."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

PathLike = Union[str, "os.PathLike[str]"]

# In a clone there is no copy of the engine: the clone itself is one, once it is built.
_BUNDLED = Path(__file__).parent / "engine"
ENGINE = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).parents[2]
OLDEST_NODE = 20

# Exit codes of the engine that a program may want to handle (docs/json.md).
CODES = {
    2: "usage",
    3: "not-found",
    4: "not-a-profile",
    5: "damaged",
    6: "too-large",
    7: "needs-nsys",
    8: "not-recorded",
    9: "unreadable",
    10: "no-space",
}


class StepscopeError(Exception):
    """What happened and, in `hint`, what to do. `code` names the kind of error, as docs/json.md lists them."""

    def __init__(self, message: str, hint: str = "", code: str = "failed") -> None:
        super().__init__(message if hint == "" else message + "\n" + hint)
        self.message = message
        self.hint = hint
        self.code = code


class EngineMissing(StepscopeError):
    """There is no Node.js that can run the engine."""


class NotFound(StepscopeError, FileNotFoundError):
    """A file does not exist."""


class NotRecorded(StepscopeError):
    """The capture does not have what was asked for. `hint` states how to record it; it is not zero."""

    def __init__(self, table: str, what: str, hint: str) -> None:
        super().__init__("%s: not recorded: %s." % (table, what), "To record it: " + hint, "not-recorded")
        self.table = table
        self.what = what


@functools.cache
def _version_of(node: str) -> tuple[int, str]:
    """Asked once per program; 0 if it does not run."""
    try:
        ran = subprocess.run([node, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return 0, ""
    said = ran.stdout.decode("utf-8", "replace").strip()
    found = re.match(r"v(\d+)\.", said)
    return (int(found.group(1)), said) if found else (0, said)


HOW_TO_GET_NODE = (
    'Install it (https://nodejs.org, or pip install "stepscope[node]"), or set STEPSCOPE_NODE to its path.'
)


def find_node() -> str:
    """STEPSCOPE_NODE, else `node` on PATH, else the one that a Python package brought into this environment."""
    named = os.environ.get("STEPSCOPE_NODE")
    found = (
        [named] if named else [shutil.which("node"), shutil.which("node", path=sysconfig.get_path("scripts"))]
    )
    places = [place for place in found if place]
    for place in places:
        if _version_of(place)[0] >= OLDEST_NODE:
            return place
    needs = "Stepscope needs Node.js %d or newer" % OLDEST_NODE
    if not places:
        raise EngineMissing(needs + ", and no node is on PATH.", HOW_TO_GET_NODE)
    major, version = _version_of(places[0])
    is_what = "does not run as Node.js" if major == 0 else "is %s" % version
    raise EngineMissing("%s; %s %s." % (needs, places[0], is_what), HOW_TO_GET_NODE)


def command(words: Sequence[str]) -> list[str]:
    return [find_node(), str(ENGINE / "bin" / "stepscope"), *words]


def run(words: Sequence[str]) -> bytes:
    """What the engine prints. An error of the user's becomes an exception with the engine's two lines."""
    ran = subprocess.run(command(words), stdin=subprocess.DEVNULL, capture_output=True)
    if ran.returncode == 0:
        return ran.stdout
    said = ran.stderr.decode("utf-8", "replace").strip()
    code = CODES.get(ran.returncode, "failed")
    if code == "failed":
        raise StepscopeError("The engine failed (exit code %d)." % ran.returncode, said)
    # Notes about lost data may come first.
    lines = said.split("\n")
    first = next((i for i, line in enumerate(lines) if line.startswith("stepscope: ")), 0)
    message = lines[first][len("stepscope: ") :] if lines[first].startswith("stepscope: ") else lines[first]
    kind = NotFound if code == "not-found" else StepscopeError
    raise kind(message, "\n".join(lines[first + 1 :]), code)


def answer(words: Sequence[str]) -> dict[str, Any]:
    """The envelope of a JSON answer (docs/json.md)."""
    envelope: dict[str, Any] = json.loads(run([*words, "--json"]))
    return envelope


def file_word(path: PathLike) -> str:
    """A path as the engine takes it: one that looks like an option or a question in SQL is still a path."""
    name = os.fspath(path)
    if not os.path.exists(name):
        raise NotFound("%s does not exist." % name, "Check the path and the current folder.", "not-found")
    return os.path.join(".", name) if name.startswith("-") else name


def option_words(options: dict[str, Any]) -> list[str]:
    """Options by the names of the command line: `phase="decode"` is `--phase decode`, `whole=True` is `--whole`."""
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        for each in value if isinstance(value, (list, tuple)) else [value]:
            words += [option] if each is True else [option, str(each)]
    return words
