/** One step to look at closely: of the phase that takes most time, the run with the median wall time. */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { type SelectedWindow, selection } from './selection.js';
import { stepWork } from './step-work.js';
import { stepsOf } from './steps.js';

interface TypicalStep {
  readonly phase: Phase;
  readonly window: SelectedWindow;
  /** Its GPU work, in order of start. */
  readonly work: Int32Array;
}

export const typicalStep: Derived<TypicalStep | undefined> = {
  id: 'typical-step',
  reads: {},
  uses: [gpuWork, selection, stepWork, stepsOf],
  compute({ use }) {
    const steps = use(stepsOf)?.steps;
    const found = use(stepWork);
    if (!steps || !found) return undefined;
    const windows = use(selection).windows.filter(({ step, deviceRun }) => {
      return step !== NONE && !Number.isNaN(found.deviceRuns[deviceRun].gpuStart);
    });
    const time = new Map<Phase, number>();
    for (const { step, start, end } of windows) {
      const { phase } = steps[step].facts;
      time.set(phase, (time.get(phase) ?? 0) + end - start);
    }
    const phase = [...time].sort((a, b) => b[1] - a[1])[0]?.[0];
    if (phase === undefined) return undefined;
    const own = windows.filter(({ step }) => steps[step].facts.phase === phase);
    own.sort((a, b) => a.end - a.start - (b.end - b.start) || a.start - b.start);
    const window = own[(own.length - 1) >> 1];
    const work = use(gpuWork);
    const { gpuStart, gpuEnd } = found.deviceRuns[window.deviceRun];
    const indexes: number[] = [];
    for (let i = lowerBound(work.start, gpuStart); i < work.length && work.start[i] <= gpuEnd; i++)
      if (found.runOfWork[i] === window.deviceRun) indexes.push(i);
    return { phase, window, work: Int32Array.from(indexes) };
  },
};
