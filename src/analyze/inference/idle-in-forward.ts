/**
 * Idle time inside the forward pass of a step, apart from the rest: overlapping steps hides what the host does between
 * forward passes (inputs, sampling, scheduling) and does nothing about gaps between the layers of one.
 *
 *   gpu   copy .. layers . layers . layers .. sampling ...... copy .. layers
 *                 └───── forward pass ────┘
 */
import { NONE } from '../../base/column.js';
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import { causeIndex, idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { forwardSpans } from './forward-spans.js';
import { causesAsObject, gapJudge } from './idle-causes.js';
import { selection } from './selection.js';
import { stepWork } from './step-work.js';

/** Summed over the selected windows of a phase. */
export interface ForwardIdle {
  /** Nanoseconds by cause. */
  readonly byCause: Readonly<Record<string, number>>;
  /** What host work takes of each gap it has a part in. */
  readonly hostGapsNs: readonly number[];
}

export const idleInForward: Derived<ReadonlyMap<Phase, ForwardIdle>> = {
  id: 'idle-in-forward',
  reads: {},
  uses: [selection, deviceTimelines, gapJudge, stepWork, forwardSpans],
  compute({ use }) {
    const found = use(stepWork);
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { explainAll } = use(gapJudge);
    const spans = use(forwardSpans);
    const sums = new Map<Phase, { perCause: Float64Array; hostGapsNs: number[] }>();
    const host = HOST_CAUSES.map(causeIndex);
    const gap = new Float64Array(idleCauses.length);
    for (const window of found ? use(selection).windows : []) {
      if (window.deviceRun === NONE) continue;
      const { phase } = found!.steps.steps[window.step].facts;
      let own = sums.get(phase);
      if (!own) sums.set(phase, (own = { perCause: new Float64Array(idleCauses.length), hostGapsNs: [] }));
      const { perCause, hostGapsNs } = own;
      const from = Math.max(window.start, spans.start[window.deviceRun]);
      const to = Math.min(window.end, spans.end[window.deviceRun]);
      if (!(to > from)) continue;
      const timeline = timelines.get(window.device)!;
      const thread = found!.steps.lanes[window.lane].thread;
      const idle = explainAll(timeline, from, to, thread);
      const { cause, start, end } = idle;
      for (let i = 0; i < idle.gaps; i++) {
        gap.fill(0);
        const after = idle.firstOf(i + 1);
        for (let piece = idle.firstOf(i); piece < after; piece++)
          gap[cause[piece]] += end[piece] - start[piece];
        for (let of = 0; of < gap.length; of++) perCause[of] += gap[of];
        let hostNs = 0;
        for (let of = 0; of < host.length; of++) hostNs += gap[host[of]];
        if (hostNs > 0) hostGapsNs.push(hostNs);
      }
    }
    return new Map(
      [...sums].map(([phase, { perCause, hostGapsNs }]) => [
        phase,
        { byCause: causesAsObject(perCause), hostGapsNs },
      ]),
    );
  },
};
