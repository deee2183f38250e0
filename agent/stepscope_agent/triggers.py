"""Windows requested at run time: by SIGUSR2, and by touching or writing a file.

The file is empty (the default number of steps) or contains a number of steps or `A-B`, in the agent's iteration count.
A file that exists at startup counts only after it is touched again.
"""

import os
import signal
import stat
import sys
import threading
import time
from typing import Any, Callable, Optional

from .log import reason, say, say_once

POLL_NS = 20_000_000


class TriggerFile:
    def __init__(self, path: str) -> None:
        self._path = path
        self._next_poll = 0
        self._seen = self._state()

    def _state(self) -> Optional[tuple[int, int]]:
        try:
            found = os.stat(self._path)
            return found.st_mtime_ns, found.st_size
        except OSError:
            return None

    def poll(self) -> Optional[str]:
        """The file's content, once per touch; None if nothing is new."""
        now = time.monotonic_ns()
        if now < self._next_poll:
            return None
        self._next_poll = now + POLL_NS
        state = self._state()
        if state is None or state == self._seen:
            self._seen = state
            return None
        self._seen = state
        try:
            return _read_beginning(self._path)
        except OSError as error:
            say_once("%s cannot be read: %s" % (self._path, reason(error)))
            return None


def _read_beginning(path: str) -> Optional[str]:
    """Non-blocking: a pipe or a device in place of the file must not block the program."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            say_once("%s is not a regular file and is ignored as a trigger" % path)
            return None
        return os.read(handle, 200).decode("utf-8", "replace").strip()
    finally:
        os.close(handle)


def listen_for_signal(on_signal: Callable[[], None]) -> None:
    if threading.current_thread() is not threading.main_thread():
        say_once("SIGUSR2 is not available: the agent was not loaded by the main thread")
        return
    if signal.getsignal(signal.SIGUSR2) is not signal.SIG_DFL:
        say_once("the program handles SIGUSR2 itself; use STEPSCOPE_TRIGGER=FILE to open windows")
        return

    def handle(_number: int, _frame: Any) -> None:
        on_signal()

    signal.signal(signal.SIGUSR2, handle)


class Termination:
    """SIGTERM ends Python silently. If the program does not handle it, close the window first, then end as before.

    nsys sends SIGTERM as soon as a captured range ends, while the files of that range are still being written: the
    signal is then deferred. The handler is installed only while there is data to lose, because Python handles signals
    between bytecode instructions, and a process that hangs in a library could otherwise not be ended by SIGTERM.
    """

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close
        self._writing = 0
        self._held_back = False

    def listen(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._handle)

    def stop_listening(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) == self._handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _handle(self, _number: int, _frame: Any) -> None:
        if self._writing:
            self._held_back = True
            return
        try:
            self._close()
        except Exception as error:
            say("the window was not closed: %s" % reason(error))
        self._end()

    def _end(self) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    def __enter__(self) -> None:
        self._writing += 1

    def __exit__(self, *_error: Any) -> None:
        self._writing -= 1
        if self._held_back and self._writing == 0:
            self._held_back = False
            self._end()


def finish_with_worker(finish: Callable[[], None]) -> None:
    """A process forked by multiprocessing does not run atexit handlers; it has its own list of finalizers."""
    process = sys.modules.get("multiprocessing.process")
    util = sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, finish, exitpriority=100)
