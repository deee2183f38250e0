/** Whether hot experts stay hot: a placement made from the past is worth only as much as the past says of the future. */
import { pearson } from '../../stats/correlation.js';

/** A tenth of the experts, at least one, are the hot ones. */
export const hotCount = (experts: number): number => Math.max(1, Math.round(experts / 10));

export interface Stability {
  /** Part of the hot experts of the first third that are hot in the last third too. NaN: too few iterations. */
  readonly hotOverlap: number;
  /** What the overlap would be by chance. */
  readonly hotOverlapByChance: number;
  /** Correlation of the experts' shares in the first and in the last third. */
  readonly shareCorrelation: number;
  /** Of max/mean with itself one iteration later: 1 changes slowly, 0 is noise. */
  readonly autocorrelation: number;
}

/** Experts with most tokens, most first; of equals the lower number. */
export function hottest(counts: ArrayLike<number>, most: number): number[] {
  return Array.from({ length: counts.length }, (_, i) => i)
    .sort((a, b) => counts[b] - counts[a] || a - b)
    .slice(0, most);
}

export function lagOne(values: Float64Array): number {
  if (values.length < 8) return Number.NaN;
  return correlation(values.subarray(0, -1), values.subarray(1));
}

/** NaN where a list does not vary. */
export const correlation = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  pearson(a, b) ?? Number.NaN;
