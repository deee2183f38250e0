/**
 * What was on the stack of a thread at each moment of the selected steps: frames, ranges, operators, CUDA calls and OS
 * calls, nested by time into one stack.
 *
 *   frames   [ LlamaAttention.forward              ]
 *   ops         [ aten::linear          ]  [ aten::mul ]
 *   calls            [cudaLaunchKernel]
 *   segments 1  2     3                 2  1 4           1
 *
 * A thread is put together when it is asked for, and only in the time that figures are about.
 */
import { upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { apiFunction } from '../../catalog/api-function.js';
import { matchMarker } from '../../catalog/engine-markers.js';
import {
  type HostName,
  nameOfFrame,
  nameOfOperator,
  nameOfOsCall,
  nameOfRange,
} from '../../catalog/host-names.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import type { Derived } from '../analysis.js';
import { gilOsWaits } from '../host/gil-os-waits.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { CallPaths, ROOT } from './call-paths.js';
import { blockEndsOf } from './event-reach.js';
import { SegmentBuilder } from './segment-builder.js';
import { StackNames } from './stack-names.js';
import { rowsByThread, SOURCES, type Source, type ThreadRows } from './thread-rows.js';

/** Deeper calls are their caller's: Python itself stops at 1,000, and a file may claim anything. */
const DEEPEST = 500;

/** One thread. Events are numbered from 0; segments follow each other without a gap. */
export interface StackLine {
  readonly thread: number;
  /** What the number of its first event is among those of all threads. */
  readonly firstEvent: number;
  /** By event: its node among the call paths, and the event around it or NONE. */
  readonly node: Int32Array;
  readonly parent: Int32Array;
  /** By event: its recorded call stack or NONE; absent where the thread has none. */
  readonly stack?: Int32Array;
  /** By segment: where it begins, and the innermost event in it or NONE. */
  readonly start: Float64Array;
  readonly event: Int32Array;
  /** The segment asked for last: gaps are asked for in order of time. */
  at: number;
}

export interface ThreadStacks {
  readonly paths: CallPaths;
  readonly names: StackNames;
  lineOf(thread: number): StackLine;
  /** Threads with at least one event in the time that figures are about. */
  readonly threads: readonly number[];
}

/** The innermost event at a moment, or NONE. */
export function eventAt(line: StackLine, moment: number): number {
  const segment = segmentAt(line, moment);
  return segment < 0 ? NONE : line.event[segment];
}

/** The last segment that begins no later; -1: none does. */
export function segmentAt(line: StackLine, moment: number): number {
  const { start } = line;
  let i = line.at;
  if (i >= start.length || start[i] > moment) i = upperBound(start, moment) - 1;
  else {
    const end = Math.min(start.length, i + NEARBY);
    while (i + 1 < end && start[i + 1] <= moment) i++;
    if (i + 1 === end && end < start.length) i = upperBound(start, moment, i) - 1;
  }
  line.at = Math.max(0, i);
  return i;
}

/** Segments looked through one by one before a search. */
const NEARBY = 16;

/** Of every table, whichever steps are looked at. */
const blockEnds: Derived<Partial<Record<Source, Float64Array>>> = {
  id: 'block-ends',
  reads: { ranges: [], frames: [], ops: [], apiCalls: [], osCalls: [] },
  uses: [],
  compute: ({ profile }) =>
    Object.fromEntries(
      SOURCES.flatMap(source => {
        const table = tableNamed(profile, source);
        return table ? [[source, blockEndsOf(table)]] : [];
      }),
    ),
};

export const threadStacks: Derived<ThreadStacks> = {
  id: 'thread-stacks',
  reads: {
    ...{ ranges: [], frames: [], ops: [], apiCalls: ['stack', 'pythonStack'], osCalls: ['stack'] },
    stackFrames: ['line'],
  },
  uses: [selection, selectedMoments, stepsOf, blockEnds, gilOsWaits],
  compute({ profile, use }) {
    const paths = new CallPaths();
    const names = new StackNames(profile, paths);
    const labels = new Set((use(stepsOf)?.lanes ?? []).flatMap(({ runs }) => runs.map(({ label }) => label)));
    let [from, to] = [Infinity, -Infinity];
    const reach = (start: number, end: number) => {
      from = Math.min(from, start);
      to = Math.max(to, end);
    };
    for (const window of use(selection).windows) reach(window.start, window.end);
    const moments = use(selectedMoments);
    profile.processes.forEach((_, process) => {
      const periods = moments.periods(process);
      if (periods && periods.length > 0) reach(periods.start[0], periods.end[periods.length - 1]);
    });
    const rows = rowsByThread(profile, use(blockEnds), from, to);
    const namers = namersOf(profile, paths, labels, use(gilOsWaits));
    const lines = new Map<number, StackLine>();
    let events = 0;
    return {
      paths,
      names,
      threads: profile.threads.flatMap((_, thread) =>
        SOURCES.some(source => (rows[source]?.count(thread) ?? 0) > 0) ? [thread] : [],
      ),
      lineOf(thread) {
        let line = lines.get(thread);
        if (!line) {
          line = stackOf(profile, thread, rows, namers, { paths, names }, to, events);
          events += line.node.length;
          lines.set(thread, line);
        }
        return line;
      },
    };
  },
};

/** The name of a row and its number, looked up once per distinct text; undefined: its time is its caller's. */
type Namer = (name: number) => { readonly name: HostName; readonly id: number } | undefined;

function namersOf(
  { strings }: Profile,
  paths: CallPaths,
  stepLabels: ReadonlySet<string>,
  gilCalls: ReadonlySet<number>,
): Readonly<Record<Source, Namer>> {
  const namer = (read: (text: string, id: number) => HostName | undefined): Namer => {
    const known: (ReturnType<Namer> | null)[] = [];
    return id => {
      let found = known[id];
      if (found === undefined) {
        const name = read(strings.text(id), id);
        found = name ? { name, id: paths.idOf(name) } : null;
        known[id] = found;
      }
      return found ?? undefined;
    };
  };
  // A step's own marker is around everything in it.
  const isStep = (text: string) => stepLabels.has(text) || matchMarker(text) !== undefined;
  return {
    ranges: namer(text => (isStep(text) ? undefined : nameOfRange(text))),
    frames: namer(text => nameOfFrame(text)),
    ops: namer(text => (isStep(text) ? undefined : nameOfOperator(text))),
    apiCalls: namer(text => ({ text: apiFunction(text), kind: 'api-call' })),
    osCalls: namer((text, id) => nameOfOsCall(text, gilCalls.has(id))),
  };
}

function stackOf(
  profile: Profile,
  thread: number,
  rows: Partial<Record<Source, ThreadRows>>,
  namers: Readonly<Record<Source, Namer>>,
  { paths, names }: Pick<ThreadStacks, 'paths' | 'names'>,
  until: number,
  firstEvent: number,
): StackLine {
  const lanes = SOURCES.flatMap(source => {
    const own = rows[source]?.take(thread);
    const table = tableNamed(profile, source);
    return own && table && own.length > 0
      ? [
          {
            source,
            own,
            start: table.start,
            end: table.end,
            name: table.name,
            namer: namers[source],
            next: 0,
          },
        ]
      : [];
  });
  type Lane = (typeof lanes)[number];
  const endOf = (lane: Lane, row: Row<Source>) =>
    Number.isNaN(lane.end[row]) ? Math.max(until, lane.start[row]) : lane.end[row];

  const stackOfRow = callStacks(profile);
  const most = lanes.reduce((sum, { own }) => sum + own.length, 0);
  const stacks = stackOfRow && new Int32Array(most);
  const node = new Int32Array(most);
  const parent = new Int32Array(most);
  const builder = new SegmentBuilder(most);
  // What is open, outermost first: columns, because there may be millions of events.
  const openEvent = new Int32Array(DEEPEST);
  const openNode = new Int32Array(DEEPEST);
  const openEnd = new Float64Array(DEEPEST);
  let depth = 0;
  const closeUntil = (moment: number) => {
    while (depth > 0 && openEnd[depth - 1] <= moment) {
      depth--;
      builder.push(openEnd[depth], depth > 0 ? openEvent[depth - 1] : NONE);
    }
  };
  let events = 0;
  let lane: Lane | undefined;
  /** Until when no other lane has an event. */
  let alone = -Infinity;
  for (;;) {
    if (!lane || lane.next >= lane.own.length || !(lane.start[lane.own[lane.next] as Row<Source>] < alone)) {
      lane = firstOf(lanes, endOf);
      if (!lane) break;
      alone = firstStart(lanes, lane);
    }
    const row = lane.own[lane.next++] as Row<Source>;
    const found = lane.namer(lane.name[row]);
    if (!found) continue;
    const begin = lane.start[row];
    closeUntil(begin);
    // Clocks are rounded and ranges may cross: what is inside ends with what is around it.
    const end = Math.min(endOf(lane, row), depth > 0 ? openEnd[depth - 1] : Infinity);
    if (!(end > begin)) continue;
    const around = depth > 0 ? openNode[depth - 1] : ROOT;
    const above = paths.names[around];
    if (depth >= DEEPEST) continue;
    // Inside a CUDA call, calls of the system are the driver's own business.
    if (lane.source === 'osCalls' && above?.kind === 'api-call') continue;
    if (found.name.isForward && above?.module !== undefined) continue;
    // Of a call inside another one the program made the outer.
    const callers = above?.kind === 'api-call' ? NONE : (stackOfRow?.(lane.source, row) ?? NONE);
    const place = callers === NONE ? around : names.callers(around, callers, found.name.text);
    const own = paths.child(place, found.name, found.id);
    if (stacks) stacks[events] = callers;
    node[events] = own;
    parent[events] = depth > 0 ? openEvent[depth - 1] : NONE;
    builder.push(begin, events);
    openEvent[depth] = events++;
    openEnd[depth] = end;
    openNode[depth++] = own;
  }
  closeUntil(Infinity);
  return {
    thread,
    firstEvent,
    node: node.subarray(0, events),
    parent: parent.subarray(0, events),
    ...builder.finish(),
    at: 0,
    ...(stacks ? { stack: stacks.subarray(0, events) } : {}),
  };
}

/** The recorded stack of a call; that of Python says more. Undefined where no call has one. */
function callStacks({ tables }: Profile): ((source: Source, row: number) => number) | undefined {
  const { apiCalls, osCalls } = tables;
  const columns = [apiCalls?.pythonStack, apiCalls?.stack, osCalls?.stack];
  if (!columns.some(column => column !== undefined)) return undefined;
  return (source, row) => {
    if (source === 'osCalls') return osCalls?.stack?.[row as Row<'osCalls'>] ?? NONE;
    if (source !== 'apiCalls') return NONE;
    const python = apiCalls?.pythonStack?.[row as Row<'apiCalls'>] ?? NONE;
    return python !== NONE ? python : (apiCalls?.stack?.[row as Row<'apiCalls'>] ?? NONE);
  };
}

interface UnreadRows {
  readonly own: Int32Array;
  readonly start: { readonly [row: number]: number };
  next: number;
}

/** When the first event of the other lanes begins. */
function firstStart(lanes: readonly UnreadRows[], than: UnreadRows): number {
  let first = Infinity;
  for (const lane of lanes)
    if (lane !== than && lane.next < lane.own.length)
      first = Math.min(first, lane.start[lane.own[lane.next]]);
  return first;
}

/** The lane whose next event begins first; of several, the one that ends last, then the outer source. */
function firstOf<Lane extends UnreadRows>(
  lanes: readonly Lane[],
  endOf: (lane: Lane, row: Row<Source>) => number,
): Lane | undefined {
  let first: Lane | undefined;
  for (const lane of lanes) {
    if (lane.next >= lane.own.length) continue;
    if (!first) {
      first = lane;
      continue;
    }
    const row = lane.own[lane.next] as Row<Source>;
    const best = first.own[first.next] as Row<Source>;
    const difference = lane.start[row] - first.start[best];
    if (difference < 0 || (difference === 0 && endOf(lane, row) > endOf(first, best))) first = lane;
  }
  return first;
}
