/** Idle time that host work causes, and the part of it inside the forward passes of a phase's steps. */
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { idleInForward } from '../inference/idle-in-forward.js';
import type { RuleInput } from './rule.js';

/** By cause; empty where the file does not show forward passes. */
export const insideForward = (
  { useIfRecorded }: RuleInput,
  { phase }: PhaseBudget,
): Readonly<Record<string, number>> =>
  (phase === null ? undefined : useIfRecorded(idleInForward)?.get(phase)) ?? {};

export function hostWorkInside(input: RuleInput, total: PhaseBudget): number {
  const inside = insideForward(input, total);
  return HOST_CAUSES.reduce((sum, cause) => sum + (inside[cause] ?? 0), 0);
}
