/**
 * Which steps show the engine at work as it usually is. Left out: steps cut off by the capture, slow first steps
 * that load or compile something or in which the profiler starts, a last step that holds its end, and decode steps
 * while a first batch still fills (ramp) or the last one empties (drain).
 *
 * Steady is the load, not the batch: in a server requests end and others join, and steps of other batch sizes, prefill
 * between them and mixed steps are what it does. Only a batch that begins almost empty and grows, or ends almost empty
 * and has shrunk, with nobody joining, is a beginning or an end.
 */
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { callsNamed } from '../names-used.js';
import { stepWindows } from './step-windows.js';
import { type DeviceRun, stepWork } from './step-work.js';
import { type Step, stepsOf } from './steps.js';

export type StepState = 'steady' | 'warm-up' | 'ramp' | 'drain' | 'incomplete';

/** A first step this many times slower than the median of those after it is warm-up … */
const WARM_UP_RATIO = 2;
/** … and this many times when it also loads or compiles code … */
const LOADING_RATIO = 1.25;
/** … or when it also lies this many deviations outside those after it, of which there must be some to tell. */
const UNLIKE_RATIO = 1.1;
const UNLIKE_DEVIATIONS = 4;
const FEWEST_TO_TELL = 8;
/** Of few, a first step that takes so many times as long as the longest of the others is warm-up. */
const FAR_ABOVE = 1.5;
/** Of values that scatter normally, the standard deviation per median absolute deviation. */
const MAD_TO_DEVIATION = 1.4826;
/** Steps that run the same number of kernels, but for this share, are alike; so many tell that the last is not. */
const ALIKE = 0.95;
const FEWEST_ALIKE = 3;
/** At an edge of the recording, less than this part of the kernels of any other step is a piece of a step. */
const FRAGMENT = 0.5;
/** A last step is left out if more than this share of a step is missing at its end. */
const CUT_SHARE = 0.05;
/** Of the launch calls of a step, how many have work in the file where nothing was lost, and where much was. */
const ALL_RECORDED = 0.95;
const MUCH_LOST = 0.8;
/** The batch counts as full from this share of its largest size on … */
const FULL_BATCH = 0.9;
/** … and as almost empty up to this one. */
const EMPTY_BATCH = 0.25;
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
  uses: [stepsOf, stepWork, stepWindows],
  compute({ profile, use, useIfRecorded }) {
    const found = use(stepsOf);
    if (!found) return undefined;
    const { steps, lanes } = found;
    const wallNs = new Float64Array(steps.length).fill(Number.NaN);
    const endNs = new Float64Array(steps.length).fill(Number.NaN);
    const windows = useIfRecorded(stepWindows);
    for (const window of windows ?? []) {
      const isReference = steps[window.step].runs[0].lane === window.lane;
      if (!isReference || !Number.isNaN(wallNs[window.step])) continue;
      wallNs[window.step] = window.end - window.start;
      endNs[window.step] = window.end;
    }
    steps.forEach((step, i) => {
      const run = lanes[step.runs[0].lane].runs[step.runs[0].run];
      if (!Number.isNaN(wallNs[i])) return;
      wallNs[i] = run.periodEnd - run.start;
      endNs[i] = run.periodEnd;
    });
    const state: StepState[] = steps.map(step =>
      step.runs.some(({ lane, run }) => lanes[lane].runs[run].open) ? 'incomplete' : 'steady',
    );
    // Work that was launched and is not in the file did run: such a step looks idle and was not.
    const lost = lostWork(useIfRecorded(stepWork)?.workRecorded);
    for (const step of lost) state[step] = 'incomplete';
    // The recording stopped before the last step launched anything.
    const working = new Set(windows?.filter(({ busyNs }) => busyNs > 0).map(({ step }) => step));
    if (working.size === steps.length - 1 && !working.has(steps.length - 1))
      state[steps.length - 1] = 'incomplete';
    markRampAndDrain(steps, state);
    const kernels = kernelsOfSteps(useIfRecorded(stepWork)?.deviceRuns ?? []);
    markCutLast(kernels);
    markFragments(kernels);
    const loading = loadingMoments();
    for (const phase of new Set(steps.map(step => step.facts.phase))) {
      markWarmUp(phase, loading);
      markCutEnd(phase);
      markCutShort(phase);
    }
    return { state, wallNs };

    /** The recording stopped inside the last step: steps like it all run the same kernels, and it lacks some. */
    function markCutLast(kernels: ReadonlyMap<number, number>): void {
      const last = steps.length - 1;
      const like = [...kernels.keys()].filter(
        step => step !== last && sameLoad(steps[step].facts, steps[last].facts),
      );
      if (like.length < FEWEST_ALIKE) return;
      const counts = like.map(step => kernels.get(step)!);
      const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
      if (fewest >= ALIKE * most && (kernels.get(last) ?? 0) < ALIKE * fewest) state[last] = 'incomplete';
    }

    /**
     * Steps that no marker shows, at the edges of the recording: one with far fewer kernels than all the others is a
     * piece of one, and says nothing of its phase.
     */
    function markFragments(kernels: ReadonlyMap<number, number>): void {
      if (found!.method === 'marker') return;
      const edges = [0, steps.length - 1].filter(step => steps[step].facts.phase === 'unknown');
      for (const edge of edges) {
        const others = [...kernels].flatMap(([step, count]) => (edges.includes(step) ? [] : [count]));
        if (others.length < FEWEST_ALIKE) return;
        if ((kernels.get(edge) ?? 0) < FRAGMENT * Math.min(...others)) state[edge] = 'incomplete';
      }
    }

    function steadyOf(phase: Phase): number[] {
      return steps.flatMap((step, i) => (step.facts.phase === phase && state[i] === 'steady' ? [i] : []));
    }

    /** Longer than steps like it by more than the later of them, which have settled, differ among themselves. */
    function isUnlike(index: number, others: readonly number[]): boolean {
      const like = others.filter(
        other => steps[other].facts.generationRequests === steps[index].facts.generationRequests,
      );
      if (like.length < FEWEST_TO_TELL) return false;
      const settled = like.slice(like.length >> 1);
      const times = Float64Array.from(settled, other => wallNs[other]);
      const usual = medianOf(times);
      const deviation = MAD_TO_DEVIATION * medianOf(times.map(time => Math.abs(time - usual)));
      const longest = times.reduce((most, time) => Math.max(most, time));
      return wallNs[index] > Math.max(longest, UNLIKE_RATIO * usual, usual + UNLIKE_DEVIATIONS * deviation);
    }

    /** Of few: longer by far than the longest of steps like it. */
    function isFarAbove(index: number, others: readonly number[]): boolean {
      const longest = others.reduce((most, other) => Math.max(most, wallNs[other]), 0);
      return (
        others.length >= FEWEST_ALIKE &&
        others.every(other => sameLoad(steps[other].facts, steps[index].facts)) &&
        wallNs[index] > FAR_ABOVE * longest
      );
    }

    function markWarmUp(phase: Phase, loads: (index: number) => boolean): void {
      const own = steadyOf(phase);
      for (let i = 0; own.length - i > 2; i++) {
        const after = own.slice(i + 1);
        const rest = medianOf(Float64Array.from(after, index => wallNs[index]));
        const limit = loads(own[i]) ? LOADING_RATIO : WARM_UP_RATIO;
        if (!(wallNs[own[i]] > limit * rest) && !isFarAbove(own[i], after) && !isUnlike(own[i], after))
          return;
        state[own[i]] = 'warm-up';
      }
    }

    /** The last step of the capture may hold what came after it: the profiler's stop, a wait for all that was launched. */
    function markCutEnd(phase: Phase): void {
      const own = steadyOf(phase);
      const last = own.pop();
      if (last === steps.length - 1 && isUnlike(last, own)) state[last] = 'incomplete';
    }

    /** The recording ended while the host still worked between the last step and the next: that part is missing. */
    function markCutShort(phase: Phase): void {
      const own = steadyOf(phase);
      const last = own.pop();
      if (last !== steps.length - 1) return;
      const like = own.filter(index => sameLoad(steps[index].facts, steps[last].facts));
      if (like.length < FEWEST_ALIKE) return;
      const [{ lane, run }] = steps[last].runs;
      // A GPU that is busy longer than the host shows the whole step.
      const missingNs = lanes[lane].runs[run].usualEnd - endNs[last];
      const usual = medianOf(Float64Array.from(like, index => wallNs[index]));
      if (missingNs > CUT_SHARE * usual) state[last] = 'incomplete';
    }

    function loadingMoments(): (index: number) => boolean {
      const calls = profile.tables.apiCalls;
      const moments: { lane: number; at: number }[] = [];
      const loading = callsNamed(profile, LOADING_CALL);
      for (let i = 0; i < loading.length; i++) {
        const row = loading[i];
        if (calls!.thread[row] === NONE) continue;
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

function kernelsOfSteps(runs: readonly DeviceRun[]): ReadonlyMap<number, number> {
  const kernels = new Map<number, number>();
  for (const run of runs) kernels.set(run.step, (kernels.get(run.step) ?? 0) + run.kernels);
  return kernels;
}

/** Steps that lack much of the work they launched, in a capture whose other steps have theirs. */
function lostWork(recorded: Float64Array = new Float64Array()): number[] {
  const known = recorded.filter(share => !Number.isNaN(share));
  if (known.length < 2 || known.reduce((most, share) => Math.max(most, share)) < ALL_RECORDED) return [];
  return [...recorded.keys()].filter(step => recorded[step] < MUCH_LOST);
}

const sameLoad = (a: Step['facts'], b: Step['facts']) =>
  a.phase === b.phase &&
  a.contextRequests === b.contextRequests &&
  a.generationRequests === b.generationRequests;

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
  const filling = batches.slice(0, first + 1).filter(batch => batch !== undefined);
  // Whoever joins after the batch was full for the last time says that the load goes on.
  const emptying = batches
    .slice(last)
    .map(batch => batch ?? Infinity)
    .reverse();
  const mark = (from: number, to: number, as: StepState) => {
    for (let i = from; i < to; i++) if (batches[i] !== undefined && state[i] === 'steady') state[i] = as;
  };
  if (growsFromAlmostEmpty(filling, largest)) mark(0, first, 'ramp');
  if (growsFromAlmostEmpty(emptying, largest)) mark(last + 1, batches.length, 'drain');
}

const growsFromAlmostEmpty = (batches: readonly number[], largest: number): boolean =>
  batches[0] <= EMPTY_BATCH * largest && batches.every((batch, i) => i === 0 || batch >= batches[i - 1]);
