/**
 * Whether a difference of means is more than noise. Steps of a run are drawn anew in blocks (neighbours are alike),
 * and with repeats whole runs are drawn first, so that what differs from run to run counts as noise. The interval is
 * widened for few observations (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", section 5.3).
 * The same input gives the same interval.
 */
import { randomNumbers } from '../base/random-numbers.js';
import { normalWidth95, studentWidth95 } from '../base/student.js';
import type { MixPair, RunCells } from './pair-phases.js';

export interface Interval {
  readonly lowNs: number;
  readonly highNs: number;
}

interface Significance {
  /** 95% interval of the difference of means; undefined where a side has one step. */
  readonly interval: Interval | undefined;
  /** How far two runs of one configuration lie apart by chance (95%); undefined without repeats. */
  readonly noiseFloorNs: number | undefined;
  readonly runsMeasured: boolean;
}

/** Per run: sums and numbers of windows of its steps, in order. */
interface RunSteps {
  readonly ns: readonly number[];
  readonly windows: readonly number[];
}

const MOST_DRAWS = 2000;
const FEWEST_DRAWS = 200;
/** Steps drawn in all: with very many steps fewer draws do. */
const MOST_STEPS_DRAWN = 6e6;

export function judge(mixes: readonly MixPair[]): Significance {
  const from = mixes.map(({ from: cells, weight }) => ({ weight, runs: stepsOf(cells) }));
  const to = mixes.map(({ to: cells, weight }) => ({ weight, runs: stepsOf(cells) }));
  const fromRuns = runMeans(from);
  const toRuns = runMeans(to);
  const runsMeasured = fromRuns.length > 1 || toRuns.length > 1;
  const noiseFloorNs = runsMeasured ? betweenRuns(fromRuns, toRuns) : undefined;
  const interval = bootstrap(from, to);
  if (!interval || noiseFloorNs === undefined) return { interval, noiseFloorNs, runsMeasured };
  // Two or three runs cannot be resampled well: their spread sets the least width.
  const middle = mean(to) - mean(from);
  return {
    interval: {
      lowNs: Math.min(interval.lowNs, middle - noiseFloorNs),
      highNs: Math.max(interval.highNs, middle + noiseFloorNs),
    },
    noiseFloorNs,
    runsMeasured,
  };
}

interface WeightedRuns {
  readonly weight: number;
  readonly runs: readonly RunSteps[];
}

const stepsOf = (cells: RunCells): RunSteps[] =>
  cells
    .map(run => ({ ns: run.flatMap(cell => cell.stepNs), windows: run.flatMap(cell => cell.stepWindows) }))
    .filter(run => run.ns.length > 0);

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function mean(side: readonly WeightedRuns[]): number {
  return sum(
    side.map(
      ({ weight, runs }) =>
        (weight * sum(runs.map(run => sum(run.ns)))) / sum(runs.map(run => sum(run.windows))),
    ),
  );
}

/** Means of the runs that have every mix. */
function runMeans(side: readonly WeightedRuns[]): number[] {
  const count = Math.min(...side.map(({ runs }) => runs.length));
  return Array.from({ length: count }, (_, run) =>
    mean(side.map(({ weight, runs }) => ({ weight, runs: [runs[run]] }))),
  );
}

/** Half the width of the interval that run-to-run variation alone gives (Student's t, pooled). */
function betweenRuns(from: readonly number[], to: readonly number[]): number {
  const squares = (means: readonly number[]) => {
    const middle = sum(means) / means.length;
    return sum(means.map(value => (value - middle) ** 2));
  };
  const degrees = from.length + to.length - 2;
  const variance = (squares(from) + squares(to)) / degrees;
  return studentWidth95(degrees) * Math.sqrt(variance * (1 / from.length + 1 / to.length));
}

function bootstrap(from: readonly WeightedRuns[], to: readonly WeightedRuns[]): Interval | undefined {
  const fewest = Math.min(observations(from), observations(to));
  if (fewest < 2) return undefined;
  const many = observations(from) + observations(to);
  const draws = Math.round(Math.max(FEWEST_DRAWS, Math.min(MOST_DRAWS, MOST_STEPS_DRAWN / many)));
  // Each side is drawn by numbers of its own, so that the other direction gives the same interval, mirrored.
  const [ours, theirs] = [randomNumbers(seedOf(from)), randomNumbers(seedOf(to))];
  const middle = mean(to) - mean(from);
  const drawn = Float64Array.from({ length: draws }, () => draw(to, theirs) - draw(from, ours)).sort();
  // Resampling n values makes them vary by (n − 1)/n of what they do, and few values vary more than a normal curve says.
  const widen = Math.sqrt(fewest / (fewest - 1)) * (studentWidth95(fewest - 1) / normalWidth95);
  const tail = Math.round(0.025 * (draws - 1));
  return {
    lowNs: middle + widen * Math.min(0, drawn[tail] - middle),
    highNs: middle + widen * Math.max(0, drawn[draws - 1 - tail] - middle),
  };
}

function seedOf(side: readonly WeightedRuns[]): number {
  let hash = 7;
  for (const { runs } of side)
    for (const { ns } of runs) for (const value of ns) hash = (Math.imul(hash, 31) + (value % 2 ** 31)) | 0;
  return hash;
}

const observations = (side: readonly WeightedRuns[]): number =>
  sum(side.map(({ runs }) => sum(runs.map(run => run.ns.length)))) - (side.length - 1);

function draw(side: readonly WeightedRuns[], random: (below: number) => number): number {
  let total = 0;
  for (const { weight, runs } of side) {
    let ns = 0;
    let windows = 0;
    for (let r = 0; r < runs.length; r++) {
      const run = runs.length > 1 ? runs[random(runs.length)] : runs[0];
      const count = run.ns.length;
      const block = Math.max(1, Math.round(Math.cbrt(count)));
      for (let taken = 0; taken < count; ) {
        const start = random(count);
        for (let k = 0; k < block && taken < count; k++, taken++) {
          const step = (start + k) % count;
          ns += run.ns[step];
          windows += run.windows[step];
        }
      }
    }
    total += (weight * ns) / windows;
  }
  return total;
}
