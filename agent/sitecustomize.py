"""Python runs this file at startup if this folder is on PYTHONPATH. It starts the agent if a variable enables it, then
runs any other sitecustomize on the path, which this file would otherwise shadow.

The wheel does not contain this file: its .pth file does the same and shadows nothing.
"""

import os
import sys

import _stepscope_start


def _run_hidden_sitecustomize() -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None or spec.origin == __file__:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_stepscope_start.start()
_run_hidden_sitecustomize()
