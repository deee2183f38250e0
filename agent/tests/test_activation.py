"""When the agent starts and when it does not: each case in a separate Python, with the folder on its path."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

AGENT = str(Path(__file__).parent.parent)
LOADED = "import sys; print(sorted(m for m in sys.modules if m == 'stepscope_agent'))"


class Activation(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def python(self, code: str, *first_on_path: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "TLLM"))
        }
        kept.pop("ENABLE_PERFECT_ROUTER", None)
        path = os.pathsep.join((*first_on_path, AGENT))
        return subprocess.run(
            [sys.executable, "-c", code],
            env={**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environ},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def is_loaded(self, **environ: str) -> bool:
        ran = self.python(LOADED, **environ)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout.strip() != "[]"

    def test_its_own_variables_start_it(self) -> None:
        for name in ("STEPSCOPE_PROFILE_START_STOP", "STEPSCOPE_LIVE_STEPS", "TLLM_PROFILE_START_STOP"):
            self.assertTrue(self.is_loaded(**{name: "1"}), name)
        self.assertTrue(self.is_loaded(ENABLE_PERFECT_ROUTER="1"))

    def test_nothing_else_does(self) -> None:
        self.assertFalse(self.is_loaded())
        self.assertFalse(self.is_loaded(STEPSCOPE_MARKERS="", ENABLE_PERFECT_ROUTER="0"))
        for name in ("CACHE", "CAPTURE_ID", "DEBUG", "EXTERNAL", "PYTHON", "EP_SIZE"):
            self.assertFalse(self.is_loaded(**{"STEPSCOPE_" + name: "1"}), name)

    def test_a_step_said_by_the_program_is_recorded(self) -> None:
        code = (
            "import stepscope_agent\n"
            "for i in range(5):\n"
            "    with stepscope_agent.step(gen=(2, 2)): pass\n"
            "print(stepscope_agent.iteration())"
        )
        ran = self.python(code, STEPSCOPE_PROFILE_START_STOP="2-3", STEPSCOPE_SIDECAR="seen.json")
        self.assertEqual((ran.returncode, ran.stdout.strip()), (0, "4"), ran.stderr)
        self.assertEqual(os.listdir(self.folder), ["seen.json"])
        # Even if not enabled, steps are counted, and nothing is written.
        self.assertEqual(self.python(code).stdout.strip(), "4")

    def test_an_agent_that_cannot_start_is_one_line(self) -> None:
        broken = Path(self.folder) / "broken" / "stepscope_agent"
        broken.mkdir(parents=True)
        (broken / "__init__.py").write_text("raise OSError('half a file')")
        ran = self.python("print('runs')", str(broken.parent), STEPSCOPE_MARKERS="step")
        self.assertEqual((ran.returncode, ran.stdout), (0, "runs\n"))
        self.assertEqual(ran.stderr, "stepscope: the agent did not start: half a file\n")
