/**
 * Forward passes of a language model without markers: each looks its tokens up, runs its layers and often ends with the
 * choice of a token. Prompts and tokens in turn run other kernels, and not as many.
 *
 *   lookup layers … head argmax | lookup layers … head argmax | lookup layers …
 */
import type { WorkFamilies } from '../gpu/work-families.js';
import { findPeriod } from './repetition.js';

/** Fewer do not tell a pass from a call of several. */
const FEWEST_PASSES = 3;
/** Names of kernels that look tokens up, in PyTorch and elsewhere. */
const EMBEDDING = /index_?select|vectorized_gather|embedding|get_rows/i;

export const isEmbedding = (families: WorkFamilies, name: number): boolean =>
  EMBEDDING.test(families.classOf(name).shortName);

/** Kernels between lookups that belong together: tokens, positions and types, and what adds them up. */
const SAME_LOOKUP = 12;

/**
 * Where lookups begin, whichever kernel does them: it differs with the number of tokens, and an encoder looks up several
 * things one after the other.
 */
export function firstLookups(
  places: ReadonlyMap<number, readonly number[]>,
  families: WorkFamilies,
): readonly number[] {
  const all = [...places].flatMap(([name, found]) => (isEmbedding(families, name) ? found : []));
  all.sort((a, b) => a - b);
  return all.filter((place, i) => i === 0 || place - all[i - 1] > SAME_LOOKUP);
}

/** Where passes begin if each ends with the choice of a token. */
export function behindSampling(
  places: ReadonlyMap<number, readonly number[]>,
  families: WorkFamilies,
): readonly number[] {
  const all = [...places].flatMap(([name, found]) => (isTokenSampling(families, name) ? found : []));
  const ends = all.sort((a, b) => a - b).filter((place, i) => all[i + 1] - place > SAME_LOOKUP);
  return all.length === 0 ? [] : [0, ...ends.map(place => place + 1)];
}

/** So many of the blocks are looked into, evenly. */
const LOOKED_INTO = 24;
/** Layers of several kinds come in groups (five with a window, one without), of which a pass has two at least. */
const FEWEST_IN_PASS = 2;
/** The capture may begin and end inside a pass. */
const MOST_AT_EDGES = 0.2;

/**
 * Whether blocks that begin with a lookup are the passes of one model, however they differ in kernels: each has layers,
 * none has more than twice the kernels of another, and little lies before the first.
 */
export function arePasses(begins: readonly number[], nameAt: readonly number[]): boolean {
  if (begins.length < FEWEST_PASSES || begins[0] > MOST_AT_EDGES * nameAt.length) return false;
  const lengths = begins.slice(1).map((place, i) => place - begins[i]);
  const shortest = lengths.reduce((least, length) => Math.min(least, length));
  const longest = lengths.reduce((most, length) => Math.max(most, length));
  const last = nameAt.length - begins[begins.length - 1];
  if (longest > 2 * shortest || last > 2 * longest) return false;
  const every = Math.max(1, Math.floor(lengths.length / LOOKED_INTO));
  return lengths.every(
    (length, i) =>
      i % every !== 0 || repeatsInside(nameAt.slice(begins[i], begins[i] + length), FEWEST_IN_PASS),
  );
}

/** Whether most of a block is something that comes so many times, one after the other. */
export function repeatsInside(block: readonly number[], fewest: number): boolean {
  const layers = findPeriod(block);
  return layers !== undefined && layers.times >= fewest && layers.times * layers.period >= block.length / 2;
}

/** Groups of unlike layers hold fewer alike ones in a row (five with a window, then one without). */
const FEWEST_ALIKE = 8;

/**
 * Whether what repeats in a step has layers itself: then the step may be a loop of whole passes (tokens of one compiled
 * call), or be layers of groups; the kernels do not tell.
 *
 *   [ l l l … l head | l l l … l head | l l l … l head ]
 */
export function mayHoldPasses(names: readonly number[]): boolean {
  const outer = findPeriod(names);
  if (!outer || outer.times < FEWEST_PASSES || outer.times * outer.period < names.length / 2) return false;
  return repeatsInside(names.slice(outer.from, outer.from + outer.period), FEWEST_ALIKE);
}

/** Routers choose experts by top-k in every layer; a token is taken by its probability, or the highest one. */
export const isTokenSampling = (families: WorkFamilies, name: number): boolean => {
  const { family, shortName } = families.classOf(name);
  return family === 'sampling' && !/top.?k/i.test(shortName);
};
