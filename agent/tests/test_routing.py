import json
import unittest
from collections import Counter
from pathlib import Path

from stepscope_agent.perfect_router import logits
from stepscope_agent.routing import Plan, balanced_experts, logits_rows, plan_for, softmax

VECTORS = Path(__file__).parents[2] / "test/fixtures/routing/vectors.json"


def most_uneven(plan: Plan, tokens: int) -> int:
    counts = Counter(expert for row in balanced_experts(tokens, plan) for expert in row)
    uses = [counts[expert] for expert in range(plan.experts)]
    return max(uses) - min(uses)


class Routing(unittest.TestCase):
    def test_experts_differ_by_one_token_at_most(self) -> None:
        for gpus in (1, 2, 4, 8):
            for groups in ((1, 1), (8, 4)):
                plan = plan_for(32, 4, gpus, gpus - 1, *groups)
                for tokens in range(1, 130):
                    self.assertLessEqual(most_uneven(plan, tokens), 1, (gpus, groups, tokens))

    def test_a_token_uses_an_expert_once(self) -> None:
        for row in balanced_experts(57, plan_for(32, 8, 4, 1, 8, 4)):
            self.assertEqual(len(set(row)), 8)

    @unittest.skipUnless(VECTORS.exists(), "the TypeScript test vectors exist only in a clone")
    def test_the_same_plans_as_in_typescript(self) -> None:
        plans = json.loads(VECTORS.read_text("utf-8"))["plans"]
        self.assertGreater(len(plans), 5)
        for plan in plans:
            made = plan_for(
                plan["experts"],
                plan["topK"],
                plan.get("gpus", 1),
                plan.get("rank", 0),
                plan.get("groups", 1),
                plan.get("topGroups", 1),
            )
            rows = balanced_experts(plan["tokens"], made)
            self.assertEqual([expert for row in rows for expert in row], plan["experts_of_tokens"], plan)

    def test_shapes_without_a_plan_are_refused(self) -> None:
        for shape, words in (
            ((8, 9), "9 of 8 experts cannot be chosen"),
            ((10, 2, 4), "cannot be spread evenly over 4 GPUs"),
            ((8, 2, 2, 2), "rank 2 does not exist among 2 GPUs"),
            ((32, 4, 1, 0, 5, 2), "2 of 5 groups is not valid for 32 experts"),
            ((32, 8, 1, 0, 8, 1), "1 groups contain fewer than 8 experts"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                plan_for(*shape)

    def test_logits_name_the_planned_experts(self) -> None:
        rows = logits(5, 8, 2, ep_size=2)
        planned = balanced_experts(5, plan_for(8, 2, 2))
        self.assertEqual(
            [[e for e in range(8) if row[e] > 0] for row in rows], [sorted(row) for row in planned]
        )
        self.assertEqual(logits_rows([[1]], 3, 1.0, 0.0), [[0.0, 1.0, 0.0]])
        self.assertAlmostEqual(sum(softmax([1.0, 2.0, 3.0])), 1.0)

    def test_unknown_methods_and_schemes_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "unknown routing method 'best'"):
            logits(1, 8, 2, method="best")
        with self.assertRaisesRegex(ValueError, "unknown published scheme '2024'"):
            logits(1, 8, 2, published="2024")
