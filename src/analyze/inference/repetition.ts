/**
 * Finds what repeats in a sequence: layers inside a step, rounds of graph launches.
 *
 *   x a b c a b c a b c y        period 3, from 1, 3 times
 */
export interface Repetition {
  readonly period: number;
  /** First element of the repeating stretch. */
  readonly from: number;
  /** Whole periods in it. */
  readonly times: number;
}

/** Sequences longer than this are cut: the search is quadratic. */
const LONGEST = 6000;

/** The shortest period whose repeating stretch covers nearly as much as the best one does. */
export function findPeriod(sequence: ArrayLike<number>): Repetition | undefined {
  const length = Math.min(sequence.length, LONGEST);
  let best: Repetition | undefined;
  for (let period = 1; period <= length / 2; period++) {
    const found = longestStretch(sequence, length, period);
    if (found.times < 2) continue;
    const covered = found.times * period;
    // A multiple of the true period covers a little less or as much; a shorter one must not lose to it.
    if (!best || covered > 1.1 * best.times * best.period) best = found;
    // Nothing longer can cover more.
    if (best.times * best.period >= 0.95 * length) break;
  }
  return best;
}

/** The longest run of elements equal to the one a period later, counted in whole periods. */
function longestStretch(sequence: ArrayLike<number>, length: number, period: number): Repetition {
  let from = 0;
  let bestFrom = 0;
  let longest = 0;
  for (let i = 0; i + period < length; i++) {
    if (sequence[i] !== sequence[i + period]) from = i + 1;
    else if (i + 1 - from > longest) {
      longest = i + 1 - from;
      bestFrom = from;
    }
  }
  return { period, from: bestFrom, times: longest < period ? 1 : Math.floor((longest + period) / period) };
}
