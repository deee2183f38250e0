"""The parts of vLLM's v1 runner that the agent uses."""

from types import SimpleNamespace


class GPUModelRunner:
    def __init__(self):
        self.requests = {}
        self.seen = []

    def execute_model(self, scheduler_output, intermediate_tensors=None):
        self.seen.append("execute")
        return None

    def sample_tokens(self, grammar_output=None):
        self.seen.append("sample")
        return self._sample()

    def _sample(self):
        return [1]


class CachedRequestData:
    def __init__(self, req_ids, num_computed_tokens, num_output_tokens):
        self.req_ids, self.num_computed_tokens = req_ids, num_computed_tokens
        self.num_output_tokens = num_output_tokens
        self._outputs = dict(zip(req_ids, num_output_tokens))

    def is_context_phase(self, req_id):
        return self._outputs.get(req_id) == 0


def scheduled(new, cached, tokens):
    """`cached`: (id, computed, outputs)."""
    return SimpleNamespace(
        scheduled_new_reqs=[SimpleNamespace(req_id=name) for name in new],
        scheduled_cached_reqs=CachedRequestData(*map(list, zip(*cached)))
        if cached
        else CachedRequestData([], [], []),
        num_scheduled_tokens=tokens,
        total_num_scheduled_tokens=sum(tokens.values()),
    )
