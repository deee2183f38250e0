/** Host events that the profiler wrote down, by thread: what recording them cost delayed the thread. */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { matchMarker } from '../../catalog/engine-markers.js';
import { KERNEL_LAUNCH } from '../../catalog/host-activities.js';
import { type EventKind, type TracingCost, USUAL_LAUNCH_NS } from '../../catalog/tracing-cost.js';
import type { Profile, Row } from '../../model/profile.js';
import type { TableName } from '../../model/schema.js';
import { RangeKind } from '../../model/schema.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';
import { countNamed } from '../names-used.js';

type TracedTable = Extract<TableName, 'apiCalls' | 'ranges' | 'ops' | 'frames'>;

/** What one event of a kind costs. */
const costOf = (kind: EventKind, cost: TracingCost): number =>
  cost[kind === 'libraryCall' || kind === 'stepMarker' ? 'range' : kind];

const kindOf: Readonly<Record<TracedTable, EventKind>> = {
  apiCalls: 'apiCall',
  ranges: 'range',
  ops: 'op',
  frames: 'frame',
};

export interface TracedEvents {
  /** What recording the events cost that begin on a thread in this stretch of time; all kinds, unless named. */
  costNs(thread: number, from: number, to: number, cost: TracingCost, only?: EventKind): number;
  /** What recording one CUDA call costs. */
  callNs(cost: TracingCost): number;
  nodesNs(nodes: number, cost: TracingCost, only?: EventKind): number;
  /** What the launch of a graph of so many nodes takes without a profiler, at least. */
  leastNs(nodes: number, cost: TracingCost): number;
}

export const tracedEvents: Derived<TracedEvents> = {
  id: 'traced-events',
  reads: { apiCalls: [], ranges: [], ops: [], frames: [] },
  uses: [],
  compute({ profile }) {
    const tables = (Object.keys(kindOf) as TracedTable[]).flatMap(table => {
      const rows = profile.tables[table];
      if (!rows) return [];
      const starts = rows.start as ArrayLike<number>;
      const threads = rows.thread as ArrayLike<number>;
      const kinds = table === 'ranges' ? (profile.tables.ranges!.kind as ArrayLike<number>) : undefined;
      // The profiler draws annotations on the GPU by itself, later.
      const isHost = (i: number) => threads[i] !== NONE && kinds?.[i] !== RangeKind.gpuAnnotation;
      const startsOf = (kind: EventKind, isOwn: (i: number) => boolean) => {
        const counts = new Uint32Array(profile.threads.length);
        if (table !== 'ranges') {
          for (let i = 0; i < rows.length; i++) if (threads[i] !== NONE) counts[threads[i]]++;
        } else for (let i = 0; i < rows.length; i++) if (isHost(i) && isOwn(i)) counts[threads[i]]++;
        // Where one thread has them all, the table's own column serves.
        if (rows.length > 0 && counts.includes(rows.length))
          return { kind, byThread: Array.from(counts, count => (count > 0 ? starts : [])) };
        const byThread = Array.from(counts, count => new Float64Array(count));
        counts.fill(0);
        for (let i = 0; i < rows.length; i++)
          if (isHost(i) && isOwn(i)) byThread[threads[i]][counts[threads[i]]++] = starts[i];
        return { kind, byThread };
      };
      if (table !== 'ranges') return [startsOf(kindOf[table], () => true)];
      const names = profile.tables.ranges!.name as unknown as Int32Array;
      const markers = stepMarkersIn(profile);
      const isLibrary = (i: number) => kinds![i] === RangeKind.libraryCall;
      const isMarker = (i: number) => !isLibrary(i) && markers.has(names[i]);
      return [
        startsOf('libraryCall', isLibrary),
        startsOf('stepMarker', isMarker),
        startsOf('range', i => !isLibrary(i) && !isMarker(i)),
      ];
    });
    const launchNs = typicalLaunch(profile);
    return {
      costNs: (thread, from, to, cost, only) =>
        tables.reduce((sum, { kind, byThread }) => {
          const own = byThread[thread];
          const each = only === undefined || only === kind ? costOf(kind, cost) : 0;
          if (!own || own.length === 0 || each === 0) return sum;
          return sum + (lowerBound(own, to) - lowerBound(own, from)) * each * launchNs;
        }, 0),
      callNs: cost => costOf('apiCall', cost) * launchNs,
      nodesNs: (nodes, cost, only) =>
        only === undefined || only === 'graphNode' ? nodes * costOf('graphNode', cost) * launchNs : 0,
      leastNs: (nodes, cost) => nodes * cost.graphNodeLeast * launchNs,
    };
  },
};

/** Names of ranges that mark steps. */
function stepMarkersIn({ tables: { ranges }, strings }: Profile): ReadonlySet<number> {
  const names = new Set((ranges?.name ?? []) as unknown as Int32Array);
  return new Set(
    [...names].filter(id => {
      const match = id === NONE ? undefined : matchMarker(strings.text(id as never));
      return match !== undefined && !match.grammar.generic;
    }),
  );
}

function typicalLaunch(profile: Profile): number {
  const calls = profile.tables.apiCalls;
  if (!calls) return USUAL_LAUNCH_NS;
  const isLaunch = nameTest(profile, KERNEL_LAUNCH);
  const lengths = new Float64Array(countNamed(profile, 'apiCalls', isLaunch));
  let count = 0;
  for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++)
    if (isLaunch(calls.name[row])) lengths[count++] = calls.end[row] - calls.start[row];
  return count > 0 ? medianOf(lengths) : USUAL_LAUNCH_NS;
}
