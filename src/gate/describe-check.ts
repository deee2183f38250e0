/** The result of a check in words: the verdict first, then the limits, then what one must know to read them. */

import { type Block, type FactsBlock, KEEP, type StatementBlock, type TableBlock } from '../analyze/block.js';
import { type ColumnOf, tableOf } from '../analyze/table-of.js';
import { plural } from '../base/units.js';
import type { CheckResult, LimitResult, LimitVerdict } from './check.js';
import { isRelative } from './policy.js';
import { formatDifference, formatRelative, formatValue } from './quantity.js';

const words: Record<LimitVerdict, string> = {
  pass: 'pass',
  regression: 'REGRESSION',
  warning: 'warning',
  'not-measurable': 'not measurable',
  'not-recorded': 'NOT RECORDED',
  'not-comparable': 'not comparable',
  skipped: 'skipped',
};

/** What broke comes first. */
const order: readonly LimitVerdict[] = [
  'regression',
  'not-recorded',
  'warning',
  'not-comparable',
  'not-measurable',
  'pass',
  'skipped',
];

const inOrderOfWeight = (limits: readonly LimitResult[]): LimitResult[] =>
  [...limits].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));

export function describeCheck(result: CheckResult): Block[] {
  const { differences, remarks } = result;
  const reasons: FactsBlock = {
    kind: 'facts',
    id: 'differences',
    title: 'Differences',
    facts: differences.map(({ kind, text, allowed }) => ({
      label: kind,
      text: allowed ? `${text} (allowed)` : text,
      tone: allowed ? 'quiet' : 'bad',
      ...(allowed ? {} : { hint: `--allow-different ${kind} compares anyway` }),
    })),
  };
  const notes: FactsBlock = {
    kind: 'facts',
    id: 'remarks',
    title: 'Caveats',
    facts: remarks.map(text => ({ label: 'note', text, tone: 'quiet' })),
  };
  return [
    verdictOf(result),
    ...(differences.length > 0 ? [reasons] : []),
    limitsTable(result),
    ...(remarks.length > 0 ? [notes] : []),
  ];
}

function verdictOf(result: CheckResult): StatementBlock {
  return {
    kind: 'statement',
    id: 'verdict',
    title: 'Verdict',
    lines: [
      verdictSentence(result),
      // A broken absolute limit is the answer; that nothing could be compared is still to be said.
      ...(result.verdict === 'regression' && result.differences.some(({ allowed }) => !allowed)
        ? [verdictSentence({ ...result, verdict: 'not-comparable' })]
        : []),
      subjectSentence(result),
    ],
  };
}

export function verdictSentence({ verdict, limits, differences }: CheckResult): string {
  const count = (...which: LimitVerdict[]) => limits.filter(one => which.includes(one.verdict)).length;
  const broken = limits.filter(
    ({ verdict: own, limit }) =>
      limit.severity === 'fail' && (own === 'regression' || own === 'not-recorded'),
  );
  const held = `${count('pass', 'not-measurable')} of ${plural(limits.length, 'limit')} passed`;
  const warned = count('warning');
  const also = warned > 0 ? `, ${plural(warned, 'warning')}` : '';
  if (verdict === 'regression') {
    const [worst] = inOrderOfWeight(broken);
    const only = broken.every(one => one.verdict === 'not-recorded');
    return `${only ? 'Failed, not recorded' : 'Regression'}: ${limitSentence(worst)}${broken.length > 1 ? `, and ${broken.length - 1} more` : ''}; ${held}${also}.`;
  }
  if (verdict === 'not-comparable') {
    const reasons = differences.filter(({ allowed }) => !allowed).map(({ text }) => text);
    return `Not comparable with the baseline: ${reasons.join('; ')}.`;
  }
  return `Pass: ${held}${also}.`;
}

function subjectSentence({ runs, baseline }: CheckResult): string {
  const files = runs.flatMap(run => run.files);
  const name = files.length > 3 ? plural(files.length, 'file') : files.join(', ');
  const against = baseline ? ` against ${baseline.name} (${plural(baseline.runs.length, 'run')})` : '';
  return `${name}${against}.`;
}

/** `decode step.p50 4.18 ms, +10.2% (max_increase 3%)` */
export function limitSentence({
  limit,
  scope,
  verdict,
  measured,
  baseline,
  changeShare,
}: LimitResult): string {
  const name = limitName({ limit, scope });
  const bound = `${limit.kind} ${limit.written}`;
  if (measured === undefined) return `${name} was not recorded (${bound})`;
  const value = formatValue(measured, limit.metric.unit);
  if (!isRelative(limit.kind)) return `${name} ${value} (${bound})`;
  if (baseline === undefined) return `${name} ${value}, not in the baseline (${bound})`;
  if (verdict === 'not-comparable') return `${name} ${value}, not comparable (${bound})`;
  return `${name} ${formatValue(baseline, limit.metric.unit)} → ${value}, ${formatRelative(changeShare!)} (${bound})`;
}

export const limitName = ({ limit, scope }: Pick<LimitResult, 'limit' | 'scope'>): string =>
  scope === 'run' ? limit.metric.id : `${scope ?? 'any phase'} ${limit.metric.id}`;

function limitsTable({ limits, baseline }: CheckResult): TableBlock {
  const value = (amount: number | undefined, { limit }: LimitResult) =>
    amount === undefined ? '–' : formatValue(amount, limit.metric.unit);
  const againstBaseline: readonly ColumnOf<LimitResult>[] = [
    ['Baseline', 'text', row => value(row.baseline, row)],
    ['Change', 'text', changeText, { priority: KEEP }],
    ['Noise', 'text', noiseText],
  ];
  return tableOf(inOrderOfWeight(limits), { id: 'limits', title: 'Limits' }, [
    ['Metric', 'text', limitName],
    ['Limit', 'text', ({ limit }) => `${limit.kind} ${limit.written}`],
    ['Measured', 'text', row => value(row.measured, row)],
    ...(baseline ? againstBaseline : []),
    [
      'Verdict',
      'text',
      ({ verdict, limit }) =>
        verdict === 'not-recorded' && limit.severity === 'warn' ? 'not recorded' : words[verdict],
      { priority: KEEP },
    ],
  ]);
}

/** Shares in points as well: a part of a part is easily misread. */
function changeText({ change, changeShare, limit }: LimitResult): string {
  if (change === undefined) return '–';
  const relative = formatRelative(changeShare!);
  return limit.metric.unit === 'share' ? formatDifference(change, 'share') : relative;
}

function noiseText({ noise, baseline, limit }: LimitResult): string {
  if (!noise || baseline === undefined) return '–';
  if (noise.source === 'unknown') return 'unknown';
  if (limit.metric.unit === 'share') return `±${(noise.floor * 100).toFixed(1)} pp`;
  return baseline === 0
    ? `±${formatValue(noise.floor, limit.metric.unit)}`
    : `±${((noise.floor / Math.abs(baseline)) * 100).toFixed(1)}%`;
}
