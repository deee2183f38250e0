/** The kernels behind a comparison: those that changed most, matched with each other, and every row of every term. */

import type { TableBlock } from '../analyze/block.js';
import { tableOf } from '../analyze/table-of.js';
import { plural } from '../base/units.js';
import type { SideName } from '../run/side-means.js';
import type { PhaseComparison } from './compare-configurations.js';
import type { Term, TermRow } from './term-rows.js';

const LISTED_KERNELS = 12;

interface ChangedKernel {
  readonly name: string;
  /** What took its place; null where it is the same kernel, or none. */
  readonly became: string | null;
  readonly what: string;
  readonly fromCount: number;
  readonly toCount: number;
  readonly fromNs: number;
  readonly toNs: number;
}

const whatWords: Partial<Record<Term['kind'], string>> = {
  same: 'same',
  replaced: 'replaced',
  removed: 'removed',
  added: 'added',
  communication: 'exposed',
};

/** Kernels matched with each other, by how much they moved. A fusion is one line. */
export function changedKernels({ terms }: PhaseComparison): TableBlock[] {
  const rows = terms
    .flatMap((term): ChangedKernel[] => {
      if (term.kind === 'regrouped') return [regrouped(term)];
      const what = whatWords[term.kind];
      return what ? term.rows.map(row => changedRow(row, what)) : [];
    })
    .filter(row => row.fromNs !== row.toNs)
    .sort((a, b) => Math.abs(b.toNs - b.fromNs) - Math.abs(a.toNs - a.fromNs));
  if (rows.length === 0) return [];
  const shown = rows.slice(0, LISTED_KERNELS);
  const left = rows.length - shown.length;
  return [
    {
      kind: 'table',
      id: 'changed-kernels',
      title: 'Kernels that changed most',
      rows: shown.length,
      columns: [
        { header: 'Name', kind: 'text', values: shown.map(row => row.name) },
        ...(shown.some(row => row.became !== null)
          ? [{ header: 'Became', kind: 'text' as const, values: shown.map(row => row.became) }]
          : []),
        { header: 'What', kind: 'text', values: shown.map(row => row.what) },
        { header: 'n before', kind: 'mean', values: shown.map(row => row.fromCount) },
        { header: 'n after', kind: 'mean', values: shown.map(row => row.toCount) },
        { header: 'Before', kind: 'ns', values: shown.map(row => row.fromNs) },
        { header: 'After', kind: 'ns', values: shown.map(row => row.toNs) },
        { header: 'Change', kind: 'ns-change', values: shown.map(row => row.toNs - row.fromNs) },
      ],
      ...(left > 0 ? { advice: `${plural(left, 'kernel')} with smaller changes: --json` } : {}),
    },
  ];
}

function changedRow({ from, to }: TermRow, what: string): ChangedKernel {
  return {
    name: (from ?? to)!.kernel,
    became: !from || !to || from.name === to.name || what === 'same' ? null : to.kernel,
    what,
    fromCount: from?.count ?? 0,
    toCount: to?.count ?? 0,
    fromNs: from?.ns ?? 0,
    toNs: to?.ns ?? 0,
  };
}

function regrouped({ rows, label, fromNs, toNs, fromCount, toCount }: Term): ChangedKernel {
  const names = (side: SideName) => rows.flatMap(row => (row[side] ? [row[side]!.kernel] : [])).join(' + ');
  return {
    name: names('from'),
    became: names('to'),
    what: label
      .replace(/^[^:]+: /, '')
      .replace(/, \d+ times$/, '')
      .replace('kernels became', '→')
      .replace('kernel became', '→'),
    ...{ fromCount: fromCount ?? 0, toCount: toCount ?? 0, fromNs, toNs },
  };
}

/** Every term with the rows it is made of: long, for those who want to check the sum. */
export function termRowsTable({ terms }: PhaseComparison): TableBlock {
  const rows = terms.flatMap(term =>
    term.rows.length > 0
      ? term.rows.map(row => ({ term, ...row }))
      : [{ term, from: null, to: null, changeNs: term.changeNs }],
  );
  const count = (value: number | undefined) => value ?? Number.NaN;
  return tableOf(rows, { id: 'term-rows', title: 'Every term and its rows' }, [
    ['Name', 'text', ({ term }) => term.label],
    ['Before', 'text', ({ from }) => from?.kernel ?? ''],
    ['After', 'text', ({ to }) => to?.kernel ?? ''],
    ['n before', 'mean', ({ from }) => count(from?.count)],
    ['n after', 'mean', ({ to }) => count(to?.count)],
    ['Time before', 'ns', ({ term, from, to }) => ((from ?? to) ? (from?.ns ?? 0) : term.fromNs)],
    ['Time after', 'ns', ({ term, from, to }) => ((from ?? to) ? (to?.ns ?? 0) : term.toNs)],
    ['Change', 'ns-change', ({ changeNs }) => changeNs],
  ]);
}
