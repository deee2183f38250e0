/**
 * Mean, deviation and percentiles of measured times. Percentiles are interpolated between the two values around their
 * place, as NumPy does and with it the serving benchmarks of vLLM, SGLang and TensorRT-LLM.
 */
import type { Distribution } from '../model/bench-run.js';

const percents = [50, 90, 95, 99] as const;

export function distributionOf(values: readonly number[]): Distribution | undefined {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  if (n === 0) return undefined;
  const meanNs = sorted.reduce((sum, value) => sum + value, 0) / n;
  const squares = sorted.reduce((sum, value) => sum + (value - meanNs) ** 2, 0);
  return {
    meanNs,
    stddevNs: n > 1 ? Math.sqrt(squares / (n - 1)) : 0,
    minNs: sorted[0],
    maxNs: sorted[n - 1],
    percentilesNs: Object.fromEntries(percents.map(percent => [percent, percentile(sorted, percent)])),
  };
}

function percentile(sorted: Float64Array, percent: number): number {
  const place = ((sorted.length - 1) * percent) / 100;
  const below = Math.floor(place);
  const above = Math.min(sorted.length - 1, below + 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}
