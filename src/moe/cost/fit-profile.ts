/** The expert-time model from a profile and counts of the same run: iterations are matched by number. */
import type { LoadSummary } from '../loads/load-summary.js';
import { rowOf } from '../loads/load-summary.js';
import { gpuLoads, type Placement } from '../placement/placement.js';
import { type ExpertTime, fitExpertTime, proportional, type TimePoint } from './expert-time.js';
import type { StepExperts } from './expert-work.js';

/** Undefined: no iteration is in both, or devices and GPUs do not match. */
export function fitFromProfile(
  summary: LoadSummary,
  rows: readonly StepExperts[],
  placement: Placement,
): ExpertTime | undefined {
  const devices = [...new Set(rows.map(row => row.device))].sort((a, b) => a - b);
  if (devices.length !== placement.gpus) return undefined;
  const layers = summary.layers.length;
  const byIteration = new Map(summary.samples.map(sample => [sample.iteration, sample]));
  const points: TimePoint[] = [];
  for (const { iteration, device, expertNs } of rows) {
    const sample = byIteration.get(iteration);
    if (!sample || expertNs === 0) continue;
    let pairs = 0;
    for (let layer = 0; layer < layers; layer++)
      pairs += gpuLoads(placement, rowOf(sample.counts, layer, summary.experts))[devices.indexOf(device)];
    points.push({ pairs: pairs / layers, ns: expertNs / layers });
  }
  if (points.length === 0) return undefined;
  const fitted = fitExpertTime(points);
  if (fitted) return fitted;
  // Always the same tokens: a level is measured, a slope is not.
  const mean = (of: (point: TimePoint) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  return {
    ...proportional,
    nsPerPair: mean(point => point.ns) / mean(point => point.pairs),
    about: `${points.length} steps measured, all with the same tokens per GPU: time is assumed proportional to tokens, an upper bound on the cost of imbalance`,
  };
}
