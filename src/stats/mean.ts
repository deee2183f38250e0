/** Sums and means of plain lists. */

export function totalOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

/** NaN of nothing. */
export const meanOf = (values: ArrayLike<number>): number => totalOf(values) / values.length;

/** Squared distances from the mean, added up: by n − 1 the variance of a sample. */
export function squaredDeviations(values: ArrayLike<number>): number {
  const mean = meanOf(values);
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += (values[i] - mean) ** 2;
  return squares;
}

/** Sample standard deviation; 0 of one value. */
export const deviationOf = (values: ArrayLike<number>): number =>
  values.length > 1 ? Math.sqrt(squaredDeviations(values) / (values.length - 1)) : 0;
