"""Counts steps, opens and closes windows, and passes each step to its recorders. One instance per process.

Outside windows a step costs an increment, a comparison and a row of quiet_steps.py: `_quiet_before` is the first
iteration that needs more.

    iteration     0  1  2  3  4  5  6  7
    window 3-5             [--------]
    closed by                        start of 6, end of the engine's pass over 5, or end of the process
"""

import atexit
import contextlib
import itertools
import os
import threading
import time
from typing import Any, Optional

from .capture import WindowCapture
from .expert_load import ExpertLoad
from .gc_watch import GcWatch
from .graph_parts import GraphParts
from .host_counters import HostCounters
from .log import reason, say, say_once
from .open_step import FactsReader, OpenStep, facts_of
from .progress import Progress
from .quiet_steps import QuietSteps
from .ranges import ranges
from .request_ids import IdTable
from .settings import Settings
from .sidecar import Sidecar, StepRow
from .soon_writer import SoonWriter
from .triggers import Termination, TriggerFile, finish_with_worker, listen_for_signal
from .windows import Window, parse_windows

NEVER = float("inf")


class Session:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.is_off = False
        self.is_live = False
        self.last_begun = -1
        self._lock = threading.RLock()
        self._local = threading.local()
        self._asked: list[Window] = list(settings.windows)
        self._windows: list[Window] = list(self._asked)
        self._open_window: Optional[Window] = None
        self._windows_run: list[Window] = []
        self._live_requests = 0
        self._numbers = itertools.count()
        self._source_rank = -1
        self._ended_iteration = -1
        self._capture = WindowCapture(settings)
        self._trigger = TriggerFile(settings.trigger) if settings.trigger else None
        self._progress = Progress(settings.progress) if settings.progress else None
        self._sidecar = Sidecar(settings.sidecar)
        """None if every step is recorded and marked: then no step is undisturbed."""
        self._quiet = None if settings.covers_everything else QuietSteps(settings.calibrate)
        self._quiet_written = 0
        self._soon = SoonWriter(self.write)
        self._write_lock = threading.Lock()
        self.experts = ExpertLoad(settings.expert_load) if settings.expert_load else None
        self.graphs = GraphParts()
        self._host = HostCounters()
        self._gc = GcWatch(lambda: self.is_live, "gc" in settings.markers)
        self._termination = Termination(self.finish)
        self._quiet_before: float = NEVER
        self._finished = False
        self._set_quiet()
        if settings.covers_everything:
            self._go_live()

    def install(self) -> None:
        """Everything with effects outside the agent: callbacks, signals, process exit, forks."""
        self._gc.install()
        if self.settings.covers_everything:
            if self.settings.sidecar or self.experts:
                self._termination.listen()
        elif not self.settings.calibrate:
            listen_for_signal(self._ask_for_window)
        atexit.register(self.finish)
        os.register_at_fork(after_in_child=self._forked)

    # --- steps -------------------------------------------------------------------------------------------------

    @property
    def source_rank(self) -> int:
        return self._source_rank

    def claim(self, source_rank: int) -> None:
        """Only this source, or a more specific one, produces steps: an engine's warm-up forwards do not count."""
        self._source_rank = max(self._source_rank, source_rank)

    def disclaim(self) -> None:
        self._source_rank = -1

    def leave_windows_to_engine(self) -> None:
        """The engine reads the same variable and starts the profilers itself."""
        with self._lock:
            self._asked = []
            self._windows = []
            self._set_quiet()

    @property
    def is_in_step(self) -> bool:
        return getattr(self._local, "depth", 0) > 0

    def begin(
        self,
        source: str,
        source_rank: int,
        read_facts: FactsReader,
        number: Optional[int] = None,
        closes_window: bool = False,
        is_marked: bool = True,
    ) -> Optional[OpenStep]:
        """None if this is not a separate step: inside another, from a less specific source, or the agent is off."""
        if self.is_off or self.is_in_step or source_rank < self._source_rank:
            return None
        try:
            if source_rank > self._source_rank:
                self._take_over(source_rank)
            # next() on a counter is atomic across threads.
            counted = next(self._numbers)
            iteration = counted if number is None else number
            step = OpenStep(iteration, closes_window)
            self.last_begun = iteration
            if iteration >= self._quiet_before:
                self._edge(iteration)
            if self.is_live:
                self._record(step, source, read_facts, is_marked)
            elif self._quiet is not None:
                step.facts = facts_of(read_facts, False)
                step.quiet_start = time.monotonic_ns()
            if self._progress is not None:
                self._progress.note(iteration, step.facts)
            self._local.depth = 1
            return step
        except Exception as error:
            self.switch_off(error)
            return None

    def end(self, step: Optional[OpenStep], failed: bool = False) -> None:
        if step is None:
            return
        self._local.depth = 0
        self._ended_iteration = step.iteration
        try:
            if step.row is not None:
                while step.open_ranges:
                    step.open_ranges -= 1
                    ranges.pop()
                step.row.end(failed)
                if self.settings.covers_everything:
                    self._soon.ask()
                if self.experts and self.is_live:
                    self.experts.end_step(step.iteration)
            elif step.quiet_start and not failed:
                self._keep_quiet(step)
            if step.closes_window:
                self.settle()
        except Exception as error:
            self.switch_off(error)

    def settle(self) -> None:
        """The engine has finished its last step: a window that ends with it does not wait for the next one."""
        window = self._open_window
        if window is not None and self._ended_iteration >= window.last:
            with self._lock:
                self._close_window()
                self._set_quiet()

    def _record(self, step: OpenStep, source: str, read_facts: FactsReader, is_marked: bool) -> None:
        step.facts = facts = facts_of(read_facts, True)
        markers = self.settings.markers
        if is_marked and "step" in markers:
            ranges.push(facts.marker(step.iteration))
            step.open_ranges += 1
        if "phase" in markers:
            ranges.push("stepscope.%s" % facts.phase)
            step.open_ranges += 1
        if self.experts:
            self.experts.begin_step()
        if self.settings.covers_everything and not self._sidecar.rows:
            finish_with_worker(self.finish)
        step.row = StepRow(step.iteration, facts, source, len(self._windows_run))
        self._sidecar.add(step.row)

    def _keep_quiet(self, step: OpenStep) -> None:
        quiet = self._quiet
        if quiet is None:
            return
        kept = quiet.kept
        if quiet.add(step.iteration, step.quiet_start, step.facts):
            self._host.quiet_steps_end(step.iteration + 1)
            self._write_after_window()
        elif self.settings.calibrate and kept == 0 < quiet.kept:
            # From now on there is something to write, however the process ends.
            finish_with_worker(self.finish)
            self._termination.listen()

    def _take_over(self, source_rank: int) -> None:
        """A more specific source of steps (an engine, the user) restarts the count."""
        with self._lock:
            if source_rank > self._source_rank:
                self._source_rank = source_rank
                self._numbers = itertools.count()
                if self.experts:
                    self.experts.forget_steps()
                # Windows that were used up by less specific steps are opened again.
                self._close_window()
                self._windows = list(self._asked)
                if self._quiet is not None:
                    self._quiet.clear()
                self._host.clear()
                self._set_quiet()

    # --- windows -----------------------------------------------------------------------------------------------

    def _edge(self, iteration: int) -> None:
        with self._lock:
            self._hear_requests(iteration)
            window = self._open_window
            if window is not None and iteration > window.last:
                self._close_window()
            if self._open_window is None:
                self._windows = [one for one in self._windows if one.last >= iteration]
                if self._windows and self._windows[0].first <= iteration:
                    self._open(self._windows.pop(0))
            self._set_quiet()

    def _hear_requests(self, iteration: int) -> None:
        if self._live_requests:
            self._live_requests = 0
            self._plan(Window(iteration, iteration + self.settings.live_steps - 1))
        text = self._trigger.poll() if self._trigger else None
        if text is None:
            return
        try:
            if text == "" or text.isdigit():
                steps = int(text) if text else self.settings.live_steps
                self._plan(Window(iteration, iteration + max(1, steps) - 1))
            else:
                for window in parse_windows(text):
                    self._plan(window)
        except ValueError as error:
            say("the trigger file is invalid: %s" % error)

    def _plan(self, window: Window) -> None:
        if self._open_window is not None and window.first <= self._open_window.last:
            say_once("a window is already open; requests that overlap it are ignored")
            return
        self._windows = sorted([*self._windows, window])

    def _ask_for_window(self) -> None:
        """Called by a signal handler, at any point: sets a flag for the next step."""
        self._live_requests = 1
        self._quiet_before = -1

    def _set_quiet(self) -> None:
        if self._trigger is not None or self._live_requests:
            self._quiet_before = -1
        elif self._open_window is not None:
            self._quiet_before = self._open_window.last + 1
        else:
            self._quiet_before = self._windows[0].first if self._windows else NEVER

    def _open(self, window: Window) -> None:
        self._open_window = window
        self._windows_run.append(window)
        if self._quiet is not None:
            self._quiet.window_opens(len(self._windows_run))
        finish_with_worker(self.finish)
        self._termination.listen()
        self._capture.open()
        self._host.window_opens(len(self._windows_run), self.last_begun)
        self._go_live()

    def _go_live(self) -> None:
        self.is_live = True
        if self.experts:
            self.experts.begin_window()

    def _close_window(self) -> None:
        if self._open_window is None:
            return
        self._host.window_closes(self._ended_iteration + 1)
        self._open_window = None
        self.is_live = self.settings.covers_everything
        if self.experts and not self.is_live:
            self.experts.end_window()
        with self._termination:
            self._capture.close()
            self.write()
        if self._quiet is not None:
            self._quiet.window_closes(len(self._windows_run))
        self._host.quiet_steps_begin(self._ended_iteration + 1)
        self._stop_listening()

    def _stop_listening(self) -> None:
        if not self.is_live and not (self._quiet is not None and self._quiet.is_filling):
            self._termination.stop_listening()

    def _write_after_window(self) -> None:
        """A server may run for days and be killed: its file is completed now, next to the steps and not in one."""
        self._stop_listening()
        # No thread starts in a process that is ending; the end itself writes.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=self.write, name="stepscope-write", daemon=True).start()

    def write(self) -> None:
        with self._write_lock:
            self._write()

    def _write(self) -> None:
        try:
            expert_files = self.experts.write() if self.experts else None
        except Exception as error:
            expert_files = None
            say_once("expert counts were not written: %s" % reason(error))
        named = self.settings.sidecar and self.last_begun >= 0
        if not (self._windows_run or named or self._lacks_quiet_steps):
            # Servers run in several processes, all with the same variables; only the one with steps writes.
            return
        traces = self._capture.torch_traces
        extra: dict[str, Any] = {
            "windows": [[window.first, window.last] for window in self._windows_run],
            "torchTraces": [os.path.basename(trace) for trace in traces],
            "expertLoad": expert_files,
            "nvtx": ranges.nvtx_library,
            "gcPausesLeftOut": self._gc.left_out,
            **self._host.as_json(),
            **self.graphs.as_json(self._sidecar.origin.wall),
        }
        if self.settings.calibrate:
            extra["calibrated"] = [[window.first, window.last] for window in self.settings.calibrate]
        quiet = 0
        ids = IdTable()
        if self._quiet is not None:
            quiet = self._quiet.kept
            extra.update(self._quiet.as_json(self._sidecar.origin.monotonic, ids))
        try:
            self._sidecar.write(extra, self._gc.pauses, traces[0] if traces else None, ids)
            self._quiet_written = quiet
        except Exception as error:
            say_once("the sidecar was not written: %s" % reason(error))

    @property
    def _lacks_quiet_steps(self) -> bool:
        return self._quiet is not None and self._quiet.kept != self._quiet_written

    # --- ends --------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """At exit, once: closes the open window and writes the recorded data."""
        with self._lock:
            if self._finished or self.is_off:
                return
            self._finished = True
            self._gc.remove()
            try:
                if self._open_window is not None:
                    self._close_window()
                elif self.settings.covers_everything or self._lacks_quiet_steps:
                    with self._termination:
                        self.write()
            except Exception as error:
                say_once("the window was not closed: %s" % reason(error))

    def switch_off(self, error: BaseException) -> None:
        self.is_off = True
        self.is_live = False
        self._local.depth = 0
        self._gc.remove()
        say_once("the agent is off: %s" % reason(error))

    def _forked(self) -> None:
        """A child forked before the first step may be the one that runs them. A child forked later is a helper of the
        profiled program and must not overwrite its files."""
        self._lock = threading.RLock()
        self._write_lock = threading.Lock()
        self._soon = SoonWriter(self.write)
        self._local = threading.local()
        had_begun = self.last_begun >= 0
        self._capture.abandon()
        self._open_window = None
        self._sidecar.rows = []
        self._gc.pauses = []
        self._host.clear()
        if self._quiet is not None:
            self._quiet.clear()
        if had_begun:
            self.is_off = True
            self.is_live = False
            self._finished = True
            self._gc.remove()
