/** Which machine: imbalance and traffic for more GPUs, replicas and batch sizes, each phase for itself. */

import type { Static } from '../../base/document.js';
import type { LoadPhase } from '../../model/expert-load.js';
import type { ExpertTime } from '../cost/expert-time.js';
import { costOf } from '../cost/placement-cost.js';
import type { LoadSample, LoadSummary } from '../loads/load-summary.js';
import type { sweepRowSchema } from '../place-schema.js';
import { placeBy, splitLoads } from './plan-layers.js';

export type SweepRow = Static<typeof sweepRowSchema>;

interface SweepOptions {
  readonly gpus?: readonly number[];
  /** Replicas per GPU; every GPU holds as many places. */
  readonly replicasPerGpu?: readonly number[];
  readonly batches?: readonly number[];
}

/** Layers and iterations looked at: a sweep compares machines, it does not plan one. */
const SWEPT_LAYERS = 8;
const SWEPT_ITERATIONS = 24;
const SIZES = [8, 16, 32, 64, 72, 128, 144, 256, 288];

export function sweep(summary: LoadSummary, time: ExpertTime, options: SweepOptions = {}): SweepRow[] {
  const { gpus = SIZES, replicasPerGpu = [0, 1], batches = [0.25, 1, 4] } = options;
  const { experts } = summary;
  const chosen = spread(summary.layers.length, SWEPT_LAYERS);
  const { train, test } = splitLoads(summary);
  const phases = [...new Set(test.flatMap(({ phase }) => phase ?? []))];
  const groups: [LoadPhase | 'all', readonly LoadSample[]][] =
    phases.length > 1
      ? phases.map(phase => [phase, test.filter(sample => sample.phase === phase)])
      : [[phases[0] ?? 'all', test]];
  const rows: SweepRow[] = [];
  for (const [phase, samples] of groups) {
    const judged = spread(samples.length, SWEPT_ITERATIONS).map(i => narrow(samples[i], chosen, experts));
    const first = new Map<number, number>();
    for (const count of gpus) {
      for (const extra of replicasPerGpu) {
        const places = Math.ceil(experts / count) * count + extra * count;
        const shape = { gpus: count, nodes: 1, places };
        const planned = chosen.map(layer =>
          placeBy('eplb-global', train.subarray(layer * experts, (layer + 1) * experts), shape),
        );
        const plain = chosen.map(layer =>
          placeBy('plain', train.subarray(layer * experts, (layer + 1) * experts), shape),
        );
        for (const batch of batches) {
          const scaled = judged.map(sample => ({ ...sample, counts: drawn(sample.counts, batch) }));
          const placed = costOf(scaled, experts, planned, time);
          const least = first.get(batch) ?? placed.ns;
          first.set(batch, least);
          rows.push({
            phase,
            gpus: count,
            replicas: places - experts,
            batch,
            plainImbalance: costOf(scaled, experts, plain, time).imbalance,
            placedImbalance: placed.imbalance,
            relativeTime: placed.ns / least,
          });
        }
      }
    }
  }
  return rows;
}

/** Indexes spread evenly over a list. */
const spread = (length: number, most: number): number[] =>
  Array.from({ length: Math.min(length, most) }, (_, i) => Math.floor((i * length) / Math.min(length, most)));

function narrow(sample: LoadSample, layers: readonly number[], experts: number): LoadSample {
  const counts = new Float64Array(layers.length * experts);
  layers.forEach((layer, i) => {
    counts.set(sample.counts.subarray(layer * experts, (layer + 1) * experts), i * experts);
  });
  return { ...sample, counts };
}

/**
 * Another batch size: fewer tokens are not the same shares of fewer, they also scatter more, so smaller batches are drawn
 * anew (normal approximation to Poisson); larger ones are scaled, which leaves their scatter as it was measured.
 */
function drawn(counts: Float64Array, batch: number): Float64Array {
  if (batch >= 1) return counts.map(count => count * batch);
  let state = 12345;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  // The part of the scatter that the measured counts do not have already.
  return counts.map(count =>
    Math.max(0, Math.round(count * batch + normal() * Math.sqrt(count * batch * (1 - batch)))),
  );
}
