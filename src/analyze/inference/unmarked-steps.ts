/**
 * Steps without markers. First by CUDA graph launches: engines replay the same graphs once per decode step. Then by
 * kernels: something in every step runs exactly once (an embedding, an argmax), at regular distances.
 */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { GRAPH_LAUNCH, SYNC_CALL } from '../../catalog/host-activities.js';
import type { Profile, Row } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { WorkFamilies } from '../gpu/work-families.js';
import { nameTest } from '../name-test.js';
import type { Confidence, Method } from './lane.js';
import { type Lane, withPeriods } from './lane.js';
import { type LaunchedWork, launchedByProcess } from './launched-work.js';
import { outermostBlocks } from './outer-period.js';
import { phaseOfKernels } from './phase-of-kernels.js';
import { findPeriod } from './repetition.js';
import { sequenceBoundaries } from './sequence-steps.js';
import { isTokenSampling, mayHoldPasses, repeatsInside } from './token-passes.js';
import { waitsBefore } from './waits-before.js';

interface UnmarkedLanes {
  readonly method: Method;
  readonly confidence: Confidence;
  readonly lanes: readonly Lane[];
}

/** Markers that only count steps: their phase is told by what they ran. */
export function tellPhases(
  profile: Profile,
  work: GpuWork,
  families: WorkFamilies,
  lanes: readonly Lane[],
): readonly Lane[] {
  if (lanes.every(lane => lane.runs.every(run => run.facts.phase !== 'unknown'))) return lanes;
  const launched = launchedByProcess(profile, work);
  return lanes.map(lane => {
    const list = launched.find(candidate => candidate.process === lane.process);
    if (!list) return lane;
    const runs = lane.runs.map(run => {
      if (run.facts.phase !== 'unknown') return run;
      const own = list.work.subarray(lowerBound(list.at, run.start), lowerBound(list.at, run.periodEnd));
      return { ...run, facts: { ...run.facts, phase: phaseOfKernels(profile, work, families, own) } };
    });
    return { ...lane, runs };
  });
}

export function findUnmarkedLanes(
  profile: Profile,
  work: GpuWork,
  families: WorkFamilies,
  recordedUntil: Float64Array,
): UnmarkedLanes | undefined {
  const launched = launchedByProcess(profile, work);
  const attempts = [
    { method: 'graph-launches', boundaries: graphBoundaries, confidence: 'likely' },
    { method: 'kernel-sequence', boundaries: sequenceBoundaries, confidence: 'guess' },
  ] as const;
  const piecesOf = (process: number) => launched.find(list => list.process === process)!.work.length;
  for (const { method, boundaries, confidence } of attempts) {
    const lanes = launched.flatMap(list => {
      const starts = boundaries(profile, work, list, families);
      if (!starts || !followEachOther(work, list, starts)) return [];
      return [laneFrom(profile, work, families, list, starts, recordedUntil[list.process])];
    });
    // Ranks run alike: a method that only works for some of them has found something else. A process that does little
    // beside them is none.
    const workOf = (lists: readonly { readonly process: number }[]) =>
      lists.reduce((sum, { process }) => sum + piecesOf(process), 0);
    if (lanes.length === 0 || workOf(lanes) * 2 <= workOf(launched)) continue;
    const isLoop =
      confidence === 'likely' && lanes.some(lane => isLoopOfPasses(profile, work, launched, lane));
    return { method, confidence: isLoop ? 'guess' : confidence, lanes };
  }
  return undefined;
}

/** Looked at in the middle, where a lane is itself. */
function isLoopOfPasses(
  profile: Profile,
  work: GpuWork,
  launched: readonly LaunchedWork[],
  { process, runs }: Lane,
): boolean {
  const list = launched.find(candidate => candidate.process === process)!;
  const { start, periodEnd } = runs[runs.length >> 1];
  const own = list.work.subarray(lowerBound(list.at, start), lowerBound(list.at, periodEnd));
  const names = profile.tables.kernels?.name;
  const kernels = Array.from(own).filter(index => work.kind[index] === WorkKind.kernel);
  return names !== undefined && mayHoldPasses(kernels.map(index => names[work.row[index] as Row<'kernels'>]));
}

/**
 * Whether rounds that the host began one after the other ran one after the other too. Where copies or streams of
 * one round run beside the next ones for most of their time, the rounds repeat but are no steps of the device.
 */
function followEachOther(work: GpuWork, list: LaunchedWork, starts: readonly number[]): boolean {
  const spans = new Map<number, { round: number; start: number; end: number }[]>();
  list.work.forEach((index, i) => {
    const round = upperBound(starts, list.at[i]) - 1;
    if (round < 0) return;
    const own = spans.get(work.device[index]) ?? [];
    spans.set(work.device[index], own);
    const last = own[own.length - 1];
    if (last?.round !== round) own.push({ round, start: work.start[index], end: work.end[index] });
    else {
      last.start = Math.min(last.start, work.start[index]);
      last.end = Math.max(last.end, work.end[index]);
    }
  });
  let pairs = 0;
  let beside = 0;
  for (const own of spans.values()) {
    for (let i = 1; i < own.length; i++) {
      pairs++;
      const [before, after] = [own[i - 1], own[i]];
      const shorter = Math.min(before.end - before.start, after.end - after.start);
      if (before.end - after.start > shorter / 2) beside++;
    }
  }
  return beside * 4 <= pairs;
}

/** One step per round of graph launches; it begins after the last wait or the longest pause before the round. */
function graphBoundaries(
  profile: Profile,
  work: GpuWork,
  list: LaunchedWork,
  families: WorkFamilies,
): number[] | undefined {
  const calls = profile.tables.apiCalls;
  if (!calls || list.thread === NONE) return undefined;
  const isGraphLaunch = nameTest(profile, GRAPH_LAUNCH);
  const launches: { call: Row<'apiCalls'>; kernels: number; name: number; names: number[] }[] = [];
  const names = profile.tables.kernels?.name;
  for (let i = 0; i < list.work.length; i++) {
    const index = list.work[i];
    const call = work.launch[index];
    if (call === NONE || !isGraphLaunch(calls.name[call])) continue;
    const last = launches[launches.length - 1];
    const name = work.kind[index] === WorkKind.kernel ? names![work.row[index]] : NONE;
    if (last?.call === call) {
      last.kernels++;
      if (last.names.length <= MOST_OF_PART) last.names.push(name);
    } else launches.push({ call, kernels: 1, name, names: [name] });
  }
  if (launches.length === 0) return undefined;
  // Several graphs per step (piecewise graphs, one per layer group) come in the same order each time.
  const round = findPeriod(launches.map(({ kernels, name }) => kernels * 65537 + name))?.period ?? 1;
  // One graph for each layer is not one for each step: the host waits once behind them all, or launches what only a
  // whole step has (an embedding, the head) between two rows of them.
  const begins = launches.map(({ call }) => calls.start[call]);
  const whole =
    round === 1 && launches.every(({ names: own }) => isPart(own))
      ? (outermostBlocks(launches.length, waitsBefore(profile, list.thread, begins)) ??
        outermostBlocks(launches.length, launchesMoreBefore(work, list, begins)))
      : undefined;
  const starts: number[] = [];
  const firsts = whole ?? Array.from({ length: Math.ceil(launches.length / round) }, (_, i) => i * round);
  for (const i of firsts) {
    const call = launches[i].call;
    const after = i === 0 ? list.at[0] : calls.end[launches[i - 1].call];
    starts.push(i === 0 ? list.at[0] : beginAfter(profile, list.thread, after, calls.start[call]));
  }
  const isInGraph = (index: number) => {
    const call = work.launch[index];
    return call !== NONE && isGraphLaunch(calls.name[call]);
  };
  const perToken = round > 1 ? splitAtTokens(profile, work, list, families, starts, isInGraph) : undefined;
  return perToken ?? withEagerSteps(profile, work, list, starts, isInGraph);
}

/**
 * Requests that come one by one, all alike, repeat as a whole: a prompt and its tokens. Where every round samples several
 * times outside its graphs, each time ends a step.
 *
 *   pieces … sample | graph sample | graph sample ║ pieces … sample | graph sample | graph sample
 */
function splitAtTokens(
  profile: Profile,
  work: GpuWork,
  list: LaunchedWork,
  families: WorkFamilies,
  starts: readonly number[],
  isInGraph: (index: number) => boolean,
): number[] | undefined {
  const names = profile.tables.kernels?.name;
  if (!names) return undefined;
  const sampled = new Map<number, number[][]>();
  list.work.forEach((index, i) => {
    if (work.kind[index] !== WorkKind.kernel || isInGraph(index)) return;
    const name = names[work.row[index] as Row<'kernels'>];
    const round = upperBound(starts, list.at[i]) - 1;
    if (round < 0 || !isTokenSampling(families, name)) return;
    const own = sampled.get(name) ?? starts.map(() => []);
    sampled.set(name, own);
    own[round].push(i);
  });
  // As often in every round, which the capture may cut off at the end; the last of them, behind what prepares inputs.
  const [rounds] = [...sampled.values()]
    .filter(([first, ...more]) => {
      const isAlike = (places: readonly number[]) => places.length === first.length;
      return first.length >= 2 && more.slice(0, -1).every(isAlike);
    })
    .sort(([a], [b]) => b[0] - a[0]);
  const split = rounds?.flatMap((places, round) => [
    starts[round],
    ...places.slice(0, -1).map(place => {
      const edge = list.at[Math.min(place + EDGE_LAUNCHES, list.at.length - 1)];
      return beginAfter(profile, list.thread, list.at[place], edge);
    }),
  ]);
  return split && areOfOneModel(list, split) ? split : undefined;
}

/** Passes of one model run about as many kernels each, whatever they read; those of a draft model run far fewer. */
function areOfOneModel({ at }: LaunchedWork, starts: readonly number[]): boolean {
  const ends = starts.map((_, i) => lowerBound(at, starts[i + 1] ?? Infinity));
  // The capture may cut the last one off.
  const pieces = ends.map((end, i) => end - lowerBound(at, starts[i])).slice(0, -1);
  return Math.min(...pieces) * 2 >= Math.max(...pieces);
}

/** Whether more than usual is launched between the beginnings of a block and of the one before. */
function launchesMoreBefore(
  work: GpuWork,
  list: LaunchedWork,
  begins: readonly number[],
): (block: number) => boolean {
  const kernels = begins.map((begin, block) => {
    let count = 0;
    const from = block === 0 ? 0 : lowerBound(list.at, begins[block - 1]);
    for (let i = from; i < list.at.length && list.at[i] < begin; i++)
      if (work.kind[list.work[i]] === WorkKind.kernel) count++;
    return count;
  });
  const usual = medianOf(Float64Array.from(kernels.slice(1)));
  return block => kernels[block] > usual;
}

/** A graph of more kernels than this is more than a part of a layer. */
const MOST_OF_PART = 64;

/** Few kernels, without layers among them: no whole model. */
const isPart = (names: readonly number[]): boolean =>
  names.length <= MOST_OF_PART && !repeatsInside(names, 3);

/** Launches behind the end of a step among which the next one begins. */
const EDGE_LAUNCHES = 40;

/**
 * A step may run without its graph, as one with a prompt in it does, and then lies behind the replay of the one before.
 * What every step runs once outside its graph (sampling) tells how many there are: each further time ends a step.
 *
 *   graph sample | graph sample | layers … sample | layers … sample | graph sample
 */
function withEagerSteps(
  profile: Profile,
  work: GpuWork,
  list: LaunchedWork,
  starts: readonly number[],
  isInGraph: (index: number) => boolean,
): number[] {
  const names = profile.tables.kernels?.name;
  if (!names || starts.length < 3) return [...starts];
  const rounds = new Map<number, number[][]>();
  list.work.forEach((index, i) => {
    if (work.kind[index] !== WorkKind.kernel || isInGraph(index)) return;
    const round = upperBound(starts, list.at[i]) - 1;
    const name = names[work.row[index] as Row<'kernels'>];
    const own = rounds.get(name) ?? starts.map(() => []);
    rounds.set(name, own);
    if (round >= 0) own[round].push(i);
  });
  // Once in most rounds, several times in some, never missing: the one that comes last in a round.
  const anchors = [...rounds.values()].filter(own => {
    const once = own.filter(places => places.length === 1).length;
    return once >= own.length / 2 && own.every(places => places.length > 0) && once < own.length;
  });
  const lastIn = (own: number[][]) => own.find(places => places.length === 1)![0];
  const [anchor] = anchors.sort((a, b) => lastIn(b) - lastIn(a));
  if (!anchor) return [...starts];
  const further = anchor.map(places =>
    places.slice(0, -1).map(place => {
      const edge = list.at[Math.min(place + EDGE_LAUNCHES, list.at.length - 1)];
      return beginAfter(profile, list.thread, list.at[place], edge);
    }),
  );
  const workNs = (from: number, to: number) => {
    let sum = 0;
    for (let i = lowerBound(list.at, from); i < list.at.length && list.at[i] < to; i++)
      sum += work.end[list.work[i]] - work.start[list.work[i]];
    return sum;
  };
  const ends = starts.map((_, round) => starts[round + 1] ?? Infinity);
  const usual = medianOf(Float64Array.from(starts, (start, round) => workNs(start, ends[round])));
  // Where recording ends, the last round has the beginning of one more step: what comes twice in it ends none.
  const whole = further.filter((own, round) => {
    const edges = [starts[round], ...own, ends[round]];
    return own.every((_, i) => workNs(edges[i], edges[i + 1]) >= LEAST_OF_STEP * usual);
  });
  return [...new Set([...starts, ...whole.flat()])].sort((a, b) => a - b);
}

/** A step does at least this part of the work of a usual one. */
const LEAST_OF_STEP = 0.1;

/** Between two moments on a thread: the end of its last waiting call, else of its longest pause between calls. */
function beginAfter(profile: Profile, thread: number, from: number, to: number): number {
  const calls = profile.tables.apiCalls!;
  let lastWait = Number.NaN;
  let previous = from;
  let longest = 0;
  let pauseEnd = to;
  for (let row = lowerBound(calls.start, from) as Row<'apiCalls'>; row < calls.length; row++) {
    if (calls.start[row] >= to) break;
    if (calls.thread[row] !== thread) continue;
    if (SYNC_CALL.test(profile.strings.text(calls.name[row])) && calls.end[row] <= to)
      lastWait = calls.end[row];
    if (calls.start[row] - previous > longest) {
      longest = calls.start[row] - previous;
      pauseEnd = calls.start[row];
    }
    previous = Math.max(previous, calls.end[row]);
  }
  return Number.isNaN(lastWait) ? pauseEnd : lastWait;
}

function laneFrom(
  profile: Profile,
  work: GpuWork,
  families: WorkFamilies,
  list: LaunchedWork,
  starts: readonly number[],
  recordedUntil: number,
): Lane {
  const last = endOfLast(starts, list.at[list.at.length - 1], recordedUntil);
  const runs = starts.map((start, i) => {
    const end = starts[i + 1] ?? last;
    const until = i + 1 < starts.length ? lowerBound(list.at, end) : list.work.length;
    const own = list.work.subarray(lowerBound(list.at, start), until);
    const facts = { phase: phaseOfKernels(profile, work, families, own) };
    return { start, end: Math.max(start, end), facts, label: '', open: false };
  });
  return { process: list.process, thread: list.thread, runs: withPeriods(runs, last) };
}

/** The last step ends like the others did, or with its last launch: what the process did afterwards is not its own. */
function endOfLast(starts: readonly number[], lastLaunch: number, recordedUntil: number): number {
  if (starts.length < 2) return Math.max(lastLaunch, recordedUntil);
  const periods = Float64Array.from(starts.slice(1), (start, i) => start - starts[i]);
  const usual = starts[starts.length - 1] + Math.round(medianOf(periods));
  return Math.max(lastLaunch, Math.min(usual, recordedUntil));
}
