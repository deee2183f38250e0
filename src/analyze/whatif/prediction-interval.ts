/**
 * How far a predicted change may be off: the scatter of the steps, and the error that the models showed on pairs of runs
 * that were measured before and after the same change. Several changes are taken as independent.
 */
import { predictionPairs } from '../../catalog/prediction-pairs.js';
import { meanOf } from '../../stats/mean.js';
import { boundOf, noiseOf } from '../../stats/noise.js';
import { estimate } from '../../stats/resample.js';

/** Of a change's model. */
export interface ModelError {
  /** Share of the predicted change. */
  readonly share: number;
  /** Measured pairs behind it; 0: nothing tests the model. */
  readonly pairs: number;
}

/** Where no measured pair tests a model. */
const UNTESTED = 0.25;
/** Few pairs do not show the worst case: no interval is narrower. */
const LEAST = 0.1;

/** The largest error any measured pair showed. */
export function modelError(change: string): ModelError {
  const own = predictionPairs.filter(pair => pair.change === change);
  if (own.length === 0) return { share: UNTESTED, pairs: 0 };
  const errors = own.map(({ predictedNs, measuredNs }) => Math.abs(predictedNs / measuredNs - 1));
  return { share: Math.max(LEAST, ...errors), pairs: own.length };
}

export function predictionInterval(
  differences: ArrayLike<number>,
  changes: readonly { readonly aloneNs: number | null; readonly error: ModelError }[],
): readonly [number, number] {
  const change = meanOf(differences);
  const steps = estimate([{ weight: 1, part: differences, whole: Array.from(differences, () => 1) }]);
  const scatter = boundOf(noiseOf([steps], [{ value: 0, error: 0, degrees: 1e6 }]), 0.975);
  const alone = changes.map(({ aloneNs }) => aloneNs ?? 0);
  const total = alone.reduce((sum, ns) => sum + Math.abs(ns), 0);
  // Together they change less or more than one by one: each model's error counts by its part of that.
  const scale = total > 0 ? Math.abs(change) / total : 0;
  const squares = changes.reduce(
    (sum, { error }, at) => sum + (Math.abs(alone[at]) * scale * error.share) ** 2,
    0,
  );
  const half = Math.sqrt(scatter ** 2 + squares);
  return [change - half, change + half];
}
