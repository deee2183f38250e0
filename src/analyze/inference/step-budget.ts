/** Where every nanosecond of a step went, per device: compute, exposed communication and copies, idle by cause. */
import { NONE } from '../../base/column.js';
import { forEachGap, lengthWithin } from '../../base/intervals.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import type { Analysis, AnalysisResult, Derived, Json } from '../analysis.js';
import { type DeviceTimeline, deviceTimelines } from '../gpu/device-timeline.js';
import { keyField } from '../key-field.js';
import type { Budget, BudgetRow } from './budget-totals.js';
import { totalsByPhase } from './budget-totals.js';
import { describeBudget } from './describe-budget.js';
import { causesAsObject, gapJudge } from './idle-causes.js';
import { type SelectedWindow, selection } from './selection.js';
import { stepsOf } from './steps.js';

/** Budgets of the selected windows, in their order. Used by everything that speaks of idle time. */
export const windowBudgets: Derived<readonly { window: SelectedWindow; budget: Budget }[]> = {
  id: 'window-budgets',
  reads: {},
  uses: [selection, deviceTimelines, gapJudge, stepsOf],
  compute({ use }) {
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { judge } = use(gapJudge);
    const lanes = use(stepsOf)?.lanes ?? [];
    return use(selection).windows.map(window => {
      const timeline = timelines.get(window.device)!;
      const perCause = new Float64Array(idleCauses.length);
      const fallback = window.lane === NONE ? NONE : lanes[window.lane].thread;
      forEachGap(timeline.busy, window.start, window.end, (from, to, next) => {
        judge(perCause, from, to, next < timeline.busy.length ? timeline.opener[next] : NONE, fallback);
      });
      return { window, budget: budgetOf(timeline, window.start, window.end, perCause) };
    });
  },
};

function budgetOf(timeline: DeviceTimeline, from: number, to: number, perCause: Float64Array): Budget {
  const within = (list: Parameters<typeof lengthWithin>[0]) => lengthWithin(list, from, to);
  const communicationExposedNs = within(timeline.communicationExposed);
  const copyExposedNs = within(timeline.copiesExposed);
  return {
    wallNs: to - from,
    computeNs: within(timeline.compute),
    communicationExposedNs,
    copyExposedNs,
    idleNs: perCause.reduce((sum, ns) => sum + ns, 0),
    idleByCause: causesAsObject(perCause),
    communicationHiddenNs: within(timeline.communication) - communicationExposedNs,
    copyHiddenNs: within(timeline.copies) - copyExposedNs,
    graphReplayNs: within(timeline.blocks),
  };
}

const ns = (header: string, about: string) => ({ header, kind: 'ns', about }) as const;

export const stepBudget: Analysis<BudgetRow, AnalysisResult<BudgetRow>> = {
  id: 'step-budget',
  title: 'Step budget',
  question: 'Where does every nanosecond of a step go?',
  reads: {},
  uses: [windowBudgets, stepsOf, deviceTimelines],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields: {
    key: keyField,
    iteration: { header: 'Iteration', kind: 'id', about: 'null: outside all steps', optional: true },
    phase: { header: 'Phase', kind: 'text', about: 'null: outside all steps', optional: true },
    device: { header: 'Device', priority: -1, kind: 'id', about: 'CUDA device number' },
    rank: { header: 'Rank', kind: 'id', about: 'of the process that drives the device', optional: true },
    startNs: { header: 'Start', kind: 'timestamp', about: 'begin of the window on the device', quiet: true },
    endNs: { header: 'End', kind: 'timestamp', about: 'end of the window on the device', quiet: true },
    wallNs: ns('Wall', 'length of the window'),
    computeNs: ns('Compute', 'union of kernels that are not communication'),
    communicationExposedNs: ns('Comm exposed', 'communication while no compute runs'),
    copyExposedNs: ns('Copies exposed', 'copies and memsets while neither of those runs'),
    idleNs: ns('Idle', 'nothing runs on the device'),
    idleByCause: { header: 'Idle by cause', kind: 'map-ns', about: 'sums to idleNs' },
    communicationHiddenNs: { ...ns('Comm hidden', 'communication under compute'), quiet: true },
    copyHiddenNs: { ...ns('Copies hidden', 'copies under compute or communication'), quiet: true },
    graphReplayNs: {
      ...ns('Graph replays', 'part of computeNs: graph replays recorded as blocks, idle inside them unseen'),
      quiet: true,
    },
  },
  compute({ profile, use }) {
    const { steps = [], lanes = [] } = use(stepsOf) ?? {};
    const rankOf = (lane: number) =>
      lane === NONE ? null : (profile.processes[lanes[lane].process].rank ?? null);
    const rows = use(windowBudgets).map(({ window, budget }): BudgetRow => {
      const step = window.step === NONE ? undefined : steps[window.step];
      const device = profile.gpus[window.device].deviceId;
      const place = step ? `iteration:${step.iteration}@${window.step}` : `outside:${window.start}`;
      return {
        key: `${place}/device:${window.device}`,
        iteration: step?.iteration ?? null,
        phase: step?.facts.phase ?? null,
        device,
        rank: rankOf(window.lane),
        startNs: window.start,
        endNs: window.end,
        ...budget,
      };
    });
    const hidden = use(deviceTimelines).some(({ blocks }) => blocks.length > 0);
    return { rows, summary: { graphReplaysHidden: hidden, byPhase: totalsByPhase(rows) as unknown as Json } };
  },
  describe: describeBudget,
};
