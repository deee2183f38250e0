/**
 * Mean, deviation and percentiles of measured times. Percentiles are interpolated between the two values around their
 * place, as NumPy does and with it the serving benchmarks of vLLM, SGLang and TensorRT-LLM.
 */
import type { Distribution } from '../model/bench-run.js';
import { deviationOf, meanOf } from '../stats/mean.js';
import { interpolatedPercentile } from '../stats/percentile.js';

const percents = [50, 90, 95, 99] as const;

export function distributionOf(values: readonly number[]): Distribution | undefined {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  if (n === 0) return undefined;
  return {
    meanNs: meanOf(sorted),
    stddevNs: deviationOf(sorted),
    minNs: sorted[0],
    maxNs: sorted[n - 1],
    percentilesNs: Object.fromEntries(
      percents.map(percent => [percent, interpolatedPercentile(sorted, percent)]),
    ),
  };
}
