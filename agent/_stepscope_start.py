"""Runs at every Python start: from `stepscope_agent.pth` if the agent is installed, from `sitecustomize.py` if its
folder is on PYTHONPATH. This is the only place that decides whether the agent is enabled.

Most Python processes do not use the agent but still pay for this file. It therefore imports only modules that Python
has already loaded, and imports the package only if a variable enables it.
"""

import os
import sys

"""Any of these enables the agent, unless it is empty. Matched by name, not by the prefix `STEPSCOPE_`: the command line
tool has its own variables (users set `STEPSCOPE_CACHE` in their shells), and captured programs inherit
`STEPSCOPE_CAPTURE_ID`."""
STEP_VARIABLES = (
    "STEPSCOPE_PROFILE_START_STOP",
    "STEPSCOPE_MARKERS",
    "STEPSCOPE_SIDECAR",
    "STEPSCOPE_TORCH_TRACE",
    "STEPSCOPE_TRIGGER",
    "STEPSCOPE_PROGRESS",
    "STEPSCOPE_EXPERT_LOAD",
    "STEPSCOPE_LIVE_STEPS",
    "STEPSCOPE_CALIBRATE",
    "STEPSCOPE_STEP",
    "STEPSCOPE_MARKER_DEPTH",
    "STEPSCOPE_TORCH_SHAPES",
    "STEPSCOPE_TORCH_STACK",
    "STEPSCOPE_TORCH_MEMORY",
    "TLLM_PROFILE_START_STOP",
)


def is_asked_for() -> bool:
    for name in STEP_VARIABLES:
        if os.environ.get(name):
            return True
    return os.environ.get("ENABLE_PERFECT_ROUTER") == "1"


def start() -> None:
    """Both start paths may run in one process: the agent starts only once."""
    if not is_asked_for():
        return
    try:
        import stepscope_agent

        stepscope_agent.activate()
    except Exception as error:  # The host program must start in any case.
        sys.stderr.write("stepscope: the agent did not start: %s\n" % (error,))
