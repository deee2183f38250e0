/** Several frameworks beside each other: everything the page, JSON and CSV show, as plain figures. */
import type { Static } from '../../base/document.js';
import { benchMetrics } from '../../catalog/bench-metrics.js';
import { type Phase, phases } from '../../catalog/phases.js';
import type { Sameness } from '../../run/sameness.js';
import { correlate } from './correlation.js';
import { checkFairness } from './fairness.js';
import { budgetOf, type Framework, phaseOf } from './framework.js';
import type { throughputSchema } from './frameworks-schema.js';
import { type FrameworksVerdict, judge } from './verdict.js';

export interface FrameworkComparison {
  readonly title: string | null;
  readonly frameworks: readonly Framework[];
  /** The phase that is compared; null: no profile shows any. */
  readonly phase: Phase | null;
  readonly checks: readonly Sameness[];
  readonly throughput: ThroughputCorrelation;
  readonly verdict: FrameworksVerdict;
}

export type ThroughputCorrelation = Static<typeof throughputSchema>;

/** Frameworks measured one after the other: no two profiles need be open at a time. */
export function compareMeasured(
  frameworks: readonly Framework[],
  title: string | null = null,
): FrameworkComparison {
  const phase = sharedPhase(frameworks);
  const checks = checkFairness(frameworks, phase);
  const verdict = judge(frameworks, phase, checks);
  return { title, frameworks, phase, checks, throughput: correlation(frameworks, phase, verdict), verdict };
}

/** Decode where most have it: it is what a user waits for, token by token. Else what most have, and most time goes to. */
function sharedPhase(frameworks: readonly Framework[]): Phase | null {
  const candidates = phases
    .map(({ id }) => {
      const own = frameworks.flatMap(framework => phaseOf(framework, id) ?? []);
      const known = frameworks.filter(framework => budgetOf(framework, id)).length;
      return { id, known, there: own.length, wallNs: own.reduce((sum, { wallNs }) => sum + wallNs, 0) };
    })
    .filter(({ there }) => there > 0)
    .sort(
      (a, b) =>
        b.known - a.known ||
        b.there - a.there ||
        Number(b.id === 'decode') - Number(a.id === 'decode') ||
        b.wallNs - a.wallNs,
    );
  return candidates[0]?.id ?? null;
}

function correlation(
  frameworks: readonly Framework[],
  phase: Phase | null,
  { speed }: FrameworksVerdict,
): ThroughputCorrelation {
  const isRate = benchMetrics.find(({ id }) => id === speed?.measure)?.kind === 'rate';
  const points = (isRate ? frameworks : []).flatMap(framework => {
    const budget = budgetOf(framework, phase);
    const measured = speed?.ranked.find(({ name }) => name === framework.name);
    if (!budget || !measured) return [];
    return [
      {
        name: framework.name,
        kernelNsPerToken: budget.partsNs.kernels / budget.tokens,
        wallNsPerToken: budget.wallNs / budget.tokens,
        throughput: measured.value,
      },
    ];
  });
  const against = (of: (point: (typeof points)[number]) => number) =>
    correlate(
      points.map(of),
      points.map(point => point.throughput),
    );
  return {
    measure: speed?.measure ?? null,
    label: speed?.label ?? null,
    points,
    byKernels: against(point => point.kernelNsPerToken),
    byWall: against(point => point.wallNsPerToken),
  };
}
