"""Sources of steps: engines, `generate` of transformers, a method named by the user, otherwise the outermost module
called without gradients, or the replay of a CUDA graph that contains such a call.

Each source has a rank. Once a more specific source is seen, less specific ones no longer count.
"""

import itertools
import sys
import threading
import weakref
from types import ModuleType
from typing import Any, Callable, Optional

from .facts import (
    UNKNOWN,
    StepFacts,
    facts_of_call,
    facts_of_sglang,
    facts_of_tensorrt_llm,
    facts_of_vllm,
    is_empty_for_vllm,
)
from .graph_parts import GraphParts
from .import_hooks import after_import
from .log import reason, say_once
from .patching import is_compiling, wrap_method
from .ranges import ranges
from .session import Session

ANY_MODULE, GENERATE, MODEL_RUNNER, SCHEDULER, NAMED, EXPLICIT = range(6)
"""With fewer modules than this, it is a single layer under test, not a model."""
LEAST_MODULES = 4

"""The last argument as in FactsReader."""
EngineFacts = Callable[[Any, tuple[Any, ...], dict[str, Any], bool], Optional[StepFacts]]


class Sources:
    def __init__(self, session: Session, graphs: GraphParts) -> None:
        self._session = session
        self._graphs = graphs
        self._found_module = False
        self._stop_looking: Callable[[], None] = lambda: None
        self._capturing_graph: Any = None
        self._graph_facts: weakref.WeakKeyDictionary[Any, StepFacts] = weakref.WeakKeyDictionary()
        """Called with the first model, before its first forward: hooks must exist when graphs are captured."""
        self.on_model: Callable[[Any], None] = lambda _module: None

    def install(self) -> None:
        target = self._session.settings.step_target
        if target and target != "auto":
            self._watch_named(target)
        after_import("tensorrt_llm._torch.pyexecutor.py_executor", self._watch_tensorrt_llm)
        after_import("vllm.v1.worker.gpu_model_runner", self._watch_vllm)
        after_import("vllm.v1.worker.gpu.model_runner", self._watch_vllm)
        after_import("sglang.srt.managers.scheduler", self._watch_sglang_scheduler)
        after_import("sglang.srt.model_executor.model_runner", self._watch_sglang_runner)
        after_import("transformers.generation.utils", self._watch_generate)
        after_import("torch", self._watch_torch)

    # --- engines -----------------------------------------------------------------------------------------------

    def _watch_engine(
        self,
        owner: Any,
        method: str,
        rank: int,
        facts: EngineFacts,
        number: Callable[[Any], Optional[int]] = lambda _self: None,
        skip: Callable[[Any, tuple[Any, ...], dict[str, Any]], bool] = lambda _self, _args, _kwargs: False,
        after: Optional[str] = None,
        is_marked: bool = True,
    ) -> None:
        """`after`: the method that ends the engine's pass (sampling), if the step itself does not."""
        session = self._session
        session.claim(MODEL_RUNNER)
        has_after = after is not None and hasattr(owner, after)
        name = "%s.%s" % (owner.__qualname__, method)

        def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
            step = None
            if not session.is_off and not session.is_in_step and not _skipped(skip, self, args, kwargs):
                step = session.begin(
                    name,
                    rank,
                    lambda in_window: facts(self, args, kwargs, in_window),
                    _safely(number, self),
                    not has_after,
                    is_marked,
                )
            return _run(session, step, original, self, args, kwargs)

        wrap_method(owner, method, around)
        if has_after:
            wrap_method(owner, str(after), self._then_settle)

    def _then_settle(self, original: Any, self_: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self_, *args, **kwargs)
        finally:
            if self._session.is_live:
                self._session.settle()

    def _watch_tensorrt_llm(self, module: ModuleType) -> None:
        if self._session.settings.windows_are_engines:
            self._session.leave_windows_to_engine()
        self._watch_engine(
            module.PyExecutor,
            "_forward_step",
            SCHEDULER,
            lambda executor, args, kwargs, _in_window: facts_of_tensorrt_llm(executor, args, kwargs),
            number=lambda executor: getattr(executor, "iter_counter", None),
            skip=lambda executor, _args, _kwargs: bool(getattr(executor, "is_warmup", False)),
            after="_sample_async",
            # It always marks its own steps.
            is_marked=False,
        )

    def _watch_vllm(self, module: ModuleType) -> None:
        self._watch_engine(
            module.GPUModelRunner,
            "execute_model",
            MODEL_RUNNER,
            facts_of_vllm,
            skip=lambda _self, args, kwargs: is_empty_for_vllm(args, kwargs),
            after="sample_tokens",
        )
        self._mark_sampling(module.GPUModelRunner, "_sample", "sample")

    def _watch_sglang_scheduler(self, module: ModuleType) -> None:
        self._watch_engine(
            module.Scheduler,
            "run_batch",
            SCHEDULER,
            lambda _self, args, kwargs, _in_window: facts_of_sglang(args, kwargs),
        )

    def _watch_sglang_runner(self, module: ModuleType) -> None:
        self._watch_engine(
            module.ModelRunner,
            "forward",
            MODEL_RUNNER,
            lambda _self, args, kwargs, _in_window: facts_of_sglang(args, kwargs),
        )
        self._mark_sampling(module.ModelRunner, "sample")

    def _mark_sampling(self, owner: Any, *names: str) -> None:
        if "sampling" not in self._session.settings.markers:
            return
        for name in names:
            if hasattr(owner, name):
                wrap_method(owner, name, self._in_sampling_range)
                return

    def _in_sampling_range(self, original: Any, self_: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._session.is_live or is_compiling():
            return original(self_, *args, **kwargs)
        ranges.push("sampling")
        try:
            return original(self_, *args, **kwargs)
        finally:
            ranges.pop()

    # --- transformers and plain torch --------------------------------------------------------------------------

    def _watch_generate(self, module: ModuleType) -> None:
        """Every forward inside is a step; the window may close when it returns."""

        def around(original: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
            if self._session.is_off:
                return original(model, *args, **kwargs)
            _contained(self._adopt, model, GENERATE)
            try:
                return original(model, *args, **kwargs)
            finally:
                self._session.settle()

        wrap_method(module.GenerationMixin, "generate", around)
        processors = getattr(module, "LogitsProcessorList", None)
        if processors is not None:
            self._mark_sampling(processors, "__call__")

    def _watch_torch(self, torch: ModuleType) -> None:
        _contained(ranges.use_torch, torch)
        self._watch_any_module(torch)
        graph = getattr(torch.cuda, "CUDAGraph", None)
        if graph is not None and "replay" in vars(graph):
            _contained(self._watch_graphs, torch, graph)

    def _watch_any_module(self, torch: Any) -> None:
        """Checks every module call until a model is found, then only calls of its class."""
        base = torch.nn.Module
        original = base.__call__
        local = threading.local()

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if (
                getattr(local, "in_module", False)
                or self._found_module
                or torch.is_grad_enabled()
                or is_compiling()
            ):
                return original(module, *args, **kwargs)
            local.in_module = True
            try:
                if _is_model(module):
                    base.__call__ = original
                    _contained(self._adopt, module, ANY_MODULE)
                    return type(module).__call__(module, *args, **kwargs)
                return original(module, *args, **kwargs)
            finally:
                local.in_module = False

        call._stepscope_wrapped = True  # type: ignore[attr-defined]
        base.__call__ = call
        self._stop_looking = lambda: setattr(base, "__call__", original)

    def _adopt(self, module: Any, rank: int) -> None:
        """From now on, outermost calls of this class without gradients are steps."""
        if not self._found_module:
            self._found_module = True
            self._stop_looking()
            self.on_model(module)
        session = self._session
        torch = sys.modules["torch"]
        owner = type(module)
        name = owner.__qualname__

        def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
            if session.is_off or session.is_in_step or torch.is_grad_enabled() or is_compiling():
                return original(self, *args, **kwargs)
            if _is_capturing(torch):
                return self_sources._capture(self, original, args, kwargs)
            step = session.begin(name, rank, lambda _in_window: facts_of_call(args, kwargs))
            return _run(session, step, original, self, args, kwargs)

        self_sources = self
        wrap_method(owner, "__call__", around)

    def _capture(self, module: Any, original: Any, args: Any, kwargs: Any) -> Any:
        """A forward that is being captured into a graph is not a step. Its replays are, with the same batch."""
        graph = self._capturing_graph
        if graph is not None:
            _contained(lambda: self._graph_facts.__setitem__(graph, facts_of_call(args, kwargs)))
        return original(module, *args, **kwargs)

    def _watch_graphs(self, torch: Any, graph: Any) -> None:
        session = self._session

        def begin(original: Any, self_: Any, *args: Any, **kwargs: Any) -> Any:
            self._capturing_graph = self_
            result = original(self_, *args, **kwargs)
            if self._graphs.is_wanted:
                _contained(lambda: self._graphs.begin(torch.cuda.current_stream().cuda_stream))
            return result

        def end(original: Any, self_: Any, *args: Any, **kwargs: Any) -> Any:
            self._capturing_graph = None
            self._graphs.end()
            return original(self_, *args, **kwargs)

        def replay(original: Any, self_: Any, *args: Any, **kwargs: Any) -> Any:
            # Graphs of engines and of compiled pieces are replayed inside their steps. A graph whose capture contains
            # a call of the model is a separate step.
            step = None
            if not session.is_off and not session.is_in_step and self_ in self._graph_facts:
                facts = self._graph_facts.get(self_, UNKNOWN)
                rank = GENERATE if session.source_rank == GENERATE else ANY_MODULE
                step = session.begin("CUDAGraph.replay", rank, lambda _in_window: facts)
            if session.experts is not None:
                session.experts.before_launch()
            return _run(session, step, original, self_, args, kwargs)

        wrap_method(graph, "capture_begin", begin)
        wrap_method(graph, "capture_end", end)
        wrap_method(graph, "replay", replay)

    # --- named by the user -------------------------------------------------------------------------------------

    def _watch_named(self, target: str) -> None:
        module_name, colon, path = target.partition(":")
        if not colon or not path:
            say_once("STEPSCOPE_STEP must be module:Class.method, not %r" % target)
            return

        session = self._session
        session.claim(NAMED)

        def patch(module: ModuleType) -> None:
            try:
                wrap(module)
            except Exception:
                session.disclaim()
                raise

        def wrap(module: ModuleType) -> None:
            owner: Any = module
            *parents, method = path.split(".")
            for part in parents:
                owner = getattr(owner, part)
            if not isinstance(owner, type):
                raise TypeError("%s is not a method of a class" % path)

            def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
                if session.is_off or session.is_in_step or is_compiling():
                    return original(self, *args, **kwargs)
                step = session.begin(path, NAMED, lambda _in_window: facts_of_call(args, kwargs))
                return _run(session, step, original, self, args, kwargs)

            if not wrap_method(owner, method, around):
                raise AttributeError("%s has no method %s" % (module_name, path))

        after_import(module_name, patch)


def _run(session: Session, step: Any, original: Any, self: Any, args: Any, kwargs: Any) -> Any:
    if step is None:
        return original(self, *args, **kwargs)
    failed = True
    try:
        result = original(self, *args, **kwargs)
        failed = False
        return result
    finally:
        session.end(step, failed)


def _is_model(module: Any) -> bool:
    # The model may be large: counting stops as soon as the answer is known.
    return sum(1 for _ in itertools.islice(module.modules(), LEAST_MODULES)) == LEAST_MODULES


def _is_capturing(torch: Any) -> bool:
    cuda = torch.cuda
    return bool(cuda.is_initialized() and cuda.is_current_stream_capturing())


def _contained(function: Callable[..., Any], *args: Any) -> None:
    try:
        function(*args)
    except Exception as error:
        say_once("some steps may be missed: %s" % reason(error))


def _safely(number: Callable[[Any], Optional[int]], engine: Any) -> Optional[int]:
    try:
        found = number(engine)
        return found if isinstance(found, int) else None
    except Exception:
        return None


def _skipped(skip: Callable[..., bool], engine: Any, args: Any, kwargs: Any) -> bool:
    """Warm-up passes and empty passes do not count as iterations."""
    try:
        return skip(engine, args, kwargs)
    except Exception:
        return False
