"""Repeats a real capture in time to reach the requested size.

usage: grow.py IN.sqlite[.gz] | IN.json[.gz]  OUT  COPIES

Copy k of every event is shifted by k spans and gets unique correlation ids, so that launches match only their own
kernels and nothing overlaps. Otherwise a tool that joins launches with kernels would process every pair of copies.
"""
import gzip
import os
import re
import sqlite3
import sys

EVENT_TABLES = [
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "NVTX_EVENTS",
]
GAP_NS = 1_000_000


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as source:
        return source.read()


def grow_sqlite(source, target, copies):
    with open(target, "wb") as out:
        out.write(read(source))
    database = sqlite3.connect(target)
    database.execute("pragma journal_mode=off")
    database.execute("pragma synchronous=off")
    runtime = "CUPTI_ACTIVITY_KIND_RUNTIME"
    first, last, highest = database.execute(f"select min(start), max(end), max(correlationId) from {runtime}").fetchone()
    span = last - first + GAP_NS
    for table in EVENT_TABLES:
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        if not columns:
            continue
        moved = {"start": "start + :time", "end": "end + :time", "correlationId": "correlationId + :id"}
        wanted = ", ".join(moved.get(column, f'"{column}"') for column in columns)
        database.execute(f"create temp table original as select * from {table}")
        for copy in range(1, copies):
            shift = {"time": copy * span, "id": copy * (highest + 1)}
            database.execute(f"insert into {table} select {wanted} from original", shift)
        database.execute("drop table original")
    database.commit()


def grow_kineto(source, target, copies):
    text = read(source)
    opening = b'"traceEvents": ['
    begin = text.index(opening) + len(opening)
    end = text.rindex(b"]")
    head, events, tail = text[:begin], text[begin:end].rstrip().rstrip(b","), text[end:]
    moved = re.compile(rb'"(ts|correlation|External id|id)": (\d+)')
    found = [(match[1], int(match[2])) for match in moved.finditer(events)]
    stamps = [number for key, number in found if key == b"ts"]
    span = max(stamps) - min(stamps) + GAP_NS // 1000
    ids = max(number for key, number in found if key != b"ts") + 1
    with open(target, "wb") as out:
        out.write(head)
        for copy in range(copies):
            if copy:
                out.write(b",")
            later = lambda match: b'"%s": %d' % (match[1], int(match[2]) + copy * (span if match[1] == b"ts" else ids))
            out.write(moved.sub(later, events) if copy else events)
        out.write(b"\n" + tail)


if __name__ == "__main__":
    source, target, copies = sys.argv[1], sys.argv[2], int(sys.argv[3])
    unfinished = target + ".part"
    grow = grow_kineto if ".json" in os.path.basename(source) else grow_sqlite
    grow(source, unfinished, copies)
    os.replace(unfinished, target)
