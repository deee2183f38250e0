/** Why ranks were late, in words: the same in tables, findings and pages. */
import { causeLook } from '../names-and-colors.js';
import type { LateArrival, LateCause } from './late-arrivals.js';

const labels: Partial<Record<LateCause, string>> = {
  compute: 'longer kernels',
  communication: 'other transfers',
  carried: 'left the previous collective later',
  first: 'first recorded collective',
  unknown: 'not known',
  'launch-bound': 'late launch',
  'device-wait': 'device-side wait',
};

export const lateCauseLabel = (cause: LateCause): string =>
  labels[cause] ?? `host stall: ${causeLook(cause).label}`;

interface MainCause {
  readonly cause: LateCause;
  /** String id, or NONE. */
  readonly kernel: number;
  readonly waitedNs: number;
  /** Of the waiting of these arrivals. */
  readonly share: number;
}

/** The pair of cause and kernel that others waited longest for; undefined where nobody waited. */
export function mainCause(arrivals: readonly LateArrival[]): MainCause | undefined {
  const sums = new Map<string, { cause: LateCause; kernel: number; waitedNs: number }>();
  let total = 0;
  for (const { cause, kernel, waitedNs } of arrivals) {
    total += waitedNs;
    const key = `${cause}/${kernel}`;
    const known = sums.get(key);
    if (known) known.waitedNs += waitedNs;
    else sums.set(key, { cause, kernel, waitedNs });
  }
  const [most] = [...sums.values()].sort((a, b) => b.waitedNs - a.waitedNs);
  return most && total > 0 ? { ...most, share: most.waitedNs / total } : undefined;
}
