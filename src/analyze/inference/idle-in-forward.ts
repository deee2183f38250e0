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
import { type FamilyId, families } from '../../catalog/kernels/families.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { type GpuWork, gpuWork } from '../gpu/gpu-work.js';
import { HIDDEN, type WorkFamilies, workFamilies } from '../gpu/work-families.js';
import { causesAsObject, gapJudge } from './idle-causes.js';
import { selection } from './selection.js';
import { type StepWork, stepWork } from './step-work.js';

/** Per phase, nanoseconds of idle inside forward passes by cause, summed over the selected windows. */
export const idleInForward: Derived<ReadonlyMap<Phase, Readonly<Record<string, number>>>> = {
  id: 'idle-in-forward',
  reads: {},
  uses: [selection, deviceTimelines, gapJudge, stepWork, gpuWork, workFamilies],
  compute({ use }) {
    const found = use(stepWork);
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { judge } = use(gapJudge);
    const spans = forwardSpans(use(gpuWork), use(workFamilies), found);
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

/** What only layers hold; a step without any is bounded by its GEMMs and norms. */
const INNER: readonly FamilyId[] = ['attention', 'recurrence', 'moe-router'];
const OUTER: readonly FamilyId[] = ['gemm', 'norm', 'convolution'];

/** Per device run, start of its first layer and end of its last; replays recorded as blocks are layers. */
function forwardSpans(work: GpuWork, { family }: WorkFamilies, found: StepWork | undefined) {
  const count = found?.deviceRuns.length ?? 0;
  // Times before the origin are negative: no number stands for "none" but the infinities.
  const span = () => ({
    start: new Float64Array(count).fill(Infinity),
    end: new Float64Array(count).fill(-Infinity),
  });
  const inner = span();
  const outer = span();
  const widen = ({ start, end }: typeof inner, run: number, i: number) => {
    start[run] = Math.min(start[run], work.start[i]);
    end[run] = Math.max(end[run], work.end[i]);
  };
  const isInner = families.map(({ id }) => INNER.includes(id));
  const isOuter = families.map(({ id }) => OUTER.includes(id));
  for (let i = 0; i < work.length; i++) {
    const run = found?.runOfWork[i] ?? NONE;
    if (run === NONE) continue;
    const hidden = family[i] === HIDDEN;
    if (hidden || isInner[family[i]]) widen(inner, run, i);
    if (hidden || isOuter[family[i]]) widen(outer, run, i);
  }
  return {
    start: outer.start.map((start, run) => Math.min(start, inner.start[run])),
    end: inner.end.map((end, run) => (end > -Infinity ? end : outer.end[run])),
  };
}
