"""Put this folder on PYTHONPATH and Python runs this file at start: it switches the agent on where a variable asks
for it, and hands over to whatever other sitecustomize the path holds, which it would otherwise hide.
"""

import os
import sys


def _is_asked_for() -> bool:
    for name in os.environ:
        if name.startswith("STEPSCOPE_"):
            return True
    return "TLLM_PROFILE_START_STOP" in os.environ or os.environ.get("ENABLE_PERFECT_ROUTER") == "1"


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


if _is_asked_for():
    try:
        import stepscope_agent

        stepscope_agent.activate()
    except Exception as error:  # The host must start whatever happens here.
        sys.stderr.write("stepscope: the agent did not start: %s\n" % (error,))

_run_hidden_sitecustomize()
