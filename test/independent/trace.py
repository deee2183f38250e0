"""A profile as plain lists, read with Python's own sqlite3 and json: nothing here comes from the product's code.

Times are nanoseconds as the product counts them: of the export itself for nsys, since the origin it prints for traces.
"""

import gzip
import json
import sqlite3
import tempfile
from dataclasses import dataclass, field


@dataclass
class Work:
    """Something a GPU did."""

    start: int
    end: int
    kind: str  # kernel, copy, memset or graph (a replay recorded as one block)
    name: str
    device: int
    stream: object
    launch: object  # what its launch call is found by
    in_graph: bool = False
    pageable: bool = False  # between the GPU and memory that is not pinned
    own_start: int = 0  # when the work before it on its stream was done


@dataclass
class Call:
    start: int
    end: int
    name: str
    thread: object


@dataclass
class Trace:
    work: list = field(default_factory=list)
    calls: list = field(default_factory=list)
    call_of: dict = field(default_factory=dict)
    ranges: list = field(default_factory=list)  # (start, end, text, thread)
    frames: list = field(default_factory=list)  # starts of recorded Python calls
    samples: dict = field(default_factory=dict)  # metric name: [(time, percent)]
    world: int = 1

    def add_call(self, key, call):
        self.calls.append(call)
        self.call_of.setdefault(key, call)


def read(paths, origin):
    trace = Trace()
    for number, path in enumerate(paths):
        data = gzip.open(path).read() if path.endswith(".gz") else open(path, "rb").read()
        if data.startswith(b"SQLite format 3"):
            read_nsys(trace, data)
        else:
            read_kineto(trace, json.loads(data, strict=False), number, origin)
    trace.work.sort(key=lambda work: work.start)
    trace.calls.sort(key=lambda call: call.start)
    done = {}
    for work in trace.work:
        before = done.get(work.stream, work.start)
        # What also ends before is a parallel branch of a graph, which nsys puts on one stream.
        work.own_start = work.start if work.end <= before else max(work.start, before)
        done[work.stream] = max(work.end, before)
    return trace


def read_nsys(trace, data):
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(data)
        file.flush()
        db = sqlite3.connect(file.name)
        db.row_factory = sqlite3.Row
        tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
        strings = dict(db.execute("select id, value from StringIds"))

        def rows(table):
            return (dict(row) for row in db.execute(f"select * from {table}")) if table in tables else ()

        process = lambda row: (row.get("globalPid") or row.get("globalTid") or 0) >> 24  # noqa: E731
        for table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"):
            for row in rows(table):
                name = strings.get(row["nameId"], "")
                call = Call(row["start"], row["end"], name.split("_v")[0], row["globalTid"])
                trace.add_call((process(row), row["correlationId"]), call)
        for kind, table in (
            ("kernel", "CUPTI_ACTIVITY_KIND_KERNEL"),
            ("copy", "CUPTI_ACTIVITY_KIND_MEMCPY"),
            ("memset", "CUPTI_ACTIVITY_KIND_MEMSET"),
            ("graph", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
        ):
            for row in rows(table):
                name = strings.get(row.get("demangledName") or row.get("shortName"), "") if kind == "kernel" else kind
                trace.work.append(
                    Work(
                        row["start"],
                        row["end"],
                        kind,
                        name,
                        row["deviceId"],
                        (process(row), row.get("contextId"), row.get("streamId")),
                        (process(row), row["correlationId"]),
                        kind == "graph" or bool(row.get("graphNodeId")),
                        kind == "copy"
                        and (row.get("copyKind"), row.get("srcKind" if row.get("copyKind") == 1 else "dstKind")) in ((1, 0), (2, 0)),
                    )
                )
        for row in rows("NVTX_EVENTS"):
            text = row.get("text") or strings.get(row.get("textId"))
            if text and row["end"]:
                trace.ranges.append((row["start"], row["end"], text, row.get("globalTid")))
        names = {(row["typeId"], row["metricId"]): row["metricName"] for row in rows("TARGET_INFO_GPU_METRICS")}
        for row in rows("GPU_METRICS"):
            name = names.get((row["typeId"], row["metricId"]))
            if name and name.startswith("DRAM"):
                trace.samples.setdefault(name, []).append((row["timestamp"], row["value"]))
        db.close()


def read_kineto(trace, document, number, origin):
    base = int(document.get("baseTimeNanoseconds", 0))
    offset = origin - base
    trace.world = max(trace.world, (document.get("distributedInfo") or {}).get("world_size", 1))
    kinds = {"kernel": "kernel", "gpu_memcpy": "copy", "memcpy": "copy", "gpu_memset": "memset", "memset": "memset"}
    for event in document["traceEvents"]:
        if event.get("ph") != "X":
            continue
        category = str(event.get("cat", "")).lower()
        start = round(float(event["ts"]) * 1000) - offset
        end = start + round(float(event.get("dur") or 0) * 1000)
        args = event.get("args") or {}
        name = str(event["name"])
        key = (number, args.get("correlation"))
        if category in kinds:
            launch = key if args.get("correlation") is not None else None
            device = int(args.get("device", 0))
            work = Work(start, end, kinds[category], name, device, (number, device, args.get("stream")), launch)
            work.in_graph = bool(args.get("graph node id"))
            work.pageable = "HtoD (Pageable" in name or "DtoH (Device -> Pageable" in name
            trace.work.append(work)
        elif category in ("cuda_runtime", "cuda_driver", "runtime"):
            trace.add_call(key, Call(start, end, name.split("_v")[0], (number, event.get("tid"))))
        elif category in ("user_annotation", "cpu_op", "operator"):
            trace.ranges.append((start, end, name, (number, event.get("tid"))))
        elif category == "python_function":
            trace.frames.append(start)
