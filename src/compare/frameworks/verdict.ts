/**
 * Which framework is fastest, by which measure, and why: the difference of two per-token equations, term by term. Where
 * the frameworks were not asked the same question, none is declared faster.
 */
import type { Static } from '../../base/document.js';
import { formatChange, formatDuration, formatRate } from '../../base/units.js';
import { type BenchMetric, benchMetrics } from '../../catalog/bench-metrics.js';
import type { Phase } from '../../catalog/phases.js';
import { benchDifference } from '../../run/bench-difference.js';
import { stepDifference } from '../../run/difference.js';
import { benchRows } from '../../run/measures.js';
import { pairPhases } from '../../run/pair-phases.js';
import type { Sameness } from '../../run/sameness.js';
import { type TokenPart, tokenParts } from '../../run/token-budget.js';
import { budgetOf, type Framework } from './framework.js';
import type { verdictSchema } from './frameworks-schema.js';

export type FrameworksVerdict = Static<typeof verdictSchema>;
type Ranked = FrameworksVerdict['profiled'][number];
type SpeedRanking = NonNullable<FrameworksVerdict['speed']>;
type Why = NonNullable<FrameworksVerdict['why']>;

export const partWords: Readonly<Record<TokenPart, string>> = {
  kernels: 'kernels',
  communication: 'communication',
  copies: 'copies',
  host: 'host',
  otherIdle: 'other idle',
};

/** A term below this part of the change is not worth a word. */
const WORTH_SAYING = 0.02;

export function judge(
  all: readonly Framework[],
  phase: Phase | null,
  checks: readonly Sameness[],
): FrameworksVerdict {
  const unfair = checks.filter(({ status, effect }) => status === 'differs' && effect === 'prevents');
  const weak = checks.filter(({ status, effect }) => status === 'differs' && effect === 'weakens');
  const unknown = checks.filter(({ status, effect }) => status === 'unknown' && effect === 'prevents');
  const fairness = unfair.length > 0 ? 'unfair' : weak.length + unknown.length > 0 ? 'reservations' : 'fair';
  const speed = rankSpeed(all);
  const profiled = rankTokens(all, phase, budget => budget.wallNs);
  const kernels = rankTokens(all, phase, budget => budget.partsNs.kernels);
  const why = whyOf(all, phase, profiled);
  const verdict = { fairness, speed, profiled, kernels, why } as const;
  const lines = [
    ...(fairness === 'unfair'
      ? [
          `Not a fair comparison: ${list(unfair)} ${unfair.length > 1 ? 'differ' : 'differs'}. No framework is declared faster.`,
        ]
      : []),
    ...speedLine(verdict, all),
    ...profileLines(verdict, phase),
    ...(fairness === 'reservations' ? [reservations(weak, unknown)] : []),
  ];
  return { ...verdict, lines };
}

const list = (checks: readonly Sameness[]) => checks.map(({ label }) => label).join(', ');

function reservations(weak: readonly Sameness[], unknown: readonly Sameness[]): string {
  const parts = [
    weak.length > 0 && `measured differently: ${list(weak)}`,
    unknown.length > 0 && `not stated by all: ${list(unknown)}`,
  ];
  return `Caveats: ${parts.filter(Boolean).join('; ')}.`;
}

/** The first figure all benchmarked frameworks have; per GPU where they ran on different numbers of them. */
function rankSpeed(all: readonly Framework[]): SpeedRanking | null {
  const known = all.filter(({ bench }) => bench !== null);
  if (known.length === 0) return null;
  const measure = benchRows.find(id => known.every(framework => framework.measured[id].value !== null));
  const metric = benchMetrics.find(({ id }) => id === measure);
  if (!metric) return null;
  const counts = new Set(known.map(({ gpus }) => gpus));
  const perGpu = metric.kind === 'rate' && counts.size > 1 && !counts.has(null);
  const sign = metric.better === 'higher' ? -1 : 1;
  const ranked = known
    .map(framework => ({
      framework,
      value: framework.measured[metric.id].value! / (perGpu ? framework.gpus! : 1),
    }))
    .sort((a, b) => sign * (a.value - b.value));
  return {
    measure: metric.id,
    perGpu,
    label: `${metric.header.replace(/^[A-Z](?=[a-z])/, first => first.toLowerCase())}${perGpu ? ' per GPU' : ''}`,
    ranked: ranked.map(({ framework, value }) => ({ name: framework.name, value })),
    lead: ranked.length > 1 ? leadOf(ranked[1].framework, ranked[0].framework, metric) : null,
  };
}

function leadOf(second: Framework, first: Framework, metric: BenchMetric): SpeedRanking['lead'] {
  const { interval } = benchDifference(metric, second.bench!.runs, first.bench!.runs) ?? {};
  if (!interval) return 'unproven';
  return interval[0] <= 0 && interval[1] >= 0 ? 'within-noise' : 'proven';
}

function rankTokens(
  all: readonly Framework[],
  phase: Phase | null,
  of: (budget: NonNullable<ReturnType<typeof budgetOf>>) => number,
): Ranked[] {
  return all
    .flatMap(framework => {
      const budget = budgetOf(framework, phase);
      return budget ? [{ name: framework.name, value: of(budget) / budget.tokens }] : [];
    })
    .sort((a, b) => a.value - b.value);
}

function whyOf(all: readonly Framework[], phase: Phase | null, profiled: readonly Ranked[]): Why | null {
  if (profiled.length < 2) return null;
  const [from, to] = [profiled[0], profiled[profiled.length - 1]];
  const [first, last] = [from, to].map(({ name }) => all.find(framework => framework.name === name)!);
  const [a, b] = [first, last].map(framework => budgetOf(framework, phase)!);
  const terms = tokenParts
    .map(part => ({ part, changeNs: b.partsNs[part] / b.tokens - a.partsNs[part] / a.tokens }))
    .sort((x, y) => Math.abs(y.changeNs) - Math.abs(x.changeNs));
  const { pairs } = pairPhases({ runs: [first.run!] }, { runs: [last.run!] });
  const { interval } = stepDifference(pairs.find(pair => pair.phase === phase)!.mixes);
  return {
    from: from.name,
    to: to.name,
    changeNs: to.value - from.value,
    terms,
    stepInterval: interval ?? null,
  };
}

const isRate = (measure: string) => benchMetrics.find(({ id }) => id === measure)?.kind === 'rate';

function speedLine(
  { speed, fairness }: Pick<FrameworksVerdict, 'speed' | 'fairness'>,
  all: readonly Framework[],
): string[] {
  if (!speed) return ['No benchmark was given: throughput and latency are unknown.'];
  const { ranked, label, lead, measure } = speed;
  const format = isRate(measure) ? formatRate : formatDuration;
  const said = ({ name, value }: Ranked) => `${name} ${format(value)}`;
  const [first, second] = ranked;
  const absent = all.length - ranked.length;
  const others = absent > 0 ? ` (${absent} without a benchmark)` : '';
  if (!second) return [`Only ${first.name} was benchmarked: ${format(first.value)} ${label}${others}.`];
  // No one is called fastest where the question was not the same.
  if (fairness === 'unfair') return [`Measured ${label}: ${ranked.map(said).join(', ')}${others}.`];
  const rest = (from: number) => (ranked.length > from ? `; ${ranked.slice(from).map(said).join(', ')}` : '');
  if (lead === 'within-noise')
    return [
      `${first.name} and ${second.name} are equally fast: ${format(first.value)} and ${format(second.value)} ${label}, within run-to-run noise${rest(2)}${others}.`,
    ];
  const ratio = isRate(measure) ? first.value / second.value : second.value / first.value;
  const chance = lead === 'unproven' ? ' There is one run per framework: the difference may be noise.' : '';
  return [
    `${first.name} is the fastest in the benchmark: ${format(first.value)} ${label}, ×${ratio.toFixed(2)} ${second.name}${rest(1)}${others}.${chance}`,
  ];
}

function profileLines(
  { speed, profiled, kernels, why, fairness }: Omit<FrameworksVerdict, 'lines'>,
  phase: Phase | null,
): string[] {
  if (profiled.length === 0)
    return ['No profile records both tokens and time of its steps: the cause is unknown.'];
  const lines = [
    `Per ${phase} token in the profiles: ${profiled.map(({ name, value }) => `${name} ${formatDuration(value)}`).join(', ')}.`,
  ];
  if (!why) return lines;
  const terms = why.terms
    .filter(({ changeNs }) => Math.abs(changeNs) >= WORTH_SAYING * Math.abs(why.changeNs))
    .map(({ part, changeNs }) => `${partWords[part]} ${formatChange(changeNs)}`);
  lines.push(
    `Why: ${why.to} takes ${formatDuration(why.changeNs)} more per token than ${why.from}: ${terms.join(', ')}.`,
  );
  if (why.stepInterval && why.stepInterval[0] <= 0 && why.stepInterval[1] >= 0)
    lines.push(`The steps of ${why.from} and ${why.to} do not differ by more than noise.`);
  const [fastest] = profiled;
  const [least] = kernels;
  if (least.name !== fastest.name)
    lines.push(
      `${least.name} has the least kernel time per token (${formatDuration(least.value)}): GPU compute is not what makes it slower.`,
    );
  const place = speed?.ranked.findIndex(({ name }) => name === fastest.name) ?? -1;
  // A tie for the first place is no contradiction.
  const disagree = place > (speed?.lead === 'within-noise' ? 1 : 0);
  if (speed && disagree && fairness !== 'unfair')
    lines.push(
      `Benchmark and profile disagree: ${speed.ranked[0].name} is fastest in the benchmark, ${fastest.name} per token in the profile. The profiles used a different load, or time is lost outside these steps (prefill, queues, the server).`,
    );
  return lines;
}
