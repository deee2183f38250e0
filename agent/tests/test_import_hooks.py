import contextlib
import importlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

from stepscope_agent import import_hooks


class ImportHooks(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(import_hooks.remove)
        for name in ("one", "two"):
            (Path(folder.name) / ("stepscope_sample_%s.py" % name)).write_text("value = 1\n")
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)
        self.addCleanup(
            lambda: [sys.modules.pop("stepscope_sample_" + name, None) for name in ("one", "two")]
        )
        importlib.invalidate_caches()
        self.seen: list[str] = []

    def note(self, module: ModuleType) -> None:
        self.seen.append("%s %d" % (module.__name__, module.value))

    def test_called_once_the_module_is_whole_then_out_of_the_way(self) -> None:
        import_hooks.after_import("stepscope_sample_one", self.note)
        self.assertEqual(self.seen, [])
        importlib.import_module("stepscope_sample_two")
        self.assertEqual(self.seen, [])
        importlib.import_module("stepscope_sample_one")
        self.assertEqual(self.seen, ["stepscope_sample_one 1"])
        self.assertFalse(any(type(finder).__module__ == import_hooks.__name__ for finder in sys.meta_path))

    def test_called_at_once_for_what_is_loaded(self) -> None:
        importlib.import_module("stepscope_sample_one")
        import_hooks.after_import("stepscope_sample_one", self.note)
        self.assertEqual(self.seen, ["stepscope_sample_one 1"])

    def test_families(self) -> None:
        importlib.import_module("stepscope_sample_one")
        import_hooks.after_import_of_any(lambda name: name.startswith("stepscope_sample_"), self.note)
        importlib.import_module("stepscope_sample_two")
        self.assertEqual(self.seen, ["stepscope_sample_one 1", "stepscope_sample_two 1"])

    def test_what_fails_stays_in_here(self) -> None:
        def fail(_module: ModuleType) -> None:
            raise LookupError("no such class")

        import_hooks.after_import("stepscope_sample_two", fail)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(importlib.import_module("stepscope_sample_two").value, 1)
        self.assertIn("stepscope_sample_two is not patched: LookupError: no such class", said.getvalue())
