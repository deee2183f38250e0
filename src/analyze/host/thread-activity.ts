/**
 * What each host thread was doing, as one line of segments. Where several things are true at once the one that
 * explains more wins, in the order of `PAINT`.
 *
 *   api        ▒▒ ▒▒ ▒▒▒▒▒▒▒▒(sync)  ▒▒        launch-bound, synchronisation
 *   gil wait        ░░░                        wins over all but garbage collection
 *   segments   ll lglgg ssssssssssss ll
 */
import { upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import {
  IntervalBuilder,
  type Intervals,
  intersect,
  NO_INTERVALS,
  subtract,
  unionOf,
} from '../../base/intervals.js';
import {
  ALLOCATION_CALL,
  activityOf,
  functionOfFrame,
  GIL_WAIT,
  SYNC_CALL,
} from '../../catalog/host-activities.js';
import { causeIndex, type IdleCause } from '../../catalog/idle-causes.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import { RangeKind } from '../../model/schema.js';
import type { Derived } from '../analysis.js';
import { IdlePieces } from './idle-pieces.js';
import { pageableReads } from './pageable-reads.js';

/** Host code between two CUDA calls that is shorter than this is the cost of launching, not other work. */
const BACK_TO_BACK_NS = 100_000;

/** First wins. `launch-bound` is time inside CUDA calls and in the short gaps between them. */
const PAINT = [
  'profiler-overhead',
  'garbage-collection',
  'gil',
  'synchronisation',
  'allocation',
  'sampling',
  'scheduling',
  'request-handling',
  'input-preparation',
  'os-call',
  'launch-bound',
] as const;
type Layer = IdleCause & (typeof PAINT)[number];

/** A stretch of time and the index of its idle cause. */
export type VisitCause = (cause: number, from: number, to: number) => void;

export interface ThreadActivity {
  lineOf(thread: number): Line;
  /** What the thread did between the two moments, piece by piece in order of time. */
  forEach(thread: number, from: number, to: number, visit: VisitCause): void;
}

export const threadActivity: Derived<ThreadActivity> = {
  id: 'thread-activity',
  reads: { apiCalls: [], ranges: [], osCalls: [], overheads: [], frames: [], copies: ['targetMemory'] },
  uses: [],
  compute({ profile }) {
    const layers = collectLayers(profile);
    const lines: Line[] = [];
    return activityOn(thread => (lines[thread] ??= paint(layers(thread))));
  },
};

/** From the line of each thread. */
export function activityOn(lineOf: (thread: number) => Line): ThreadActivity {
  const pieces = new IdlePieces();
  return {
    lineOf,
    forEach(thread, from, to, visit) {
      pieces.clear();
      addPieces(lineOf(thread), from, to, pieces);
      const { length, cause, start, end } = pieces;
      for (let i = 0; i < length; i++) visit(cause[i], start[i], end[i]);
    },
  };
}

/** Adds what a line holds between two moments; between segments the thread runs other code. */
export function addPieces(line: Line, from: number, to: number, into: Pick<IdlePieces, 'add'>): void {
  const { start, end, cause } = line;
  const { length } = start;
  let at = from;
  // Gaps are asked for in order of time: the segment is almost always near the last one.
  let i = line.at;
  if (i > 0 && end[i - 1] > from) i = upperBound(end, from);
  while (i < length && end[i] <= from) i++;
  line.at = i;
  for (; i < length && start[i] < to; i++) {
    const segmentStart = Math.max(start[i], at);
    const segmentEnd = Math.min(end[i], to);
    if (segmentStart > at) into.add(hostCode, at, segmentStart);
    into.add(cause[i], segmentStart, segmentEnd);
    at = segmentEnd;
  }
  if (to > at) into.add(hostCode, at, to);
}

const hostCode = causeIndex('host-code');

export interface Line {
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly cause: Uint8Array;
  /** The segment asked for last. */
  at: number;
}

function paint(layers: Readonly<Partial<Record<Layer, Intervals>>>): Line {
  let covered = NO_INTERVALS;
  const visible: { list: Intervals; cause: number; next: number }[] = [];
  for (const layer of PAINT) {
    const all = layers[layer];
    if (!all || all.length === 0) continue;
    const list = subtract(all, covered);
    visible.push({ list, cause: causeIndex(layer), next: 0 });
    covered = unionOf(covered, all);
  }
  const start = new GrowingColumn('f64');
  const end = new GrowingColumn('f64');
  const cause = new GrowingColumn('u8');
  for (;;) {
    let first: (typeof visible)[number] | undefined;
    for (const lane of visible) {
      if (lane.next >= lane.list.length) continue;
      if (!first || lane.list.start[lane.next] < first.list.start[first.next]) first = lane;
    }
    if (!first) break;
    start.push(first.list.start[first.next]);
    end.push(first.list.end[first.next++]);
    cause.push(first.cause);
  }
  return {
    start: start.finishAll() as Float64Array,
    end: end.finishAll() as Float64Array,
    cause: cause.finishAll() as Uint8Array,
    at: 0,
  };
}

type Collected = Partial<Record<Layer, IntervalBuilder>>;

/** Everything known about threads, gathered in one pass per table; finished per thread on demand. */
function collectLayers(profile: Profile): (thread: number) => Partial<Record<Layer, Intervals>> {
  const byThread: Collected[] = profile.threads.map(() => ({}));
  const add = (thread: number, layer: Layer, from: number, to: number) => {
    const layers = byThread[thread];
    layers[layer] ??= new IntervalBuilder(layer === 'launch-bound' ? BACK_TO_BACK_NS : 0);
    layers[layer].add(from, to);
  };
  // Inside a CUDA call, calls of the system are the driver's own business.
  const callsOf = profile.tables.osCalls && profile.threads.map(() => new IntervalBuilder());
  collectCalls(profile, add, callsOf);
  collectNamed(profile, add);
  for (const [name, layer] of [
    ['osCalls', 'os-call'],
    ['overheads', 'profiler-overhead'],
  ] as const) {
    const table = tableNamed(profile, name);
    for (let row = 0 as Row<'osCalls' | 'overheads'>; row < (table?.length ?? 0); row++)
      if (table!.thread[row] !== NONE) add(table!.thread[row], layer, table!.start[row], table!.end[row]);
  }
  const finished = byThread.map((layers, thread) => {
    const lists = Object.entries(layers).map(([name, builder]) => [name, builder.finish()]);
    const own = Object.fromEntries(lists) as Partial<Record<Layer, Intervals>>;
    if (!own['os-call'] || !callsOf) return own;
    return { ...own, 'os-call': subtract(own['os-call'], callsOf[thread].finish()) };
  });
  return thread => {
    const own = finished[thread];
    // Collecting garbage holds the GIL: whoever waits for it meanwhile waits for the collection.
    const { process } = profile.threads[thread];
    const collecting = profile.threads.flatMap((other, row) => {
      const gc = other.process === process ? finished[row]['garbage-collection'] : undefined;
      return gc ? [gc] : [];
    });
    if (!own.gil || collecting.length === 0) return own;
    const waited = intersect(own.gil, unionOf(...collecting));
    return { ...own, 'garbage-collection': unionOf(own['garbage-collection'] ?? NO_INTERVALS, waited) };
  };
}

type Add = (thread: number, layer: Layer, from: number, to: number) => void;

function collectCalls(profile: Profile, add: Add, callsOf: IntervalBuilder[] | undefined): void {
  const calls = profile.tables.apiCalls;
  if (!calls) return;
  const waiting = pageableReads(profile, calls.length);
  const layerOfName: (Layer | undefined)[] = [];
  for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++) {
    const thread = calls.thread[row];
    if (thread === NONE) continue;
    const name = calls.name[row];
    let layer = layerOfName[name];
    if (layer === undefined) {
      const text = profile.strings.text(name);
      layer = SYNC_CALL.test(text)
        ? 'synchronisation'
        : ALLOCATION_CALL.test(text)
          ? 'allocation'
          : 'launch-bound';
      layerOfName[name] = layer;
    }
    if (waiting?.[row]) layer = 'synchronisation';
    if (layer !== 'launch-bound') add(thread, layer, calls.start[row], calls.end[row]);
    add(thread, 'launch-bound', calls.start[row], calls.end[row]);
    callsOf?.[thread].add(calls.start[row], calls.end[row]);
  }
}

function collectNamed(profile: Profile, add: Add): void {
  const ranges = profile.tables.ranges;
  const known: (Layer | '' | undefined)[] = [];
  const layerOf = (id: number) => {
    let layer = known[id];
    if (layer === undefined) {
      const text = profile.strings.text(id);
      layer = text === GIL_WAIT ? 'gil' : ((activityOf(functionOfFrame(text)) as Layer | undefined) ?? '');
      known[id] = layer;
    }
    return layer;
  };
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
    const kind = ranges!.kind[row];
    if (kind === RangeKind.mark || kind === RangeKind.gpuAnnotation || ranges!.thread[row] === NONE) continue;
    const layer = ranges!.name[row] === NONE ? '' : layerOf(ranges!.name[row]);
    if (layer) add(ranges!.thread[row], layer, ranges!.start[row], ranges!.end[row]);
  }
  // Frames come with with_stack=True; framework ops such as aten::… are launching work, not a cause of their own.
  const frames = profile.tables.frames;
  for (let row = 0 as Row<'frames'>; row < (frames?.length ?? 0); row++) {
    if (frames!.thread[row] === NONE) continue;
    const layer = layerOf(frames!.name[row]);
    if (layer) add(frames!.thread[row], layer, frames!.start[row], frames!.end[row]);
  }
}
