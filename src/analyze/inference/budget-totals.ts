/** Budgets added up per phase. Sums of whole nanoseconds, so what adds up per step adds up here. */
import { type Phase, phases } from '../../catalog/phases.js';

export interface Budget {
  readonly wallNs: number;
  readonly computeNs: number;
  readonly communicationExposedNs: number;
  /** Part of communicationExposedNs: waiting for the last rank to arrive. null or absent: ranks were not matched. */
  readonly communicationWaitingNs?: number | null;
  /** Part of communicationExposedNs: of calls that were matched with no other rank. */
  readonly communicationUnmatchedNs?: number | null;
  readonly copyExposedNs: number;
  readonly idleNs: number;
  readonly idleByCause: Readonly<Record<string, number>>;
  readonly communicationHiddenNs: number;
  readonly copyHiddenNs: number;
  /** Part of computeNs: replays of CUDA graphs recorded as blocks. */
  readonly graphReplayNs: number;
}

export interface BudgetRow extends Budget {
  readonly key: string;
  readonly iteration: number | null;
  readonly phase: Phase | null;
  readonly device: number;
  readonly rank: number | null;
  readonly startNs: number;
  readonly endNs: number;
}

export interface PhaseBudget extends Budget {
  /** null: outside all steps. */
  readonly phase: BudgetRow['phase'];
  /** Windows added up: steps times devices. */
  readonly windows: number;
  /** Distinct steps. */
  readonly steps: number;
  /** What was taken out of the idle time because the profiler added it; absent: the budget is as profiled. */
  readonly recordingByCause?: Readonly<Record<string, number>>;
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

/** Known only where ranks were matched: then every window has them. */
const matchedAmounts = ['communicationWaitingNs', 'communicationUnmatchedNs'] as const;

/** From the last rank's arrival on; undefined: ranks were not matched. */
export const transferringNs = (budget: Budget): number | undefined =>
  typeof budget.communicationWaitingNs === 'number'
    ? budget.communicationExposedNs - budget.communicationWaitingNs - (budget.communicationUnmatchedNs ?? 0)
    : undefined;

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
  const matched = Object.fromEntries(
    matchedAmounts.flatMap(name => {
      const known = rows.flatMap(row => row[name] ?? []);
      return known.length > 0 ? [[name, known.reduce((sum, ns) => sum + ns, 0)]] : [];
    }),
  );
  return { ...total, ...matched, idleByCause };
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
