/** What was predicted for even routing beside what a pair of profiles shows; the error is said, whatever it is. */
import { formatDuration } from '../../base/units.js';
import type { MeasuredExperts } from '../cost/measured-experts.js';

export interface PairPrediction {
  readonly rows: readonly PredictedRow[];
  /** Of the measured gain in expert time, the part that was predicted; null: the perfect run gained nothing. */
  readonly explained: number | null;
  readonly about: string;
}

interface PredictedRow {
  readonly what: string;
  readonly learnedNs: number;
  readonly perfectNs: number;
  /** Changes as shares of the learned run; negative is faster. */
  readonly predicted: number;
  readonly measured: number;
  /** Predicted − measured. */
  readonly error: number;
}

const HOST_BOUND = 0.5;

/** `lostShare`: of expert time, from counts. Without counts: from the ranks of the profile, or none on one GPU. */
export function predictPair(
  learned: MeasuredExperts,
  perfect: MeasuredExperts,
  lostShare?: number,
): PairPrediction {
  const inferred = learned.inferred ? 1 - 1 / learned.inferred.maxOverMean : 0;
  const lost = lostShare ?? inferred;
  const hostBound = learned.idleShare > HOST_BOUND;
  const row = (what: string, learnedNs: number, perfectNs: number, predicted: number): PredictedRow => {
    const measured = perfectNs / learnedNs - 1;
    return { what, learnedNs, perfectNs, predicted, measured, error: predicted - measured };
  };
  const saved = learned.expertNs - perfect.expertNs;
  const basis =
    lostShare !== undefined
      ? 'from counts'
      : learned.inferred
        ? 'inferred from time per rank'
        : 'one GPU holds all experts and gets all tokens in both runs';
  const held = hostBound ? '; the GPU mostly waits for the host, so the step is predicted not to change' : '';
  const change = learned.stepNs - perfect.stepNs;
  const noise =
    hostBound && change < 0
      ? `. The perfect step was ${formatDuration(-change)} longer, caused by the host, not by routing`
      : '';
  return {
    rows: [
      row('experts (grouped GEMMs)', learned.expertNs, perfect.expertNs, -lost),
      row('step', learned.stepNs, perfect.stepNs, hostBound ? 0 : -lost * learned.expertShare),
    ],
    explained: saved > 0 ? (lost * learned.expertNs) / saved : null,
    about: `Predicted ${basis}${held}${noise}.`,
  };
}
