/**
 * How far a figure of one run would move if other steps had been captured. Steps next to each other resemble each
 * other (clocks drift, batches last), so neighbours stay together: they are grouped, or drawn as blocks.
 */
import { randomNumbers } from './random.js';

/** A figure of one run and how far chance moves it. */
export interface Estimate {
  readonly value: number;
  /** Standard error over the steps; absent where they say nothing about it. */
  readonly error?: number;
  /** Degrees of freedom of that error. */
  readonly degrees?: number;
}

/** Steps of one kind, in order of time: their figure is sum(part) by sum(whole). */
interface StepSums {
  /** Of all kinds; they sum to 1. */
  readonly weight: number;
  readonly part: ArrayLike<number>;
  readonly whole: ArrayLike<number>;
}

const REPLICATES = 400;
const SEED = 20_240_817;

/** Steps that stay together: the cube root is the usual compromise between that and having enough groups. */
const togetherOf = (count: number): number => Math.max(1, Math.floor(Math.cbrt(count)));
const groupsOf = (count: number): number => Math.ceil(count / togetherOf(count));

/** Degrees of freedom of a figure over so many steps of one kind. */
export const degreesOf = (steps: number): number => groupsOf(steps) - 1;

/**
 * The weighted mean of ratios, with its standard error from what each group of neighbours adds to it (linearised
 * ratio estimator; Cochran, "Sampling Techniques", 6.4). Two groups of one kind are the least that tell anything;
 * Student's quantile then says how little.
 */
export function estimate(kinds: readonly StepSums[]): Estimate {
  let value = 0;
  let squares = 0;
  let groups = 0;
  for (const { weight, part, whole } of kinds) {
    let [parts, wholes] = [0, 0];
    for (let i = 0; i < part.length; i++) {
      parts += part[i];
      wholes += whole[i];
    }
    const ratio = parts / wholes;
    value += weight * ratio;
    const together = togetherOf(part.length);
    for (let from = 0; from < part.length; from += together) {
      let own = 0;
      for (let i = from; i < Math.min(part.length, from + together); i++) own += part[i] - ratio * whole[i];
      squares += ((weight * own) / wholes) ** 2;
      groups++;
    }
  }
  const degrees = groups - kinds.length;
  if (degrees < 1) return { value };
  const error = Math.sqrt((squares * groups) / degrees);
  return Number.isFinite(error) ? { value, error, degrees } : { value };
}

/** Standard error of any figure of a list in order of time, by drawing blocks of neighbours (moving-block bootstrap). */
export function blockBootstrapError(
  values: readonly number[],
  figure: (drawn: Float64Array) => number,
): number | undefined {
  const count = values.length;
  if (count < 2) return undefined;
  const block = togetherOf(count);
  const random = randomNumbers(SEED);
  const drawn = new Float64Array(count);
  let sum = 0;
  let squares = 0;
  for (let replicate = 0; replicate < REPLICATES; replicate++) {
    for (let at = 0; at < count; at += block) {
      const from = random(count - block + 1);
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
