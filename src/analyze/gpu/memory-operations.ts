/** Copies and memsets by direction, memory and whether the host waits for them. */

import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { formatBytes, formatDuration } from '../../base/units.js';
import { apiFunction } from '../../catalog/api-function.js';
import { copyKindLabels, memoryKindLabels } from '../../catalog/cuda-enums.js';
import type { Phase } from '../../catalog/phases.js';
import { summarize } from '../../stats/summary.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepsOf } from '../inference/steps.js';
import { formatMean, perStep, sumOf } from '../words.js';
import { gpuWork, WorkKind } from './gpu-work.js';

interface Tally {
  readonly row: Pick<MemoryOperationRow, 'phase' | 'operation' | 'from' | 'to' | 'call' | 'hostWaits'>;
  readonly sizes: GrowingColumn;
  totalNs: number;
}

const fields = {
  key: keyField,
  phase: maybe(field.text<Phase>('Phase', 'null: outside all steps')),
  operation: field.text('Operation', 'direction of the copy, or memset', { priority: KEEP }),
  from: maybe(field.text('From', 'source memory kind')),
  to: maybe(field.text('To', 'destination memory kind')),
  call: maybe(field.text('Call', 'the API function')),
  hostWaits: maybe(
    field.flag(
      'Host waits',
      'the call blocks until the copy is done: it is not Async, or it uses pageable memory',
    ),
  ),
  count: field.count('Count', 'operations'),
  countPerStep: field.mean('Per step', 'count divided by steps and devices'),
  bytes: field.bytes('Bytes', 'in total'),
  medianBytes: field.bytes('Median size', 'of one operation', { priority: -1 }),
  smallestBytes: quiet(field.bytes('Smallest', 'of one operation')),
  largestBytes: quiet(field.bytes('Largest', 'of one operation')),
  totalNs: field.ns('Time', 'sum of durations on the GPU'),
  bytesPerSecond: maybe(field.bytesPerSecond('Bandwidth', 'bytes divided by time')),
};

type MemoryOperationRow = RowOf<typeof fields>;

export const memoryOperations: Analysis<MemoryOperationRow, AnalysisResult<MemoryOperationRow>> = {
  id: 'memory-operations',
  title: 'Memory operations',
  question: 'What is copied or set, how fast, and does the host wait for it?',
  reads: { copies: ['sourceMemory', 'targetMemory'], memsets: ['memory'], apiCalls: [] },
  uses: [gpuWork, selectedWork, stepsOf],
  needs: [['copies', 'memsets']],
  fields,
  headline: {
    label: 'copies',
    text({ rows: all }, phase) {
      const rows = all.filter(row => row.phase === phase);
      if (rows.length === 0) return undefined;
      const count = sumOf(rows, row => row.countPerStep);
      const steps = sumOf(rows, row => row.count) / count;
      const waiting = sumOf(rows, row => (row.hostWaits ? row.countPerStep : 0));
      const waits = waiting > 0 ? `; the host waits for ${formatMean(waiting)} of them` : '';
      const bytes = formatBytes(Math.round(sumOf(rows, row => row.bytes) / steps));
      const time = formatDuration(sumOf(rows, row => row.totalNs) / steps);
      const what = count === 1 ? 'copy or memset' : 'copies and memsets';
      return `${formatMean(count)} ${what} ${perStep(phase)}, ${bytes}, ${time}${waits}`;
    },
  },
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end, step, runsOfPhase } = use(selectedWork);
    const steps = use(stepsOf)?.steps ?? [];
    const copies = profile.tables.copies;
    const memsets = profile.tables.memsets;
    const calls = profile.tables.apiCalls;
    const memory = (kind: number | undefined) =>
      kind === undefined || kind === NONE ? null : (memoryKindLabels[kind] ?? null);
    const tallies = new Map<string, Tally>();
    for (let i = first; i < end; i++) {
      const isCopy = work.kind[i] === WorkKind.copy;
      if (!selected[i] || (!isCopy && work.kind[i] !== WorkKind.memset)) continue;
      const source = work.row[i];
      const launch = work.launch[i];
      const call = launch === NONE ? null : apiFunction(profile.strings.text(calls!.name[launch]));
      const from = isCopy ? memory(copies!.sourceMemory?.[source]) : null;
      const to = memory(isCopy ? copies!.targetMemory?.[source] : memsets!.memory?.[source]);
      const operation = isCopy ? (copyKindLabels[copies!.kind[source]] ?? 'Unknown') : 'Memset';
      const phase = step[i] === NONE ? null : steps[step[i]].facts.phase;
      const key = [phase ?? 'outside', operation, from, to, call].join('/');
      let tally = tallies.get(key);
      if (!tally) {
        const pageable = from === 'Pageable' || to === 'Pageable';
        const hostWaits = call === null ? null : isCopy && (pageable || !/Async|Graph/.test(call));
        tally = {
          row: { phase, operation, from, to, call, hostWaits },
          sizes: new GrowingColumn('f64'),
          totalNs: 0,
        };
        tallies.set(key, tally);
      }
      tally.sizes.push(isCopy ? copies!.bytes[source] : memsets!.bytes[source]);
      tally.totalNs += work.end[i] - work.start[i];
    }
    const rows = [...tallies].map(([key, { row, sizes, totalNs }]): MemoryOperationRow => {
      const size = summarize(sizes.finishAll() as Float64Array);
      return {
        key: `memory:${key}`,
        ...row,
        count: size.count,
        countPerStep: size.count / (row.phase === null ? 1 : runsOfPhase(row.phase)),
        bytes: size.total,
        medianBytes: size.median,
        smallestBytes: size.min,
        largestBytes: size.max,
        totalNs,
        bytesPerSecond: totalNs > 0 ? size.total / (totalNs / 1e9) : null,
      };
    });
    return { rows: rows.sort((a, b) => b.totalNs - a.totalNs) };
  },
};
