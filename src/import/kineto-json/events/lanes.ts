/**
 * Where events happened. While reading, a place is a lane: a pid and tid as written, or a GPU's stream. Which process
 * owns a stream is only known at the end, when every launch has been seen.
 */
import { NONE } from '../../../base/column.js';
import { TupleIndex } from '../../../base/tuple-index.js';

type StreamParts = readonly [pid: number, device: number, context: number, stream: number];

export interface GivenLanes {
  readonly places: readonly (readonly [pid: number, tid: number])[];
  readonly streams: readonly StreamParts[];
  readonly cpuEvents: readonly number[];
  readonly apiCalls: readonly number[];
  readonly streamAt: readonly number[];
  readonly streamSince: readonly number[];
}

export class Lanes {
  /** (pid, tid) as the events have them; a GPU event's pid is its device and its tid the stream. */
  private readonly places = new TupleIndex();
  /** (pid, device, context, stream) of GPU work. */
  private readonly streams = new TupleIndex();
  readonly cpuEvents: number[] = [];
  readonly apiCalls: number[] = [];
  /** The stream lane that work at this place used; NONE for CPU threads. */
  readonly streamAt: number[] = [];
  /** In which piece of the file that was seen: the first in the file counts, whoever read it. */
  private readonly streamSince: number[] = [];
  /** The piece of the file being read. */
  piece = 0;

  get count(): number {
    return this.places.length;
  }

  get streamCount(): number {
    return this.streams.length;
  }

  place(pid: number, tid: number): number {
    // NaN is no key: an event without pid or tid is put on 0.
    const lane = this.places.intern(Number.isNaN(pid) ? 0 : pid, Number.isNaN(tid) ? 0 : tid);
    if (lane === this.cpuEvents.length) {
      this.cpuEvents.push(0);
      this.apiCalls.push(0);
      this.streamAt.push(NONE);
      this.streamSince.push(0);
    }
    return lane;
  }

  pid(lane: number): number {
    return this.places.part(lane, 0);
  }

  tid(lane: number): number {
    return this.places.part(lane, 1);
  }

  /** The stream lane of GPU work. Missing arguments fall back on the place, where Kineto repeats them. */
  stream(pid: number, tid: number, device: number, context: number, stream: number): number {
    const place = this.place(pid, tid);
    const lane = this.streams.intern(
      this.pid(place),
      Number.isNaN(device) ? this.pid(place) : device,
      Number.isNaN(context) ? 0 : context,
      Number.isNaN(stream) ? this.tid(place) : stream,
    );
    if (this.streamAt[place] === NONE) {
      this.streamAt[place] = lane;
      this.streamSince[place] = this.piece;
    }
    return lane;
  }

  give(): GivenLanes {
    const places = Array.from({ length: this.count }, (_, lane) => [this.pid(lane), this.tid(lane)] as const);
    const streams = Array.from({ length: this.streamCount }, (_, lane) => streamParts(this.streams, lane));
    const { cpuEvents, apiCalls, streamAt, streamSince } = this;
    return { places, streams, cpuEvents, apiCalls, streamAt, streamSince };
  }

  /** A stream lane another reader found. */
  addStream([pid, device, context, stream]: StreamParts): number {
    return this.streams.intern(pid, device, context, stream);
  }

  /** What another reader saw at one of its places, which is `place` here; `streams` are its stream lanes here. */
  addPlace(place: number, from: GivenLanes, theirs: number, streams: ArrayLike<number>): void {
    this.cpuEvents[place] += from.cpuEvents[theirs];
    this.apiCalls[place] += from.apiCalls[theirs];
    const lane = from.streamAt[theirs];
    if (lane === NONE) return;
    if (this.streamAt[place] !== NONE && this.streamSince[place] < from.streamSince[theirs]) return;
    this.streamAt[place] = streams[lane];
    this.streamSince[place] = from.streamSince[theirs];
  }

  pidOfStream(stream: number): number {
    return this.streams.part(stream, 0);
  }

  deviceOf(stream: number): number {
    return this.streams.part(stream, 1);
  }

  contextOf(stream: number): number {
    return this.streams.part(stream, 2);
  }

  streamIdOf(stream: number): number {
    return this.streams.part(stream, 3);
  }
}

function streamParts(streams: TupleIndex, lane: number): StreamParts {
  return [streams.part(lane, 0), streams.part(lane, 1), streams.part(lane, 2), streams.part(lane, 3)];
}
