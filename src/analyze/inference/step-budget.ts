/** Where every nanosecond of a step went, per device: compute, exposed communication and copies, idle by cause. */
import { NONE } from '../../base/column.js';
import { type Intervals, lengthWithin } from '../../base/intervals.js';
import type { Analysis, AnalysisResult, Derived, Json } from '../analysis.js';
import { communicationSplit } from '../comm/communication-split.js';
import { field, keyField, maybe, quiet } from '../field.js';
import { type DeviceTimeline, deviceTimelines } from '../gpu/device-timeline.js';
import type { Budget, BudgetRow } from './budget-totals.js';
import { totalsByPhase } from './budget-totals.js';
import { describeBudget } from './describe-budget.js';
import { causesAsObject } from './idle-causes.js';
import { type SelectedWindow, selection } from './selection.js';
import { stepsOf } from './steps.js';
import { windowIdle } from './window-idle.js';

/** Budgets of the selected windows, in their order. Used by everything that speaks of idle time. */
export const windowBudgets: Derived<readonly { window: SelectedWindow; budget: Budget }[]> = {
  id: 'window-budgets',
  reads: {},
  uses: [selection, deviceTimelines, windowIdle, communicationSplit],
  compute({ use }) {
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const splits = use(communicationSplit);
    const { perCause } = use(windowIdle);
    return use(selection).windows.map((window, i) => {
      const timeline = timelines.get(window.device)!;
      const budget = budgetOf(timeline, window.start, window.end, perCause[i]);
      const split = splits?.get(window.device);
      if (!split) return { window, budget };
      const within = (list: Intervals) => lengthWithin(list, window.start, window.end);
      const matchedNs = within(split.matched);
      return {
        window,
        budget: {
          ...budget,
          communicationWaitingNs: within(split.waiting),
          communicationUnmatchedNs: budget.communicationExposedNs - matchedNs,
        },
      };
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

export const stepBudget: Analysis<BudgetRow, AnalysisResult<BudgetRow>> = {
  id: 'step-budget',
  title: 'Step budget',
  question: 'Where does every nanosecond of a step go?',
  reads: {},
  uses: [windowBudgets, stepsOf, deviceTimelines],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields: {
    key: keyField,
    iteration: maybe(field.id('Iteration', 'null: outside all steps')),
    phase: maybe(field.text('Phase', 'null: outside all steps')),
    device: field.id('Device', 'CUDA device number', { priority: -1 }),
    rank: maybe(field.id('Rank', 'of the process that drives the device')),
    startNs: quiet(field.timestamp('Start', 'start of the window on the device')),
    endNs: quiet(field.timestamp('End', 'end of the window on the device')),
    wallNs: field.ns('Wall', 'length of the window'),
    computeNs: field.ns('Compute', 'union of kernels that are not communication'),
    communicationExposedNs: field.ns('Comm exposed', 'communication while no compute runs'),
    communicationWaitingNs: maybe(
      field.ns(
        'Comm waiting',
        'part of communicationExposedNs: until the last rank arrives; null: not matched',
      ),
    ),
    communicationUnmatchedNs: quiet(
      maybe(field.ns('Comm unmatched', 'part of communicationExposedNs: calls matched with no other rank')),
    ),
    copyExposedNs: field.ns(
      'Copies exposed',
      'copies and memsets while neither compute nor communication runs',
    ),
    idleNs: field.ns('Idle', 'nothing runs on the device'),
    idleByCause: field.mapNs('Idle by cause', 'sums to idleNs'),
    communicationHiddenNs: quiet(field.ns('Comm hidden', 'communication hidden by compute')),
    copyHiddenNs: quiet(field.ns('Copies hidden', 'copies hidden by compute or communication')),
    graphReplayNs: quiet(
      field.ns(
        'Graph replays',
        'part of computeNs: graph replays recorded as blocks; idle time inside them is hidden',
      ),
    ),
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
        communicationWaitingNs: budget.communicationWaitingNs ?? null,
        communicationUnmatchedNs: budget.communicationUnmatchedNs ?? null,
      };
    });
    const hidden = use(deviceTimelines).some(({ blocks }) => blocks.length > 0);
    return { rows, summary: { graphReplaysHidden: hidden, byPhase: totalsByPhase(rows) as unknown as Json } };
  },
  describe: describeBudget,
};
