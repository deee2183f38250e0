"""The profiled program: requests one after another, each a prefill and some decode steps, as in an engine.

It logs each step independently of the agent, in the same order, so that the agent's output can be checked against the
log. In `graph` mode decode is a CUDA graph over a static cache, captured before the first request.
"""

import argparse
import json
import time
from typing import Any, Callable

from models import add_arguments, build, skew_router

PROMPT = 32


class Truth:
    """Per step: phase, requests, tokens."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self.steps: list[tuple[str, int, int]] = []

    def prefill(self) -> None:
        self.steps.append(("prefill", self._batch, self._batch * PROMPT))

    def decode(self, count: int = 1) -> None:
        self.steps += [("decode", self._batch, self._batch)] * count


def by_generate(model: Any, prompt: Any, tokens: int, truth: Truth) -> Callable[[], None]:
    def request() -> None:
        truth.prefill()
        truth.decode(tokens - 1)
        model.generate(prompt, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False)

    return request


class DecodeMasks:
    """GPT-OSS creates its masks on the host, which a graph cannot capture; these are created on the device, one token
    further at each replay."""

    def __init__(self, device: Any, length: int) -> None:
        import torch

        self._torch = torch
        self._places = torch.arange(length, device=device)
        self._position = torch.zeros((), dtype=torch.long, device=device)
        self._open = torch.zeros((), dtype=torch.bfloat16, device=device)
        self._closed = torch.full((), torch.finfo(torch.bfloat16).min, dtype=torch.bfloat16, device=device)

    def reset(self) -> None:
        self._position.fill_(PROMPT)

    def next(self) -> dict[str, Any]:
        mask = self._torch.where(self._places <= self._position, self._open, self._closed)[
            None, None, None, :
        ]
        self._position.add_(1)
        return {"full_attention": mask, "sliding_attention": mask}


def by_graph(model: Any, prompt: Any, tokens: int, truth: Truth) -> Callable[[], None]:
    import torch
    from transformers import StaticCache

    length = PROMPT + tokens + 4
    cache = StaticCache(config=model.config, max_cache_len=length)
    ids = torch.zeros((prompt.shape[0], 1), dtype=torch.long, device=prompt.device)
    masks = DecodeMasks(prompt.device, length) if model.config.model_type == "gpt_oss" else None

    def forward(tokens_in: Any, **more: Any) -> None:
        out = model(tokens_in, past_key_values=cache, **more)
        ids.copy_(out.logits[:, -1:].argmax(-1))

    def prefill() -> None:
        truth.prefill()
        cache.reset()
        if masks:
            masks.reset()
        forward(prompt)

    def decode() -> None:
        forward(ids, **({"attention_mask": masks.next()} if masks else {}))

    prefill()
    replay = decode
    if torch.cuda.is_available():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                truth.decode()
                decode()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decode()
        replay = graph.replay

    def request() -> None:
        prefill()
        for _ in range(tokens - 1):
            truth.decode()
            replay()

    return request


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--requests", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=6, help="steps per request")
    parser.add_argument("--skew", action="store_true", help="give the router favourites")
    args = parser.parse_args()

    import torch
    import transformers

    model = build(args.model, args.tiny)
    if args.experts:
        model.set_experts_implementation(args.experts)
    if args.skew:
        skew_router(model)
    prompt = torch.randint(0, 4096, (args.batch, PROMPT), device=next(model.parameters()).device)
    truth = Truth(args.batch)
    has_gpu = torch.cuda.is_available()

    def wait() -> None:
        if has_gpu:
            torch.cuda.synchronize()

    with torch.inference_mode():
        serve = by_graph if args.mode == "graph" else by_generate
        request = serve(model, prompt, args.tokens, truth)
        times = []
        for _ in range(args.requests):
            wait()
            begun = time.perf_counter()
            request()
            wait()
            times.append(time.perf_counter() - begun)
    # The first request is warm-up, if there are others.
    times = sorted(times[1:] or times)
    result: dict[str, Any] = {
        "model": args.model,
        "mode": args.mode,
        "batch": args.batch,
        "truth": truth.steps,
        "medianRequestS": times[len(times) // 2],
        "tokensPerS": args.batch * args.tokens / times[len(times) // 2],
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    if has_gpu:
        result["versions"]["gpu"] = torch.cuda.get_device_name()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
