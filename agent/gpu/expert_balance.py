"""Reads the agent's expert counts (docs/agent-format.md) and says how balanced they are."""

import glob
import json
import os
import struct
import time


def counts_in(path: str) -> tuple:
    """The agent's header, and counts[step][layer][expert]."""
    with open(path) as file:
        head = json.load(file)
    if "counts" in head:
        return head, head["counts"]
    with open(os.path.join(os.path.dirname(path), head["countsFile"]), "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    layers, experts = len(head["layers"]), head["experts"]
    values = struct.unpack("<%di" % ((len(data) - start) // 4), data[start:])
    rows = [list(values[i : i + experts]) for i in range(0, len(values), experts)]
    return head, [rows[i : i + layers] for i in range(0, len(rows), layers)]


def balance(path: str, batch: int, top_k: int) -> dict:
    """Over the decode steps of the full batch: max ÷ mean per step and layer, and the largest max - min."""
    head, steps = counts_in(path)
    decode = [step for step in steps if all(sum(row) == batch * top_k for row in step)]
    used = decode or steps
    rows = [row for step in used for row in step if sum(row)]
    ratios = [[max(row) * len(row) / sum(row) for row in step if sum(row)] for step in used]
    layers = [sum(column) / len(column) for column in zip(*ratios)]
    return {
        "steps_counted": len(steps),
        "full_decode_steps": len(decode),
        "layers": len(head["layers"]),
        "max_over_mean": round(sum(layers) / len(layers), 4) if layers else None,
        "max_over_mean_by_layer": [round(value, 3) for value in layers],
        "largest_difference": max((max(row) - min(row) for row in rows), default=None),
        "tokens_per_step": sorted({sum(row) / top_k for row in rows})[:8],
    }


def wait_for(pattern: str) -> list:
    for _ in range(100):
        found = sorted(glob.glob(pattern))
        if found:
            time.sleep(0.2)
            return found
        time.sleep(0.2)
    return []
