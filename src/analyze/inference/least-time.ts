/**
 * From operations and bytes to the least time on a GPU with given limits. Two answers: `overlappedNs` is a true
 * lower bound, since memory and units could at best be busy all the time; `leastNs` lets parts run one after
 * the other, as engines run them, and is the fairer target, though overlapping parts could beat it.
 */
import type { FlopsType, Limits } from '../../catalog/gpus.js';
import type { StepCost } from './step-cost.js';
import type { PartCost } from './step-load.js';

type Bound = 'memory' | 'compute';

interface PartTime {
  readonly part: string;
  readonly family: PartCost['family'];
  readonly variant: PartCost['variant'];
  readonly memoryNs: number;
  readonly computeNs: number;
  /** The longer of the two: within a part, loading and computing can overlap. */
  readonly leastNs: number;
  /** Undefined where the part takes no time. */
  readonly bound?: Bound;
}

export interface LeastTime {
  /** All bytes at full bandwidth, and all operations at full rate. */
  readonly memoryNs: number;
  readonly computeNs: number;
  /** The longer of these two: nothing can be faster. */
  readonly overlappedNs: number;
  /** Sum of the parts' least times, one part after the other. */
  readonly leastNs: number;
  /** Which of the two takes more of leastNs. */
  readonly bound?: Bound;
  readonly perPart: readonly PartTime[];
  /** What the cost left out, and limits of the GPU that are not known and count as unlimited. */
  readonly unknown: readonly string[];
}

/**
 * `dtype` is the type matrices are multiplied in, which may be wider than the one weights are stored in; a
 * function where parts differ, as when only experts are quantized.
 */
export function leastTime(
  cost: StepCost,
  limits: Limits,
  dtype: FlopsType | ((part: PartCost) => FlopsType),
): LeastTime {
  const bandwidth = limits.memoryBandwidthBytesPerSecond?.value;
  const typeOf = typeof dtype === 'function' ? dtype : () => dtype;
  const rateOf = (part: PartCost) => limits.denseFlops?.value[typeOf(part)];
  const unknown = [...cost.unknown];
  if (bandwidth === undefined) unknown.push('The memory bandwidth of the GPU is unknown.');
  for (const type of new Set(cost.parts.filter(part => rateOf(part) === undefined).map(typeOf)))
    unknown.push(`The peak rate of the GPU for ${type} is unknown.`);
  const perPart = cost.parts.map(part => {
    const memoryNs = nanoseconds(part.weightBytes + part.kvBytes, bandwidth);
    const computeNs = nanoseconds(part.flops, rateOf(part));
    const { part: name, family, variant } = part;
    const leastNs = Math.max(memoryNs, computeNs);
    return { part: name, family, variant, memoryNs, computeNs, leastNs, bound: longer(memoryNs, computeNs) };
  });
  const sum = (value: (part: PartTime) => number) => perPart.reduce((total, part) => total + value(part), 0);
  const memoryNs = sum(part => part.memoryNs);
  const computeNs = sum(part => part.computeNs);
  return {
    memoryNs,
    computeNs,
    overlappedNs: Math.max(memoryNs, computeNs),
    leastNs: sum(part => part.leastNs),
    bound: longer(
      sum(part => (part.bound === 'memory' ? part.leastNs : 0)),
      sum(part => (part.bound === 'compute' ? part.leastNs : 0)),
    ),
    perPart,
    unknown,
  };
}

function nanoseconds(amount: number, perSecond: number | undefined): number {
  return perSecond === undefined ? 0 : (amount / perSecond) * 1e9;
}

function longer(memoryNs: number, computeNs: number): Bound | undefined {
  if (memoryNs === 0 && computeNs === 0) return undefined;
  return memoryNs >= computeNs ? 'memory' : 'compute';
}
