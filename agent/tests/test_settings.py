import contextlib
import io
import os
import re
import unittest
from pathlib import Path

from _stepscope_start import STEP_VARIABLES
from stepscope_agent.settings import MARKERS, Settings, read_settings
from stepscope_agent.windows import Window

SOURCES = Path(__file__).parent.parent / "stepscope_agent"


def read(**environ: str) -> tuple[Settings, str]:
    """The settings, and the messages about them."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        return read_settings(environ), said.getvalue()


class SettingsOfVariables(unittest.TestCase):
    def test_nothing_set_watches_nothing(self) -> None:
        settings, said = read(STEPSCOPE_CACHE="/x", STEPSCOPE_CAPTURE_ID="1", STEPSCOPE_EP_SIZE="4")
        self.assertFalse(settings.watches_steps)
        self.assertFalse(settings.covers_everything)
        self.assertEqual(said, "")

    def test_every_variable_of_steps_watches_them(self) -> None:
        for name in STEP_VARIABLES:
            self.assertTrue(read(**{name: "1"})[0].watches_steps, name)
            self.assertFalse(read(**{name: ""})[0].watches_steps, name)

    def test_the_list_of_variables_is_whole(self) -> None:
        """A variable that is read here but missing there would not enable the agent."""
        text = "".join(file.read_text("utf-8") for file in SOURCES.glob("*.py"))
        named = set(re.findall(r'"((?:STEPSCOPE|TLLM)_[A-Z_]+)"', text))
        # These only configure ENABLE_PERFECT_ROUTER.
        self.assertEqual(named - {"STEPSCOPE_EP_SIZE", "STEPSCOPE_EP_RANK"}, set(STEP_VARIABLES))

    def test_windows_of_our_variable_come_before_the_engines(self) -> None:
        both, _ = read(STEPSCOPE_PROFILE_START_STOP="3-4", TLLM_PROFILE_START_STOP="7-8")
        self.assertEqual(both.windows, [Window(3, 4)])
        self.assertFalse(both.windows_are_engines)
        engines, _ = read(TLLM_PROFILE_START_STOP="7-8")
        self.assertEqual(engines.windows, [Window(7, 8)])
        self.assertTrue(engines.windows_are_engines)

    def test_a_bad_window_is_one_line_and_no_window(self) -> None:
        settings, said = read(STEPSCOPE_PROFILE_START_STOP="ten")
        self.assertEqual(settings.windows, [])
        self.assertRegex(said, r"^stepscope: no window will be recorded: 'ten' is not a range.*\n$")

    def test_markers(self) -> None:
        self.assertEqual(read()[0].markers, {"step", "gc"})
        self.assertEqual(read(STEPSCOPE_MARKERS="all")[0].markers, set(MARKERS))
        self.assertEqual(read(STEPSCOPE_MARKERS="none")[0].markers, set())
        settings, said = read(STEPSCOPE_MARKERS="Step, layer")
        self.assertEqual(settings.markers, {"step"})
        self.assertIn("unknown markers layer", said)

    def test_numbers_and_flags(self) -> None:
        settings, said = read(
            STEPSCOPE_LIVE_STEPS="many", STEPSCOPE_TORCH_SHAPES="0", STEPSCOPE_TORCH_STACK="1"
        )
        self.assertEqual(
            (settings.live_steps, settings.record_shapes, settings.with_stack), (20, False, True)
        )
        self.assertIn("STEPSCOPE_LIVE_STEPS must be an integer; using 20", said)
        spread, _ = read(STEPSCOPE_EP_SIZE="0", STEPSCOPE_EP_RANK="3")
        self.assertEqual((spread.ep_size, spread.ep_rank), (1, 3))

    def test_the_perfect_router_is_on_for_exactly_one(self) -> None:
        for value, is_on in (("1", True), ("true", False), ("0", False), ("", False)):
            self.assertIs(read(ENABLE_PERFECT_ROUTER=value)[0].perfect_router, is_on, value)

    def test_paths_are_taken_from_where_the_program_starts(self) -> None:
        settings, _ = read(STEPSCOPE_SIDECAR="seen.json", STEPSCOPE_TORCH_TRACE="/tmp/trace")
        self.assertEqual(settings.sidecar, os.path.join(os.getcwd(), "seen.json"))
        self.assertEqual(settings.torch_trace, "/tmp/trace")

    def test_without_a_window_everything_is_covered(self) -> None:
        self.assertTrue(read(STEPSCOPE_SIDECAR="seen.json")[0].covers_everything)
        for waits in ("STEPSCOPE_PROFILE_START_STOP", "STEPSCOPE_TRIGGER", "STEPSCOPE_LIVE_STEPS"):
            self.assertFalse(read(STEPSCOPE_SIDECAR="seen.json", **{waits: "5"})[0].covers_everything, waits)
