/**
 * What two sides differ by, each one or several runs: the change, its 95% interval, and whether that is more than
 * chance. Every verb that says faster, slower or the same asks here.
 */
import { halfWidth95, type Noise, noiseOf, sideMean } from '../stats/noise.js';
import { type Estimate, estimate } from '../stats/resample.js';
import type { MixPair, RunCells } from './pair-phases.js';

export type Interval = readonly [low: number, high: number];

export interface Difference {
  readonly from: number;
  readonly to: number;
  readonly change: number;
  readonly noise: Noise;
  /** 95%; undefined where neither repeats nor steps tell how far chance moves it. */
  readonly interval: Interval | undefined;
}

/** Of one figure that every run of both sides has. */
export function differenceOf(from: readonly Estimate[], to: readonly Estimate[]): Difference {
  return differenceBy(sideMean(from), sideMean(to), noiseOf(from, to));
}

function differenceBy(from: number, to: number, noise: Noise): Difference {
  const change = to - from;
  const half = halfWidth95(noise);
  return {
    from,
    to,
    change,
    noise,
    interval: half === undefined ? undefined : [change - half, change + half],
  };
}

/** Of the wall time of a step: like mixes against like, both sides weighted alike. */
export function stepDifference(mixes: readonly MixPair[]): Difference {
  const pooled = (side: 'from' | 'to') => estimate(mixes.map(mix => stepsOf(mix.weight, mix[side])));
  const from = pooled('from');
  const to = pooled('to');
  return differenceBy(from.value, to.value, noiseOf(ofRuns(mixes, 'from', from), ofRuns(mixes, 'to', to)));
}

/** Each run that has every mix; where hardly one has, all their steps count as one run. */
function ofRuns(mixes: readonly MixPair[], side: 'from' | 'to', pooled: Estimate): Estimate[] {
  const whole = mixes[0][side]
    .map((_, run) => mixes.map(mix => stepsOf(mix.weight, [mix[side][run]])))
    .filter(kinds => kinds.every(({ part }) => part.length > 0));
  return whole.length > 1 ? whole.map(estimate) : [pooled];
}

const stepsOf = (weight: number, cells: RunCells) => ({
  weight,
  part: cells.flat().flatMap(cell => cell.stepNs),
  whole: cells.flat().flatMap(cell => cell.stepWindows),
});

/** The interval of a time as one of the throughput it allows: how much more gets done with `to` than with `from`. */
export function asGain({ from, to, interval }: Difference): { gain: number; interval: Interval | null } {
  // A time cannot fall to nothing, however wide the interval.
  const gain = (change: number) => from / Math.max(from + change, 1e-6 * from) - 1;
  return { gain: from / to - 1, interval: interval ? [gain(interval[1]), gain(interval[0])] : null };
}
