/**
 * Which steps show the engine at work as it usually is. Left out: steps cut off by the capture, slow first steps
 * that load or compile something, decode steps while the batch still fills (ramp) or already empties (drain).
 */
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import type { Row } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';
import { stepWindows } from './step-windows.js';
import { type Step, stepsOf } from './steps.js';

export type StepState = 'steady' | 'warm-up' | 'ramp' | 'drain' | 'incomplete';

/** A first step this many times slower than the median of those after it is warm-up … */
const WARM_UP_RATIO = 2;
/** … and this many times when it also loads or compiles code. */
const LOADING_RATIO = 1.25;
/** The batch counts as full from this share of its largest size on. */
const FULL_BATCH = 0.9;
const LOADING_CALL =
  /^(cu(Module|Library)(Load|GetFunction|GetKernel)|cudaLibraryLoad|cuLink|(cuda|hip|cu)GraphInstantiate|hipModuleLoad)/;

export interface SteadyState {
  readonly state: readonly StepState[];
  /** Length of each step's window on the device of its reference run; NaN without one. */
  readonly wallNs: Float64Array;
}

export const steadyState: Derived<SteadyState | undefined> = {
  id: 'steady-state',
  reads: { apiCalls: [] },
  uses: [stepsOf, stepWindows],
  compute({ profile, use, useIfRecorded }) {
    const found = use(stepsOf);
    if (!found) return undefined;
    const { steps, lanes } = found;
    const wallNs = new Float64Array(steps.length).fill(Number.NaN);
    const windows = useIfRecorded(stepWindows);
    for (const window of windows ?? []) {
      const isReference = steps[window.step].runs[0].lane === window.lane;
      if (isReference && Number.isNaN(wallNs[window.step])) wallNs[window.step] = window.end - window.start;
    }
    steps.forEach((step, i) => {
      const run = lanes[step.runs[0].lane].runs[step.runs[0].run];
      if (Number.isNaN(wallNs[i])) wallNs[i] = run.periodEnd - run.start;
    });
    const state: StepState[] = steps.map(step =>
      step.runs.some(({ lane, run }) => lanes[lane].runs[run].open) ? 'incomplete' : 'steady',
    );
    markRampAndDrain(steps, state);
    const loading = loadingMoments();
    for (const phase of new Set(steps.map(step => step.facts.phase))) markWarmUp(phase, loading);
    return { state, wallNs };

    function markWarmUp(phase: Phase, loads: (index: number) => boolean): void {
      const own = steps.flatMap((step, i) =>
        step.facts.phase === phase && state[i] === 'steady' ? [i] : [],
      );
      for (let i = 0; own.length - i > 2; i++) {
        const rest = medianOf(Float64Array.from(own.slice(i + 1), index => wallNs[index]));
        const limit = loads(own[i]) ? LOADING_RATIO : WARM_UP_RATIO;
        if (!(wallNs[own[i]] > limit * rest)) return;
        state[own[i]] = 'warm-up';
      }
    }

    function loadingMoments(): (index: number) => boolean {
      const calls = profile.tables.apiCalls;
      const moments: { lane: number; at: number }[] = [];
      const loads = nameTest(profile, LOADING_CALL);
      for (let row = 0 as Row<'apiCalls'>; row < (calls?.length ?? 0); row++) {
        if (!loads(calls!.name[row]) || calls!.thread[row] === NONE) continue;
        const { process } = profile.threads[calls!.thread[row]];
        const lane = lanes.findIndex(candidate => candidate.process === process);
        if (lane >= 0) moments.push({ lane, at: calls!.start[row] });
      }
      return index => {
        const [{ lane, run }] = steps[index].runs;
        const { start, periodEnd } = lanes[lane].runs[run];
        return moments.some(moment => moment.lane === lane && moment.at >= start && moment.at < periodEnd);
      };
    }
  },
};

/** Prefill steps are no ramp: only steps that decode tell how full the batch is. */
function markRampAndDrain(steps: readonly Step[], state: StepState[]): void {
  const batches = steps.map(({ facts }) =>
    facts.phase === 'prefill' ? undefined : facts.generationRequests,
  );
  const largest = batches.reduce<number>((most, batch) => Math.max(most, batch ?? 0), 0);
  if (largest === 0) return;
  const isFull = (batch: number | undefined) => batch !== undefined && batch >= FULL_BATCH * largest;
  const first = batches.findIndex(isFull);
  const last = batches.findLastIndex(isFull);
  batches.forEach((batch, i) => {
    if (batch === undefined || state[i] !== 'steady') return;
    if (i < first) state[i] = 'ramp';
    if (i > last) state[i] = 'drain';
  });
}
