"""The offline benchmark of SGLang (`sgl_bench.py` on PYTHONPATH), which loads first and measures when it is its turn.

    sglang_engine.py --gate DIR --name NAME [arguments of sgl_bench.py]
"""

import os
import sys
import time


def value_of(option):
    at = sys.argv.index(option)
    value = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return value


if __name__ == "__main__":
    gate, name = value_of("--gate"), value_of("--name")
    from sglang.srt.entrypoints.engine import Engine

    load = Engine.__init__

    def load_and_wait(self, **settings):
        load(self, **settings)
        open(os.path.join(gate, "ready." + name), "w").close()
        while not os.path.exists(os.path.join(gate, "go." + name)):
            time.sleep(0.2)

    Engine.__init__ = load_and_wait
    import sgl_bench

    try:
        sgl_bench.main()
    finally:
        open(os.path.join(gate, "done." + name), "w").close()
