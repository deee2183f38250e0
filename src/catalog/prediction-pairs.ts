/**
 * Pairs of runs that were measured before and after the same change, and what the model of that change predicts from
 * the first of the two: what intervals of predictions rest on. Changes of the mean decode step in nanoseconds;
 * test/whatif.test.ts computes the predictions again. docs/gains.md tells each model.
 */
interface PredictionPair {
  /** Id of the change. */
  readonly change: string;
  readonly pair: string;
  readonly predictedNs: number;
  readonly measuredNs: number;
  readonly source: string;
}

export const predictionPairs: readonly PredictionPair[] = [];
