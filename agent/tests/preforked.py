"""Runs scenarios in forks of a process that has linked torch's libraries: linking takes half the time of a short one.

usage: preforked.py serve SOCKET
       preforked.py run SOCKET PROGRAM ARGUMENT…

`run` has the program run there, in its own folder, with its own variables and output, and ends as it ends. Before the
fork, nothing of torch or of the agent is imported: both start in the fork, as they do when Python starts.
"""

import array
import contextlib
import json
import os
import signal
import socket
import sys
import time
from types import ModuleType
from typing import Any

START_SECONDS = 60


def link_torch() -> None:
    import ctypes
    import glob
    import importlib.util

    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        sys.exit("no torch")
    for library in glob.glob(os.path.join(os.path.dirname(found.origin), "_C.*.so")):
        ctypes.CDLL(library)


def serve(place: str) -> "dict[str, Any]":
    """Forks for each request. Returns in the fork, with the request."""
    link_torch()
    server = socket.socket(socket.AF_UNIX)
    server.bind(place)
    server.listen()
    while True:
        connection, _ = server.accept()
        handles = array.array("i")
        text, [(_, _, given)], _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(2 * handles.itemsize))
        handles.frombytes(given)
        child = os.fork()
        if child == 0:
            server.close()
            connection.close()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for handle, target in zip(handles, (1, 2)):
                os.dup2(handle, target)
                os.close(handle)
            request: dict[str, Any] = json.loads(text)
            return request
        for handle in handles:
            os.close(handle)
        status = os.waitpid(child, 0)[1]
        connection.sendall(str(status).encode())
        connection.close()


def become(words: "list[str]", folder: str, variables: "dict[str, str]") -> None:
    """What Python does at its start, from here on."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    own = variables.get("PYTHONPATH", "")
    sys.path[0:1] = own.split(os.pathsep) if own else []
    sys.modules.pop("sitecustomize", None)
    with contextlib.suppress(ImportError):
        import sitecustomize  # noqa: F401
    sys.argv = words
    sys.path.insert(0, os.path.dirname(words[0]))
    main = ModuleType("__main__")
    main.__file__ = words[0]
    sys.modules["__main__"] = main
    with open(words[0]) as file:
        program = compile(file.read(), words[0], "exec")
    exec(program, main.__dict__)


def run(place: str, words: "list[str]") -> None:
    connection = socket.socket(socket.AF_UNIX)
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connection.connect(place)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    request = {"words": words, "folder": os.getcwd(), "variables": dict(os.environ)}
    handles = array.array("i", [1, 2])
    connection.sendmsg([json.dumps(request).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
    status = int(connection.recv(100))
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2], sys.argv[3:])
    else:
        become(**serve(sys.argv[2]))
