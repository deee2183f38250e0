/** How large a change of a metric must be before it is one: what unchanged code stays below, with some confidence. */
import { estimateOf } from '../run/collect-figures.js';
import type { Metric } from '../run/metrics.js';
import type { Run, Scope } from '../run/run.js';
import { boundOf, type Noise, noiseOf } from '../stats/noise.js';
import type { Estimate } from '../stats/resample.js';

export interface NoiseFloor {
  /** A change up to this size is not measurable; in the metric's unit. 0 where it is unknown. */
  readonly floor: number;
  readonly source: Noise['source'];
  /** Runs on both sides that it rests on. */
  readonly runs: number;
}

export const DEFAULT_CONFIDENCE = 0.95;

/** Where the runs have it. */
export const estimatesOf = (runs: readonly Run[], scope: Scope, metric: Metric): Estimate[] =>
  runs.flatMap(run => estimateOf(run, scope, metric) ?? []);

export function floorOf(
  candidate: readonly Run[],
  baseline: readonly Run[],
  scope: Scope,
  metric: Metric,
  confidence: number = DEFAULT_CONFIDENCE,
): NoiseFloor {
  const [ours, theirs] = [candidate, baseline].map(side => estimatesOf(side, scope, metric));
  const noise = noiseOf(theirs, ours);
  return { floor: boundOf(noise, confidence), source: noise.source, runs: ours.length + theirs.length };
}

/** Fewer steps than this and a percentile is one of the slowest steps, by chance. */
export const tooFewForPercentile = ({ percentile: percent }: Metric, steps: number): boolean =>
  percent !== undefined && percent > 50 && steps < 100 / (100 - percent) / 0.5;
