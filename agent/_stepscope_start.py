"""Runs whenever Python starts where the agent is within reach: by `stepscope_agent.pth` where it is installed, by
`sitecustomize.py` where its folder is on PYTHONPATH. It decides whether the agent is wanted, the one place that does.

Most starts of Python want no agent and pay for this file all the same. So it imports nothing that Python has not loaded
by then, and the package is imported only once a variable asks for it.
"""

import os
import sys

"""Any of these asks for the agent, unless it is empty. By name, not by `STEPSCOPE_`: the command line tool has
variables of its own (`STEPSCOPE_CACHE` lives in people's shells), and what it captures inherits
`STEPSCOPE_CAPTURE_ID`."""
STEP_VARIABLES = (
    "STEPSCOPE_PROFILE_START_STOP",
    "STEPSCOPE_MARKERS",
    "STEPSCOPE_SIDECAR",
    "STEPSCOPE_TORCH_TRACE",
    "STEPSCOPE_TRIGGER",
    "STEPSCOPE_EXPERT_LOAD",
    "STEPSCOPE_LIVE_STEPS",
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
    """Both ways may lead here in one process: the agent starts once."""
    if not is_asked_for():
        return
    try:
        import stepscope_agent

        stepscope_agent.activate()
    except Exception as error:  # The host must start whatever happens here.
        sys.stderr.write("stepscope: the agent did not start: %s\n" % (error,))
