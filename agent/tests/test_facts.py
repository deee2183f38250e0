import unittest
from types import SimpleNamespace
from typing import Any, Optional

from stepscope_agent.facts import (
    UNKNOWN,
    StepFacts,
    facts_of_call,
    facts_of_sglang,
    facts_of_tensorrt_llm,
    facts_of_vllm,
)


def tokens(*shape: int, floating: bool = False) -> Any:
    return SimpleNamespace(shape=shape, is_floating_point=lambda: floating)


class DynamicCache:
    def __init__(self, length: Optional[int]) -> None:
        self._length = length

    def get_seq_length(self) -> Optional[int]:
        return self._length


class Facts(unittest.TestCase):
    def test_phases(self) -> None:
        for facts, phase in (
            (StepFacts(2, 10), "prefill"),
            (StepFacts(1, 10, 3, 3), "mixed"),
            (StepFacts(0, 0, 3, 3), "decode"),
            (StepFacts(0, 0, 3, 9), "speculative"),
            (UNKNOWN, "unknown"),
        ):
            self.assertEqual(facts.phase, phase)

    def test_the_marker(self) -> None:
        self.assertEqual(StepFacts(1, 16, 4, 4).marker(3), "stepscope.step 3 ctx=1/16 gen=4/4")
        self.assertEqual(StepFacts(0, 0, 4, 4, 99).marker(3), "stepscope.step 3 ctx=0/0 gen=4/4 kv=99")

    def test_from_the_shape_of_inputs(self) -> None:
        self.assertEqual(facts_of_call((tokens(2, 5),), {}), StepFacts(2, 10))
        self.assertEqual(facts_of_call((), {"input_ids": tokens(2, 1)}), StepFacts(0, 0, 2, 2))
        embedded = {"inputs_embeds": tokens(2, 5, 64, floating=True)}
        self.assertEqual(facts_of_call((), embedded), StepFacts(2, 10))
        self.assertEqual(facts_of_call(("text",), {}), UNKNOWN)

    def test_with_the_length_of_a_cache(self) -> None:
        held = {"input_ids": tokens(3, 1), "past_key_values": DynamicCache(7)}
        self.assertEqual(facts_of_call((), held), StepFacts(0, 0, 3, 3, 24))
        # One token into an empty cache is a prompt of one token.
        self.assertEqual(facts_of_call((), {**held, "past_key_values": DynamicCache(0)}), StepFacts(3, 3))
        # A length on the GPU is not read.
        self.assertEqual(facts_of_call((), {**held, "past_key_values": object()}), StepFacts(0, 0, 3, 3))

    def test_from_engines(self) -> None:
        mode = SimpleNamespace(is_idle=lambda: False, is_decode=lambda: True)
        batch = SimpleNamespace(forward_mode=mode, batch_size=4, seq_lens_sum=80)
        self.assertEqual(facts_of_sglang((batch,), {}), StepFacts(0, 0, 4, 4, 80))
        request = SimpleNamespace(context_chunk_size=64, py_draft_tokens=[1, 2])
        scheduled = SimpleNamespace(context_requests=[request], generation_requests=[request] * 3)
        self.assertEqual(facts_of_tensorrt_llm(None, (scheduled,), {}), StepFacts(1, 64, 3, 9))

    def test_drafts_are_counted_unless_the_engine_has_none(self) -> None:
        drafting = SimpleNamespace(py_draft_tokens=[1, 2])
        scheduled = SimpleNamespace(context_requests=[], generation_requests=[drafting] * 3)
        for spec_config, tokens_run in ((None, 3), (object(), 9)):
            executor = SimpleNamespace(model_engine=SimpleNamespace(spec_config=spec_config))
            self.assertEqual(facts_of_tensorrt_llm(executor, (scheduled,), {}).generation_tokens, tokens_run)

    def test_the_counts_outside_windows_are_those_inside(self) -> None:
        def plan(new: dict[str, int], cached: dict[str, tuple[int, int]]) -> Any:
            """`cached`: tokens scheduled now, and outputs so far."""
            ids = list(cached)
            outputs = [count for _, count in cached.values()]
            counts = {**new, **{name: scheduled for name, (scheduled, _) in cached.items()}}
            return SimpleNamespace(
                scheduled_new_reqs=[SimpleNamespace(req_id=name) for name in new],
                scheduled_cached_reqs=SimpleNamespace(
                    req_ids=ids,
                    num_computed_tokens=[50] * len(ids),
                    num_output_tokens=outputs,
                    is_context_phase=lambda name: cached[name][1] == 0,
                ),
                num_scheduled_tokens=counts,
                total_num_scheduled_tokens=sum(counts.values()),
            )

        for scheduled, expected in (
            (plan({}, {"a": (1, 4), "b": (1, 9)}), StepFacts(0, 0, 2, 2)),
            (plan({}, {"a": (3, 4), "b": (3, 9)}), StepFacts(0, 0, 2, 6)),
            (plan({"n": 30}, {"a": (1, 4), "b": (20, 0)}), StepFacts(2, 50, 1, 1)),
            (plan({"n": 30}, {}), StepFacts(1, 30, 0, 0)),
        ):
            outside = facts_of_vllm(None, (scheduled,), {}, False)
            inside = facts_of_vllm(None, (scheduled,), {})
            self.assertEqual((outside[:5], outside[:4]), (expected[:5], inside[:4]))
            # The same requests in prefill and in decode, in whatever order.
            self.assertEqual(*([set(part) for part in facts.requests or ()] for facts in (outside, inside)))
            counts = (outside.context_requests, outside.generation_requests)
            self.assertEqual(tuple(len(part) for part in outside.requests or ()), counts)
