/**
 * What uneven routing costs with a placement: in every layer the busiest GPU sets the time, so a step loses the sum over
 * layers of (time of the busiest − time if all had the same). Judged on whole iterations, because evening out the sum of
 * a run says little about one step of it.
 */
import { deviationOf, meanOf } from '../../stats/mean.js';
import type { LoadSample } from '../loads/load-summary.js';
import { rowOf } from '../loads/load-summary.js';
import { gpuLoads, type Placement } from '../placement/placement.js';
import { type ExpertTime, expertNs } from './expert-time.js';

interface LayerCost {
  /** Mean over iterations of busiest by mean GPU. */
  readonly imbalance: number;
  readonly worst: number;
  /** Mean over iterations, in the units of the time model. */
  readonly ns: number;
  readonly balancedNs: number;
}

export interface PlacementCost {
  readonly layers: readonly LayerCost[];
  /** Over layers and iterations. */
  readonly imbalance: number;
  /** Experts of one step, mean over iterations; balanced: with the same tokens spread evenly. */
  readonly ns: number;
  readonly balancedNs: number;
  /** Part of the experts' time lost to waiting for the busiest GPU. */
  readonly lostShare: number;
  /** 95% interval of that, over iterations; NaN with fewer than two. */
  readonly lostInterval: readonly [number, number];
  /** Per GPU: the mean of its pairs per layer, and the part of layers and iterations in which it was the busiest. */
  readonly gpus: readonly { readonly pairs: number; readonly criticalShare: number }[];
  readonly iterations: number;
}

/** One placement for all layers, or one each. */
export function costOf(
  samples: readonly LoadSample[],
  experts: number,
  placements: readonly Placement[],
  time: ExpertTime,
): PlacementCost {
  const layers = (samples[0]?.counts.length ?? 0) / experts;
  const placementOf = (layer: number) => placements[placements.length === 1 ? 0 : layer];
  const { gpus } = placements[0];
  const pairs = new Float64Array(gpus);
  const critical = new Float64Array(gpus);
  const sums = Array.from({ length: layers }, () => ({
    imbalance: 0,
    worst: 0,
    ns: 0,
    balancedNs: 0,
    seen: 0,
  }));
  const lost: number[] = [];
  for (const { counts } of samples) {
    let ns = 0;
    let balancedNs = 0;
    for (let layer = 0; layer < layers; layer++) {
      const loads = gpuLoads(placementOf(layer), rowOf(counts, layer, experts));
      const { most, at, sum } = busiest(loads);
      if (sum === 0) continue;
      for (let gpu = 0; gpu < gpus; gpu++) pairs[gpu] += loads[gpu];
      // Where all have as much, nobody waits.
      if (most * gpus > sum) critical[at]++;
      const own = sums[layer];
      const time1 = expertNs(time, most);
      const time2 = expertNs(time, sum / gpus);
      own.imbalance += (most * gpus) / sum;
      own.worst = Math.max(own.worst, (most * gpus) / sum);
      own.ns += time1;
      own.balancedNs += time2;
      own.seen++;
      ns += time1;
      balancedNs += time2;
    }
    lost.push(ns > 0 ? 1 - balancedNs / ns : 0);
  }
  const cells = Math.max(
    1,
    sums.reduce((total, { seen }) => total + seen, 0),
  );
  const n = Math.max(1, samples.length);
  const ns = sums.reduce((total, layer) => total + layer.ns, 0) / n;
  const balancedNs = sums.reduce((total, layer) => total + layer.balancedNs, 0) / n;
  return {
    layers: sums.map(({ imbalance, worst, ns: own, balancedNs: even, seen }) => ({
      imbalance: imbalance / Math.max(1, seen),
      worst,
      ns: own / Math.max(1, seen),
      balancedNs: even / Math.max(1, seen),
    })),
    imbalance: sums.reduce((total, layer) => total + layer.imbalance, 0) / cells,
    ns,
    balancedNs,
    lostShare: ns > 0 ? 1 - balancedNs / ns : 0,
    lostInterval: intervalOf(lost),
    gpus: Array.from({ length: gpus }, (_, gpu) => ({
      pairs: pairs[gpu] / cells,
      criticalShare: critical[gpu] / cells,
    })),
    iterations: samples.length,
  };
}

function busiest(loads: Float64Array): { most: number; at: number; sum: number } {
  let most = 0;
  let at = 0;
  let sum = 0;
  for (let gpu = 0; gpu < loads.length; gpu++) {
    sum += loads[gpu];
    if (loads[gpu] > most) {
      most = loads[gpu];
      at = gpu;
    }
  }
  return { most, at, sum };
}

/** Mean ± 1.96 standard errors. Iterations follow each other, so it is narrower than it should be where load drifts. */
export function intervalOf(values: readonly number[]): readonly [number, number] {
  const n = values.length;
  if (n < 2) return [Number.NaN, Number.NaN];
  const mean = meanOf(values);
  const half = (1.96 * deviationOf(values)) / Math.sqrt(n);
  return [mean - half, mean + half];
}

/** How much faster steps get when experts take `fromNs` less of them: 0.12 is 12% more steps per second. */
export const gainOf = (savedShareOfStep: number): number => 1 / (1 - Math.min(0.999, savedShareOfStep)) - 1;
