/**
 * How large a change must be before it is one. Repeated runs tell it best: the next run of unchanged code falls within
 * a band around their mean (a prediction interval with Student's quantile, since few runs tell the spread badly). Where
 * there is one run on each side, only the spread between its steps is known; run-to-run noise comes on top, unseen.
 */
import { blockBootstrapError, percentile } from '../base/resample.js';
import { normalQuantile, studentQuantile } from '../base/student.js';
import type { Phase } from '../catalog/phases.js';
import type { Metric } from './metrics.js';
import { figureOf, type RunMetrics, type Scope } from './run-metrics.js';

export interface Noise {
  /** A change up to this size is not measurable; in the metric's unit. */
  readonly floor: number;
  /** `repeats`: runs of the same code. `steps`: the steps of single runs. `unknown`: neither, so taken as 0. */
  readonly source: 'repeats' | 'steps' | 'unknown';
  /** Runs on both sides that it rests on. */
  readonly runs: number;
}

export const DEFAULT_CONFIDENCE = 0.95;

/** Values of a metric, where the runs have it. */
export const valuesOf = (runs: readonly RunMetrics[], scope: Scope, metric: Metric): number[] =>
  runs.flatMap(run => figureOf(run, scope, metric.id)?.value ?? []);

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export function noiseOf(
  candidate: readonly RunMetrics[],
  baseline: readonly RunMetrics[],
  scope: Scope,
  metric: Metric,
  confidence: number = DEFAULT_CONFIDENCE,
): Noise {
  const ours = valuesOf(candidate, scope, metric);
  const theirs = valuesOf(baseline, scope, metric);
  const runs = ours.length + theirs.length;
  const degrees = runs - 2;
  if (degrees < 1) {
    // One run against one: nothing repeats.
    const floor = floorFromSteps(candidate, baseline, scope, metric, confidence);
    return { floor: floor ?? 0, source: floor === undefined ? 'unknown' : 'steps', runs };
  }
  // Steps are left out here on purpose: a slow first step or two kinds of steps scatter widely within every run, and
  // alike in each, so that runs agree far better than their steps.
  const deviation = Math.sqrt((squares(ours) + squares(theirs)) / degrees);
  const floor =
    studentQuantile(confidence, degrees) * deviation * Math.sqrt(1 / ours.length + 1 / theirs.length);
  return { floor, source: 'repeats', runs };
}

function squares(values: readonly number[]): number {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}

/** From the spread between steps, of the mean of each side. */
function floorFromSteps(
  candidate: readonly RunMetrics[],
  baseline: readonly RunMetrics[],
  scope: Scope,
  metric: Metric,
  confidence: number,
): number | undefined {
  let variance = 0;
  for (const side of [candidate, baseline]) {
    const errors = side.map(run => stepError(run, scope, metric));
    if (errors.some(error => error === undefined)) return undefined;
    variance += errors.reduce<number>((sum, error) => sum + error! ** 2, 0) / side.length ** 2;
  }
  return normalQuantile(confidence) * Math.sqrt(variance);
}

/** Standard error of a figure of one run over its steps. */
export function stepError(run: RunMetrics, scope: Scope, metric: Metric): number | undefined {
  if (metric.percentile === undefined) return figureOf(run, scope, metric.id)?.error;
  const percent = metric.percentile;
  return blockBootstrapError(run.steps[scope as Phase] ?? [], drawn => percentile(drawn, percent));
}

/** Fewer steps than this and a percentile is one of the slowest steps, by chance. */
export const tooFewForPercentile = ({ percentile: percent }: Metric, steps: number): boolean =>
  percent !== undefined && percent > 50 && steps < 100 / (100 - percent) / 0.5;
