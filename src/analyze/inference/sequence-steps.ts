/**
 * Steps of programs without markers and without replays, by their kernels: something in every step runs exactly once (a
 * lookup of tokens, the head, an argmax), at regular distances.
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import type { Profile } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { WorkFamilies } from '../gpu/work-families.js';
import { callsNamed } from '../names-used.js';
import type { LaunchedWork } from './launched-work.js';
import { outermostBlocks } from './outer-period.js';
import {
  arePasses,
  behindSampling,
  firstLookups,
  isEmbedding,
  isTokenSampling,
  repeatsInside,
} from './token-passes.js';
import { waitsBefore } from './waits-before.js';

/**
 * The rarest kernel that comes at regular distances over most of the capture marks the steps, unless several tokens are
 * sampled between one time and the next: each of them ends a step.
 */
export function sequenceBoundaries(
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
  const lookups = firstLookups(places, families);
  const regular = regularSteps(profile, list, families, { places, lookups, nameAt, momentOf });
  const passes = [lookups, behindSampling(places, families)].find(begins => arePasses(begins, nameAt));
  // Where both agree, what comes before the lookup of a step is its own.
  const steps = passes && passes.length !== regular?.length ? passes : regular;
  return steps && (behindWaits(profile, list.thread, steps, momentOf) ?? steps.map(place => momentOf[place]));
}

/** Of the kernels of a step: what comes once may come that late in it, and steps would begin in the middle. */
const MIDDLE = 0.25;

/**
 * Where the host waits for each step and goes on with the next, steps begin behind the wait, not at the kernel that tells
 * them apart if that lies far inside.
 *
 *   host    wait|            wait|
 *   kernels      a b a b X c      a b a b X c
 */
function behindWaits(
  profile: Profile,
  thread: number,
  steps: readonly number[],
  momentOf: readonly number[],
): number[] | undefined {
  const calls = profile.tables.apiCalls;
  if (!calls || thread === NONE || steps.length < 2) return undefined;
  const typical = medianOf(Float64Array.from(steps.slice(1), (place, i) => place - steps[i]));
  const begins = steps.map(() => Number.NaN);
  const edges = Float64Array.from(steps, place => momentOf[place]);
  const waits = callsNamed(profile, SYNC_CALL);
  for (let i = 0; i < waits.length; i++) {
    const row = waits[i];
    if (calls.thread[row] !== thread) continue;
    const next = lowerBound(edges, calls.end[row]);
    if (next > 0 && next < begins.length && calls.start[row] > edges[next - 1]) begins[next] = calls.end[row];
  }
  begins[0] = momentOf[0];
  if (begins.some(Number.isNaN)) return undefined;
  const places = begins.map(begin => lowerBound(momentOf, begin));
  const inside = Float64Array.from(steps, (place, i) => place - places[i]);
  // A wait inside the passes leaves a piece at the beginning, and two passes in one at the end.
  const [first, last] = [places[1] - places[0], momentOf.length - places[places.length - 1]];
  const areWhole = first >= typical / 2 && last <= 1.5 * typical;
  return areWhole && medianOf(inside) >= MIDDLE * typical ? begins : undefined;
}

/** Kernels in order of launch, by their places. */
interface Sequence {
  readonly places: ReadonlyMap<number, readonly number[]>;
  /** Where lookups of tokens begin. */
  readonly lookups: readonly number[];
  readonly nameAt: readonly number[];
  readonly momentOf: readonly number[];
}

/** The places where steps begin that all run about as many kernels. */
function regularSteps(
  profile: Profile,
  list: LaunchedWork,
  families: WorkFamilies,
  { places, lookups, nameAt, momentOf }: Sequence,
): readonly number[] | undefined {
  const all: Candidate[] = [...places].map(([name, found]) => ({ name, places: found }));
  const candidates = [...all, { name: NONE, isLookup: true, places: lookups }]
    .filter(({ places: found }) => found.length >= 3 && isRegular(found, nameAt.length))
    .sort((a, b) => a.places.length - b.places.length || a.places[0] - b.places[0]);
  if (candidates.length === 0) return undefined;
  // Steps begin where the first of the once-per-step kernels is launched, unless what it begins is a layer.
  const { places: blocks, isLookup } = wholeSteps(candidates, nameAt, families);
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
  // Each forward pass looks its tokens up: several in turn, of prompts and of tokens, are not one step.
  const steps = (!isLookup && outer?.map(block => blocks[block])) || blocks;
  const sampling = candidates.find(
    ({ name, isLookup }) => !isLookup && isTokenSampling(families, name),
  )?.places;
  // A call that generates many tokens is not a step, even if it comes again and again.
  const isCall = sampling && sampling.length >= 2 * steps.length && hasLayers(sampling, nameAt);
  return isCall ? [0, ...sampling.slice(0, -1).map(place => place + 1)] : steps;
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
): Candidate {
  const [rarest] = candidates;
  // Looking tokens up begins a step, and sampling one ends it: where both come no more often, what repeats is inside.
  const edges = candidates.filter(
    ({ name, isLookup }) =>
      isLookup === true || isEmbedding(families, name) || isTokenSampling(families, name),
  );
  if (edges.length > 0 && edges.every(({ places }) => places.length === rarest.places.length)) return rarest;
  const inner = candidates.find(({ places }) => {
    const times = places.length / rarest.places.length;
    return times >= 1.8 && times <= MOST_STEPS_TOGETHER && hasLayers(places, nameAt);
  });
  return inner ?? rarest;
}

interface Candidate {
  readonly name: number;
  readonly isLookup?: boolean;
  readonly places: readonly number[];
}

/** Whether most of what comes between one place and the next repeats, as layers do. */
function hasLayers(places: readonly number[], nameAt: readonly number[]): boolean {
  const middle = places.length >> 1;
  return repeatsInside(nameAt.slice(places[middle - 1], places[middle]), FEWEST_LAYERS);
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
