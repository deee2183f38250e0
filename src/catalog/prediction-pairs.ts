/**
 * Pairs of runs that were measured before and after the same change, and what the model of that change predicts from
 * the first of the two: what intervals of predictions rest on. docs/gains.md has the models, and what pairs miss.
 */
export interface PredictionPair {
  /** Id of the change. */
  readonly change: string;
  readonly pair: string;
  /** `fit`: the pair gave the model a constant, and tests nothing. */
  readonly half: 'fit' | 'judge';
  /** Mean decode step under the profiler, before and after. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly predictedMs: number;
  readonly source: string;
}

export const predictionPairs: readonly PredictionPair[] = [];
