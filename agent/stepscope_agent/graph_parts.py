"""Which nodes of a CUDA graph were captured inside which part of the model.

Engines capture their graphs during startup, long before a window opens, so no profiler records the layer ranges that
were open at that time. Nodes are numbered in capture order, however, and keep their numbers in every copy and every
replay. The agent therefore counts the nodes whenever a part begins or ends:

    part      [layers.0        ][layers.1        ]
    nodes   0  1  2  3  4  5  6  7  8  9 10 11 12  13
    written    first 1, end 7    first 7, end 13

Counting queries the driver library, which is already loaded. It launches no work and does not synchronize.
"""

import ctypes
import threading
import time
from typing import Any, NamedTuple, Optional

from .log import reason, say_once

"""Serving engines capture one graph per batch size. Most are identical, and identical ones are stored once."""
MOST_GRAPHS = 64
MOST_PARTS = 20_000
KERNEL_NODE = 0


class Part(NamedTuple):
    name: str
    first_node: int
    end_node: int


class GraphShape(NamedTuple):
    """The structure that graphs of several batch sizes share."""

    """Per node: is it a kernel?"""
    kernels: tuple[bool, ...]
    """Each node depends on the one before it, so nodes run in numeric order."""
    is_chain: bool
    parts: tuple[Part, ...]


class _Capture:
    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.parts: list[list[Any]] = []
        self.open: list[int] = []
        self.start = time.time_ns()


class GraphParts:
    def __init__(self, driver: Any = None) -> None:
        self.is_wanted = False
        self._driver = driver
        self._is_off = False
        self._local = threading.local()
        self._lock = threading.Lock()
        self._known: dict[GraphShape, dict[str, int]] = {}
        self._left_out = 0

    def begin(self, stream: int) -> None:
        """A graph capture has started on this thread."""
        if not self.is_wanted or self._is_off:
            return
        try:
            if self._driver is None:
                self._driver = Driver()
            self._local.now = _Capture(self._driver.graph_of(stream))
        except Exception as error:
            self._switch_off(error)

    def enter(self, name: str) -> None:
        now = getattr(self._local, "now", None)
        if now is None:
            return
        try:
            now.open.append(len(now.parts))
            now.parts.append([name, self._driver.count_nodes(now.graph), -1])
        except Exception as error:
            self._switch_off(error)

    def leave(self, name: str) -> None:
        now = getattr(self._local, "now", None)
        if now is None:
            return
        try:
            # Parts left open by an exception end with the enclosing part, which is identified by its name.
            while now.open:
                part = now.parts[now.open.pop()]
                part[2] = self._driver.count_nodes(now.graph)
                if part[0] == name:
                    return
        except Exception as error:
            self._switch_off(error)

    def end(self) -> None:
        """Called before the capture ends, while the graph still exists."""
        now, self._local.now = getattr(self._local, "now", None), None
        if now is None:
            return
        try:
            self._keep(now)
        except Exception as error:
            self._switch_off(error)

    def _keep(self, now: _Capture) -> None:
        parts = tuple(Part(*part) for part in now.parts if part[2] > part[1])
        if not parts:
            return
        kernels, is_chain = self._driver.nodes_of(now.graph)
        shape = GraphShape(kernels, is_chain, parts)
        with self._lock:
            known = self._known.get(shape)
            if known is not None:
                known["captured"] += 1
            elif len(self._known) >= MOST_GRAPHS or len(parts) + self._count_parts() > MOST_PARTS:
                self._left_out += 1
            else:
                self._known[shape] = {
                    "captured": 1,
                    "startNs": now.start,
                    "durationNs": time.time_ns() - now.start,
                    "thread": threading.get_native_id(),
                }

    def _count_parts(self) -> int:
        return sum(len(shape.parts) for shape in self._known)

    def as_json(self, origin_wall: int) -> dict[str, Any]:
        with self._lock:
            known = list(self._known.items())
        graphs = []
        for shape, facts in known:
            kernels_before = [0]
            for is_kernel in shape.kernels:
                kernels_before.append(kernels_before[-1] + is_kernel)
            graphs.append(
                {
                    **facts,
                    "startNs": facts["startNs"] - origin_wall,
                    "nodes": len(shape.kernels),
                    "kernels": kernels_before[-1],
                    "isChain": shape.is_chain,
                    "parts": [
                        {
                            "name": name,
                            "firstNode": first,
                            "endNode": end,
                            "firstKernel": kernels_before[first],
                            "endKernel": kernels_before[end],
                        }
                        for name, first, end in shape.parts
                    ],
                }
            )
        return {"graphs": graphs, "graphsLeftOut": self._left_out}

    def _switch_off(self, error: BaseException) -> None:
        self._is_off = True
        self._local.now = None
        say_once("layers inside CUDA graphs are not identified: %s" % reason(error))


class Driver:
    """The four queries to libcuda. The functions exist since CUDA 11.3; if edges carry data (programmatic launch), only
    those of 12.3 work."""

    def __init__(self, library: Any = None) -> None:
        self._cuda = library or ctypes.CDLL("libcuda.so.1")

    def graph_of(self, stream: int) -> ctypes.c_void_p:
        status, graph = ctypes.c_int(0), ctypes.c_void_p()
        sought = (ctypes.c_void_p(stream), ctypes.byref(status), None, ctypes.byref(graph), None)
        newest = getattr(self._cuda, "cuStreamGetCaptureInfo_v3", None)
        if newest is not None:
            _must(newest(*sought, None, None), "cuStreamGetCaptureInfo")
        else:
            _must(self._cuda.cuStreamGetCaptureInfo_v2(*sought, None), "cuStreamGetCaptureInfo")
        if not graph.value:
            raise RuntimeError("the stream is not being captured")
        return graph

    def count_nodes(self, graph: ctypes.c_void_p) -> int:
        count = ctypes.c_size_t(0)
        _must(self._cuda.cuGraphGetNodes(graph, None, ctypes.byref(count)), "cuGraphGetNodes")
        return count.value

    def nodes_of(self, graph: ctypes.c_void_p) -> tuple[tuple[bool, ...], bool]:
        count = ctypes.c_size_t(self.count_nodes(graph))
        nodes = (ctypes.c_void_p * count.value)()
        _must(self._cuda.cuGraphGetNodes(graph, nodes, ctypes.byref(count)), "cuGraphGetNodes")
        kernels: list[bool] = []
        waits_for: list[Optional[int]] = []
        kind = ctypes.c_int(0)
        for node in nodes:
            handle = ctypes.c_void_p(node)
            _must(self._cuda.cuGraphNodeGetType(handle, ctypes.byref(kind)), "cuGraphNodeGetType")
            kernels.append(kind.value == KERNEL_NODE)
            waits_for.append(self._count_dependencies(handle))
        # Forked streams must join before a capture ends: without a join there was no fork.
        return tuple(kernels), waits_for[:1] == [0] and all(number == 1 for number in waits_for[1:])

    def _count_dependencies(self, node: ctypes.c_void_p) -> Optional[int]:
        count = ctypes.c_size_t(0)
        newest = getattr(self._cuda, "cuGraphNodeGetDependencies_v2", None)
        code = (
            newest(node, None, None, ctypes.byref(count))
            if newest is not None
            else self._cuda.cuGraphNodeGetDependencies(node, None, ctypes.byref(count))
        )
        return None if code else count.value


def _must(code: int, call: str) -> None:
    if code:
        raise RuntimeError("%s failed with error %d" % (call, code))
