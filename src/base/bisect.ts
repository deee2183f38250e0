/** Binary search in sorted numbers. */

/** First index whose value is >= wanted. */
export function lowerBound(values: ArrayLike<number>, wanted: number, from = 0, to = values.length): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** First index whose value is > wanted. */
export function upperBound(values: ArrayLike<number>, wanted: number, from = 0, to = values.length): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] <= wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}
