/** How evenly something is spread: one number each for what people mean by balance. */

export interface Balance {
  readonly total: number;
  readonly mean: number;
  readonly most: number;
  readonly least: number;
  /** Most by mean: how much longer the busiest takes than if all were alike. 1 is perfect. */
  readonly maxOverMean: number;
  /** Standard deviation by mean. */
  readonly variation: number;
  /** 0: all alike; towards 1: one has everything. */
  readonly gini: number;
  /** Of the entropy of an even spread, 0 to 1. */
  readonly entropy: number;
  /** Part of the places that got nothing. */
  readonly idleShare: number;
}

export function balanceOf(counts: ArrayLike<number>): Balance {
  const n = counts.length;
  let total = 0;
  let most = 0;
  let least = Infinity;
  let idle = 0;
  for (let i = 0; i < n; i++) {
    total += counts[i];
    most = Math.max(most, counts[i]);
    least = Math.min(least, counts[i]);
    if (counts[i] === 0) idle++;
  }
  const mean = n > 0 ? total / n : 0;
  if (total === 0)
    return {
      total,
      mean,
      most,
      least: n > 0 ? 0 : Number.NaN,
      maxOverMean: Number.NaN,
      variation: Number.NaN,
      gini: Number.NaN,
      entropy: Number.NaN,
      idleShare: n > 0 ? 1 : Number.NaN,
    };
  let squares = 0;
  let entropy = 0;
  for (let i = 0; i < n; i++) {
    squares += (counts[i] - mean) ** 2;
    const share = counts[i] / total;
    if (share > 0) entropy -= share * Math.log(share);
  }
  // Sum over sorted counts: 2·Σ i·x / (n·Σ x) − (n + 1)/n, with i from 1.
  const sorted = Float64Array.from({ length: n }, (_, i) => counts[i]).sort();
  let ranked = 0;
  for (let i = 0; i < n; i++) ranked += (i + 1) * sorted[i];
  return {
    total,
    mean,
    most,
    least,
    maxOverMean: most / mean,
    variation: Math.sqrt(squares / n) / mean,
    gini: (2 * ranked) / (n * total) - (n + 1) / n,
    entropy: n > 1 ? entropy / Math.log(n) : 1,
    idleShare: idle / n,
  };
}
