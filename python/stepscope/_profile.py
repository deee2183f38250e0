"""A profile as tables."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from ._engine import NotRecorded, PathLike, StepscopeError, answer, file_word, option_words
from ._page import Page, page_of
from ._tables import Table


@functools.cache
def _declared(plugins: tuple[str, ...]) -> dict[str, Any]:
    """The tables that there are, by every name they have. Plugins add some."""
    tables = answer(["sql", "--tables", *option_words({"plugin": plugins})])["data"]["tables"]
    return {name: table for table in tables for name in [table["name"], *table["aliases"]]}


def open_profile(
    path: PathLike | list[PathLike] | tuple[PathLike, ...], *more: PathLike, **options: Any
) -> Profile:
    """Opens a profile: a file, a folder of ranks, or several files of one run.

    `more` are files that belong to it: other ranks, the log of the server, a benchmark result. `options` are those of
    `stepscope sql`: `phase="decode"`, `iterations="20-60"`, `whole=True`, `model="llama-3.1-8b"`, `plugin="mine.js"`.
    Nothing is read before a table is asked for.
    """
    first: list[Any] = list(path) if isinstance(path, (list, tuple)) else [path]
    return Profile([*first, *more], options)


class Profile:
    """Tables by name: `profile.kernels`, `profile["step-budget"]`. `profile.tables` has all of them.

    A table is read once. `load` reads several at a time, which is faster than one after the other.
    """

    def __init__(self, files: list[PathLike], options: Mapping[str, Any]) -> None:
        if not files:
            raise StepscopeError(
                "No profile was given.", 'For example: stepscope.open("profile.sqlite")', "usage"
            )
        self.files = tuple(os.fspath(file) for file in files)
        self.options = dict(options)
        self._words = [file_word(file) for file in files]
        self._known: dict[str, pa.Table | StepscopeError] = {}
        self._about: dict[str, Any] | None = None

    @property
    def tables(self) -> Mapping[str, Table]:
        """Every table that there may be, by its name; whether it was recorded shows when it is read."""
        return {name: self[name] for name, table in self._all().items() if table["name"] == name}

    def __getitem__(self, name: str) -> Table:
        declared = self._all().get(_spelled(name))
        if declared is None:
            raise KeyError("there is no table %r; profile.tables lists them" % name)
        own = declared["name"]
        columns = {column["name"]: column["about"] for column in declared["columns"]}
        return Table(own, declared["about"], lambda: self._read(own), columns)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> Iterator[str]:
        yield from super().__dir__()
        yield from self._all()

    def __repr__(self) -> str:
        return "<stepscope.Profile %s>" % ", ".join(os.path.basename(file) for file in self.files)

    def load(self, *names: str) -> dict[str, pa.Table]:
        """Reads these tables with one pass over the file; without names, all. Those not recorded are left out."""
        wanted = [self[name].name for name in names] if names else list(self.tables)
        self._read_all([name for name in wanted if name not in self._known])
        found = {name: self._known[name] for name in wanted}
        return {name: table for name, table in found.items() if not isinstance(table, StepscopeError)}

    def missing(self, *names: str) -> dict[str, StepscopeError]:
        """Those of these tables that cannot be had, and why; without names, of all."""
        self.load(*names)
        wanted = [self[name].name for name in names] if names else list(self.tables)
        found = {name: self._known[name] for name in wanted}
        return {name: error for name, error in found.items() if isinstance(error, StepscopeError)}

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What was lost or odd while the file was read."""
        notes: list[dict[str, Any]] = self._envelope()["notes"]
        return notes

    @property
    def origin_ns(self) -> int:
        """Nanosecond 0 of all times in the tables, on the clock of the profile (`clock`). Whole, beyond 2**53."""
        return int(self._envelope()["data"]["clock"]["originNs"])

    @property
    def clock(self) -> str:
        """`utc` if times can be compared with those of other machines."""
        return str(self._envelope()["data"]["clock"]["kind"])

    def report(self, max_size_mb: float = 8) -> Page:
        """The report of `stepscope report` as one HTML page, which a notebook shows inline."""
        return page_of(self._words, option_words({**self.options, "max_size": max_size_mb}))

    def _all(self) -> dict[str, Any]:
        plugins = self.options.get("plugin", ())
        return _declared(tuple(plugins) if isinstance(plugins, (list, tuple)) else (plugins,))

    def _envelope(self) -> dict[str, Any]:
        if self._about is None:
            # Every profile says what it has, even one without steps.
            self._read_all(["checklist"])
        assert self._about is not None
        return self._about

    def _read(self, name: str) -> pa.Table:
        if name not in self._known:
            self._read_all([name])
        found = self._known[name]
        if isinstance(found, StepscopeError):
            raise found
        return found

    def _read_all(self, names: list[str]) -> None:
        if not names:
            return
        with tempfile.TemporaryDirectory(prefix="stepscope-") as folder:
            words = ["sql", *self._words, "--arrow", folder, "--only", ",".join(names)]
            self._about = answer([*words, *option_words(self.options)])
            for table in self._about["data"]["tables"]:
                self._known[table["name"]] = _content(table, folder)


def _spelled(name: str) -> str:
    return name.replace("-", "_").lower()


def _content(table: dict[str, Any], folder: str) -> pa.Table | StepscopeError:
    name, status = table["name"], table["status"]
    if status == "not-recorded":
        return NotRecorded(name, table["what"], table["hint"])
    if status == "damaged":
        return StepscopeError("%s: damaged: %s." % (name, table["what"]), table["hint"], "damaged")
    if status == "failed":
        return StepscopeError("%s: failed: %s" % (name, table["message"]))
    # Into memory, not mapped: the folder is removed.
    with pa.OSFile(os.path.join(folder, table["file"]), "rb") as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()
