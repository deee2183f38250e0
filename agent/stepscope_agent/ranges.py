"""Opens and closes named ranges: NVTX if a library is available, and torch profiler ranges while that profiler runs.

The library is chosen when torch is loaded. Ranges nest per thread, so the code that opens one must close it.
"""

import sys
import threading
from typing import Any, Callable, Optional

Push = Callable[[str], Any]
Pop = Callable[[], Any]


class Ranges:
    def __init__(self) -> None:
        self._nvtx: Optional[tuple[Push, Pop]] = None
        self._torch: Any = None
        self._is_profiled: Callable[[], bool] = bool
        self._local = threading.local()
        self.nvtx_library = "none"

    def use_torch(self, torch: Any) -> None:
        self._torch = torch
        # Not part of torch's public API: without it, only NVTX is used.
        self._is_profiled = getattr(torch.autograd, "_profiler_enabled", bool)
        found = _torch_nvtx(torch) or _shared_library()
        if found:
            self.nvtx_library, push, pop = found
            self._nvtx = (push, pop)

    def push(self, name: str) -> None:
        if self._nvtx:
            self._nvtx[0](name)
        recorded = None
        if self._is_profiled():
            recorded = self._torch.profiler.record_function(name)
            recorded.__enter__()
        self._open().append((self._nvtx is not None, recorded))

    def pop(self) -> None:
        stack = self._open()
        if not stack:
            return
        has_nvtx, recorded = stack.pop()
        if recorded is not None:
            recorded.__exit__(None, None, None)
        if has_nvtx and self._nvtx:
            self._nvtx[1]()

    def open_names(self) -> list[str]:
        """A list per thread, for code that opens ranges in one callback and closes them in another."""
        names = getattr(self._local, "names", None)
        if names is None:
            names = self._local.names = []
        return names

    def _open(self) -> list[tuple[bool, Any]]:
        stack = getattr(self._local, "stack", None)
        if stack is None:
            stack = self._local.stack = []
        return stack


def _torch_nvtx(torch: Any) -> Optional[tuple[str, Push, Pop]]:
    try:
        nvtx = torch.cuda.nvtx
        # Builds without CUDA have functions that raise.
        if torch.version.cuda is None:
            return None
        nvtx.range_push("stepscope.start")
        nvtx.range_pop()
        return "torch.cuda.nvtx", nvtx.range_push, nvtx.range_pop
    except Exception:
        return None


def _shared_library() -> Optional[tuple[str, Push, Pop]]:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    for name in ("libnvToolsExt.so.1", "libnvToolsExt.so"):
        try:
            library = ctypes.CDLL(name)
            push = library.nvtxRangePushA
            push.argtypes, push.restype = [ctypes.c_char_p], ctypes.c_int
            pop = library.nvtxRangePop
            pop.argtypes, pop.restype = [], ctypes.c_int
            return name, lambda text, push=push: push(text.encode("utf-8", "replace")), pop
        except (OSError, AttributeError):
            continue
    return None


ranges = Ranges()
