/** What launching costs: time inside launch calls, and how long work then waits in the queue. */

import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { formatDuration } from '../../base/units.js';
import { apiFunction } from '../../catalog/api-function.js';
import { type Phase, phases } from '../../catalog/phases.js';
import { summarize } from '../../stats/summary.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { type GpuWork, gpuWork } from '../gpu/gpu-work.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepsOf } from '../inference/steps.js';
import { formatMean, perStep } from '../words.js';

interface Tally {
  readonly phase: Phase | null;
  readonly call: string;
  readonly durations: GrowingColumn;
  readonly delays: GrowingColumn;
  operations: number;
  operationNs: number;
}

const phaseIds: readonly Phase[] = phases.map(({ id }) => id);

const fields = {
  key: keyField,
  phase: maybe(field.text<Phase>('Phase', 'null: outside all steps')),
  call: field.text('Call', 'the API function, without its ABI version'),
  calls: field.count('Calls', 'calls that launched recorded work'),
  callsPerStep: field.mean('Per step', 'calls divided by steps and devices'),
  totalNs: field.ns('Total', 'time inside the calls'),
  meanNs: field.nsMean('Mean', 'time inside a call'),
  medianNs: field.nsMean('Median', 'time inside a call', { priority: -1 }),
  operations: field.count('Operations', 'GPU operations they launched'),
  operationMeanNs: field.nsMean('Work mean', 'mean duration of an operation'),
  queueMeanNs: field.nsMean(
    'Queue mean',
    'time from the return of the call to the start of its first operation, at least 0',
  ),
  queueMedianNs: field.nsMean('Queue median', 'median of the same'),
  queueMaxNs: field.ns('Queue max', 'maximum of the same'),
};

type LaunchRow = RowOf<typeof fields>;

export const launchOverhead: Analysis<LaunchRow, AnalysisResult<LaunchRow>> = {
  id: 'launch-overhead',
  title: 'Launch overhead',
  question: 'How long do launch calls take, and how long does work wait in the queue?',
  reads: { apiCalls: [] },
  uses: [gpuWork, selectedWork, stepsOf],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches'], ['apiCalls']],
  fields,
  headline: {
    label: 'launches',
    text({ rows }, phase) {
      const row = rows.find(candidate => candidate.phase === phase && /Launch/.test(candidate.call));
      if (!row) return undefined;
      const count = `${formatMean(row.callsPerStep)} ${perStep(phase)}`;
      // One call of a graph runs hundreds of kernels: their mean is not what the call brought.
      const ran = row.operations > row.calls ? 'each of its kernels takes' : 'its work takes';
      const queue = `then ${formatDuration(row.queueMedianNs)} queued`;
      return `${row.call} ${formatDuration(row.medianNs)} median, ${count}, ${queue}; ${ran} ${formatDuration(row.operationMeanNs)}`;
    },
  },
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end, step, runsOfPhase } = use(selectedWork);
    const steps = use(stepsOf)?.steps ?? [];
    const calls = profile.tables.apiCalls!;
    const tallies = new Map<string, Tally>();
    // By call name id and phase: asked for every piece of work, so without a map on the way.
    const known: (Tally | undefined)[] = [];
    const phaseOfStep = steps.map(({ facts }) => phaseIds.indexOf(facts.phase));
    const { least, most } = launchesOf(work, first, end);
    const seen = new Uint8Array(Math.max(0, most - least + 1));
    for (let i = first; i < end; i++) {
      const launch = work.launch[i];
      if (!selected[i] || launch === NONE) continue;
      const id = calls.name[launch];
      const phaseIndex = step[i] === NONE ? phaseIds.length : phaseOfStep[step[i]];
      const tally = (known[id * (phaseIds.length + 1) + phaseIndex] ??= tallyOf(id, phaseIndex));
      tally.operations++;
      tally.operationNs += work.end[i] - work.start[i];
      if (seen[launch - least]) continue;
      seen[launch - least] = 1;
      tally.durations.push(calls.end[launch] - calls.start[launch]);
      tally.delays.push(Math.max(0, work.start[i] - calls.end[launch]));
    }
    const rows = [...tallies.values()].map((tally): LaunchRow => {
      const { phase, call } = tally;
      const inside = summarize(tally.durations.finishAll() as Float64Array);
      const queue = summarize(tally.delays.finishAll() as Float64Array);
      return {
        key: `phase:${phase ?? 'outside'}/call:${call}`,
        phase,
        call,
        calls: inside.count,
        callsPerStep: inside.count / (phase === null ? 1 : runsOfPhase(phase)),
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

    /** Versions of one function share a tally. */
    function tallyOf(nameId: number, phaseIndex: number): Tally {
      const phase = phaseIds[phaseIndex] ?? null;
      const call = apiFunction(profile.strings.text(nameId));
      const key = `${phase}/${call}`;
      let tally = tallies.get(key);
      if (!tally) tallies.set(key, (tally = emptyTally(phase, call)));
      return tally;
    }
  },
};

/** The first and the last call that launched any of this work: those of a step are a small part of all. */
function launchesOf({ launch }: GpuWork, first: number, end: number): { least: number; most: number } {
  let [least, most] = [Infinity, -Infinity];
  for (let i = first; i < end; i++) {
    if (launch[i] === NONE) continue;
    if (launch[i] < least) least = launch[i];
    if (launch[i] > most) most = launch[i];
  }
  return { least, most };
}

const emptyTally = (phase: Phase | null, call: string): Tally => ({
  phase,
  call,
  durations: new GrowingColumn('f64'),
  delays: new GrowingColumn('f64'),
  operations: 0,
  operationNs: 0,
});
