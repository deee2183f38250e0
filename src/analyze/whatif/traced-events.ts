/** Host events that the profiler wrote down, by thread: what recording them cost delayed the thread. */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { KERNEL_LAUNCH } from '../../catalog/host-activities.js';
import { type TracingCost, USUAL_LAUNCH_NS } from '../../catalog/tracing-cost.js';
import type { Profile, Row } from '../../model/profile.js';
import type { TableName } from '../../model/schema.js';
import { RangeKind } from '../../model/schema.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';

type TracedTable = Extract<TableName, 'apiCalls' | 'ranges' | 'ops' | 'frames'>;

const costOf: Readonly<Record<TracedTable, Exclude<keyof TracingCost, 'spread' | 'stepError' | 'source'>>> = {
  apiCalls: 'apiCall',
  ranges: 'range',
  ops: 'op',
  frames: 'frame',
};

export interface TracedEvents {
  /** What recording the events cost that begin on a thread in this stretch of time. */
  costNs(thread: number, from: number, to: number, cost: TracingCost): number;
  nodesNs(nodes: number, cost: TracingCost): number;
}

export const tracedEvents: Derived<TracedEvents> = {
  id: 'traced-events',
  reads: { apiCalls: [], ranges: [], ops: [], frames: [] },
  uses: [],
  compute({ profile }) {
    const tables = (Object.keys(costOf) as TracedTable[]).flatMap(table => {
      const rows = profile.tables[table];
      if (!rows) return [];
      const starts = rows.start as ArrayLike<number>;
      const threads = rows.thread as ArrayLike<number>;
      const kinds = table === 'ranges' ? (profile.tables.ranges!.kind as ArrayLike<number>) : undefined;
      const counts = new Uint32Array(profile.threads.length);
      // The profiler draws annotations on the GPU by itself, later.
      const isHost = (i: number) => threads[i] !== NONE && kinds?.[i] !== RangeKind.gpuAnnotation;
      for (let i = 0; i < rows.length; i++) if (isHost(i)) counts[threads[i]]++;
      const byThread = Array.from(counts, count => new Float64Array(count));
      counts.fill(0);
      for (let i = 0; i < rows.length; i++)
        if (isHost(i)) byThread[threads[i]][counts[threads[i]]++] = starts[i];
      return [{ amount: costOf[table], byThread }];
    });
    const launchNs = typicalLaunch(profile);
    return {
      costNs: (thread, from, to, cost) =>
        tables.reduce((sum, { amount, byThread }) => {
          const own = byThread[thread];
          if (!own || own.length === 0 || cost[amount] === 0) return sum;
          return sum + (lowerBound(own, to) - lowerBound(own, from)) * cost[amount] * launchNs;
        }, 0),
      nodesNs: (nodes, cost) => nodes * cost.graphNode * launchNs,
    };
  },
};

function typicalLaunch(profile: Profile): number {
  const calls = profile.tables.apiCalls;
  if (!calls) return USUAL_LAUNCH_NS;
  const isLaunch = nameTest(profile, KERNEL_LAUNCH);
  const lengths: number[] = [];
  for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++)
    if (isLaunch(calls.name[row])) lengths.push(calls.end[row] - calls.start[row]);
  return lengths.length > 0 ? medianOf(Float64Array.from(lengths)) : USUAL_LAUNCH_NS;
}
