"""Tests that need a real torch; further scenarios run under test/agent.test.ts."""

import importlib.util
import unittest
from typing import Any

from stepscope_agent.expert_load import npy_header
from stepscope_agent.routing import balanced_experts, logits_rows, plan_for

HAS_TORCH = importlib.util.find_spec("torch") is not None


@unittest.skipUnless(HAS_TORCH, "needs torch (pip install torch, or apt-get install python3-torch)")
class WithTorch(unittest.TestCase):
    torch: Any

    @classmethod
    def setUpClass(cls) -> None:
        cls.torch = __import__("torch")

    def test_logits_on_a_device_are_those_of_the_lists(self) -> None:
        from stepscope_agent.perfect_router import logits_tensor

        for shape in ((16, 4), (16, 4, 4, 2), (256, 8, 8, 3, 8, 4)):
            plan = plan_for(*shape)
            for tokens in (1, 7, 33):
                made = logits_tensor(tokens, plan, self.torch.device("cpu"), self.torch.float32)
                self.assertEqual(made.tolist(), logits_rows(balanced_experts(tokens, plan), plan.experts))


class NumpyFiles(unittest.TestCase):
    def test_the_header_is_padded_for_alignment(self) -> None:
        for shape in ((4, 2, 16), (50_000, 61, 256)):
            header = npy_header(shape)
            self.assertEqual((header[:6], len(header) % 64, header[-1:]), (b"\x93NUMPY", 0, b"\n"))
            self.assertIn(repr(shape).encode(), header)
