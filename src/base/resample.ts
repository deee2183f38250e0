/**
 * How far a figure of one run would move if other steps had been captured. Steps next to each other resemble each
 * other (clocks drift, batches last), so neighbours stay together: groups are left out, blocks are drawn.
 */
import { seededRandom } from './random.js';
import { medianOf } from './stats.js';

/** Fewer values than this say nothing about their own spread. */
export const LEAST_SAMPLES = 4;
const MOST_GROUPS = 32;
const REPLICATES = 400;
const SEED = 20_240_817;

/** Median: the mean of the middle two. Others: nearest rank, so that it is a step that happened. */
export function percentile(values: ArrayLike<number>, percent: number): number {
  const sorted = Float64Array.from(values);
  if (sorted.length === 0) return Number.NaN;
  if (percent === 50) return medianOf(sorted);
  sorted.sort();
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}

/**
 * Standard error of sum(part) / sum(whole) over steps, by leaving out one group of consecutive steps after the other
 * (delete-a-group jackknife). Undefined where there are too few steps.
 */
export function ratioError(part: ArrayLike<number>, whole: ArrayLike<number>): number | undefined {
  const count = part.length;
  if (count < LEAST_SAMPLES) return undefined;
  const groups = Math.min(count, MOST_GROUPS);
  const parts = new Float64Array(groups);
  const wholes = new Float64Array(groups);
  let allParts = 0;
  let allWholes = 0;
  for (let i = 0; i < count; i++) {
    const group = Math.floor((i * groups) / count);
    parts[group] += part[i];
    wholes[group] += whole[i];
    allParts += part[i];
    allWholes += whole[i];
  }
  const left = parts.map((own, group) => (allParts - own) / (allWholes - wholes[group]));
  const mean = left.reduce((sum, value) => sum + value, 0) / groups;
  const squares = left.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const error = Math.sqrt(((groups - 1) / groups) * squares);
  return Number.isFinite(error) ? error : undefined;
}

/** Standard error of any figure of a list in order of time, by drawing blocks of neighbours (moving-block bootstrap). */
export function blockBootstrapError(
  values: readonly number[],
  figure: (drawn: Float64Array) => number,
): number | undefined {
  const count = values.length;
  if (count < LEAST_SAMPLES) return undefined;
  // The cube root is the usual compromise between keeping neighbours together and having enough blocks.
  const block = Math.max(1, Math.floor(Math.cbrt(count)));
  const random = seededRandom(SEED);
  const drawn = new Float64Array(count);
  let sum = 0;
  let squares = 0;
  for (let replicate = 0; replicate < REPLICATES; replicate++) {
    for (let at = 0; at < count; at += block) {
      const from = Math.floor(random() * (count - block + 1));
      for (let i = 0; i < block && at + i < count; i++) drawn[at + i] = values[from + i];
    }
    const value = figure(drawn);
    sum += value;
    squares += value * value;
  }
  const mean = sum / REPLICATES;
  const variance = Math.max(0, squares / REPLICATES - mean * mean) * (REPLICATES / (REPLICATES - 1));
  // Below the rounding of the squares there is nothing to tell.
  return variance < 1e-12 * mean * mean ? 0 : Math.sqrt(variance);
}
