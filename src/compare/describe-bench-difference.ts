/** What changed between two benchmarks, in words and figures. */

import { type Block, type Fact, KEEP, type TableBlock } from '../analyze/block.js';
import { tableOf } from '../analyze/table-of.js';
import { formatDuration, formatRate, formatRelativeChange, formatShare } from '../base/units.js';
import type { BenchDifference, MetricDifference } from '../run/bench-difference.js';

const verdictWords: Record<MetricDifference['verdict'], string> = {
  better: 'better',
  worse: 'worse',
  'within-noise': 'within noise',
  unproven: 'unproven',
};

const amount = ({ kind }: MetricDifference, value: number) =>
  kind === 'ns' ? formatDuration(value) : formatRate(value);

export function describeBenchDifference(from: string, to: string, difference: BenchDifference): Block[] {
  const { metrics, warnings, settings, comparable } = difference;
  const [first] = metrics;
  const lead = !first
    ? 'The two benchmarks have no figure in common.'
    : `${to}: ${first.header} ${formatRelativeChange(first.change)} (${amount(first, first.before.mean)} → ${amount(first, first.after.mean)}); ${sureness(first)}.`;
  const facts: Fact[] = [
    ...warnings.map(({ text }): Fact => ({ label: 'warning', text, tone: 'bad' })),
    ...settings.map(
      ({ label, effect, before, after }): Fact => ({
        label: effect === 'unstated' ? 'not stated' : 'differs',
        text:
          effect === 'unstated' ? label : `${label}: ${before ?? 'not stated'} → ${after ?? 'not stated'}`,
        ...(effect === 'prevents' ? { tone: 'bad' as const } : {}),
      }),
    ),
  ];
  return [
    {
      kind: 'statement',
      id: 'answer',
      title: 'Answer',
      lines: [
        lead,
        ...(comparable ? [] : ['The benchmarks ran different workloads: the figures are not comparable.']),
      ],
    },
    metricsTable(from, to, metrics),
    ...(facts.length > 0 ? [{ kind: 'facts' as const, id: 'caution', title: 'Caveats', facts }] : []),
  ];
}

function sureness({ verdict, noise }: MetricDifference): string {
  if (verdict === 'unproven') return 'one run each: noise unknown';
  const around = `noise ±${formatShare(noise!)}`;
  return verdict === 'within-noise' ? `no measurable difference, ${around}` : `measurable, ${around}`;
}

function metricsTable(from: string, to: string, metrics: readonly MetricDifference[]): TableBlock {
  const right = { align: 'right' } as const;
  return tableOf(metrics, { id: 'benchmarks', title: `${from} → ${to}` }, [
    ['Metric', 'text', ({ header }) => header],
    [from, 'text', metric => amount(metric, metric.before.mean), right],
    [to, 'text', metric => amount(metric, metric.after.mean), right],
    ['Change', 'text', ({ change }) => formatRelativeChange(change), { ...right, priority: KEEP }],
    ['Noise', 'text', ({ noise }) => (noise === undefined ? 'unknown' : `±${formatShare(noise)}`), right],
    ['Verdict', 'text', ({ verdict }) => verdictWords[verdict], { priority: KEEP }],
  ]);
}
