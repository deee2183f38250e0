/** An entry and the journal as blocks. */
import type { Block, Fact } from '../analyze/block.js';
import { tableOf } from '../analyze/table-of.js';
import { formatThroughput } from '../analyze/words.js';
import { formatDuration } from '../base/units.js';
import { formatDifference, formatValue } from '../gate/quantity.js';
import type { Unit } from '../run/metrics.js';
import { type JournalEntry, nextStep } from './entry.js';
import { worthShowing } from './entry-markdown.js';
import type { StoredEntry } from './journal-folder.js';

const MOST_FINDINGS = 3;

export function describeEntry({ key, entry }: StoredEntry): Block[] {
  const { title, state, base, change, result, comparison, decision } = entry;
  const files = (of: JournalEntry['base']) => of.files.map(({ name }) => name).join(', ');
  const facts: Fact[] = [
    { label: 'state', text: state },
    { label: 'base', text: files(base) },
    ...base.findings.slice(0, MOST_FINDINGS).map(({ claim, gainThroughput, confidence, advice }) => ({
      label: 'found',
      text: `${claim} (${gainThroughput === null ? '' : `gain ${formatThroughput(gainThroughput)}, `}${confidence})`,
      ...(advice[0] ? { hint: advice[0] } : {}),
    })),
    ...(change ? [{ label: 'change', text: change.text }] : []),
    ...(change && change.capture.length > 0
      ? [{ label: 'capture', text: change.capture.join(' '), isCommand: true as const }]
      : []),
    ...(result ? [{ label: 'result', text: files(result) }] : []),
    ...(comparison ? [{ label: 'verdict', text: comparison.verdict, tone: toneOf(comparison.verdict) }] : []),
    ...(comparison?.obstacles ?? []).map(text => ({ label: 'not comparable', text, tone: 'bad' as const })),
    ...(comparison?.remarks ?? []).map(text => ({ label: 'note', text, tone: 'quiet' as const })),
    ...(decision
      ? [{ label: decision.kept ? 'kept' : 'dropped', text: decision.reason || 'no reason given' }]
      : []),
    { label: 'next', text: nextStep(entry), isCommand: true },
  ];
  const shown = worthShowing(comparison?.figures ?? []);
  return [
    { kind: 'facts', id: 'entry', title: `${key}: ${title}`, facts },
    ...(shown.length > 0
      ? [
          tableOf(shown, { id: 'figures', title: 'Figures' }, [
            ['Metric', 'text', ({ metric, phase }) => (phase === 'run' ? metric : `${phase} ${metric}`)],
            ['Before', 'text', ({ from, unit }) => formatValue(from, unit as Unit)],
            ['After', 'text', ({ to, unit }) => formatValue(to, unit as Unit)],
            ['Change', 'text', ({ change: by, unit }) => formatDifference(by, unit as Unit)],
            ['Verdict', 'text', ({ verdict }) => verdict],
          ]),
        ]
      : []),
  ];
}

const toneOf = (verdict: string) => {
  if (verdict === 'faster') return 'good' as const;
  return verdict === 'slower' || verdict === 'not comparable' ? ('bad' as const) : ('quiet' as const);
};

/** Of the mean step, where the runs were compared. */
export const stepChangeOf = ({ comparison }: JournalEntry): number | null =>
  comparison?.figures.find(({ metric, phase }) => metric === 'step.mean' && phase === comparison.phase)
    ?.change ?? null;

export function describeJournal(
  folder: string,
  entries: readonly StoredEntry[],
  unreadable: readonly string[],
  next: string,
): Block[] {
  return [
    tableOf(entries, { id: 'journal', title: folder }, [
      ['Entry', 'text', ({ key }) => key],
      ['State', 'text', ({ entry }) => entry.state],
      ['Change', 'text', ({ entry }) => entry.change?.text.split('\n')[0] ?? ''],
      ['Verdict', 'text', ({ entry }) => entry.comparison?.verdict ?? ''],
      [
        'Mean step',
        'text',
        ({ entry }) => {
          const change = stepChangeOf(entry);
          return change === null ? '' : `${change > 0 ? '+' : '−'}${formatDuration(Math.abs(change))}`;
        },
      ],
    ]),
    {
      kind: 'facts',
      id: 'next',
      title: '',
      facts: [
        ...unreadable.map(key => ({ label: 'unreadable', text: key, tone: 'bad' as const })),
        { label: 'next', text: next, isCommand: true as const },
      ],
    },
  ];
}
