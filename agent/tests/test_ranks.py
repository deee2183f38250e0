import os
import unittest
from unittest import mock

from stepscope_agent.ranks import current_rank, with_rank, world_size

TRACES = (".json.gz", ".json")


class Ranks(unittest.TestCase):
    def under(self, **environ: str) -> None:
        patch = mock.patch.dict(os.environ, environ, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def test_alone(self) -> None:
        self.under()
        self.assertEqual((current_rank(), world_size()), (0, 1))

    def test_from_any_launcher(self) -> None:
        for rank, size in (
            ("RANK", "WORLD_SIZE"),
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
            ("PMI_RANK", "PMI_SIZE"),
            ("SLURM_PROCID", "SLURM_NTASKS"),
        ):
            with mock.patch.dict(os.environ, {rank: "3", size: "8"}, clear=True):
                self.assertEqual((current_rank(), world_size()), (3, 8), rank)

    def test_a_variable_that_is_no_number_is_passed_over(self) -> None:
        self.under(RANK="", OMPI_COMM_WORLD_RANK="x", SLURM_PROCID="2")
        self.assertEqual(current_rank(), 2)

    def test_the_rank_goes_before_the_extension(self) -> None:
        self.under(RANK="3")
        self.assertEqual(with_rank("base.json.gz", TRACES), "base-rank-3.json.gz")
        self.assertEqual(with_rank("base.json", TRACES, "-window-2"), "base-rank-3-window-2.json")
        self.assertEqual(with_rank("base", TRACES), "base-rank-3.json.gz")
