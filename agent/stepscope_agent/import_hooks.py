"""Runs a function after a module has been imported, without importing it: a finder at the front of the meta path that
lets the other finders locate the module and extends its loading. It removes itself when nothing is pending.
"""

import sys
import threading
from types import ModuleType
from typing import Any, Callable

from .log import reason, say_once

Callback = Callable[[ModuleType], None]


class _Finder:
    def __init__(self) -> None:
        self.waiting: dict[str, list[Callback]] = {}
        self.families: list[tuple[Callable[[str], bool], Callback]] = []
        self.finding = threading.local()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.waiting and not any(matches(name) for matches, _ in self.families):
            return None
        busy = getattr(self.finding, "names", None)
        if busy is None:
            busy = self.finding.names = set()
        if name in busy:
            return None
        busy.add(name)
        try:
            return self._found_by_others(name, path, target)
        finally:
            busy.discard(name)

    def _found_by_others(self, name: str, path: Any, target: Any) -> Any:
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            try:
                self._add_to(spec.loader, name)
            except Exception as error:
                say_once("%s cannot be tracked: %s" % (name, reason(error)))
            return spec
        return None

    def _add_to(self, loader: Any, name: str) -> None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            loaded(name, module)

        # Set on the instance, so that the loader's class and type checks on it stay unchanged.
        loader.exec_module = exec_module


_finder = _Finder()


def after_import(name: str, callback: Callback) -> None:
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _run(callback, module)
        return
    _finder.waiting.setdefault(name, []).append(callback)
    _install()


def after_import_of_any(matches: Callable[[str], bool], callback: Callback) -> None:
    for name, module in list(sys.modules.items()):
        if module is not None and matches(name):
            _run(callback, module)
    _finder.families.append((matches, callback))
    _install()


def loaded(name: str, module: ModuleType) -> None:
    for callback in _finder.waiting.pop(name, []):
        _run(callback, module)
    for matches, callback in list(_finder.families):
        if matches(name):
            _run(callback, module)
    if not _finder.waiting and not _finder.families:
        remove()


def forget(*names: str) -> None:
    for name in names:
        _finder.waiting.pop(name, None)
    if not _finder.waiting and not _finder.families:
        remove()


def remove() -> None:
    _finder.waiting.clear()
    _finder.families.clear()
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def _install() -> None:
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def _run(callback: Callback, module: ModuleType) -> None:
    try:
        callback(module)
    except Exception as error:
        say_once("%s is not patched: %s" % (module.__name__, reason(error)))
