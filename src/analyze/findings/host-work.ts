/** Idle time that host work causes: inside the forward passes of a phase's steps, as stalls or spread over the launches. */
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { type ForwardIdle, windowIdle } from '../inference/window-idle.js';
import type { RuleInput } from './rule.js';

/**
 * A gap with this many times the host time of the mean launch is a stall of its own: launching less, or by a graph, is
 * the answer to a host that is slow everywhere, not to one place that holds it up.
 */
export const STALL = 10;

const inForward = ({ useIfRecorded }: RuleInput, { phase }: PhaseBudget): ForwardIdle | undefined =>
  phase === null ? undefined : useIfRecorded(windowIdle)?.inForward.get(phase);

/** By cause, as profiled; empty where the file does not show forward passes. */
export const insideForward = (input: RuleInput, total: PhaseBudget): Readonly<Record<string, number>> =>
  inForward(input, total)?.byCause ?? {};

const hostWork = ({ idleByCause }: PhaseBudget): number =>
  HOST_CAUSES.reduce((sum, cause) => sum + (idleByCause[cause] ?? 0), 0);

/** The profiler lengthens host work alike wherever it is: what it added is not counted. */
function undisturbed(total: PhaseBudget, profiledNs: number): number {
  const ns = hostWork(total);
  const added = HOST_CAUSES.reduce((sum, cause) => sum + (total.recordingByCause?.[cause] ?? 0), 0);
  return ns === 0 ? 0 : Math.min(ns, (profiledNs * ns) / (ns + added));
}

export function hostWorkInside(input: RuleInput, total: PhaseBudget): number {
  const inside = insideForward(input, total);
  return undisturbed(
    total,
    HOST_CAUSES.reduce((sum, cause) => sum + (inside[cause] ?? 0), 0),
  );
}

const NO_GAPS = new Float64Array(0);

function sumAbove(gapsNs: Float64Array, leastNs: number): number {
  let sum = 0;
  for (let i = 0; i < gapsNs.length; i++) if (gapsNs[i] > leastNs) sum += gapsNs[i];
  return sum;
}

/** The part of it that single places hold up, where steps launch `kernels` each. */
export function hostStallsInside(input: RuleInput, total: PhaseBudget, kernels: number): number {
  const { byCause = {}, hostGapsNs = NO_GAPS } = inForward(input, total) ?? {};
  const inside = sumAbove(hostGapsNs, 0);
  const perLaunchNs = (inside + (byCause['launch-bound'] ?? 0)) / (kernels * total.windows);
  return undisturbed(total, sumAbove(hostGapsNs, STALL * perLaunchNs));
}
