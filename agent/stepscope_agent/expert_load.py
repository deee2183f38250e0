"""Counts tokens per expert, layer and iteration on the device, without synchronizing with it.

Routers add to one tensor at a fixed address, so the additions can be captured into CUDA graphs and run on every replay.
At the end of a step that tensor is copied (on the device) and set to zero. Only writing the file synchronizes.
"""

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


class ExpertLoad:
    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._slots: dict[int, int] = {}
        self._names: list[str] = []
        self._experts: list[int] = []
        self._top_k: list[int] = []
        self._now: Any = None
        self._kept: list[Any] = []
        self._iterations: list[int] = []
        self._left_out = 0
        self._is_off = False
        self.is_counting = False
        """Returns a module's path in the model, once it is known."""
        self.name_of: Callable[[int], Optional[str]] = lambda _key: None

    def begin_window(self) -> None:
        self.is_counting = True
        # Graph replays also count outside windows.
        if self._now is not None:
            self._now.zero_()

    def add(self, key: int, experts: int, top_k: int, chosen: Any) -> None:
        """`chosen`: the experts of each token, in any shape, on any device."""
        if self._is_off:
            return
        try:
            slot = self._slot(key, experts, top_k, chosen)
            if slot is None or not (self.is_counting or _is_capturing(chosen)):
                return
            flat = chosen.reshape(-1).long()
            torch = sys.modules["torch"]
            row = self._now[slot]
            # Not bincount: it reads the maximum from the device and synchronizes. Experts of other ranks (some
            # engines write -1 or E for them) go into the last column.
            known = torch.where((flat >= 0) & (flat < experts), flat, torch.full_like(flat, row.shape[0] - 1))
            row.scatter_add_(0, known, torch.ones_like(known))
        except Exception as error:
            self._is_off = True
            say_once("expert counts are off: %s" % reason(error))

    def add_mask(self, key: int, experts: int, top_k: int, used: Any) -> None:
        """`used`: tokens × experts, true where a token uses an expert."""
        if self._is_off:
            return
        try:
            slot = self._slot(key, experts, top_k, used)
            if slot is not None and (self.is_counting or _is_capturing(used)):
                self._now[slot][:experts] += used.long().sum(0)
        except Exception as error:
            self._is_off = True
            say_once("expert counts are off: %s" % reason(error))

    def _slot(self, key: int, experts: int, top_k: int, like: Any) -> Optional[int]:
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
                # One extra column, for experts of other ranks.
                with torch.inference_mode(False):
                    self._now = torch.zeros((MOST_LAYERS, experts + 1), dtype=torch.int64, device=like.device)
            if len(self._slots) >= MOST_LAYERS or experts + 1 > self._now.shape[1]:
                say_once("expert counts: some routers are not counted")
                return None
            slot = self._slots[key] = len(self._slots)
            self._names.append(self.name_of(key) or "")
            self._experts.append(experts)
            self._top_k.append(top_k)
            return slot

    def end_window(self) -> None:
        self.is_counting = False

    def end_step(self, iteration: int) -> None:
        if self._is_off or self._now is None:
            return
        layers = len(self._slots)
        if sum(part.numel() for part in self._kept[-1:]) * (len(self._kept) + 1) > MOST_KEPT:
            self._left_out += 1
        else:
            torch = sys.modules["torch"]
            self._kept.append(self._now[:layers].to(torch.int32))
            self._iterations.append(iteration)
        self._now[:layers].zero_()

    def write(self) -> Optional[str]:
        if not self._kept or self._is_off:
            return None
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
        header["counts"] = [[row[:experts] for row in part.tolist()] for part in counts]
        layers = len(self._slots)
        for part in header["counts"]:
            part.extend([[0] * experts] * (layers - len(part)))
        write_whole(path, json.dumps(header, separators=(",", ":")).encode("utf-8"))
        return path

    def _write_binary(self, header: dict[str, Any], counts: list[Any], layers: int, experts: int) -> str:
        path = with_rank(self._path[:-5] if self._path.endswith(".json") else self._path, (".npy",))
        body = bytearray(npy_header((len(counts), layers, experts)))
        for part in counts:
            for row in part[:, :experts].tolist():
                body += struct.pack("<%di" % experts, *row)
            body += bytes(4 * experts * (layers - part.shape[0]))
        write_whole(path, bytes(body))
        header["countsFile"] = path.replace("\\", "/").rsplit("/", 1)[-1]
        write_whole(path[: -len(".npy")] + ".json", json.dumps(header, separators=(",", ":")).encode("utf-8"))
        return path


def npy_header(shape: tuple[int, ...]) -> bytes:
    """NumPy's format 1.0: magic, length, a Python dictionary padded to 64 bytes. https://numpy.org/neps/nep-0001-npy-format.html"""
    text = "{'descr': '<i4', 'fortran_order': False, 'shape': %r, }" % (shape,)
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin1")


def _number_in(name: str, otherwise: int) -> int:
    for part in name.split("."):
        if part.isdigit():
            return int(part)
    return otherwise


def _is_capturing(tensor: Any) -> bool:
    return bool(tensor.is_cuda and sys.modules["torch"].cuda.is_current_stream_capturing())
