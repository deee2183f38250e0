/** The two meanings of a percentile that the field has. */
import { medianOf } from './summary.js';

/** Nearest rank, so that it is a value that happened; the median is the mean of the middle two. */
export function percentile(values: ArrayLike<number>, percent: number): number {
  const sorted = Float64Array.from(values);
  if (sorted.length === 0) return Number.NaN;
  if (percent === 50) return medianOf(sorted);
  sorted.sort();
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}

/** Between the two values around its place, as NumPy does and with it the serving benchmarks. */
export function interpolatedPercentile(sorted: Float64Array, percent: number): number {
  const place = ((sorted.length - 1) * percent) / 100;
  const below = Math.floor(place);
  const above = Math.min(sorted.length - 1, below + 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}
