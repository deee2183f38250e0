"""Settings from environment variables, read once. Values are never written anywhere."""

import os
from collections.abc import Mapping
from typing import NamedTuple, Optional

from _stepscope_start import STEP_VARIABLES

from .log import say
from .windows import Window, parse_windows

MARKERS = ("step", "phase", "layers", "attention", "mlp", "moe", "sampling", "gc")


class Settings(NamedTuple):
    windows: list[Window]
    """Steps whose times are noted instead of recording windows: what they take without a profiler."""
    calibrate: list[Window]
    """Only from TLLM_PROFILE_START_STOP, which TensorRT-LLM handles itself."""
    windows_are_engines: bool
    step_target: Optional[str]
    torch_trace: Optional[str]
    record_shapes: bool
    with_stack: bool
    profile_memory: bool
    live_steps: int
    trigger: Optional[str]
    progress: Optional[str]
    markers: frozenset[str]
    marker_depth: int
    expert_load: Optional[str]
    sidecar: Optional[str]
    perfect_router: bool
    ep_size: int
    ep_rank: Optional[int]
    """Everything except the perfect router needs to know where steps begin."""
    watches_steps: bool
    """Without windows or a way to open one, markers, sidecar and expert counts cover every step."""
    covers_everything: bool


def _flag(environ: Mapping[str, str], name: str, default: bool = False) -> bool:
    value = environ.get(name, "").strip().lower()
    return default if value == "" else value not in ("0", "false", "no", "off")


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    value = environ.get(name, "").strip()
    if value == "":
        return default
    if not value.isdigit():
        say("%s must be an integer; using %d" % (name, default))
        return default
    return int(value)


def _path(environ: Mapping[str, str], name: str) -> Optional[str]:
    """Relative to the start folder: the program may change its folder before anything is written."""
    value = environ.get(name, "").strip()
    return os.path.abspath(value) if value else None


def _markers(environ: Mapping[str, str]) -> frozenset[str]:
    if "STEPSCOPE_MARKERS" not in environ:
        # A user who sets a window wants to see the steps in it.
        return frozenset(("step", "gc"))
    names = [name.strip().lower() for name in environ["STEPSCOPE_MARKERS"].split(",")]
    if "all" in names:
        return frozenset(MARKERS)
    unknown = [name for name in names if name not in MARKERS and name not in ("", "none", "0")]
    if unknown:
        say("unknown markers %s; known: %s, all, none" % (", ".join(unknown), ", ".join(MARKERS)))
    return frozenset(name for name in names if name in MARKERS)


def read_settings(environ: Optional[Mapping[str, str]] = None) -> Settings:
    environ = os.environ if environ is None else environ
    own = environ.get("STEPSCOPE_PROFILE_START_STOP", "").strip()
    engines = environ.get("TLLM_PROFILE_START_STOP", "").strip()
    windows: list[Window] = []
    try:
        windows = parse_windows(own or engines)
    except ValueError as error:
        say("no window will be recorded: %s" % error)
    calibrate: list[Window] = []
    try:
        calibrate = parse_windows(environ.get("STEPSCOPE_CALIBRATE", ""))
    except ValueError as error:
        say("no step will be noted: %s" % error)
    ep_rank = environ.get("STEPSCOPE_EP_RANK", "").strip()
    recorded = ("STEPSCOPE_MARKERS", "STEPSCOPE_SIDECAR", "STEPSCOPE_EXPERT_LOAD")
    waits = bool(own or engines) or any(
        name in environ
        for name in (
            "STEPSCOPE_TRIGGER",
            "STEPSCOPE_LIVE_STEPS",
            "STEPSCOPE_TORCH_TRACE",
            "STEPSCOPE_CALIBRATE",
        )
    )
    return Settings(
        windows=[] if calibrate else windows,
        calibrate=calibrate,
        windows_are_engines=bool(engines) and not own,
        step_target=environ.get("STEPSCOPE_STEP", "").strip() or None,
        torch_trace=_path(environ, "STEPSCOPE_TORCH_TRACE"),
        record_shapes=_flag(environ, "STEPSCOPE_TORCH_SHAPES"),
        with_stack=_flag(environ, "STEPSCOPE_TORCH_STACK"),
        profile_memory=_flag(environ, "STEPSCOPE_TORCH_MEMORY"),
        live_steps=max(1, _number(environ, "STEPSCOPE_LIVE_STEPS", 20)),
        trigger=None if calibrate else _path(environ, "STEPSCOPE_TRIGGER"),
        progress=_path(environ, "STEPSCOPE_PROGRESS"),
        markers=_markers(environ),
        marker_depth=_number(environ, "STEPSCOPE_MARKER_DEPTH", 0),
        expert_load=_path(environ, "STEPSCOPE_EXPERT_LOAD"),
        sidecar=_path(environ, "STEPSCOPE_SIDECAR"),
        perfect_router=environ.get("ENABLE_PERFECT_ROUTER") == "1",
        ep_size=max(1, _number(environ, "STEPSCOPE_EP_SIZE", 1)),
        ep_rank=int(ep_rank) if ep_rank.isdigit() else None,
        watches_steps=any(environ.get(name) for name in STEP_VARIABLES),
        covers_everything=not waits and any(environ.get(name) for name in recorded),
    )
