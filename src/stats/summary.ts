/** Order statistics and spread of a list of numbers, exact where the arithmetic allows. */

export interface Summary {
  count: number;
  total: number;
  mean: number;
  median: number;
  min: number;
  max: number;
  /** Sample standard deviation (divides by n - 1); 0 for one value or none. */
  stddev: number;
}

/** Summarizes values[from .. to). Reorders that part of the array: selection is linear, sorting is not. */
export function summarize(values: Float64Array, from = 0, to = values.length): Summary {
  const count = to - from;
  if (count === 0) return { count: 0, total: 0, mean: NaN, median: NaN, min: NaN, max: NaN, stddev: 0 };
  let total = 0;
  let min = Infinity;
  let max = -Infinity;
  for (let i = from; i < to; i++) {
    const value = values[i];
    total += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const mean = total / count;
  let squares = 0;
  for (let i = from; i < to; i++) {
    const delta = values[i] - mean;
    squares += delta * delta;
  }
  const stddev = count > 1 ? Math.sqrt(squares / (count - 1)) : 0;
  return { count, total, mean, median: medianOf(values, from, to), min, max, stddev };
}

/** Median of values[from .. to); the mean of the middle two when their number is even. */
export function medianOf(values: Float64Array, from = 0, to = values.length): number {
  const count = to - from;
  if (count === 0) return NaN;
  const middle = from + (count >> 1);
  select(values, from, to - 1, middle);
  const upper = values[middle];
  if (count % 2 === 1) return upper;
  // After selection everything left of the middle is no larger, so the lower middle is the largest of it.
  let lower = values[from];
  for (let i = from + 1; i < middle; i++) if (values[i] > lower) lower = values[i];
  return (lower + upper) / 2;
}

/** Hoare's selection with a median-of-three pivot; equal values spread over both sides, so runs stay linear. */
function select(values: Float64Array, left: number, right: number, wanted: number): void {
  while (right > left) {
    const middle = (left + right) >> 1;
    const a = values[left];
    const b = values[middle];
    const c = values[right];
    const pivot = a < b ? (b < c ? b : a < c ? c : a) : a < c ? a : b < c ? c : b;
    let i = left;
    let j = right;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i <= j) {
        const swap = values[i];
        values[i++] = values[j];
        values[j--] = swap;
      }
    }
    if (wanted <= j) right = j;
    else if (wanted >= i) left = i;
    else return;
  }
}
