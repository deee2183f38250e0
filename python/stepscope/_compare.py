"""Two runs or more, compared as `stepscope compare` does. Tables follow the published schema of its JSON."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from typing import Any, Union

import pyarrow as pa

from ._engine import ENGINE, PathLike, StepscopeError, answer, file_word, option_words
from ._profile import Profile
from ._tables import Table

#: A path, a profile, or several paths of one configuration: repeats, from which noise is measured.
Side = Union[PathLike, Profile, "list[PathLike]", "tuple[PathLike, ...]"]

_ARROW = {"integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}


def compare(base: Side, other: Side, *more: Side, **options: Any) -> Comparison:
    """Whether a change helped and why: the first against each other one.

    `options` are those of `stepscope compare`, for example `phase="decode"` or `threshold="2%"`.
    """
    words = [_side(side) for side in (base, other, *more)]
    return Comparison(answer(["compare", *words, *option_words(options)]))


def _side(side: Side) -> str:
    if isinstance(side, Profile):
        if side.options or len(side.files) > 1:
            raise StepscopeError(
                "A profile with options or with several files cannot be compared as it is.",
                "Give paths, and the options to compare: stepscope.compare(a, b, phase='decode')",
                "usage",
            )
        return file_word(side.files[0])
    if not isinstance(side, (list, tuple)):
        return file_word(side)
    words = [file_word(path) for path in side]
    wrong = next((word for word in words if "," in word), None)
    if not words or wrong is not None:
        raise StepscopeError(
            "No file was given." if wrong is None else "%s has a comma in its name." % wrong,
            "Repeats are a list of paths without commas.",
            "usage",
        )
    name = os.path.basename(words[0]).split(".")[0].replace("=", "-")
    return "%s=%s" % (name or "run", ",".join(words))


class Comparison:
    """What changed, as tables with a row per compared run, phase and thing.

    `phases` has step time and verdict. `terms` has what the change consists of: their `changeNs` sum to that of the
    phase. `checks` has what differs between the runs. `document` has everything, as docs/schemas/compare.schema.json
    describes it.
    """

    def __init__(self, envelope: dict[str, Any]) -> None:
        if envelope["schema"] != "stepscope-compare/1":
            raise StepscopeError(
                "These are benchmark results, which have no steps.",
                "Give profiles, or compare the results with: stepscope compare A B",
                "usage",
            )
        self.document: dict[str, Any] = envelope["data"]
        self.notes: list[dict[str, Any]] = envelope["notes"]
        self.checks = self._table("checks", "what is the same in both runs, and what is not", "checks")
        self.phases = self._table("phases", "step time of each phase, and whether it changed", "phases")
        self.terms = self._table("terms", "what the change of the step time consists of", "phases", "terms")
        self.families = self._table("families", "kernel families per step", "phases", "families")
        self.figures = self._table("figures", "other metrics of a step", "phases", "figures")
        self.layers = self._table("layers", "layers per step", "phases", "layers")

    def __repr__(self) -> str:
        names = [side["to"]["name"] for side in self.document["comparisons"]]
        return "<stepscope.Comparison %s: %s>" % (self.document["base"]["name"], ", ".join(names))

    def _table(self, name: str, about: str, *way: str) -> Table:
        """A list in each comparison, or in each phase of it."""
        declared = _comparison_schema()
        for step in way:
            declared = declared["properties"][step]["items"]
        own = dict(_flat_schema(declared))
        keys = {"run": ("string", "the run that is compared with the base")}
        if len(way) > 1:
            keys["phase"] = ("string", "phase of the steps; null: the whole trace, or time outside steps")
        columns = {**keys, **own}

        def read() -> pa.Table:
            rows = [{**key, **_flat(row)} for key, row in self._rows(*way)]
            return pa.Table.from_pylist(
                rows, schema=pa.schema([(column, _ARROW[kind]) for column, (kind, _) in columns.items()])
            )

        return Table(name, about, read, {column: meaning for column, (_, meaning) in columns.items()})

    def _rows(self, first: str, *more: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for side in self.document["comparisons"]:
            key = {"run": side["to"]["name"]}
            for row in side[first]:
                if not more:
                    yield key, row
                for inner in row[more[0]] if more else ():
                    yield {**key, "phase": row["phase"]}, inner


@functools.cache
def _comparison_schema() -> dict[str, Any]:
    file = ENGINE / "docs" / "schemas" / "compare.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    comparison: dict[str, Any] = schema["properties"]["data"]["properties"]["comparisons"]["items"]
    return comparison


def _flat_schema(schema: dict[str, Any], before: str = "") -> Iterator[tuple[str, tuple[str, str]]]:
    """Columns of single values with type and meaning; those of an object get its name before theirs, lists none."""
    for name, each in schema["properties"].items():
        if "properties" in each:
            yield from _flat_schema(each, before + name + ".")
            continue
        types = each.get("type", "string")
        kind = next(
            (one for one in (types if isinstance(types, list) else [types]) if one != "null"), "string"
        )
        if kind in _ARROW:
            yield before + name, (kind, each.get("description", ""))


def _flat(row: dict[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update(_flat(value, before + name + "."))
        elif not isinstance(value, list):
            flat[before + name] = value
    return flat
