/** Every layer's answer: how uneven over the whole run, how uneven within an iteration, which experts, how steady. */
import { meanOf } from '../../stats/mean.js';
import { percentile } from '../../stats/percentile.js';
import { type Balance, balanceOf } from '../balance.js';
import { type LoadSummary, rowOf, totalsBetween } from './load-summary.js';
import { correlation, hotCount, hottest, lagOne, type Stability } from './stability.js';

export interface LayerAnswer {
  readonly layer: number;
  /** Of the sums over all iterations: what a placement can even out. */
  readonly overall: Balance;
  /** Mean, 99th percentile and worst over iterations of max/mean within one: what GPUs wait for. */
  readonly perIteration: { readonly mean: number; readonly p99: number; readonly worst: number };
  readonly meanVariation: number;
  readonly meanIdleShare: number;
  readonly hottest: readonly { readonly expert: number; readonly share: number }[];
  readonly stability: Stability;
}

const SHOWN_EXPERTS = 5;

export function answerLayers(summary: LoadSummary): LayerAnswer[] {
  const { layers, experts, series, segments } = summary;
  const enough = segments.length >= 3;
  const first = enough ? totalsBetween(summary, 0, 1 / 3) : undefined;
  const last = enough ? totalsBetween(summary, 2 / 3, 1) : undefined;
  return layers.map((layer, l) => {
    const row = rowOf(summary.totals, l, experts);
    const overall = balanceOf(row);
    const column = (values: Float32Array) => {
      const own: number[] = [];
      for (let i = 0; i < series.length; i++) {
        const value = values[i * layers.length + l];
        if (!Number.isNaN(value)) own.push(value);
      }
      return Float64Array.from(own);
    };
    const ratios = column(series.maxOverMean);
    return {
      layer,
      overall,
      perIteration: spreadOf(ratios),
      meanVariation: meanOf(column(series.variation)),
      meanIdleShare: meanOf(column(series.idleShare)),
      hottest: hottest(row, SHOWN_EXPERTS).map(expert => ({ expert, share: row[expert] / overall.total })),
      stability: steadiness(
        first && rowOf(first, l, experts),
        last && rowOf(last, l, experts),
        ratios,
        experts,
      ),
    };
  });
}

function steadiness(
  first: Float64Array | undefined,
  last: Float64Array | undefined,
  ratios: Float64Array,
  experts: number,
): Stability {
  const hot = hotCount(experts);
  const early = new Set(first ? hottest(first, hot) : []);
  return {
    hotOverlap: last ? hottest(last, hot).filter(expert => early.has(expert)).length / hot : Number.NaN,
    hotOverlapByChance: hot / experts,
    shareCorrelation: first && last ? correlation(first, last) : Number.NaN,
    autocorrelation: lagOne(ratios),
  };
}

export function spreadOf(values: Float64Array): { mean: number; p99: number; worst: number } {
  return { mean: meanOf(values), p99: percentile(values, 99), worst: percentile(values, 100) };
}
