"""The progress file: the last step and its batch, whole at any time, and not for every step."""

import json
import os
import tempfile
import unittest

from stepscope_agent.facts import StepFacts
from stepscope_agent.progress import EVERY_NS, Progress


class ProgressTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "progress.json")

    def read(self) -> object:
        with open(self.path) as file:
            return json.load(file)

    def test_last_step(self) -> None:
        progress = Progress(self.path)
        progress.note(7, StepFacts(1, 40, 3, 3))
        self.assertEqual(self.read(), {"iteration": 7, "batch": 4, "tokens": 43, "prefill": True})
        progress.note(8, StepFacts(0, 0, 4, 4))
        self.assertEqual(self.read(), {"iteration": 7, "batch": 4, "tokens": 43, "prefill": True})
        progress._next -= EVERY_NS
        progress.note(9, StepFacts(0, 0, 4, 4))
        self.assertEqual(self.read(), {"iteration": 9, "batch": 4, "tokens": 4, "prefill": False})
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["progress.json"])

    def test_a_folder_that_is_missing_ends_it(self) -> None:
        progress = Progress(os.path.join(self.path, "x"))
        progress.note(1, StepFacts())
        progress.note(2, StepFacts())


if __name__ == "__main__":
    unittest.main()
