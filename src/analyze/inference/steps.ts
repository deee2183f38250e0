/**
 * The engine steps of a capture, one row per step whatever the number of ranks, and how they were found: by the
 * engine's markers, else by ranges of the user's own that count or name steps, else by the cadence of CUDA graph launches, else by
 * repeating sequences of kernels.
 */
import { lowerBound } from '../../base/bisect.js';
import type { StepFacts } from '../../catalog/engine-markers.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { type GpuWork, gpuWork } from '../gpu/gpu-work.js';
import { type WorkFamilies, workFamilies } from '../gpu/work-families.js';
import { tellDrafts } from './draft-steps.js';
import type { Confidence, Lane, LaneRun, Method } from './lane.js';
import { findNamedLanes } from './named-ranges.js';
import { findNumberedLanes } from './numbered-ranges.js';
import { findMarkedLanes } from './step-markers.js';
import { findUnmarkedLanes, tellPhases } from './unmarked-steps.js';

interface StepRun {
  /** Index into Steps.lanes. */
  readonly lane: number;
  /** Index into the lane's runs. */
  readonly run: number;
}

export interface Step {
  /** The engine's own number, or the position in the capture. */
  readonly iteration: number;
  readonly facts: StepFacts;
  /** One per rank; the first is the reference, whose figures stand for the step. */
  readonly runs: readonly StepRun[];
}

export interface Steps {
  readonly method: Method;
  readonly confidence: Confidence;
  readonly engine: string;
  /** The numbers are the engine's, not ours. */
  readonly numbered: boolean;
  readonly lanes: readonly Lane[];
  readonly steps: readonly Step[];
  /** For one lane: the step of each run. */
  readonly stepOfRun: readonly Int32Array[];
}

/** Where no steps can be told apart; analyses then look at the whole trace. */
export const stepsOf: Derived<Steps | undefined> = {
  id: 'steps',
  reads: { ranges: [], apiCalls: [] },
  uses: [gpuWork, workFamilies],
  compute({ profile, settings, useIfRecorded }) {
    const until = recordedUntil(profile);
    const marked = findMarkedLanes(profile, process => until[process], settings.marker);
    const work = useIfRecorded(gpuWork);
    const families = useIfRecorded(workFamilies);
    if (marked) {
      const lanes = work && families ? tellKinds(profile, work, families, marked.lanes) : marked.lanes;
      return mergeLanes(profile, lanes, { ...marked, method: 'marker', confidence: 'certain' });
    }
    if (!work || !families) return undefined;
    const own = findNumberedLanes(profile, work, until) ?? findNamedLanes(profile, work, until);
    if (own) {
      const lanes = tellKinds(profile, work, families, own.lanes);
      return mergeLanes(profile, lanes, { engine: own.engine, method: 'marker', confidence: 'likely' });
    }
    const found = findUnmarkedLanes(profile, work, families, until);
    return found && mergeLanes(profile, found.lanes, { ...found, engine: '' });
  },
};

/** What markers leave open: the phase where they only count, and which steps are those of a draft model. */
const tellKinds = (profile: Profile, work: GpuWork, families: WorkFamilies, lanes: readonly Lane[]) =>
  tellDrafts(profile, work, families, tellPhases(profile, work, families, lanes));

/** Per process, the end of the last thing its threads were seen doing. */
function recordedUntil(profile: Profile): Float64Array {
  const until = new Float64Array(profile.processes.length).fill(-Infinity);
  const processOf = Int32Array.from(profile.threads, ({ process }) => process);
  for (const name of ['apiCalls', 'ranges'] as const) {
    const table = tableNamed(profile, name);
    if (!table) continue;
    const { length, thread: threads, start: starts, end: ends } = table;
    for (let row = 0 as Row<'apiCalls' | 'ranges'>; row < length; row++) {
      if (threads[row] < 0) continue;
      const process = processOf[threads[row]];
      const end = Number.isNaN(ends[row]) ? starts[row] : ends[row];
      if (end > until[process]) until[process] = end;
    }
  }
  return until;
}

type Found = Pick<Steps, 'engine' | 'method' | 'confidence'>;

function mergeLanes(profile: Profile, lanes: readonly Lane[], found: Found): Steps {
  const rank = (lane: Lane) => profile.processes[lane.process].rank ?? lane.process;
  // The lane with most steps leads among those of the lowest rank.
  const ordered = [...lanes].sort((a, b) => rank(a) - rank(b) || b.runs.length - a.runs.length);
  const numbered = ordered.every(lane => lane.runs.every(run => run.facts.iteration !== undefined));
  const groups: StepRun[][] = numbered ? byNumber(ordered) : byPosition(ordered);
  const startOf = (group: StepRun[]) => ordered[group[0].lane].runs[group[0].run].start;
  groups.sort((a, b) => startOf(a) - startOf(b));
  const steps = groups.map((runs, index): Step => {
    const { facts } = ordered[runs[0].lane].runs[runs[0].run];
    return { iteration: facts.iteration ?? index, facts, runs };
  });
  const stepOfRun = ordered.map(lane => new Int32Array(lane.runs.length));
  steps.forEach((step, index) => {
    for (const { lane, run } of step.runs) stepOfRun[lane][run] = index;
  });
  const { engine, method, confidence } = found;
  return { engine, method, confidence, numbered, lanes: ordered, steps, stepOfRun };
}

/** Ranks count alike: the same number, seen for the same time, is the same step. */
function byNumber(lanes: readonly Lane[]): StepRun[][] {
  const groups = new Map<string, StepRun[]>();
  lanes.forEach((lane, laneIndex) => {
    const seen = new Map<number, number>();
    lane.runs.forEach((run, runIndex) => {
      const number = run.facts.iteration!;
      const time = (seen.get(number) ?? 0) + 1;
      seen.set(number, time);
      const key = `${number}/${time}`;
      const group = groups.get(key);
      if (group) group.push({ lane: laneIndex, run: runIndex });
      else groups.set(key, [{ lane: laneIndex, run: runIndex }]);
    });
  });
  return [...groups.values()];
}

/** Without numbers: in order where all lanes have as many runs, else the run of the first lane nearest in time. */
function byPosition(lanes: readonly Lane[]): StepRun[][] {
  const [reference, ...others] = lanes;
  const groups: StepRun[][] = reference.runs.map((_, run) => [{ lane: 0, run }]);
  others.forEach((lane, i) => {
    const laneIndex = i + 1;
    const sameThread = lane.process === reference.process;
    const inOrder =
      lane.runs.length === reference.runs.length &&
      (!sameThread || lane.runs.every((run, r) => run.start < reference.runs[r].periodEnd));
    const starts = Float64Array.from(reference.runs, run => run.start);
    const reach = medianOf(Float64Array.from(reference.runs, run => run.periodEnd - run.start)) / 2;
    lane.runs.forEach((run, runIndex) => {
      const target = inOrder ? runIndex : nearest(starts, run.start, reach);
      const taken = target >= 0 && groups[target].some(known => known.lane === laneIndex);
      if (target >= 0 && !taken) groups[target].push({ lane: laneIndex, run: runIndex });
      else addBeside(lane, laneIndex, run, runIndex);
    });
  });
  return groups;

  /** Windows that the first lane has not: other lanes may have them together. */
  function addBeside(lane: Lane, laneIndex: number, run: LaneRun, runIndex: number): void {
    const together = groups.slice(reference.runs.length).find(([first, ...more]) => {
      const other = lanes[first.lane].runs[first.run];
      const isOther = [first, ...more].every(known => lanes[known.lane].process !== lane.process);
      return isOther && other.start < run.periodEnd && run.start < other.periodEnd;
    });
    if (together) together.push({ lane: laneIndex, run: runIndex });
    else groups.push([{ lane: laneIndex, run: runIndex }]);
  }
}

function nearest(starts: Float64Array, start: number, reach: number): number {
  const after = lowerBound(starts, start);
  const distance = (index: number) => (index in starts ? Math.abs(starts[index] - start) : Infinity);
  const best = distance(after - 1) <= distance(after) ? after - 1 : after;
  return distance(best) <= reach ? best : -1;
}
