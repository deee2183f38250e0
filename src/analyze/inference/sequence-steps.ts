/**
 * Steps of programs without markers and without replays, by their kernels: something in every step runs exactly once (a
 * lookup of tokens, the head, an argmax), at regular distances.
 */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { WorkFamilies } from '../gpu/work-families.js';
import type { LaunchedWork } from './launched-work.js';
import { outermostBlocks } from './outer-period.js';
import { findPeriod } from './repetition.js';
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
  const candidates = [...[...places].map(([name, found]): Candidate => ({ name, places: found })), lookups]
    .filter(({ places: found }) => found.length >= 3 && isRegular(found, position))
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

/** Names of kernels that look tokens up, in PyTorch and elsewhere. */
const EMBEDDING = /index_?select|vectorized_gather|embedding/i;

const isEmbedding = (families: WorkFamilies, name: number): boolean =>
  EMBEDDING.test(families.classOf(name).shortName);

/** Kernels between lookups that belong together: tokens, positions and types, and what adds them up. */
const SAME_LOOKUP = 12;

/**
 * Where lookups begin, whichever kernel does them: it differs with the number of tokens, and an encoder looks up several
 * things one after the other.
 */
function firstLookups(places: ReadonlyMap<number, readonly number[]>, families: WorkFamilies): Candidate {
  const all = [...places].flatMap(([name, found]) => (isEmbedding(families, name) ? found : []));
  all.sort((a, b) => a - b);
  return {
    name: NONE,
    isLookup: true,
    places: all.filter((place, i) => i === 0 || place - all[i - 1] > SAME_LOOKUP),
  };
}

interface Candidate {
  readonly name: number;
  readonly isLookup?: boolean;
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
export const isTokenSampling = (families: WorkFamilies, name: number): boolean => {
  const { family, shortName } = families.classOf(name);
  return family === 'sampling' && !/top.?k/i.test(shortName);
};

/** Distances within a tenth of each other, covering at least four fifths of all kernels. */
function isRegular(places: readonly number[], total: number): boolean {
  const distances = places.slice(1).map((place, i) => place - places[i]);
  const typical = [...distances].sort((a, b) => a - b)[distances.length >> 1];
  if (typical < 5) return false;
  const regular = distances.filter(distance => Math.abs(distance - typical) <= Math.max(1, typical / 10));
  const covered = places[places.length - 1] - places[0] + typical;
  return regular.length >= 0.9 * distances.length && covered >= 0.8 * total;
}
