/**
 * Means as whole nanoseconds that still add up: each part is rounded down, and what is missing to the whole goes to
 * the parts that lost most (largest remainder). A side is rounded without looking at the other, so comparing in the
 * other direction gives the same figures with the other sign.
 */
export function apportion(parts: ReadonlyMap<string, number>, total: number): Map<string, number> {
  const whole = new Map<string, number>();
  let missing = total;
  for (const [key, value] of parts) {
    whole.set(key, Math.floor(value));
    missing -= Math.floor(value);
  }
  if (missing === 0) return whole;
  if (missing < 0 || missing > parts.size)
    throw new Error(`parts do not sum to their whole: ${missing} of ${total} ns are left over`);
  const lost = (key: string) => parts.get(key)! - Math.floor(parts.get(key)!);
  const order = [...parts.keys()].sort((a, b) => lost(b) - lost(a) || (a < b ? -1 : 1));
  for (const key of order.slice(0, missing)) whole.set(key, whole.get(key)! + 1);
  return whole;
}

/** Splits a whole number by weights; equal shares where no weight is above 0. */
export function splitByWeight(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const shares = weights.map((weight, i) => [
    String(i).padStart(9, '0'),
    (total * (sum > 0 ? weight : 1)) / (sum > 0 ? sum : weights.length),
  ]) as [string, number][];
  return [...apportion(new Map(shares), total).values()];
}
