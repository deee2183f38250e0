/** How closely two lists go together. */
import { meanOf } from './mean.js';

/** Pearson's; null where a list does not vary. */
export function pearson(x: ArrayLike<number>, y: ArrayLike<number>): number | null {
  const [meanX, meanY] = [meanOf(x), meanOf(y)];
  let [xy, xx, yy] = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    xy += (x[i] - meanX) * (y[i] - meanY);
    xx += (x[i] - meanX) ** 2;
    yy += (y[i] - meanY) ** 2;
  }
  if (!(xx > 0 && yy > 0)) return null;
  // Rounding must not give more than all.
  return Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
}

/** 1 for the smallest; equal values share the mean of their places. */
export function ranks(values: readonly number[]): number[] {
  return values.map(value => {
    const below = values.filter(other => other < value).length;
    const equal = values.filter(other => other === value).length;
    return below + (equal + 1) / 2;
  });
}
