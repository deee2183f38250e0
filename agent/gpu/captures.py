"""Reads captures without Stepscope: SQL over nsys exports, JSON of torch traces, expert-load files."""

import bisect
import gzip
import json
import os
import re
import sqlite3
import statistics
from typing import Any, Optional

STEP = re.compile(r"^stepscope\.step (\d+) ctx=(\d+)/(\d+) gen=(\d+)/(\d+)")


def told(markers: list[str]) -> list[Any]:
    """Steps from the markers: iteration, phase, requests, tokens."""
    rows = []
    for text in markers:
        found = STEP.match(text)
        if found:
            number, requests, tokens, decoding, decoded = map(int, found.groups())
            row = ["prefill", requests, tokens] if requests else ["decode", decoding, decoded]
            rows.append([number, *row])
    return rows


def in_nsys(database: str) -> dict[str, Any]:
    with sqlite3.connect(database) as file:
        tables = {name for (name,) in file.execute("select name from sqlite_master where type='table'")}
        ranges = []
        if "NVTX_EVENTS" in tables:
            ranges = file.execute(
                "select coalesce(n.text, s.value), n.start, n.end, n.globalTid from NVTX_EVENTS n"
                " left join StringIds s on s.id = n.textId where n.end is not null order by n.start"
            ).fetchall()
        kernels = nodes = 0
        if "CUPTI_ACTIVITY_KIND_KERNEL" in tables:
            kernels, nodes = file.execute(
                "select count(*), count(graphNodeId) from CUPTI_ACTIVITY_KIND_KERNEL"
            ).fetchone()
        return {
            "steps": told([str(text) for text, *_ in ranges]),
            "layers": sorted({n for text, *_ in ranges for n in re.findall(r"\.layers\.(\d+)$", str(text))}),
            "kernels": kernels,
            "ofThoseGraphNodes": nodes,
            "gateKernels": gate_kernels(file, ranges) if kernels else {},
        }


def gate_kernels(file: sqlite3.Connection, ranges: list[Any]) -> dict[str, int]:
    """GEMMs launched inside router ranges, by name: the gate."""
    routers = [(start, end) for text, start, end, _ in ranges if re.search(r"\.(router|gate)$", str(text))]
    starts = [start for start, _ in routers]
    found: dict[str, int] = {}
    for name, launched in file.execute(
        "select s.value, r.start from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName"
        " join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId"
    ):
        at = bisect.bisect_right(starts, launched) - 1
        if (
            at >= 0
            and launched < routers[at][1]
            and re.search("gemm|nvjet|cutlass|gemv|splitK|^Kernel2", name, re.I)
        ):
            found[name] = found.get(name, 0) + 1
    return found


def in_torch(path: str) -> Optional[dict[str, Any]]:
    if not os.path.exists(path):
        return None
    with gzip.open(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    ranges = sorted(
        (event.get("ts", 0), str(event["name"])) for event in events if event.get("cat") == "user_annotation"
    )
    return {
        "steps": told([name for _, name in ranges]),
        "layers": sorted({n for _, name in ranges for n in re.findall(r"\.layers\.(\d+)$", name)}),
        "kernels": sum(1 for event in events if event.get("cat") == "kernel"),
    }


def in_sidecar(path: str) -> Optional[dict[str, Any]]:
    if not os.path.exists(path):
        return None
    with open(path) as file:
        sidecar = json.load(file)
    return {
        "stepsFrom": sidecar["stepsFrom"],
        "patched": sidecar["patched"],
        "graphs": [
            {**graph, "parts": ["%(name)s %(firstNode)d-%(endNode)d" % part for part in graph["parts"]]}
            for graph in sidecar.get("graphs", [])
        ],
    }


def in_expert_load(path: str) -> Optional[dict[str, Any]]:
    """Over all counted steps and layers: the largest difference between two experts, and max ÷ mean."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        load = json.load(file)
    rows = [row for step in load.get("counts", []) for row in step if sum(row)]
    return {
        "iterations": load["iterations"],
        "layers": [layer["module"] for layer in load["layers"]],
        "tokensTimesTopK": sorted({sum(row) for row in rows}),
        "largestDifference": max((max(row) - min(row) for row in rows), default=None),
        "meanOfMostByMean": statistics.mean(max(row) * len(row) / sum(row) for row in rows) if rows else None,
    }
