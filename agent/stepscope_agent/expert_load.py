"""Counts tokens per expert, layer and iteration on the device, without synchronizing with it.

Routers add to one tensor at a fixed address, so the additions can be captured into CUDA graphs and run on every replay.
Before the first launch of a step that tensor is set to zero, because warm-up runs and graphs that an engine replays
between its steps also add to it. At the end of the step it is copied, on the device. Both run on the stream of that
first launch: engines that overlap steps launch on another stream than the one their scheduler uses. Only writing the
file synchronizes.
"""

import contextlib
import json
import struct
import sys
import threading
from typing import Any, Callable, Optional

from .log import reason, say, say_once
from .ranks import current_rank, with_rank
from .sidecar import write_whole

FORMAT = 1
MOST_LAYERS = 512
"""Limit of the counts kept on the device: 64 MiB at four bytes each."""
MOST_KEPT = 16 * 1024 * 1024
"""With more numbers than this, the counts are written as .npy instead of JSON."""
SMALL = 200_000
"""Columns after the last expert, for ids that are not routed experts: -1 or E (experts of other ranks, padding), and
shared experts, which engines number from E on."""
SPARE = 64


class ExpertLoad:
    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._slots: dict[int, int] = {}
        self._names: list[str] = []
        self._experts: list[int] = []
        self._top_k: list[int] = []
        self._now: Any = None
        self._width: Any = None
        self._one: Any = None
        self._is_fresh = False
        self._has_steps = False
        self._stream: Any = None
        self._kept: list[Any] = []
        self._iterations: list[int] = []
        self._left_out = 0
        self._is_off = False
        self.is_counting = False
        """Returns a module's path in the model, once it is known."""
        self.name_of: Callable[[int], Optional[str]] = lambda _key: None

    def begin_window(self) -> None:
        self.is_counting = True

    def begin_step(self) -> None:
        self._is_fresh = self._has_steps = True

    def before_launch(self) -> None:
        """Before a graph is replayed, or a router counts: the first of a step starts from zero."""
        if not self._is_fresh or self._now is None:
            return
        self._is_fresh = False
        self._stream = sys.modules["torch"].cuda.current_stream() if self._now.is_cuda else None
        self._now[: len(self._slots)].zero_()

    def add(self, key: int, experts: int, top_k: int, chosen: Any, name: str = "") -> None:
        """`chosen`: the experts of each token, in any shape, on any device. Two kernels."""
        row = self._row(key, experts, top_k, chosen, name)
        if row is None:
            return
        try:
            torch = sys.modules["torch"]
            if str(chosen.dtype) == "torch.uint32":
                chosen = chosen.view(torch.int32)
            # Not bincount: it reads the maximum from the device and synchronizes. The remainder keeps any id inside
            # the row, and widens it to the index type of scatter_add_ in the same kernel.
            place = torch.remainder(chosen.reshape(-1), self._width)
            row.scatter_add_(0, place, self._one.expand(place.shape[0]))
        except Exception as error:
            self._fail(error)

    def add_counts(self, key: int, experts: int, top_k: int, counts: Any, name: str = "") -> None:
        """`counts`: tokens of each expert, on any device."""
        row = self._row(key, experts, top_k, counts, name)
        if row is None:
            return
        try:
            row[:experts] += counts
        except Exception as error:
            self._fail(error)

    def _row(self, key: int, experts: int, top_k: int, like: Any, name: str) -> Any:
        """Where to add; None if nothing is counted now."""
        if self._is_off:
            return None
        try:
            slot = self._slot(key, experts, top_k, like, name)
            if slot is None:
                return None
            if not _is_capturing(like):
                if not self.is_counting:
                    return None
                self.before_launch()
            return self._now[slot]
        except Exception as error:
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        self._is_off = True
        say_once("expert counts are off: %s" % reason(error))

    def _slot(self, key: int, experts: int, top_k: int, like: Any, name: str) -> Optional[int]:
        known = self._slots.get(key)
        if known is not None:
            return known
        with self._lock:
            torch = sys.modules["torch"]
            if self._now is None:
                if _is_capturing(like):
                    # If created inside a graph, every replay would set it to zero.
                    say_once("expert counts: run the model once before capturing a CUDA graph of it")
                    return None
                with torch.inference_mode(False):
                    width = experts + SPARE
                    self._now = torch.zeros((MOST_LAYERS, width), dtype=torch.int64, device=like.device)
                    self._width = torch.full((1,), width, dtype=torch.int64, device=like.device)
                    self._one = torch.ones((1,), dtype=torch.int64, device=like.device)
            if len(self._slots) >= MOST_LAYERS or experts + 2 > self._now.shape[1]:
                say_once("expert counts: some routers are not counted")
                return None
            slot = self._slots[key] = len(self._slots)
            self._names.append(name or self.name_of(key) or "")
            self._experts.append(experts)
            self._top_k.append(top_k)
            return slot

    def end_window(self) -> None:
        self.is_counting = False

    def forget_steps(self) -> None:
        """Counting restarts: what was taken for steps so far was an engine's warm-up."""
        self._kept, self._iterations, self._left_out = [], [], 0

    def end_step(self, iteration: int) -> None:
        if self._is_off or self._now is None:
            return
        if self._is_fresh:
            self._is_fresh = False
            say_once("expert counts: some steps launched nothing that counts; they are left out")
            return
        if sum(part.numel() for part in self._kept[-1:]) * (len(self._kept) + 1) > MOST_KEPT:
            self._left_out += 1
            return
        torch = sys.modules["torch"]
        with contextlib.nullcontext() if self._stream is None else torch.cuda.stream(self._stream):
            self._kept.append(self._now[: len(self._slots), : max(self._experts)].to(torch.int32))
        self._iterations.append(iteration)

    def write(self) -> Optional[str]:
        if self._has_steps and not self._slots and not self._is_off:
            say_once("expert counts: no router of a known kind has run in this process")
        if not self._kept or self._is_off:
            return None
        if self._stream is not None:
            self._stream.synchronize()
        layers, experts = len(self._slots), max(self._experts)
        counts = [part.cpu() for part in self._kept]
        for slot, name in enumerate(self._names):
            if not name:
                key = next(known for known, place in self._slots.items() if place == slot)
                self._names[slot] = self.name_of(key) or ""
        header = {
            "stepscopeExpertLoad": FORMAT,
            "rank": current_rank(),
            "iterations": self._iterations,
            "iterationsLeftOut": self._left_out,
            "layers": [
                {
                    "index": _number_in(name, slot),
                    "module": name,
                    "experts": self._experts[slot],
                    "topK": self._top_k[slot],
                }
                for slot, name in enumerate(self._names)
            ],
            "experts": experts,
        }
        wanted_binary = self._path.endswith(".npy") or len(counts) * layers * experts > SMALL
        try:
            path = (
                self._write_binary(header, counts, layers, experts)
                if wanted_binary
                else self._write_json(header, counts, experts)
            )
        except OSError as error:
            say("expert counts were not written: %s" % reason(error))
            return None
        return path.replace("\\", "/").rsplit("/", 1)[-1]

    def _write_json(self, header: dict[str, Any], counts: list[Any], experts: int) -> str:
        path = with_rank(self._path, (".json",))
        header["counts"] = [_full(part.tolist(), len(self._slots), experts) for part in counts]
        write_whole(path, json.dumps(header, separators=(",", ":")).encode("utf-8"))
        return path

    def _write_binary(self, header: dict[str, Any], counts: list[Any], layers: int, experts: int) -> str:
        path = with_rank(self._path[:-5] if self._path.endswith(".json") else self._path, (".npy",))
        body = bytearray(npy_header((len(counts), layers, experts)))
        for part in counts:
            for row in _full(part.tolist(), layers, experts):
                body += struct.pack("<%di" % experts, *row)
        write_whole(path, bytes(body))
        header["countsFile"] = path.replace("\\", "/").rsplit("/", 1)[-1]
        write_whole(path[: -len(".npy")] + ".json", json.dumps(header, separators=(",", ":")).encode("utf-8"))
        return path


def npy_header(shape: tuple[int, ...]) -> bytes:
    """NumPy's format 1.0: magic, length, a Python dictionary padded to 64 bytes. https://numpy.org/neps/nep-0001-npy-format.html"""
    text = "{'descr': '<i4', 'fortran_order': False, 'shape': %r, }" % (shape,)
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin1")


def _full(rows: list[list[int]], layers: int, experts: int) -> list[list[int]]:
    """A step before a router's first use has fewer rows, or shorter ones."""
    padded = [row + [0] * (experts - len(row)) for row in rows]
    return padded + [[0] * experts] * (layers - len(rows))


def _number_in(name: str, otherwise: int) -> int:
    for part in name.split("."):
        if part.isdigit():
            return int(part)
    return otherwise


def _is_capturing(tensor: Any) -> bool:
    return bool(tensor.is_cuda and sys.modules["torch"].cuda.is_current_stream_capturing())
