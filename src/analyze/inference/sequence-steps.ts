/**
 * Steps of programs without markers and without replays, by their kernels: something in every step runs exactly once (a
 * lookup of tokens, the head, an argmax), at regular distances.
 */
import { lowerBound } from '../../base/bisect.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import type { Profile, Row } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { WorkFamilies } from '../gpu/work-families.js';
import { nameTest } from '../name-test.js';
import type { LaunchedWork } from './launched-work.js';
import { outermostBlocks } from './outer-period.js';
import { findPeriod } from './repetition.js';

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
