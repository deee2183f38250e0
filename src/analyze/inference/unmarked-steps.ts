/**
 * Steps without markers. First by CUDA graph launches: engines replay the same graphs once per decode step. Then by
 * kernels: something in every step runs exactly once (an embedding, an argmax), at regular distances.
 */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { isSorted, orderBy } from '../../base/order.js';
import { GRAPH_LAUNCH, SYNC_CALL } from '../../catalog/host-activities.js';
import type { Profile, Row } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { WorkFamilies } from '../gpu/work-families.js';
import { nameTest } from '../name-test.js';
import type { Confidence, Method } from './lane.js';
import { type Lane, withPeriods } from './lane.js';
import { outermostBlocks } from './outer-period.js';
import { phaseOfKernels } from './phase-of-kernels.js';
import { findPeriod } from './repetition.js';

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

/** Work of one process in order of launch, with the call that launched each piece. */
export interface LaunchedWork {
  readonly process: number;
  readonly thread: number;
  readonly work: Int32Array;
  readonly at: Float64Array;
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
  for (const { method, boundaries, confidence } of attempts) {
    const lanes = launched.flatMap(list => {
      const starts = boundaries(profile, work, list, families);
      if (!starts || !followEachOther(work, list, starts)) return [];
      return [laneFrom(profile, work, families, list, starts, recordedUntil[list.process])];
    });
    // Ranks run alike: a method that only works for some of them has found something else.
    if (lanes.length > 0 && lanes.length * 2 > launched.length) return { method, confidence, lanes };
  }
  return undefined;
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

export function launchedByProcess(profile: Profile, work: GpuWork): LaunchedWork[] {
  const calls = profile.tables.apiCalls;
  const processOfStream = Int32Array.from(profile.streams, ({ process }) => process);
  const lists = new Map<number, { indexes: Int32Array; moments: Float64Array; length: number }>();
  const counts = new Int32Array(profile.processes.length);
  for (let i = 0; i < work.length; i++) counts[processOfStream[work.stream[i]]]++;
  for (let i = 0; i < work.length; i++) {
    const process = processOfStream[work.stream[i]];
    let list = lists.get(process);
    if (!list) {
      const count = counts[process];
      list = { indexes: new Int32Array(count), moments: new Float64Array(count), length: 0 };
      lists.set(process, list);
    }
    const launch = work.launch[i];
    list.indexes[list.length] = i;
    list.moments[list.length++] = launch === NONE ? work.start[i] : calls!.start[launch];
  }
  return [...lists].map(([process, { indexes, moments }]) => {
    const perThread = new Map<number, number>();
    const order = isSorted(moments) ? undefined : orderBy(moments);
    const ordered = order ? order.map(place => indexes[place]) : indexes;
    for (const i of ordered) {
      if (work.launch[i] === NONE) continue;
      const thread = calls!.thread[work.launch[i]];
      perThread.set(thread, (perThread.get(thread) ?? 0) + 1);
    }
    const [thread = NONE] = [...perThread].sort((a, b) => b[1] - a[1])[0] ?? [];
    const at = order ? Float64Array.from(order, place => moments[place]) : moments;
    return { process, thread, work: ordered, at };
  });
}

/** One step per round of graph launches; it begins after the last wait or the longest pause before the round. */
function graphBoundaries(profile: Profile, work: GpuWork, list: LaunchedWork): number[] | undefined {
  const calls = profile.tables.apiCalls;
  if (!calls || list.thread === NONE) return undefined;
  const isGraphLaunch = nameTest(profile, GRAPH_LAUNCH);
  const launches: { call: Row<'apiCalls'>; kernels: number; name: number }[] = [];
  const names = profile.tables.kernels?.name;
  for (let i = 0; i < list.work.length; i++) {
    const index = list.work[i];
    const call = work.launch[index];
    if (call === NONE || !isGraphLaunch(calls.name[call])) continue;
    const last = launches[launches.length - 1];
    if (last?.call === call) last.kernels++;
    else {
      const name = work.kind[index] === WorkKind.kernel ? names![work.row[index]] : NONE;
      launches.push({ call, kernels: 1, name });
    }
  }
  if (launches.length === 0) return undefined;
  // Several graphs per step (piecewise graphs, one per layer group) come in the same order each time.
  const round = findPeriod(launches.map(({ kernels, name }) => kernels * 65537 + name))?.period ?? 1;
  const starts: number[] = [];
  for (let i = 0; i < launches.length; i += round) {
    const call = launches[i].call;
    const after = i === 0 ? list.at[0] : calls.end[launches[i - 1].call];
    starts.push(i === 0 ? list.at[0] : beginAfter(profile, list.thread, after, calls.start[call]));
  }
  return withEagerSteps(profile, work, list, starts, index => {
    const call = work.launch[index];
    return call !== NONE && isGraphLaunch(calls.name[call]);
  });
}

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

/**
 * The rarest kernel that comes at regular distances over most of the capture marks the steps, unless several tokens are
 * sampled between one time and the next: each of them ends a step.
 */
function sequenceBoundaries(
  profile: Profile,
  work: GpuWork,
  list: LaunchedWork,
  families: WorkFamilies,
): number[] | undefined {
  const names = profile.tables.kernels?.name;
  if (!names) return undefined;
  const places = new Map<number, number[]>();
  let position = 0;
  const momentOf: number[] = [];
  const nameAt: number[] = [];
  for (let i = 0; i < list.work.length; i++) {
    if (work.kind[list.work[i]] !== WorkKind.kernel) continue;
    const name = names[work.row[list.work[i]]];
    nameAt.push(name);
    const known = places.get(name);
    if (known) known.push(position);
    else places.set(name, [position]);
    momentOf[position++] = list.at[i];
  }
  const candidates = [...places]
    .map(([name, found]) => ({ name, places: found }))
    .filter(({ places: found }) => found.length >= 3 && isRegular(found, position))
    .sort((a, b) => a.places.length - b.places.length || a.places[0] - b.places[0]);
  if (candidates.length === 0) return undefined;
  // Steps begin where the first of the once-per-step kernels is launched, unless what it begins is a layer.
  const blocks = wholeSteps(candidates, nameAt, families);
  const distances = blocks.slice(1).map((place, i) => place - blocks[i]);
  const typical = medianOf(Float64Array.from(distances));
  const outer =
    outermostBlocks(blocks.length, block => distances[block - 1] !== typical) ??
    outermostBlocks(
      blocks.length,
      waitsBefore(
        profile,
        list.thread,
        blocks.map(place => momentOf[place]),
      ),
    );
  const steps = outer?.map(block => blocks[block]) ?? blocks;
  const sampling = candidates.find(({ name }) => isTokenSampling(families, name))?.places;
  // A call that generates many tokens is not a step, even if it comes again and again.
  const isCall = sampling && sampling.length >= 2 * steps.length && hasLayers(sampling, nameAt);
  return (isCall ? [0, ...sampling.slice(0, -1).map(place => place + 1)] : steps).map(
    place => momentOf[place],
  );
}

/** A kernel that only every few steps has must not make one of them. */
const MOST_STEPS_TOGETHER = 8;
/** A step runs its layers one after another, at least so many. */
const FEWEST_LAYERS = 3;

/**
 * The rarest of the regular kernels, unless it comes once in several steps (another variant of a kernel, once in a
 * while): then a kernel that comes a few times as often, with layers between one time and the next, marks the steps.
 */
function wholeSteps(
  candidates: readonly Candidate[],
  nameAt: readonly number[],
  families: WorkFamilies,
): readonly number[] {
  const [{ places: rarest }] = candidates;
  // Looking tokens up begins a step, and sampling one ends it: where both come no more often, what repeats is inside.
  const edges = candidates.filter(
    ({ name }) => EMBEDDING.test(families.classOf(name).shortName) || isTokenSampling(families, name),
  );
  if (edges.length > 0 && edges.every(({ places }) => places.length === rarest.length)) return rarest;
  const inner = candidates.find(({ places }) => {
    const times = places.length / rarest.length;
    return times >= 1.8 && times <= MOST_STEPS_TOGETHER && hasLayers(places, nameAt);
  });
  return inner?.places ?? rarest;
}

/** Names of kernels that look tokens up, in PyTorch and elsewhere. */
const EMBEDDING = /index_?select|vectorized_gather|embedding/i;

interface Candidate {
  readonly name: number;
  readonly places: readonly number[];
}

/** Whether most of what comes between one place and the next repeats, as layers do. */
function hasLayers(places: readonly number[], nameAt: readonly number[]): boolean {
  const middle = places.length >> 1;
  const block = nameAt.slice(places[middle - 1], places[middle]);
  const layers = findPeriod(block);
  return (
    layers !== undefined && layers.times >= FEWEST_LAYERS && layers.times * layers.period >= block.length / 2
  );
}

/** Routers choose experts by top-k in every layer; a token is taken by its probability, or the highest one. */
const isTokenSampling = (families: WorkFamilies, name: number): boolean => {
  const { family, shortName } = families.classOf(name);
  return family === 'sampling' && !/top.?k/i.test(shortName);
};

/** Whether the launching thread waited for the GPU between the beginnings of a block and of the one before. */
function waitsBefore(
  profile: Profile,
  thread: number,
  begins: readonly number[],
): (block: number) => boolean {
  const calls = profile.tables.apiCalls;
  const waited = new Set<number>();
  const isWait = nameTest(profile, SYNC_CALL);
  const starts = Float64Array.from(begins);
  for (let row = 0 as Row<'apiCalls'>; row < (calls?.length ?? 0); row++)
    if (calls!.thread[row] === thread && isWait(calls!.name[row]))
      waited.add(lowerBound(starts, calls!.start[row]));
  return block => waited.has(block);
}

/** Distances within a tenth of each other, covering at least four fifths of all kernels. */
function isRegular(places: readonly number[], total: number): boolean {
  const distances = places.slice(1).map((place, i) => place - places[i]);
  const typical = [...distances].sort((a, b) => a - b)[distances.length >> 1];
  if (typical < 5) return false;
  const regular = distances.filter(distance => Math.abs(distance - typical) <= Math.max(1, typical / 10));
  const covered = places[places.length - 1] - places[0] + typical;
  return regular.length >= 0.9 * distances.length && covered >= 0.8 * total;
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
