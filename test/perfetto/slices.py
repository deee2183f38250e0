"""Slices of a Perfetto trace as Perfetto's own protobuf classes read them, paired as its trace processor does.

Packets are sorted by time, those of one time stay in the order of the file, and an end closes the innermost slice of
its track. Prints JSON: what each category adds up to, and what is wrong with the file.

    python slices.py TRACE
"""

import collections
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb


def unknown_fields(message):
    """Fields that Perfetto's schema does not have."""
    try:
        from google.protobuf.unknown_fields import UnknownFieldSet
    except ImportError:
        return 0
    count = len(UnknownFieldSet(message))
    for descriptor, value in message.ListFields():
        if descriptor.type == descriptor.TYPE_MESSAGE:
            values = (
                value
                if hasattr(value, "__len__") and not isinstance(value, str)
                else [value]
            )
            count += sum(unknown_fields(inner) for inner in values)
    return count


def main(path):
    trace = pb.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    names, categories, annotations = {}, {}, {}
    tracks = {}
    events = []
    clocks = []
    for packet in trace.packet:
        if packet.sequence_flags & pb.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            names, categories, annotations = {}, {}, {}
        data = packet.interned_data
        names.update((entry.iid, entry.name) for entry in data.event_names)
        categories.update((entry.iid, entry.name) for entry in data.event_categories)
        annotations.update(
            (entry.iid, entry.name) for entry in data.debug_annotation_names
        )
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("clock_snapshot"):
            clocks = [
                [clock.clock_id, clock.timestamp]
                for clock in packet.clock_snapshot.clocks
            ]
        if packet.HasField("track_event"):
            event = packet.track_event
            name = names.get(event.name_iid, "") if event.name_iid else ""
            category = (
                categories.get(event.category_iids[0], "")
                if event.category_iids
                else ""
            )
            for annotation in event.debug_annotations:
                assert annotation.name_iid in annotations
            events.append((packet.timestamp, event, name, category))
    wrong = []
    events.sort(key=lambda entry: entry[0])
    stacks = collections.defaultdict(list)
    sums = collections.defaultdict(lambda: {"count": 0, "startNs": 0, "durationNs": 0})
    flows = collections.Counter()
    counters = 0
    for at, event, name, category in events:
        uuid = event.track_uuid
        if uuid not in tracks:
            wrong.append(f"no track {uuid}")
        for flow in event.flow_ids:
            flows[flow] += 1
        own = sums[category]
        if event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
            if not name:
                wrong.append("a slice without a name")
            stacks[uuid].append((at, name, category))
        elif event.type == pb.TrackEvent.TYPE_SLICE_END:
            if not stacks[uuid]:
                wrong.append("an end without a beginning")
                continue
            begun, name, category = stacks[uuid].pop()
            own = sums[category]
            own["count"] += 1
            own["startNs"] += begun
            own["durationNs"] += at - begun
        elif event.type == pb.TrackEvent.TYPE_INSTANT:
            own["count"] += 1
            own["startNs"] += at
        elif event.type == pb.TrackEvent.TYPE_COUNTER:
            if not tracks[uuid].HasField("counter"):
                wrong.append("a counter on another track")
            counters += 1
    sums.pop("", None)
    unfinished = collections.Counter(
        category for stack in stacks.values() for _, _, category in stack
    )
    print(
        json.dumps(
            {
                "unknownFields": unknown_fields(trace),
                "wrong": wrong[:10],
                # As text: sums of nanoseconds since 1970 are beyond what JSON readers keep exact.
                "categories": {
                    name: {key: str(value) for key, value in own.items()}
                    for name, own in sums.items()
                },
                "unfinished": unfinished,
                "counters": counters,
                "arrows": sum(1 for ends in flows.values() if ends == 2),
                "oddArrows": sum(1 for ends in flows.values() if ends != 2),
                "clocks": clocks,
                "tracks": sorted(
                    track.name or track.thread.thread_name or track.process.process_name
                    for track in tracks.values()
                ),
            }
        )
    )


main(sys.argv[1])
