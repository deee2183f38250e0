"""Starts and stops the profilers of a window: CUDA (for nsys -c cudaProfilerApi) and torch."""

import os
import sys
import threading
from typing import Any, Optional

from .log import reason, say, say_once
from .ranks import with_rank
from .settings import Settings


class WindowCapture:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._count = 0
        self._profiler: Any = None
        self._profiler_thread = 0
        self._cuda_started = False
        self.torch_traces: list[str] = []

    def open(self) -> None:
        torch = sys.modules.get("torch")
        self._count += 1
        # Torch first: its setup time should not be part of what nsys records.
        if self._settings.torch_trace:
            self._start_torch(torch)
        self._start_cuda(torch)

    def close(self) -> None:
        torch = sys.modules.get("torch")
        if self._cuda_started:
            self._stop_cuda(torch)
        if self._profiler is not None:
            self._stop_torch()

    def abandon(self) -> None:
        """In a forked child: the profilers belong to the parent."""
        self._profiler = None
        self._cuda_started = False

    def _start_cuda(self, torch: Any) -> None:
        try:
            if torch is None or not torch.cuda.is_available():
                if not self._settings.torch_trace:
                    say_once("CUDA is not available: windows do not start the CUDA profiler")
                return
            _checked(torch.cuda.cudart().cudaProfilerStart(), "cudaProfilerStart")
            self._cuda_started = True
        except Exception as error:
            say_once("the CUDA profiler was not started: %s" % reason(error))

    def _stop_cuda(self, torch: Any) -> None:
        self._cuda_started = False
        try:
            # Work launched inside the window is still running; stopping now would truncate it.
            torch.cuda.synchronize()
            _checked(torch.cuda.cudart().cudaProfilerStop(), "cudaProfilerStop")
        except Exception as error:
            say_once("the CUDA profiler was not stopped: %s" % reason(error))

    def _start_torch(self, torch: Any) -> None:
        try:
            activity = torch.profiler.ProfilerActivity
            activities = [activity.CPU] + ([activity.CUDA] if torch.cuda.is_available() else [])
            self._profiler = torch.profiler.profile(
                activities=activities,
                record_shapes=self._settings.record_shapes,
                with_stack=self._settings.with_stack,
                profile_memory=self._settings.profile_memory,
            )
            self._profiler.start()
            self._profiler_thread = threading.get_ident()
        except Exception as error:
            self._profiler = None
            say_once("the torch profiler was not started: %s" % reason(error))

    def _stop_torch(self) -> None:
        profiler, self._profiler = self._profiler, None
        path = self._trace_path()
        try:
            if self._profiler_thread != threading.get_ident():
                # Its state is bound to the thread that started it.
                raise RuntimeError("the thread that recorded it has ended")
            profiler.stop()
            folder = os.path.dirname(path)
            if folder:
                os.makedirs(folder, exist_ok=True)
            profiler.export_chrome_trace(path)
            if not os.path.exists(path) or os.path.getsize(path) == 0:
                raise OSError("nothing was written to %s" % path)
            self.torch_traces.append(path)
            say("torch trace written to %s" % path)
        except Exception as error:
            say("the torch trace was lost: %s" % reason(error))

    def _trace_path(self) -> str:
        suffix = "" if self._count == 1 else "-window-%d" % self._count
        return with_rank(str(self._settings.torch_trace), (".json.gz", ".json"), suffix)


def _checked(result: Any, call: str) -> None:
    """Torch's binding returns the error code, or an object that contains it; older bindings return nothing."""
    code: Optional[int] = None
    try:
        code = None if result is None else int(result)
    except (TypeError, ValueError):
        return
    if code:
        raise RuntimeError("%s failed with error %d" % (call, code))
