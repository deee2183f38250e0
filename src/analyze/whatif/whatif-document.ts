/** Predictions as the JSON document and as rows for a spreadsheet. */
import type { Static } from '../../base/document.js';
import { equationOf } from './equation.js';
import type { NoPrediction, PhasePrediction } from './predict.js';
import type { whatifSchema } from './whatif-schema.js';

type Document = Static<typeof whatifSchema>;

export const isPredicted = (one: PhasePrediction | NoPrediction): one is PhasePrediction => 'from' in one;

/** A model that is off by more on a measured pair is not likely to be right. */
const USUAL_ERROR = 0.25;

/** Measured pairs test every change that was applied, and none was far off. */
export const isLikely = ({ changes }: PhasePrediction): boolean =>
  changes.every(
    ({ outcome, error }) => outcome.status !== 'applied' || (error.pairs > 0 && error.share <= USUAL_ERROR),
  );

/** Of the predicted step. Where no change shortens the work of the GPU, the step is no shorter than that work. */
export function stepInterval(one: PhasePrediction, fromNs: number): [number, number] {
  const [low, high] = one.interval;
  const [before, after] = [busyNs(one.from), busyNs(one.to)];
  // Copies that are hidden afterwards are no shorter work.
  const least = after >= 0.99 * before ? Math.min(before, after) : 0;
  return [Math.max(least, fromNs + low), Math.max(least, fromNs + high)];
}

const busyNs = (parts: PhasePrediction['from']): number =>
  [...parts].reduce((sum, [part, ns]) => sum + (part.startsWith('idle:') ? 0 : ns), 0);

export function whatifDocument(
  files: readonly string[],
  predictions: readonly (PhasePrediction | NoPrediction)[],
): Document {
  return { schema: 'stepscope-whatif/1', files, predictions: predictions.map(asJson) };
}

function asJson(one: PhasePrediction | NoPrediction): Document['predictions'][number] {
  if (!isPredicted(one))
    return {
      ...{
        phase: one.phase,
        cannotTell: one.cannotTell,
        steps: 0,
        stepsLeftOut: 0,
        replayError: null,
        unexplainedShare: null,
      },
      ...{ fromNs: 0, toNs: 0, changeNs: 0, interval: null, confidence: null, requests: null },
      ...{ terms: [], changes: [] },
    };
  const { fromNs, toNs, changeNs, terms } = equationOf(one);
  const [lowNs, highNs] = stepInterval(one, fromNs);
  return {
    ...{ phase: one.phase, cannotTell: null, steps: one.steps, stepsLeftOut: one.leftOut },
    ...{
      replayError: one.replayError,
      unexplainedShare: one.unexplained,
      fromNs,
      toNs,
      changeNs,
      interval: { lowNs, highNs },
    },
    confidence: isLikely(one) ? 'likely' : 'possible',
    requests: one.requests ?? null,
    terms: terms.map(({ color: _, ...term }) => term),
    changes: one.changes.map(({ change, outcome, aloneNs, error }) => ({
      ...{ id: change.id, label: change.label, status: outcome.status },
      detail: outcome.status === 'applied' ? outcome.did : outcome.why,
      ...{ aloneNs, modelError: error.share, testedPairs: error.pairs },
    })),
  };
}

/** One line per term. */
export function whatifRows(predictions: readonly (PhasePrediction | NoPrediction)[]): (string | number)[][] {
  const header = ['phase', 'term', 'label', 'fromNs', 'toNs', 'changeNs'];
  const rows = predictions
    .filter(isPredicted)
    .flatMap(one =>
      equationOf(one).terms.map(({ key, label, fromNs, toNs, changeNs }) => [
        ...[one.phase, key, label],
        ...[fromNs, toNs, changeNs],
      ]),
    );
  return [header, ...rows];
}
