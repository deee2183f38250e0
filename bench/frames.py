"""Adds Python frames to a PyTorch trace, as with_stack=True would: around every operator, until there are enough.

usage: frames.py IN.json OUT.json FRAMES

Each operator gets the same number of frames, nested and as long as itself: a module, what passes its call on, its
forward and functions in it. Names repeat as they do in a model of a few dozen files.
"""
import os
import re
import sys

OPERATOR = re.compile(rb'"cat": "cpu_op", "name": "[^"]*", "pid": ([^,]+), "tid": ([^,]+),\s*"ts": ([\d.]+), "dur": ([\d.]+)')
FRAME = b',{"ph": "X", "cat": "python_function", "name": "%s", "pid": %s, "tid": %s, "ts": %s, "dur": %s, "args": {"Python id": %d, "Python parent id": %d, "Ev Idx": %d}}'


def names(operator, depth):
    layer = operator // 40 % 22
    kind = ("Attention", "MLP", "RMSNorm")[operator // 13 % 3]
    yield b"nn.Module: Llama%s_%d" % (kind.encode(), layer)
    yield b"torch/nn/modules/module.py(1783): _call_impl"
    yield b"transformers/models/llama/modeling_llama.py(%d): forward" % (200 + len(kind))
    for level in range(3, depth):
        yield b"model/part%d.py(%d): function%d" % (operator % 30, 10 * level, operator % 7)


def add(source, target, wanted):
    with open(source, "rb") as file:
        text = file.read()
    operators = sum(1 for _ in OPERATOR.finditer(text))
    depth = -(-wanted // operators)
    end = text.rindex(b"]")
    written = 0
    with open(target, "wb") as out:
        out.write(text[:end])
        for operator, (pid, tid, start, duration) in enumerate(match.groups() for match in OPERATOR.finditer(text)):
            for name in list(names(operator, depth))[:depth]:
                if written == wanted:
                    break
                out.write(FRAME % (name, pid, tid, start, duration, written + 1, written, written))
                written += 1
        out.write(text[end:])


if __name__ == "__main__":
    unfinished = sys.argv[2] + ".part"
    add(sys.argv[1], unfinished, int(sys.argv[3]))
    os.replace(unfinished, sys.argv[2])
