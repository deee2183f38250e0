/**
 * How far a predicted change may be off: the scatter of the steps, and the error that the models showed on pairs of runs
 * that were measured before and after the same change. Several changes are taken as independent.
 */

import { type PredictionPair, predictionPairs } from '../../catalog/prediction-pairs.js';
import { tracingError } from '../../catalog/tracing-cost.js';
import { meanOf } from '../../stats/mean.js';
import { boundOf, noiseOf } from '../../stats/noise.js';
import { estimate } from '../../stats/resample.js';

/** Of a change's model. */
export interface ModelError {
  /** Share of the predicted change; of a tenth of the step where the change is smaller than that. */
  readonly share: number;
  /** Measured pairs behind it; 0: nothing tests the model. */
  readonly pairs: number;
}

/** Where no measured pair tests a model. */
const UNTESTED = 0.25;
/** Few pairs do not show the worst case: no interval is narrower. */
const LEAST = 0.1;
/** Of small changes errors are a multiple: they count by this share of the step. */
const SMALL_CHANGE = 0.1;

const scaleOf = (changeNs: number, stepNs: number) => Math.max(Math.abs(changeNs), SMALL_CHANGE * stepNs);

/** The largest error that a pair showed which did not give the model its constants. */
export function modelError(change: string): ModelError {
  // Judged on steps, not on pairs of profiles.
  if (change === 'no-profiler') return tracingError;
  const own = predictionPairs.filter(pair => pair.change === change && pair.half === 'judge');
  if (own.length === 0) return { share: UNTESTED, pairs: 0 };
  return { share: Math.max(LEAST, ...own.map(pairError)), pairs: own.length };
}

export const pairError = ({ fromMs, toMs, predictedMs }: PredictionPair): number =>
  Math.abs(predictedMs - toMs) / scaleOf(toMs - fromMs, fromMs);

export function predictionInterval(
  differences: ArrayLike<number>,
  changes: readonly { readonly aloneNs: number | null; readonly error: ModelError }[],
  stepNs: number,
): readonly [number, number] {
  const change = meanOf(differences);
  const steps = estimate([{ weight: 1, part: differences, whole: Array.from(differences, () => 1) }]);
  const scatter = boundOf(noiseOf([steps], [{ value: 0, error: 0, degrees: 1e6 }]), 0.975);
  const half = Math.hypot(scatter, ...modelErrors(change, changes, stepNs));
  return [change - half, change + half];
}

/** Together, changes do more or less than one by one: each model's error counts by its part of the sum. */
function modelErrors(
  change: number,
  changes: readonly { readonly aloneNs: number | null; readonly error: ModelError }[],
  stepNs: number,
): number[] {
  if (changes.length === 0) return [];
  const total = changes.reduce((sum, { aloneNs }) => sum + Math.abs(aloneNs ?? 0), 0);
  const scale = scaleOf(change, stepNs);
  // One that needs another first has no effect alone: the larger error then holds for all.
  if (total === 0 || changes.some(({ aloneNs }) => aloneNs === null))
    return [scale * Math.max(...changes.map(({ error }) => error.share))];
  return changes.map(({ aloneNs, error }) => ((scale * Math.abs(aloneNs!)) / total) * error.share);
}
