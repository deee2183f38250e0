/** Student's distribution: how many standard deviations a bound needs when the deviation itself is a guess from few runs. */

/** The distribution is the normal one to four digits from here on. */
const MANY = 2000;

/**
 * The value that a t-distributed figure stays below with this probability, found by bisection on its distribution.
 * Broken degrees of freedom are rounded down, to the safe side.
 */
export function studentQuantile(probability: number, freedom: number): number {
  if (probability === 0.5) return 0;
  if (probability < 0.5) return -studentQuantile(1 - probability, freedom);
  const degrees = Math.min(MANY, Math.max(1, Math.floor(freedom)));
  let low = 0;
  let high = 1;
  while (below(high, degrees) < probability && high < 1e9) high *= 2;
  for (let i = 0; i < 100 && high - low > 1e-10 * high; i++) {
    const middle = (low + high) / 2;
    if (below(middle, degrees) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(T <= t) for whole degrees of freedom, in closed form (Abramowitz and Stegun 26.7.3 and 26.7.4). */
function below(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  let term = 1;
  let sum = 1;
  if (degrees % 2 === 0) {
    for (let k = 2; k < degrees; k += 2) sum += term *= ((k - 1) / k) * cos * cos;
    return 0.5 + (sin * sum) / 2;
  }
  if (degrees === 1) return 0.5 + angle / Math.PI;
  for (let k = 3; k < degrees; k += 2) sum += term *= ((k - 1) / k) * cos * cos;
  return 0.5 + (angle + sin * cos * sum) / Math.PI;
}
