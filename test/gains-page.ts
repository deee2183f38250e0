/** The table of measured pairs in docs/gains.md, made from the catalogue. */
import { pairError } from '../src/analyze/whatif/prediction-interval.js';
import type { PredictionPair } from '../src/catalog/prediction-pairs.js';

const ms = (value: number) => value.toFixed(2);
const signed = (value: number) => `${value < 0 ? '−' : '+'}${ms(Math.abs(value))}`;

export function pairRow(pair: PredictionPair): string {
  const { change, pair: name, half, fromMs, toMs, predictedMs } = pair;
  const step = Math.round((predictedMs / toMs - 1) * 100);
  return `| ${change} | ${name} | ${half} | ${ms(fromMs)} → ${ms(toMs)} | ${ms(predictedMs)} | ${signed(toMs - fromMs)} | ${signed(predictedMs - fromMs)} | ${Math.round(pairError(pair) * 100)}% | ${step < 0 ? '−' : '+'}${Math.abs(step)}% |`;
}
