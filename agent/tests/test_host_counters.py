import json
import mmap
import os
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from stepscope_agent import host_counters, quiet_steps, soon_writer
from stepscope_agent.facts import StepFacts
from stepscope_agent.host_counters import HostCounters
from stepscope_agent.session import Session
from stepscope_agent.settings import read_settings

PAGES = 256


def touch_new_pages() -> None:
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        if hasattr(memory, "madvise") and hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(PAGES):
            memory[page * mmap.PAGESIZE] = 1


@unittest.skipIf(host_counters.read(0) is None, "this system does not count by thread")
class Counted(unittest.TestCase):
    def rows(self, counters: HostCounters) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = counters.as_json()["hostCounters"]
        return found

    def test_faults_of_a_window_and_of_the_steps_after_it(self) -> None:
        counters = HostCounters()
        counters.window_opens(1, 10)
        for _ in range(4):
            touch_new_pages()
        counters.window_closes(14)
        touch_new_pages()
        counters.quiet_steps_begin(14)
        counters.quiet_steps_end(20)
        window, after = self.rows(counters)
        self.assertEqual([window["part"], window["first"], window["steps"]], ["window", 10, 4])
        self.assertEqual([after["part"], after["first"], after["steps"]], ["after", 14, 6])
        self.assertGreaterEqual(window["minorFaults"], 4 * PAGES)
        # What happens while the profiler stops belongs to neither.
        self.assertLess(after["minorFaults"], PAGES)
        self.assertEqual(window["thread"], threading.get_native_id())

    def test_another_thread_that_closes_the_window_says_nothing_about_this_one(self) -> None:
        counters = HostCounters()
        counters.window_opens(1, 0)
        closer = threading.Thread(target=counters.window_closes, args=(5,))
        closer.start()
        closer.join()
        self.assertEqual(self.rows(counters), [])

    def test_where_it_runs(self) -> None:
        counters = HostCounters()
        counters.window_opens(1, 0)
        placement = counters.as_json()["placement"]
        self.assertEqual(placement["cpus"], len(os.sched_getaffinity(0)))
        self.assertIsNone(placement["gpuNode"])

    def test_a_session_writes_both_parts(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(quiet_steps, "MOST_STEPS", 8):
            path = Path(folder) / "run.agent.json"
            variables = {"STEPSCOPE_PROFILE_START_STOP": "3-5", "STEPSCOPE_SIDECAR": str(path)}
            with mock.patch.dict(os.environ, variables):
                session = Session(read_settings(os.environ))
            for _ in range(20):
                step = session.begin("test", 1, lambda _: StepFacts(0, 0, 2, 2))
                touch_new_pages()
                session.end(step)
            session.finish()
            document = json.loads(path.read_text())
        window, after = document["hostCounters"]
        self.assertEqual([window["part"], window["first"], window["steps"]], ["window", 3, 3])
        self.assertEqual([after["part"], after["first"], after["steps"]], ["after", 6, 8])
        for row in (window, after):
            self.assertGreaterEqual(row["minorFaults"], row["steps"] * PAGES)


class Killed(unittest.TestCase):
    def test_without_windows_the_file_is_there_before_the_process_ends(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.agent.json"
            with mock.patch.dict(os.environ, {"STEPSCOPE_SIDECAR": str(path), "STEPSCOPE_MARKERS": "step"}):
                session = Session(read_settings(os.environ))
            with mock.patch.object(soon_writer, "WRITE_AFTER", 0.01):
                for _ in range(40):
                    session.end(session.begin("test", 1, lambda _: StepFacts(0, 0, 2, 2)))
                while writing := [one for one in threading.enumerate() if getattr(one, "interval", 9) < 1]:
                    writing[0].join()
            document = json.loads(path.read_text())
            session.switch_off(RuntimeError("killed"))
        self.assertEqual(len(document["iterations"]), 40)


if __name__ == "__main__":
    unittest.main()
