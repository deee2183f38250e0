/**
 * Idle time inside the forward pass of a step, apart from the rest: overlapping steps hides what the host does between
 * forward passes (inputs, sampling, scheduling) and does nothing about gaps between the layers of one.
 *
 *   gpu   copy .. layers . layers . layers .. sampling ...... copy .. layers
 *                 └───── forward pass ────┘
 */
import { NONE } from '../../base/column.js';
import { forEachGap } from '../../base/intervals.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { forwardSpans } from './forward-spans.js';
import { causesAsObject, gapJudge } from './idle-causes.js';
import { selection } from './selection.js';
import { stepWork } from './step-work.js';

/** Per phase, nanoseconds of idle inside forward passes by cause, summed over the selected windows. */
export const idleInForward: Derived<ReadonlyMap<Phase, Readonly<Record<string, number>>>> = {
  id: 'idle-in-forward',
  reads: {},
  uses: [selection, deviceTimelines, gapJudge, stepWork, forwardSpans],
  compute({ use }) {
    const found = use(stepWork);
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { judge } = use(gapJudge);
    const spans = use(forwardSpans);
    const sums = new Map<Phase, Float64Array>();
    for (const window of found ? use(selection).windows : []) {
      if (window.deviceRun === NONE) continue;
      const { phase } = found!.steps.steps[window.step].facts;
      let own = sums.get(phase);
      if (!own) sums.set(phase, (own = new Float64Array(idleCauses.length)));
      const from = Math.max(window.start, spans.start[window.deviceRun]);
      const to = Math.min(window.end, spans.end[window.deviceRun]);
      if (!(to > from)) continue;
      const timeline = timelines.get(window.device)!;
      const thread = found!.steps.lanes[window.lane].thread;
      forEachGap(timeline.busy, from, to, (start, end, next) =>
        judge(own, start, end, next < timeline.busy.length ? timeline.opener[next] : NONE, thread),
      );
    }
    return new Map([...sums].map(([phase, perCause]) => [phase, causesAsObject(perCause)]));
  },
};
