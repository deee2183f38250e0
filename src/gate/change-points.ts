/**
 * Where a series of runs changed its level. Binary segmentation: the split that explains most is tested by shuffling
 * the runs (a permutation test of the largest weighted difference of means, exact whatever the noise looks like, as
 * long as runs without a change could have come in any order); where it holds, both sides are searched in turn.
 *
 *   ● ●   ●                 one split, between 4 and 5
 *     ●     ● ● ● ●  →      mean of the left, mean of the right
 *
 * The runs are what is shuffled, not their steps: steps of one run share its clocks, its memory layout and its
 * neighbours on the machine, and would make every difference between two runs look certain.
 */
import { seededRandom, shuffle } from '../stats/random.js';
import { medianOf } from '../stats/summary.js';

export interface ChangePoint {
  /** Between this run and the next. */
  readonly after: number;
  /** Level on both sides: the median of the runs up to the next change. */
  readonly from: number;
  readonly to: number;
  /** (to − from) by from. */
  readonly changeShare: number;
  readonly p: number;
}

const SIGNIFICANT = 0.05;
/** One run alone on a side is an outlier until a second one agrees. */
const LEAST_SIDE = 2;
const SHUFFLES = 1999;
const SEED = 7_919;

/** With fewer runs no order of them is rare enough: of 7, one in 18 looks like the best split by chance. */
export const LEAST_RUNS = leastRuns(SIGNIFICANT);

/** Runs needed for the clearest possible split, in halves, to be rarer than this. Mirrored, it looks the same. */
export function leastRuns(significance: number): number {
  let runs = 2 * LEAST_SIDE;
  while (2 / binomial(runs, runs >> 1) > significance) runs++;
  return runs;
}

function binomial(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return result;
}

export function findChangePoints(values: readonly number[]): ChangePoint[] {
  const splits: { after: number; p: number }[] = [];
  segment(Float64Array.from(values), 0, values.length, SIGNIFICANT, splits);
  splits.sort((a, b) => a.after - b.after);
  const edges = [0, ...splits.map(({ after }) => after + 1), values.length];
  const levels = edges.slice(1).map((end, i) => medianOf(Float64Array.from(values.slice(edges[i], end))));
  return splits.map(({ after, p }, i) => {
    const [from, to] = [levels[i], levels[i + 1]];
    return { after, from, to, changeShare: from === 0 ? Infinity : (to - from) / Math.abs(from), p };
  });
}

/** Each level of the search gets half the risk of the one above, so that all together stay near the first. */
function segment(
  values: Float64Array,
  from: number,
  to: number,
  significance: number,
  splits: { after: number; p: number }[],
): void {
  const own = values.slice(from, to);
  if (own.length < leastRuns(significance)) return;
  const best = bestSplit(own);
  if (!(best.size > 0)) return;
  const p = probability(own, best.size);
  if (p > significance) return;
  splits.push({ after: from + best.at - 1, p });
  segment(values, from, from + best.at, significance / 2, splits);
  segment(values, from + best.at, to, significance / 2, splits);
}

/** Largest difference of means, weighted by how many runs stand on both sides. */
function bestSplit(values: Float64Array): { at: number; size: number } {
  const { length } = values;
  const total = values.reduce((sum, value) => sum + value, 0);
  let left = 0;
  let best = { at: 0, size: 0 };
  for (let at = 1; at <= length - LEAST_SIDE; at++) {
    left += values[at - 1];
    if (at < LEAST_SIDE) continue;
    const difference = Math.abs(left / at - (total - left) / (length - at));
    const size = difference * Math.sqrt((at * (length - at)) / length);
    if (size > best.size) best = { at, size };
  }
  return best;
}

function probability(values: Float64Array, size: number): number {
  const shuffled = values.slice();
  const random = seededRandom(SEED + values.length);
  // Sums in another order differ in the last digit: as large means as large but for that.
  const asLarge = size * (1 - 1e-9);
  let count = 0;
  for (let i = 0; i < SHUFFLES; i++) {
    shuffle(shuffled, random);
    if (bestSplit(shuffled).size >= asLarge) count++;
  }
  return (count + 1) / (SHUFFLES + 1);
}
