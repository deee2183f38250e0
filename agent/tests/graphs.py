"""CUDA graphs without a GPU: fake graphs that record calls, and a fake driver whose nodes are the calls of `linear`.
`graphs.py NAME` runs one; test/agent.test.ts checks the agent's output."""

import json
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

"""Node types, with the driver's numbers."""
KERNEL, MEMSET = 0, 2


class FakeDriver:
    """Like libcuda: results through pointers, 0 for success."""

    def __init__(self) -> None:
        self.kinds: list[int] = []
        self.dependencies: list[int] = []
        self.is_capturing = False
        self.error = 0

    def add(self, kind: int = KERNEL, dependencies: int = 1) -> None:
        self.dependencies.append(dependencies if self.kinds else 0)
        self.kinds.append(kind)

    def cuStreamGetCaptureInfo_v3(self, stream: Any, status: Any, _id: Any, graph: Any, *_more: Any) -> int:
        status._obj.value, graph._obj.value = 1, 0xABC
        return self.error

    def cuGraphGetNodes(self, _graph: Any, nodes: Any, count: Any) -> int:
        if nodes is not None:
            for i in range(len(nodes)):
                nodes[i] = i + 1
        count._obj.value = len(self.kinds)
        return 0

    def cuGraphNodeGetType(self, node: Any, kind: Any) -> int:
        kind._obj.value = self.kinds[node.value - 1]
        return 0

    def cuGraphNodeGetDependencies_v2(self, node: Any, _nodes: Any, _edges: Any, count: Any) -> int:
        count._obj.value = self.dependencies[node.value - 1]
        return 0


def install() -> Any:
    """Runs before the agent inspects torch."""
    import torch

    driver = FakeDriver()

    class CUDAGraph:
        def capture_begin(self) -> None:
            driver.kinds, driver.dependencies, driver.is_capturing = [], [], True

        def capture_end(self) -> None:
            driver.is_capturing = False

        def replay(self) -> None:
            pass

    torch.cuda.CUDAGraph = CUDAGraph
    torch.cuda.is_initialized = lambda: True
    torch.cuda.is_current_stream_capturing = lambda: driver.is_capturing
    torch.cuda.current_stream = lambda: type("Stream", (), {"cuda_stream": 7})

    linear = torch.nn.functional.linear

    def counted(*args: Any, **kwargs: Any) -> Any:
        if driver.is_capturing:
            driver.add()
        return linear(*args, **kwargs)

    torch.nn.functional.linear = counted

    import stepscope_agent
    from stepscope_agent.graph_parts import Driver

    if stepscope_agent._session is not None:
        stepscope_agent._session.graphs._driver = Driver(driver)
    return driver


def captured(model: Any, rows: int) -> Any:
    import models
    import torch

    graph = torch.cuda.CUDAGraph()
    graph.capture_begin()
    model(models.prompt(rows, 1))
    graph.capture_end()
    return graph


def replays() -> None:
    """A forward during capture is not a step; a replay is one, with its batch."""
    install()
    import models
    import torch

    import stepscope_agent

    model = models.model()
    with torch.no_grad():
        model(models.prompt(2, 5))
        graph, other = captured(model, 4), torch.cuda.CUDAGraph()
        for _ in range(3):
            graph.replay()
            # A graph without a model in it belongs to something else.
            other.replay()
    print(json.dumps({"iteration": stepscope_agent.iteration()}))


def parts() -> None:
    """Two batch sizes of one model, a graph with a memset in front, one with branches, and one without a model."""
    driver = install()
    import models
    import torch

    model = models.model()
    with torch.no_grad():
        model(models.prompt(2, 5))
        captured(model, 4)
        captured(model, 8)
        plain = model.forward

        def after_memset(*args: Any, **kwargs: Any) -> Any:
            driver.add(MEMSET)
            return plain(*args, **kwargs)

        model.forward = after_memset
        captured(model, 4)

        def then_join(*args: Any, **kwargs: Any) -> Any:
            result = plain(*args, **kwargs)
            driver.add(KERNEL, 2)
            return result

        model.forward = then_join
        captured(model, 4)
        empty = torch.cuda.CUDAGraph()
        empty.capture_begin()
        driver.add()
        empty.capture_end()
    print(json.dumps({"names": [name for name, _ in model.named_modules()]}))


def fails() -> None:
    """The driver returns an error: capturing continues."""
    driver = install()
    driver.error = 1
    import models
    import torch

    model = models.model()
    with torch.no_grad():
        model(models.prompt(2, 5))
        captured(model, 4).replay()
    print("{}")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
