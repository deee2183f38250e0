import json
import os
import signal
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Optional
from unittest import mock

from stepscope_agent import quiet_steps
from stepscope_agent.facts import StepFacts
from stepscope_agent.quiet_steps import MOST_STEPS, QuietSteps
from stepscope_agent.request_ids import IdTable
from stepscope_agent.session import Session
from stepscope_agent.settings import read_settings

DECODE = StepFacts(0, 0, 2, 2)
PREFILL = StepFacts(1, 30, 0, 0)


class Rows(unittest.TestCase):
    """What is kept, and next to which window."""

    def setUp(self) -> None:
        self.quiet = QuietSteps()
        self.next = 0

    def run_steps(self, count: int, facts: StepFacts = DECODE) -> None:
        for _ in range(count):
            self.quiet.add(self.next, 1000 * self.next, facts)
            self.next += 1

    def window(self, number: int, steps: int = 3) -> None:
        self.quiet.window_opens(number)
        self.next += steps
        self.quiet.window_closes(number)

    def kept(self) -> list[tuple[int, str, int, int]]:
        """Window, side, first and last iteration of each segment; every one between must be there."""
        found = []
        for segment in self.quiet.as_json(0, IdTable())["quietSteps"]:
            iterations = [row[0] for row in segment["steps"]]
            self.assertEqual(iterations, list(range(iterations[0], iterations[-1] + 1)))
            found.append((segment["window"], segment["side"], iterations[0], iterations[-1]))
        return found

    def test_the_last_before_and_the_first_after(self) -> None:
        self.run_steps(300)
        self.window(1)
        self.run_steps(1000)
        self.assertEqual(self.kept(), [(1, "before", 44, 299), (1, "after", 303, 558)])

    def test_between_two_windows_no_step_is_kept_twice(self) -> None:
        self.run_steps(2)
        self.window(1)
        self.run_steps(300)
        self.window(2)
        self.run_steps(4)
        self.assertEqual(
            self.kept(),
            [(1, "before", 0, 1), (1, "after", 5, 260), (2, "before", 261, 304), (2, "after", 308, 311)],
        )

    def test_a_window_right_after_another(self) -> None:
        self.window(1)
        self.window(2)
        self.run_steps(1)
        self.assertEqual(self.kept(), [(2, "after", 6, 6)])

    def test_a_row(self) -> None:
        self.run_steps(1, PREFILL)
        self.run_steps(1)
        self.window(1)
        (segment,) = self.quiet.as_json(-7, IdTable())["quietSteps"]
        rows = [[row[0], row[1], *row[4:]] for row in segment["steps"]]
        self.assertEqual(rows, [[0, 7, 1, 30, 0, 0], [1, 1007, 0, 0, 2, 2]])
        self.assertEqual([row[3] for row in segment["steps"]], [threading.get_ident()] * 2)

    def test_full_is_said_once(self) -> None:
        self.window(1)
        full = [self.quiet.add(i, 0, DECODE) for i in range(2 * MOST_STEPS)]
        self.assertEqual([i for i, is_full in enumerate(full) if is_full], [MOST_STEPS - 1])

    def test_many_windows(self) -> None:
        with mock.patch.object(quiet_steps, "MOST_SEGMENTS", 3):
            for number in (1, 2):
                self.run_steps(MOST_STEPS + 1)
                self.window(number)
            self.run_steps(1)
            self.assertEqual(
                [found[:2] for found in self.kept()], [(1, "before"), (1, "after"), (2, "before")]
            )
            self.assertEqual(self.quiet.as_json(0, IdTable())["quietStepsLeftOut"], 1)
            # Full: the steps after the last window are not collected, and SIGTERM is not waited for.
            self.assertFalse(self.quiet.is_filling)


class InASession(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # Before that: the thread that completes a file must not write into a folder that is being removed.
        self.addCleanup(self.wait_for_writers)
        self.file = Path(folder.name) / "seen.json"

    def wait_for_writers(self) -> None:
        for thread in threading.enumerate():
            if thread.name == "stepscope-write":
                thread.join(10)

    def session(self, windows: str, **more: str) -> Session:
        variables = {"STEPSCOPE_PROFILE_START_STOP": windows, "STEPSCOPE_SIDECAR": str(self.file), **more}
        return Session(read_settings({name: value for name, value in variables.items() if value}))

    def run_steps(
        self, session: Session, count: int, facts: Optional[StepFacts] = DECODE, failed: bool = False
    ) -> None:
        for _ in range(count):
            session.end(session.begin("test", 5, lambda _in_window: facts), failed)

    def document(self) -> Any:
        return json.loads(self.file.read_text("utf-8"))

    def segments(self) -> dict[tuple[int, str], list[int]]:
        return {
            (segment["window"], segment["side"]): [row[0] for row in segment["steps"]]
            for segment in self.document()["quietSteps"]
        }

    def test_windows_keep_their_rows_and_quiet_steps_the_rest(self) -> None:
        session = self.session("3-4,8")
        self.run_steps(session, 12)
        session.finish()
        self.assertEqual([row["iteration"] for row in self.document()["iterations"]], [3, 4, 8])
        self.assertEqual(
            self.segments(), {(1, "before"): [0, 1, 2], (1, "after"): [5, 6, 7], (2, "after"): [9, 10, 11]}
        )
        starts = [row[1] for segment in self.document()["quietSteps"] for row in segment["steps"]]
        self.assertEqual(starts, sorted(starts))
        self.assertGreater(starts[0], 0)

    def test_a_live_window(self) -> None:
        session = self.session("", STEPSCOPE_LIVE_STEPS="2")
        self.run_steps(session, 5)
        session._ask_for_window()
        self.run_steps(session, 5)
        session.finish()
        self.assertEqual(self.segments(), {(1, "before"): [0, 1, 2, 3, 4], (1, "after"): [7, 8, 9]})

    def test_a_step_that_raises_is_not_kept(self) -> None:
        session = self.session("3")
        self.run_steps(session, 1)
        self.run_steps(session, 1, failed=True)
        self.run_steps(session, 3)
        session.finish()
        self.assertEqual(self.segments()[(1, "before")], [0, 2])

    def test_unknown_batches_are_kept_as_such(self) -> None:
        session = self.session("1")
        self.run_steps(session, 1, facts=None)
        self.run_steps(session, 2)
        session.finish()
        self.assertEqual(self.document()["quietSteps"][0]["steps"][0][4:], [0, 0, 0, 0])

    def test_no_window_no_file(self) -> None:
        session = self.session("1000")
        self.run_steps(session, 300)
        session.finish()
        self.assertFalse(self.file.exists())

    def test_no_step_is_quiet_if_all_are_recorded(self) -> None:
        session = self.session("")
        self.run_steps(session, 3)
        session.finish()
        self.assertEqual(len(self.document()["iterations"]), 3)
        self.assertNotIn("quietSteps", self.document())

    def test_a_more_specific_source_starts_again(self) -> None:
        session = self.session("2")
        for _ in range(2):
            session.end(session.begin("module", 0, lambda _in_window: DECODE))
        self.run_steps(session, 4)
        session.finish()
        # The two earlier steps had the same numbers, and are not among these.
        self.assertEqual(self.segments(), {(1, "before"): [0, 1], (1, "after"): [3]})

    def test_a_server_that_is_killed_keeps_the_steps_after_its_window(self) -> None:
        session = self.session("1")
        self.run_steps(session, 2 + MOST_STEPS)
        self.wait_for_writers()
        self.assertEqual(self.segments()[(1, "after")], list(range(2, 2 + MOST_STEPS)))

    def test_sigterm_is_heard_until_the_steps_after_the_window_are_complete(self) -> None:
        session = self.session("1")
        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.run_steps(session, 3)
        self.assertIsNot(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)
        self.run_steps(session, MOST_STEPS)
        self.assertIs(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)

    def calibrating(self, steps: str, **more: str) -> Session:
        return self.session("", STEPSCOPE_CALIBRATE=steps, **more)

    def test_calibrated_steps_and_the_one_after_them(self) -> None:
        session = self.calibrating("3-5,9")
        self.run_steps(session, 20)
        self.wait_for_writers()
        self.assertEqual(self.segments(), {(0, "calibration"): [3, 4, 5, 6, 9, 10]})
        document = self.document()
        self.assertEqual(document["calibrated"], [[3, 5], [9, 9]])
        # Nothing was recorded or marked.
        self.assertEqual((document["windows"], document["iterations"]), ([], []))

    def test_a_run_that_ends_among_the_calibrated_steps_keeps_those(self) -> None:
        session = self.calibrating("3-50")
        self.run_steps(session, 6)
        session.finish()
        self.assertEqual(self.segments(), {(0, "calibration"): [3, 4, 5]})

    def test_a_run_that_never_gets_there_writes_nothing(self) -> None:
        session = self.calibrating("30-50")
        self.run_steps(session, 6)
        session.finish()
        self.assertFalse(self.file.exists())

    def test_no_window_opens_while_calibrating(self) -> None:
        session = self.calibrating("1-2", STEPSCOPE_PROFILE_START_STOP="1-2", STEPSCOPE_LIVE_STEPS="2")
        self.run_steps(session, 6)
        session.finish()
        self.assertEqual(self.document()["windows"], [])

    def test_calibrated_steps_restart_with_a_more_specific_source(self) -> None:
        session = self.calibrating("2-3")
        for _ in range(3):
            session.end(session.begin("module", 0, lambda _in_window: DECODE))
        self.run_steps(session, 6)
        session.finish()
        self.assertEqual(self.segments(), {(0, "calibration"): [2, 3, 4]})

    def test_calibrated_steps_are_limited(self) -> None:
        with mock.patch.object(quiet_steps, "MOST_CALIBRATED", 4):
            session = self.calibrating("2-100")
            self.run_steps(session, 20)
            session.finish()
        self.assertEqual(self.segments(), {(0, "calibration"): [2, 3, 4, 5]})

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_child_does_not_inherit_them(self) -> None:
        session = self.session("2")
        session.install()
        pid = os.fork()
        if pid == 0:
            # Forked before the first step: this process runs them.
            self.run_steps(session, 5)
            late = os.fork()
            if late == 0:
                self.run_steps(session, 3)
                session.finish()
                os._exit(0)
            os.waitpid(late, 0)
            session.finish()
            os._exit(0)
        os.waitpid(pid, 0)
        self.assertEqual(self.document()["pid"], pid)
        self.assertEqual(self.segments(), {(1, "before"): [0, 1], (1, "after"): [3, 4]})
