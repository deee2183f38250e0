"""Wraps a method of a class, once, and records what was patched."""

import functools
import sys
from typing import Any, Callable

patched: list[str] = []

Around = Callable[..., Any]


def wrap_method(owner: Any, name: str, around: Around) -> bool:
    """Calls `around(original, self, *args, **kwargs)` instead of the method. False if the method does not exist."""
    raw = _own_or_inherited(owner, name)
    if raw is None or getattr(raw, "_stepscope_wrapped", False):
        return False
    if isinstance(raw, (staticmethod, classmethod, property)):
        raise TypeError("%s.%s is not a plain method" % (getattr(owner, "__name__", owner), name))

    @functools.wraps(raw)
    def method(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        return around(raw, self, *args, **kwargs)

    method._stepscope_wrapped = True  # type: ignore[attr-defined]
    setattr(owner, name, method)
    patched.append("%s.%s.%s" % (owner.__module__, owner.__qualname__, name))
    return True


def _own_or_inherited(owner: Any, name: str) -> Any:
    for base in owner.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def is_compiling() -> bool:
    """During torch.compile tracing, our code would become part of the graph."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    test = getattr(compiler, "is_compiling", None)
    return bool(test()) if test is not None else False
