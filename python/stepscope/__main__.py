"""`stepscope` and `python -m stepscope`: the command line, as npm installs it."""

from __future__ import annotations

import os
import subprocess
import sys

from ._engine import EngineMissing, command


def main() -> int:
    try:
        words = command(sys.argv[1:])
    except EngineMissing as error:
        sys.stderr.write("stepscope: %s\n" % error)
        return 3
    if os.name == "posix":
        # The engine takes the place of this process: signals and the terminal are its own.
        sys.stdout.flush()
        os.execv(words[0], words) if os.path.isabs(words[0]) else os.execvp(words[0], words)
    return subprocess.run(words).returncode


if __name__ == "__main__":
    sys.exit(main())
