/** Whether hot experts stay hot: a placement made from the past is worth only as much as the past says of the future. */

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

export function correlation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = a.length;
  let sumA = 0;
  let sumB = 0;
  for (let i = 0; i < n; i++) {
    sumA += a[i];
    sumB += b[i];
  }
  const [meanA, meanB] = [sumA / n, sumB / n];
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < n; i++) {
    ab += (a[i] - meanA) * (b[i] - meanB);
    aa += (a[i] - meanA) ** 2;
    bb += (b[i] - meanB) ** 2;
  }
  return aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : Number.NaN;
}
