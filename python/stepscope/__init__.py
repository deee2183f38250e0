"""Where every microsecond of an LLM inference step goes, as pandas and Arrow tables.

    import stepscope
    profile = stepscope.open("profile.sqlite")
    profile.budget.df()

Analyses run in Stepscope's own engine, which this package contains; see docs/python.md.
"""

from __future__ import annotations

from typing import Any

from ._compare import Comparison, compare
from ._engine import EngineMissing, NotFound, NotRecorded, StepscopeError
from ._page import Page
from ._profile import Profile
from ._profile import open_profile as open
from ._tables import Table

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "EngineMissing",
    "NotFound",
    "NotRecorded",
    "Page",
    "Profile",
    "StepscopeError",
    "Table",
    "__version__",
    "compare",
    "open",
]


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext stepscope`."""
    from ._magic import show

    ipython.register_magic_function(show, "line", "stepscope")
