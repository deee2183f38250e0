import os
import tempfile
import time
import unittest
from unittest import mock

from stepscope_agent import triggers
from stepscope_agent.triggers import TriggerFile


class Triggers(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "trigger")
        # The poll interval is not under test.
        patched = mock.patch.object(triggers, "POLL_NS", 0)
        patched.start()
        self.addCleanup(patched.stop)

    def test_a_file_says_its_beginning_once_per_touch(self) -> None:
        trigger = TriggerFile(self.path)
        self.assertIsNone(trigger.poll())
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("12-15\n")
        self.assertEqual(trigger.poll(), "12-15")
        self.assertIsNone(trigger.poll())

    def test_a_pipe_in_its_place_holds_up_nothing(self) -> None:
        trigger = TriggerFile(self.path)
        os.mkfifo(self.path)
        began = time.monotonic()
        self.assertIsNone(trigger.poll())
        self.assertIsNone(trigger.poll())
        self.assertLess(time.monotonic() - began, 5)


if __name__ == "__main__":
    unittest.main()
