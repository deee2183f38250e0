"""Ranges around a model's parts, named by their path (`model.layers.3.self_attn`): module hooks, only on request.

The hooks also run during CUDA graph capture: nodes are created inside named ranges, and counted.
"""

import re
import sys
from typing import Any, Optional

from .graph_parts import GraphParts
from .log import reason, say_once
from .ranges import ranges
from .session import Session

_LAYER = re.compile(r"(?:^|\.)(?:layers?|blocks?|h)\.\d+$")
_BELOW_LAYER = re.compile(r"^(?:.*\.)?(?:layers?|blocks?|h)\.\d+\.(.+)$")
_ATTENTION = re.compile(r"(?:^|_)(?:self_)?(?:attn|attention|self_attention)$")
_MLP = re.compile(r"(?:^|_)(?:mlp|ffn|feed_forward|block_sparse_moe|moe)$")
_OF_LAYERS = frozenset(("layers", "attention", "mlp", "moe"))
_MOE = re.compile(r"(?:^|\.)(?:router|gate|experts|shared_experts?)$")


class LayerRanges:
    def __init__(self, session: Session, graphs: GraphParts) -> None:
        self._session = session
        self._graphs = graphs
        self._markers = session.settings.markers
        graphs.is_wanted = bool(self._markers & _OF_LAYERS)
        self._is_off = False
        self.names: dict[int, str] = {}

    def watch(self, model: Any) -> None:
        for name, module in model.named_modules():
            self.names[id(module)] = name
        if not self._markers & _OF_LAYERS:
            return
        depth = self._session.settings.marker_depth
        for name, module in model.named_modules():
            if name and is_marked(name, self._markers, depth):
                module.register_forward_pre_hook(self._before(name))
                module.register_forward_hook(self._after)

    def _before(self, name: str) -> Any:
        def hook(_module: Any, _args: Any) -> None:
            if not self._is_off and self._is_wanted():
                try:
                    ranges.push(name)
                    _open().append(name)
                    self._graphs.enter(name)
                except Exception as error:
                    self._switch_off(error)

        return hook

    def _after(self, module: Any, _args: Any, _result: Any) -> None:
        # A window may open or close during a forward: only ranges that were opened are closed.
        stack = _open()
        if stack and not self._is_off and stack[-1] == self.names.get(id(module)):
            try:
                self._graphs.leave(stack.pop())
                ranges.pop()
            except Exception as error:
                self._switch_off(error)

    def _is_wanted(self) -> bool:
        torch = sys.modules["torch"]
        compiler = getattr(torch, "compiler", None)
        if compiler is not None and getattr(compiler, "is_compiling", bool)():
            return False
        if self._session.is_live:
            return True
        return bool(torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())

    def _switch_off(self, error: BaseException) -> None:
        self._is_off = True
        say_once("layer ranges are off: %s" % reason(error))


def _open() -> Any:
    return ranges.open_names()


def is_marked(name: str, markers: frozenset[str], depth: int) -> bool:
    """`depth`: module levels below a layer that `layers` also marks; 0 marks only the layer."""
    if _LAYER.search(name):
        return "layers" in markers
    below: Optional[str] = None
    found = _BELOW_LAYER.match(name)
    if found:
        below = found.group(1)
    if below is None:
        return False
    parts = below.split(".")
    if "layers" in markers and len(parts) <= depth:
        return True
    if len(parts) == 1 and "attention" in markers and _ATTENTION.search(below):
        return True
    if len(parts) == 1 and "mlp" in markers and _MLP.search(below):
        return True
    return "moe" in markers and len(parts) <= 2 and bool(_MOE.search(below))
