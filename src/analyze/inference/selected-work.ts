/** Which GPU work the figures count: that of the selected steps, by who launched it, or all of it. */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { selection } from './selection.js';
import { stepWork } from './step-work.js';

/** Per piece of work: its step, or NONE. */
const stepOfWork: Derived<Int32Array> = {
  id: 'step-of-work',
  reads: {},
  uses: [gpuWork, stepWork],
  compute({ use }) {
    const { length } = use(gpuWork);
    const found = use(stepWork);
    const step = new Int32Array(length).fill(NONE);
    if (!found) return step;
    const stepOfRun = Int32Array.from(found.deviceRuns, run => run.step);
    for (let i = 0; i < length; i++) {
      const run = found.runOfWork[i];
      if (run !== NONE) step[i] = stepOfRun[run];
    }
    return step;
  },
};

interface SelectedWork {
  /** Per piece of work: 1 when it counts. */
  readonly selected: Uint8Array;
  /** The first piece that counts and the one after the last: a step is a small part of a long capture. */
  readonly first: number;
  readonly end: number;
  /** Per piece of work: its step, or NONE. */
  readonly step: Int32Array;
  /** Runs of selected steps on devices: what "per step" divides by. At least 1. */
  readonly runs: number;
  /** The same for the steps of one phase. */
  runsOfPhase(phase: Phase): number;
}

export const selectedWork: Derived<SelectedWork> = {
  id: 'selected-work',
  reads: {},
  uses: [gpuWork, selection, stepWork, stepOfWork],
  compute({ use }) {
    const work = use(gpuWork);
    const chosen = use(selection);
    const found = use(stepWork);
    const selected = new Uint8Array(work.length);
    const step = use(stepOfWork);
    if (!found)
      return { selected: selected.fill(1), first: 0, end: work.length, step, runs: 1, runsOfPhase: () => 1 };
    const outside = Number(chosen.whole);
    // One step is a small part of a long capture: its work lies between its first start and its last end.
    let [from, to] = outside ? [-Infinity, Infinity] : [Infinity, -Infinity];
    for (const run of outside ? [] : found.deviceRuns) {
      if (chosen.steps[run.step] !== 1 || Number.isNaN(run.gpuStart)) continue;
      from = Math.min(from, run.gpuStart);
      to = Math.max(to, run.gpuEnd);
    }
    let [first, end] = [work.length, 0];
    for (let i = lowerBound(work.start, from); i < work.length && work.start[i] <= to; i++) {
      if (!(step[i] === NONE ? outside : chosen.steps[step[i]])) continue;
      selected[i] = 1;
      if (i < first) first = i;
      end = i + 1;
    }
    const perPhase = new Map<Phase, number>();
    let runs = 0;
    for (const run of found.deviceRuns) {
      if (chosen.steps[run.step] !== 1) continue;
      runs++;
      const { phase } = found.steps.steps[run.step].facts;
      perPhase.set(phase, (perPhase.get(phase) ?? 0) + 1);
    }
    return {
      ...{ selected, first, end, step, runs: Math.max(1, runs) },
      runsOfPhase: phase => perPhase.get(phase) ?? 1,
    };
  },
};
