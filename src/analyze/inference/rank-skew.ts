/**
 * Which rank comes late to steps, and which ranks wait for it in collectives. By when GPU work starts: hosts run ahead of
 * their GPUs, and the first host start of a capture is when its profiler began.
 */

import { formatDuration, plural } from '../../base/units.js';
import { medianOf } from '../../stats/summary.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { type IterationRow, iterations } from './iterations.js';
import { windowBudgets } from './step-budget.js';
import { stepsOf } from './steps.js';

const fields = {
  key: keyField,
  rank: maybe(field.id('Rank', 'of the process')),
  device: maybe(field.id('Device', 'CUDA device number', { priority: -1 })),
  steps: field.count('Steps', 'selected steps the rank ran'),
  startLateNs: field.nsMean('Start delay', 'median delay of GPU start behind the first rank'),
  endLateNs: maybe(field.nsMean('End delay', 'median delay of GPU end behind the first rank')),
  lastToStart: field.count('Last to start', 'steps this rank was last to start'),
  gpuBusyNs: field.nsMean('GPU busy', 'median of its GPU work per step'),
  communicationNs: field.nsMean('Comm', 'mean communication per step, exposed and hidden'),
  idleNs: field.nsMean('Idle', 'mean per step'),
};

type RankRow = RowOf<typeof fields>;

export const rankSkew: Analysis<RankRow, AnalysisResult<RankRow>> = {
  id: 'rank-skew',
  title: 'Ranks',
  question: 'Do the ranks run in lockstep, and which one is late?',
  reads: {},
  uses: [iterations, windowBudgets, stepsOf],
  needs: [['kernels', 'graphLaunches']],
  fields,
  headline: {
    label: 'ranks',
    text({ rows, summary = {} }) {
      const spread = (ns: unknown) => formatDuration(typeof ns === 'number' ? ns : Number.NaN);
      if (summary.medianStartSkewNs === null)
        return `${plural(rows.length, 'rank')}; the clocks of their files cannot be compared`;
      const starts = `GPU starts spread ${spread(summary.medianStartSkewNs)}`;
      return `${plural(rows.length, 'rank')}; ${starts}, GPU ends ${spread(summary.medianEndSkewNs)} (medians)`;
    },
  },
  compute({ profile, use }) {
    const { lanes, steps } = use(stepsOf) ?? { lanes: [], steps: [] };
    const all = use(iterations)
      .rows.map((row, i) => ({ row, lanesOfRuns: steps[i].runs.map(({ lane }) => lane) }))
      .filter(({ row }) => row.selected && row.ranks > 1);
    if (all.length === 0)
      throw new NotRecorded('several ranks', 'give the files of all ranks: stepscope analyze rank*.json.gz');
    const budgets = use(windowBudgets);
    const rows = lanes.map((lane, index): RankRow => {
      const rank = profile.processes[lane.process].rank ?? null;
      const own = all.flatMap(({ row, lanesOfRuns }) => {
        const run = row.runs[lanesOfRuns.indexOf(index)];
        return run ? [{ row, run }] : [];
      });
      const behindFirst = (of: (run: IterationRow['runs'][number]) => number | null) =>
        own.flatMap(({ row, run }) => {
          const mine = of(run);
          return mine === null ? [] : [mine - least(row.runs.flatMap(other => of(other) ?? []))];
        });
      const starts = behindFirst(run => run.gpuStartNs);
      const ends = behindFirst(run => run.gpuEndNs);
      const median = (values: readonly number[]) => medianOf(Float64Array.from(values));
      const mine = budgets.filter(({ window }) => window.lane === index);
      const mean = (of: (budget: (typeof mine)[number]['budget']) => number) =>
        mine.reduce((sum, { budget }) => sum + of(budget), 0) / Math.max(1, mine.length);
      return {
        key: `rank:${rank ?? index}`,
        rank,
        device: own[0]?.run.device ?? null,
        steps: own.length,
        startLateNs: starts.length > 0 ? median(starts) : 0,
        endLateNs: ends.length > 0 ? median(ends) : null,
        lastToStart: own.filter(
          ({ row, run }) =>
            run.gpuStartNs !== null &&
            row.runs.every(other => (other.gpuStartNs ?? -Infinity) <= run.gpuStartNs!),
        ).length,
        gpuBusyNs: median(own.map(({ run }) => run.gpuBusyNs)),
        communicationNs: mean(budget => budget.communicationExposedNs + budget.communicationHiddenNs),
        idleNs: mean(budget => budget.idleNs),
      };
    });
    const skews = all.flatMap(({ row }) => row.startSkewNs ?? []);
    const endSkews = all.flatMap(({ row }) => row.endSkewNs ?? []);
    return {
      rows,
      summary: {
        steps: all.length,
        medianStartSkewNs: skews.length > 0 ? medianOf(Float64Array.from(skews)) : null,
        medianEndSkewNs: endSkews.length > 0 ? medianOf(Float64Array.from(endSkews)) : null,
        clock: profile.clock,
      },
    };
  },
};

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);
