/** Budgets added up per phase. Sums of whole nanoseconds, so what adds up per step adds up here. */
import { phases } from '../../catalog/phases.js';
import type { Budget, BudgetRow } from './step-budget.js';

export interface PhaseBudget extends Budget {
  /** null: outside all steps. */
  readonly phase: BudgetRow['phase'];
  /** Windows added up: steps times devices. */
  readonly windows: number;
  /** Distinct steps. */
  readonly steps: number;
}

const amounts = [
  'wallNs',
  'computeNs',
  'communicationExposedNs',
  'copyExposedNs',
  'idleNs',
  'communicationHiddenNs',
  'copyHiddenNs',
  'graphReplayNs',
] as const;

export function addBudgets(rows: readonly Budget[]): Budget {
  const total = Object.fromEntries(amounts.map(name => [name, 0])) as Record<
    (typeof amounts)[number],
    number
  >;
  const causes: Record<string, number> = {};
  for (const row of rows) {
    for (const name of amounts) total[name] += row[name];
    for (const [cause, ns] of Object.entries(row.idleByCause)) causes[cause] = (causes[cause] ?? 0) + ns;
  }
  const idleByCause = Object.fromEntries(Object.entries(causes).sort((a, b) => b[1] - a[1]));
  return { ...total, idleByCause };
}

export function totalsByPhase(rows: readonly BudgetRow[]): PhaseBudget[] {
  const order = [...phases.map(phase => phase.id), null];
  return order.flatMap(phase => {
    const own = rows.filter(row => row.phase === phase);
    if (own.length === 0) return [];
    const steps = new Set(own.map(row => row.key.split('/')[0])).size;
    return [{ phase, windows: own.length, steps, ...addBudgets(own) }];
  });
}
