"""The batch of a step, as far as the host knows it: requests and tokens of prefill and decode."""

from typing import Any, NamedTuple, Optional

from .request_ids import RequestIds, ids_of


class StepFacts(NamedTuple):
    context_requests: int = 0
    context_tokens: int = 0
    generation_requests: int = 0
    generation_tokens: int = 0
    """Sum of the KV lengths of decode requests, if known on the host."""
    generation_kv: Optional[int] = None
    """Of vLLM and SGLang."""
    requests: Optional[RequestIds] = None

    @property
    def phase(self) -> str:
        if self.context_requests:
            return "mixed" if self.generation_requests else "prefill"
        if not self.generation_requests:
            return "unknown"
        return "speculative" if self.generation_tokens > self.generation_requests else "decode"

    def marker(self, iteration: int) -> str:
        """The grammar of src/catalog/engine-markers.ts."""
        kv = "" if self.generation_kv is None else " kv=%d" % self.generation_kv
        return "stepscope.step %d ctx=%d/%d gen=%d/%d%s" % (
            iteration,
            self.context_requests,
            self.context_tokens,
            self.generation_requests,
            self.generation_tokens,
            kv,
        )


UNKNOWN = StepFacts()


def facts_of_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> StepFacts:
    """From the shape of a model's inputs: several new tokens per row mean prefill, one means decode."""
    shape = _input_shape(args, kwargs)
    if shape is None:
        return UNKNOWN
    rows, length = shape
    cached = _cached_length(kwargs.get("past_key_values"))
    if length > 1 or cached == 0:
        return StepFacts(context_requests=rows, context_tokens=rows * length)
    kv = None if cached is None else rows * (cached + length)
    return StepFacts(generation_requests=rows, generation_tokens=rows, generation_kv=kv)


def _input_shape(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[tuple[int, int]]:
    ids: Any = kwargs.get("input_ids")
    if ids is None:
        ids = kwargs.get("inputs_embeds")
    if ids is None and args:
        ids = args[0]
    shape = getattr(ids, "shape", None)
    if shape is None:
        return None
    # Rows of token ids, or rows of embeddings. A flat list of tokens does not show where rows end.
    if len(shape) == 2 and not ids.is_floating_point():
        return int(shape[0]), int(shape[1])
    if len(shape) == 3 and ids.is_floating_point():
        return int(shape[0]), int(shape[1])
    return None


def _cached_length(cache: Any) -> Optional[int]:
    """Only if the length is known on the host: a static cache keeps its length on the GPU."""
    if cache is None:
        return None
    try:
        if type(cache).__name__ == "DynamicCache":
            length = cache.get_seq_length()
            return length if isinstance(length, int) else None
        if isinstance(cache, (tuple, list)):
            if not cache:
                return 0
            return int(cache[0][0].shape[-2])
    except Exception:
        return None
    return None


def is_empty_for_vllm(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    scheduled = args[0] if args else kwargs["scheduler_output"]
    return bool(kwargs.get("dummy_run")) or not scheduled.num_scheduled_tokens


def facts_of_vllm(
    runner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], in_window: bool = True
) -> StepFacts:
    """vllm/v1: GPUModelRunner.execute_model(scheduler_output, …)."""
    scheduled = args[0] if args else kwargs["scheduler_output"]
    tokens: dict[str, int] = scheduled.num_scheduled_tokens
    cached = scheduled.scheduled_cached_reqs
    if not in_window and hasattr(cached, "num_output_tokens"):
        return _counts_of_vllm(scheduled, tokens, cached)
    new = {request.req_id for request in scheduled.scheduled_new_reqs}
    in_context = _context_test(runner, cached, new)
    computed = _computed_tokens(cached)
    context = {request: count for request, count in tokens.items() if in_context(request)}
    generation = [(request, count) for request, count in tokens.items() if request not in context]
    kv: Optional[int] = 0
    for request, count in generation:
        known = computed.get(request)
        kv = None if kv is None or known is None else kv + known + count
    return StepFacts(
        context_requests=len(context),
        context_tokens=sum(context.values()),
        generation_requests=len(generation),
        generation_tokens=sum(count for _, count in generation),
        generation_kv=kv if generation else None,
        requests=ids_of(context, (request for request, _ in generation)),
    )


def _counts_of_vllm(scheduled: Any, tokens: dict[str, int], cached: Any) -> StepFacts:
    """The same counts, without a Python loop over hundreds of decoding requests. Without their KV lengths."""
    context = [request.req_id for request in scheduled.scheduled_new_reqs]
    outputs = cached.num_output_tokens
    if 0 in outputs:
        # is_context_phase: no output yet, so its prompt is still being processed in chunks.
        context += [request for request, count in zip(cached.req_ids, outputs) if count == 0]
    in_context = sum(tokens[request] for request in context)
    total: int = scheduled.total_num_scheduled_tokens
    decoding = len(tokens) - len(context)
    # Without prefill, all of them decode: no loop over hundreds.
    inside = set(context)
    generation = [request for request in tokens if request not in inside] if inside else tokens
    ids = ids_of(context, generation)
    return StepFacts(len(context), in_context, decoding, total - in_context, requests=ids)


def _computed_tokens(cached: Any) -> dict[str, int]:
    if hasattr(cached, "req_ids"):
        return dict(zip(cached.req_ids, cached.num_computed_tokens))
    # Before 0.9: a list with one object per request.
    return {request.req_id: request.num_computed_tokens for request in cached}


def _context_test(runner: Any, cached: Any, new: Any) -> Any:
    if hasattr(cached, "is_context_phase"):
        return lambda request: request in new or cached.is_context_phase(request)
    computed = _computed_tokens(cached)
    states = getattr(runner, "requests", {})

    def test(request: str) -> bool:
        if request in new:
            return True
        state = states.get(request)
        prompt = getattr(state, "num_prompt_tokens", None)
        if prompt is None:
            prompt = len(getattr(state, "prompt_token_ids", None) or ())
        return computed.get(request, prompt) < prompt

    return test


def facts_of_sglang(args: tuple[Any, ...], kwargs: dict[str, Any]) -> StepFacts:
    """sglang/srt: Scheduler.run_batch(batch) and ModelRunner.forward(forward_batch)."""
    batch: Any = args[0] if args else kwargs.get("batch", kwargs.get("forward_batch"))
    mode = batch.forward_mode
    # Prebuilt: a decode worker takes over caches filled by a prefill worker, and runs no work.
    if mode is None or mode.is_idle() or _asks(mode, "is_prebuilt"):
        return UNKNOWN
    size = batch.batch_size
    requests = int(size() if callable(size) else size)
    total = getattr(batch, "seq_lens_sum", None)
    kv = total if isinstance(total, int) else None
    ids = _sglang_ids(batch)
    known = len(ids) == requests
    if mode.is_decode():
        return StepFacts(0, 0, requests, requests, kv, ids_of((), ids) if known else None)
    tokens = getattr(batch, "extend_num_tokens", None)
    if not isinstance(tokens, int):
        tokens = _rows(getattr(batch, "input_ids", None)) or 0
    speculating = ("is_target_verify", "is_draft_extend", "is_draft_extend_v2")
    if any(_asks(mode, name) for name in speculating):
        return StepFacts(0, 0, requests, tokens, kv, ids_of((), ids) if known else None)
    mixed = list(getattr(batch, "decoding_reqs", None) or ()) if _asks(mode, "is_mixed") else []
    decoding = len(mixed)
    also = {getattr(request, "rid", None) for request in mixed}
    parts = ids_of((each for each in ids if each not in also), (each for each in ids if each in also))
    split = parts if known and parts and len(parts[1]) == decoding else None
    return StepFacts(requests - decoding, max(0, tokens - decoding), decoding, decoding, None, split)


def _sglang_ids(batch: Any) -> list[str]:
    try:
        return [request.rid for request in getattr(batch, "reqs", None) or ()]
    except AttributeError:
        return []


def _asks(mode: Any, name: str) -> bool:
    test = getattr(mode, name, None)
    return bool(test()) if callable(test) else False


def _rows(tensor: Any) -> Optional[int]:
    shape = getattr(tensor, "shape", None)
    return int(shape[0]) if shape else None


def facts_of_tensorrt_llm(executor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> StepFacts:
    """tensorrt_llm: PyExecutor._forward_step(scheduled_requests, …)."""
    scheduled = args[0] if args else kwargs["scheduled_requests"]
    context = list(scheduled.context_requests)
    generation = list(scheduled.generation_requests)
    # Without speculative decoding there is nothing to count in hundreds of requests.
    may_draft = getattr(getattr(executor, "model_engine", None), "spec_config", True) is not None
    drafts = (
        sum(len(getattr(request, "py_draft_tokens", None) or ()) for request in generation)
        if may_draft
        else 0
    )
    return StepFacts(
        context_requests=len(context),
        context_tokens=sum(int(getattr(request, "context_chunk_size", 0) or 0) for request in context),
        generation_requests=len(generation),
        generation_tokens=len(generation) + drafts,
    )
