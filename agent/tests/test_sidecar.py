import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stepscope_agent import sidecar
from stepscope_agent.facts import StepFacts
from stepscope_agent.request_ids import IdTable, hash_of
from stepscope_agent.sidecar import Sidecar, StepRow, write_whole


class SidecarFiles(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        alone = mock.patch.dict(os.environ, {}, clear=True)
        alone.start()
        self.addCleanup(alone.stop)

    def written(self, name: str = "seen.agent.json", trace: str = "") -> Path:
        file = Sidecar(str(self.folder / name) if name else None)
        for iteration in (7, 8):
            row = StepRow(iteration, StepFacts(0, 0, 2, 2, 30, ((), ("cmpl-a", "b"))), "Runner.step", 1)
            file.add(row)
            if iteration == 7:
                row.end(failed=True)
        pause = {
            "startNs": file.origin.wall + 5,
            "startMonotonicNs": file.origin.monotonic + 6,
            "durationNs": 1,
        }
        return Path(file.write({"windows": [[7, 8]]}, [pause], trace or None, IdTable()))

    def test_a_step_and_what_was_said_about_it(self) -> None:
        document = json.loads(self.written().read_text("utf-8"))
        self.assertEqual((document["stepscopeAgent"], document["pid"]), (1, os.getpid()))
        self.assertEqual(document["windows"], [[7, 8]])
        # A step that is still open when the file is written does not count.
        (row,) = document["iterations"]
        self.assertEqual(
            [
                row[key]
                for key in ("iteration", "phase", "generationRequests", "generationKvTokens", "failed")
            ],
            [7, "decode", 2, 30, True],
        )
        self.assertEqual(row["requests"], [[], [0, 1]])
        self.assertEqual(document["requestIds"], [hash_of("cmpl-a"), hash_of("b")])
        self.assertGreaterEqual(row["durationNs"], 0)
        self.assertEqual(document["stepsFrom"], "Runner.step")

    def test_times_are_relative_to_the_origin(self) -> None:
        document = json.loads(self.written().read_text("utf-8"))
        self.assertEqual(document["gcPauses"], [{"startNs": 5, "startMonotonicNs": 6, "durationNs": 1}])
        self.assertLess(document["iterations"][0]["startNs"], 10**9)

    def test_ranks_do_not_write_over_each_other(self) -> None:
        with mock.patch.dict(os.environ, {"RANK": "1", "WORLD_SIZE": "2"}):
            self.assertEqual(self.written().name, "seen-rank-1.agent.json")

    def test_beside_the_trace_where_no_name_was_given(self) -> None:
        trace = str(self.folder / "trace-rank-0.json.gz")
        self.assertEqual(self.written("", trace).name, "trace-rank-0.agent.json")

    def test_more_steps_than_fit_are_counted(self) -> None:
        file = Sidecar(None)
        with mock.patch.object(sidecar, "MOST_ITERATIONS", 2):
            for iteration in range(5):
                file.add(StepRow(iteration, StepFacts(), "x", 0))
        self.assertEqual((len(file.rows), file.left_out), (2, 3))

    def test_more_request_ids_than_fit_are_dropped(self) -> None:
        file = Sidecar(None)
        with mock.patch.object(sidecar, "MOST_OF_A_FILE", 4):
            for iteration in range(3):
                file.add(StepRow(iteration, StepFacts(0, 0, 2, 2, None, ((), ("a", "b"))), "x", 0))
        self.assertEqual([row.facts.requests is not None for row in file.rows], [True, True, False])

    def test_whole_or_not_at_all(self) -> None:
        path = str(self.folder / "new" / "file.json")
        write_whole(path, b"{}")
        with mock.patch("os.replace", side_effect=OSError("full")), self.assertRaises(OSError):
            write_whole(path, b"other")
        self.assertEqual(Path(path).read_bytes(), b"{}")
        self.assertEqual(os.listdir(os.path.dirname(path)), ["file.json"])
