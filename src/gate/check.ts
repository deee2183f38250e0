/** Runs held against a policy and a baseline: one verdict per limit, and one for all. */

import type { Static } from '../base/document.js';
import { type Phase, phases } from '../catalog/phases.js';
import { mainPhase, type Run, type RunFacts, type Scope } from '../run/run.js';
import { sideMean } from '../stats/noise.js';
import type { Baseline } from './baselines.js';
import { type DifferenceKind, type Obstacle, obstaclesOf, remarksOn } from './comparable.js';
import type { checkSchema } from './gate-schema.js';
import { estimatesOf, floorOf, type NoiseFloor, tooFewForPercentile } from './noise.js';
import { type GatePolicy, isRelative, type Limit } from './policy.js';
import { formatDifference, formatRelative } from './quantity.js';

type CheckDocument = Static<typeof checkSchema>;
export type LimitVerdict = CheckDocument['limits'][number]['verdict'];

export interface LimitResult {
  readonly limit: Limit;
  /** The phase it was held against; `run` for the whole run. Undefined: the run has no steps. */
  readonly scope: Scope | undefined;
  readonly verdict: LimitVerdict;
  readonly measured: number | undefined;
  readonly baseline: number | undefined;
  /** measured − baseline. */
  readonly change: number | undefined;
  /** change by baseline. */
  readonly changeShare: number | undefined;
  readonly noise: NoiseFloor | undefined;
}

type CheckVerdict = CheckDocument['verdict'];

export interface CheckResult {
  readonly verdict: CheckVerdict;
  readonly runs: readonly Run[];
  readonly baseline: Baseline | undefined;
  readonly differences: readonly Obstacle[];
  readonly limits: readonly LimitResult[];
  /** What the reader must know to read the figures right. */
  readonly remarks: readonly string[];
}

/** 3 is bad input, which never gets this far. */
export const exitCodeOf: Record<CheckVerdict, CheckDocument['exitCode']> = {
  pass: 0,
  regression: 1,
  'not-comparable': 2,
};

/** `runs`: the run under test, and repeats of it. */
export function checkRuns(
  runs: readonly Run[],
  policy: GatePolicy,
  baseline: Baseline | undefined,
  allowDifferent: readonly DifferenceKind[] = [],
): CheckResult {
  const [run] = runs;
  const reference = baseline?.runs[0];
  const main = mainPhase((reference ?? run).facts) ?? mainPhase(run.facts);
  const scopeOf = ({ metric, phase }: Limit): Scope | undefined =>
    metric.scope === 'run' ? 'run' : (phase ?? main);
  const compared = policy.limits.filter(limit => isRelative(limit.kind));
  const wanted = new Set(compared.map(scopeOf));
  const allow = [...policy.allowDifferent, ...allowDifferent];
  const used = phases.map(({ id }) => id).filter(id => wanted.has(id));
  const differences = reference && compared.length > 0 ? obstaclesOf(run, reference, used, allow) : [];
  const comparable = differences.every(({ allowed }) => allowed);
  const limits = policy.limits.map(limit => judge(limit, scopeOf(limit), runs, baseline, comparable, policy));
  const failed = limits.some(({ verdict, limit }) => limit.severity === 'fail' && isFailure(verdict));
  return {
    verdict: failed ? 'regression' : comparable ? 'pass' : 'not-comparable',
    runs,
    baseline,
    differences,
    limits,
    remarks: [
      ...remarks(limits, run.facts),
      ...(reference ? remarksOn(run, reference, used) : []),
      ...(runs.length > 1 ? [`measured: mean of ${runs.length} runs`] : []),
      ...policy.warnings,
    ],
  };
}

/** What fails the gate where the limit is not a mere warning. */
const isFailure = (verdict: LimitVerdict): boolean => verdict === 'regression' || verdict === 'not-recorded';

function judge(
  limit: Limit,
  scope: Scope | undefined,
  runs: readonly Run[],
  baseline: Baseline | undefined,
  comparable: boolean,
  policy: GatePolicy,
): LimitResult {
  const { metric, kind, amount } = limit;
  const figure = (side: readonly Run[]) => {
    const values = scope === undefined ? [] : estimatesOf(side, scope, metric);
    // A side of several runs has a figure where all of them have it.
    return values.length > 0 && values.length === side.length ? sideMean(values) : undefined;
  };
  const measured = figure(runs);
  const before = baseline && figure(baseline.runs);
  const known = measured !== undefined && before !== undefined;
  const change = known ? measured - before : undefined;
  const relative = isRelative(kind);
  const noise =
    known && comparable && scope !== undefined
      ? floorOf(runs, baseline!.runs, scope, metric, policy.confidence)
      : undefined;
  const shared = {
    limit,
    scope,
    measured,
    baseline: before,
    change,
    changeShare: known ? shareOf(change!, before) : undefined,
    noise,
  };
  const give = (verdict: LimitVerdict): LimitResult => ({
    ...shared,
    verdict: limit.severity === 'warn' && verdict === 'regression' ? 'warning' : verdict,
  });
  if (relative && !comparable) return give('not-comparable');
  if (measured === undefined || (relative && before === undefined))
    return give(limit.ifNotRecorded === 'skip' ? 'skipped' : 'not-recorded');
  if (!relative) {
    const broken = kind === 'max' ? measured > amount.value : measured < amount.value;
    return give(broken ? 'regression' : 'pass');
  }
  const worse = kind === 'max_increase' ? change! : -change!;
  const allowed = amount.kind === 'relative' ? amount.value * Math.abs(before!) : amount.value;
  if (worse <= allowed) return give('pass');
  return give(worse <= noise!.floor ? 'not-measurable' : 'regression');
}

const shareOf = (change: number, before: number): number => (change === 0 ? 0 : change / Math.abs(before));

function remarks(limits: readonly LimitResult[], facts: RunFacts): string[] {
  const found: string[] = [];
  const compared = limits.filter(({ noise, limit }) => noise && isRelative(limit.kind));
  if (compared.some(({ noise }) => noise!.source === 'steps'))
    found.push(
      'run-to-run noise is unknown: the noise floor comes from the steps of single runs and is too low; save repeats (stepscope baseline save NAME FILE --repeat FILE2, three runs or more)',
    );
  const blind = compared.filter(({ noise }) => noise!.source === 'unknown');
  if (blind.length > 0) found.push(`noise is unknown and assumed to be 0: ${namesOf(blind)}`);
  const tight = compared.filter(
    ({ limit: { amount }, noise, baseline: before }) =>
      noise!.floor > (amount.kind === 'relative' ? amount.value * Math.abs(before!) : amount.value),
  );
  const floors = tight.map(({ limit, noise, baseline: before }) => {
    const { id, unit } = limit.metric;
    const isPlain = unit === 'share' || before === 0;
    const floor = isPlain
      ? formatDifference(noise!.floor, unit)
      : formatRelative(noise!.floor / Math.abs(before!));
    return `${id} (${floor.replace('+', '')})`;
  });
  if (floors.length > 0)
    found.push(`tighter than the noise, so smaller changes cannot be detected: ${floors.join(', ')}`);
  const few = new Set(
    limits.flatMap(({ limit, scope }) => {
      const steps = facts.phases[scope as Phase]?.steps ?? 0;
      return steps > 0 && tooFewForPercentile(limit.metric, steps)
        ? [`${limit.metric.id} of ${steps} ${scope} steps rests on very few samples: capture more steps`]
        : [];
    }),
  );
  found.push(...few);
  const unmeasured = limits.filter(({ verdict }) => verdict === 'skipped');
  if (unmeasured.length > 0) found.push(`skipped, not recorded: ${namesOf(unmeasured)}`);
  return found;
}

const namesOf = (limits: readonly LimitResult[]): string =>
  [...new Set(limits.map(({ limit }) => limit.metric.id))].join(', ');
