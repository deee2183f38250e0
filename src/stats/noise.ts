/**
 * How far the difference of two sides moves by chance: the one place where that is decided.
 *
 *   from  ● ●  ●            repeats: the runs' own figures, deviation pooled over both sides. Steps are left out on
 *   to            ● ● ●     purpose: a slow first step, or two kinds of steps, scatter widely within every run and
 *                           alike in each, so that runs agree far better than their steps.
 *   from  ●±                one run each: the steps of the two runs. How far runs differ comes on top, unseen.
 *   to       ●±
 */
import { meanOf, squaredDeviations } from './mean.js';
import type { Estimate } from './resample.js';
import { studentQuantile } from './student.js';

export interface Noise {
  /** `repeats`: runs of the same code. `steps`: the steps of single runs. `unknown`: neither tells. */
  readonly source: 'repeats' | 'steps' | 'unknown';
  /** Standard error of the difference, and its degrees of freedom; 0 where unknown. */
  readonly error: number;
  readonly degrees: number;
}

const unknown: Noise = { source: 'unknown', error: 0, degrees: 0 };

export function noiseOf(from: readonly Estimate[], to: readonly Estimate[]): Noise {
  if (from.length === 0 || to.length === 0) return unknown;
  const degrees = from.length + to.length - 2;
  if (degrees < 1) return noiseOfSteps(from[0], to[0]);
  const squares = [from, to].reduce(
    (sum, side) => sum + squaredDeviations(side.map(({ value }) => value)),
    0,
  );
  const error = Math.sqrt((squares / degrees) * (1 / from.length + 1 / to.length));
  return { source: 'repeats', error, degrees };
}

/** Degrees of freedom by Welch and Satterthwaite: the side that varies more counts more. */
function noiseOfSteps(from: Estimate, to: Estimate): Noise {
  if (from.error === undefined || to.error === undefined) return unknown;
  const [a, b] = [from.error ** 2, to.error ** 2];
  const [da, db] = [from, to].map(({ degrees: known = 1 }) => Math.max(1, known));
  const degrees = a + b > 0 ? (a + b) ** 2 / (a ** 2 / da + b ** 2 / db) : Math.min(da, db);
  return { source: 'steps', error: Math.sqrt(a + b), degrees };
}

/** What chance alone stays below with this probability. */
export const boundOf = ({ error, degrees }: Noise, probability: number): number =>
  degrees === 0 ? 0 : studentQuantile(probability, degrees) * error;

/** Half the width of the two-sided 95% interval; undefined where nothing tells. */
export const halfWidth95 = (noise: Noise): number | undefined =>
  noise.source === 'unknown' ? undefined : boundOf(noise, 0.975);

/** Mean over the runs of a side. */
export const sideMean = (side: readonly Estimate[]): number => meanOf(side.map(({ value }) => value));
