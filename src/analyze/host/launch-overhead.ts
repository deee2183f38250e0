/** What launching costs: time inside launch calls, and how long work then waits in the queue. */

import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { summarize } from '../../base/stats.js';
import { formatDuration } from '../../base/units.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { cells } from '../cells.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { selectedWork } from '../inference/selected-work.js';
import { keyField } from '../key-field.js';
import { formatMean, perStep } from '../words.js';

export interface LaunchRow {
  readonly key: string;
  readonly call: string;
  readonly calls: number;
  readonly callsPerStep: number;
  readonly totalNs: number;
  readonly meanNs: number;
  readonly medianNs: number;
  readonly operations: number;
  readonly operationMeanNs: number;
  readonly queueMeanNs: number;
  readonly queueMedianNs: number;
  readonly queueMaxNs: number;
}

interface Tally {
  readonly durations: GrowingColumn;
  readonly delays: GrowingColumn;
  operations: number;
  operationNs: number;
}

export const launchOverhead: Analysis<LaunchRow, AnalysisResult<LaunchRow>> = {
  id: 'launch-overhead',
  title: 'Launch overhead',
  question: 'What does launching cost, and how long does work wait in the queue?',
  reads: { apiCalls: [] },
  uses: [gpuWork, selectedWork],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches'], ['apiCalls']],
  fields: {
    key: keyField,
    call: { header: 'Call', kind: 'text', about: 'the API function, without its ABI version' },
    calls: { header: 'Calls', kind: 'count', about: 'that launched recorded work' },
    callsPerStep: { header: 'Per step', kind: 'mean', about: 'calls by steps and devices' },
    totalNs: { header: 'Total', kind: 'ns', about: 'time inside the calls' },
    meanNs: { header: 'Mean', kind: 'ns-mean', about: 'time inside one call' },
    medianNs: { header: 'Median', kind: 'ns-mean', about: 'time inside one call' },
    operations: { header: 'Operations', kind: 'count', about: 'pieces of GPU work they launched' },
    operationMeanNs: { header: 'Work mean', kind: 'ns-mean', about: 'duration of one piece of work' },
    queueMeanNs: {
      header: 'Queue mean',
      kind: 'ns-mean',
      about: 'return of the call to start of its first work, not below 0',
    },
    queueMedianNs: { header: 'Queue median', kind: 'ns-mean', about: 'the same' },
    queueMaxNs: { header: 'Queue max', kind: 'ns', about: 'the same' },
  },
  headline: {
    label: 'launches',
    text({ rows }, phase) {
      const row = rows.find(candidate => /Launch/.test(candidate.call));
      if (!row) return undefined;
      const count = `${formatMean(row.callsPerStep)} ${perStep(phase)}`;
      const queue = `then ${formatDuration(row.queueMedianNs)} in the queue`;
      return `${row.call} ${formatDuration(row.medianNs)} median, ${count}, ${queue}; its work takes ${formatDuration(row.operationMeanNs)}`;
    },
  },
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, runs } = use(selectedWork);
    const calls = cells(profile, 'apiCalls')!;
    const nameOf = new Map<number, string>();
    const tallies = new Map<string, Tally>();
    const seen = new Uint8Array(calls.length);
    for (let i = 0; i < work.length; i++) {
      const call = work.launch[i];
      if (!selected[i] || call === NONE) continue;
      const id = calls.name[call];
      let name = nameOf.get(id);
      if (name === undefined) nameOf.set(id, (name = profile.strings.text(id).replace(/_v\d+$|_ptsz$/g, '')));
      let tally = tallies.get(name);
      if (!tally) {
        tally = {
          durations: new GrowingColumn('f64'),
          delays: new GrowingColumn('f64'),
          operations: 0,
          operationNs: 0,
        };
        tallies.set(name, tally);
      }
      tally.operations++;
      tally.operationNs += work.end[i] - work.start[i];
      if (seen[call]) continue;
      seen[call] = 1;
      tally.durations.push(calls.end[call] - calls.start[call]);
      tally.delays.push(Math.max(0, work.start[i] - calls.end[call]));
    }
    const rows = [...tallies].map(([call, tally]): LaunchRow => {
      const inside = summarize(tally.durations.finishAll() as Float64Array);
      const queue = summarize(tally.delays.finishAll() as Float64Array);
      return {
        key: `call:${call}`,
        call,
        calls: inside.count,
        callsPerStep: inside.count / runs,
        totalNs: inside.total,
        meanNs: inside.mean,
        medianNs: inside.median,
        operations: tally.operations,
        operationMeanNs: tally.operationNs / tally.operations,
        queueMeanNs: queue.mean,
        queueMedianNs: queue.median,
        queueMaxNs: queue.max,
      };
    });
    rows.sort((a, b) => b.totalNs - a.totalNs);
    return { rows, summary: { totalNs: rows.reduce((sum, row) => sum + row.totalNs, 0) } };
  },
};
