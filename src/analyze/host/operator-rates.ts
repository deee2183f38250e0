/** How fast an operator computed and moved data, and how near that is to what the GPU can do. */
import { type FlopsType, type Limits, peakFromProfile } from '../../catalog/gpus.js';
import { operatorCost } from '../../catalog/operator-costs.js';
import type { Profile } from '../../model/profile.js';
import type { OperatorKind } from '../captured-graph.js';

interface OperatorRates {
  /** 10¹² per second. */
  readonly teraflops: number | null;
  readonly terabytesPerSecond: number | null;
  /** Minimum time divided by measured time, 0 to 1. */
  readonly ofLight: number | null;
  readonly bound: 'memory' | 'compute' | null;
}

/** Why a figure is withheld; sentences for a note, by how many operators they concern. */
export type Withheld = 'beyond-peak' | 'beyond-memory';

const UNKNOWN: OperatorRates = { teraflops: null, terabytesPerSecond: null, ofLight: null, bound: null };

/**
 * Rates of calls that launched `gpuNs` of work. Where arithmetic would need more than the GPU has, the time is not all
 * of the operator's: nothing is said. Where only memory would, the data came from a cache.
 */
export function operatorRates(
  { name, shapes, types }: OperatorKind,
  calls: number,
  gpuNs: number,
  limits: Limits | undefined,
  withhold: (why: Withheld) => void,
): OperatorRates {
  const cost = gpuNs > 0 ? operatorCost(name, shapes, types) : undefined;
  if (!cost) return UNKNOWN;
  const perNs = calls / gpuNs;
  const rate = fastest(limits, cost.type);
  const bandwidth = limits?.memoryBandwidthBytesPerSecond?.value;
  const computeShare =
    cost.flops !== undefined && rate !== undefined ? (cost.flops * perNs * 1e9) / rate : null;
  if ((computeShare ?? 0) > 1) {
    withhold('beyond-peak');
    return UNKNOWN;
  }
  const memoryShare = bandwidth === undefined ? null : (cost.bytes * perNs * 1e9) / bandwidth;
  const rates = {
    teraflops: cost.flops === undefined ? null : (cost.flops * perNs * 1e9) / 1e12,
    terabytesPerSecond: cost.countsOutput ? (cost.bytes * perNs * 1e9) / 1e12 : null,
  };
  if ((memoryShare ?? 0) > 1) {
    withhold('beyond-memory');
    return { ...rates, ofLight: null, bound: null };
  }
  // Both limits must be known: the larger of one would be a share of something else.
  if (computeShare === null || memoryShare === null) return { ...rates, ofLight: null, bound: null };
  return {
    ...rates,
    ofLight: Math.max(computeShare, memoryShare),
    bound: memoryShare >= computeShare ? 'memory' : 'compute',
  };
}

/** Where the GPU has no units for a type, the next wider one multiplies it. */
function fastest(limits: Limits | undefined, type: FlopsType): number | undefined {
  const rates = limits?.denseFlops?.value;
  if (!rates) return undefined;
  return rates[type] ?? (type === 'tf32' ? rates.fp32 : undefined);
}

/** The limits of the GPUs that work ran on, where they are all alike. */
export function commonLimits(profile: Profile, devices: Iterable<number>): Limits | undefined {
  const used = [...new Set(devices)].map(device => profile.gpus[device]);
  const names = new Set(used.map(gpu => gpu.name));
  return names.size === 1 ? peakFromProfile(used[0]) : undefined;
}
