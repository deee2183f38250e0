/** Heat maps as numbers: layers by experts (is it always the same experts?) and layers by time (is it always?). */
import { type LoadSummary, rowOf } from './load-summary.js';

export interface HeatMap {
  readonly rows: readonly string[];
  readonly columns: number;
  /** What the first and last column are. */
  readonly from: string;
  readonly to: string;
  /** Row after row; 1 is the mean of a row, or perfect balance. */
  readonly values: Float64Array;
}

/** An expert's tokens by the mean of its layer; beyond `most` columns neighbours are joined, and the hottest shows. */
export function expertHeat(summary: LoadSummary, most = 256): HeatMap {
  const { layers, experts, totals } = summary;
  const columns = Math.min(experts, most);
  const values = new Float64Array(layers.length * columns);
  layers.forEach((_, l) => {
    const row = rowOf(totals, l, experts);
    const mean = row.reduce((sum, count) => sum + count, 0) / experts;
    for (let expert = 0; expert < experts; expert++) {
      const at = l * columns + Math.floor((expert * columns) / experts);
      values[at] = Math.max(values[at], row[expert] / mean);
    }
  });
  return {
    rows: layers.map(layer => `layer ${layer}`),
    columns,
    from: 'expert 0',
    to: `expert ${experts - 1}`,
    values,
  };
}

/** Max/mean over experts of each layer as time goes by; a column is the mean of its iterations. */
export function timeHeat(summary: LoadSummary, most = 128): HeatMap {
  const { layers, series } = summary;
  const columns = Math.min(series.length, most);
  const values = new Float64Array(layers.length * columns);
  const counts = new Float64Array(layers.length * columns);
  for (let i = 0; i < series.length; i++) {
    const column = Math.floor((i * columns) / series.length);
    for (let l = 0; l < layers.length; l++) {
      const value = series.maxOverMean[i * layers.length + l];
      if (Number.isNaN(value)) continue;
      values[l * columns + column] += value;
      counts[l * columns + column]++;
    }
  }
  for (let i = 0; i < values.length; i++) values[i] = counts[i] > 0 ? values[i] / counts[i] : Number.NaN;
  return {
    rows: layers.map(layer => `layer ${layer}`),
    columns,
    from: `iteration ${summary.span[0]}`,
    to: `iteration ${summary.span[1]}`,
    values,
  };
}
