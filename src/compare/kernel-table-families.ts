/** Kernel summaries by family, side by side: what a list of kernel names says once the names are understood. */

import type { Block, TableBlock } from '../analyze/block.js';
import { tableOf } from '../analyze/table-of.js';
import { formatDuration, formatShare } from '../base/units.js';
import { createClassifier } from '../catalog/kernels/classify.js';
import { type FamilyId, families, familyOf } from '../catalog/kernels/families.js';
import type { KernelRule } from '../catalog/kernels/rule.js';

interface NamedKernelTable {
  readonly title: string;
  readonly rows: readonly { readonly name: string; readonly totalNs: number; readonly instances: number }[];
  readonly wholeNs?: number;
}

interface TableFamily {
  readonly family: FamilyId;
  readonly totalNs: number;
  readonly instances: number;
  readonly kernels: readonly string[];
}

export function familiesOfTable(table: NamedKernelTable, rules: readonly KernelRule[] = []): TableFamily[] {
  const classifier = createClassifier(rules);
  const found = new Map<FamilyId, { totalNs: number; instances: number; kernels: string[] }>();
  for (const { name, totalNs, instances } of table.rows) {
    const { family, shortName } = classifier.classify(name);
    const own = found.get(family) ?? { totalNs: 0, instances: 0, kernels: [] };
    own.totalNs += totalNs;
    own.instances += instances;
    if (!own.kernels.includes(shortName)) own.kernels.push(shortName);
    found.set(family, own);
  }
  const order = families.map(({ id }) => id);
  return [...found]
    .map(([family, own]) => ({ family, ...own }))
    .sort((a, b) => b.totalNs - a.totalNs || order.indexOf(a.family) - order.indexOf(b.family));
}

/** One table each, and the change per family where there are two. */
export function describeKernelTables(
  tables: readonly NamedKernelTable[],
  rules: readonly KernelRule[] = [],
): Block[] {
  const each = tables.map(table => ({ table, families: familiesOfTable(table, rules) }));
  const blocks: Block[] = each.map(({ table, families: own }): TableBlock => {
    const listedNs = own.reduce((sum, { totalNs }) => sum + totalNs, 0);
    const wholeNs = table.wholeNs ?? listedNs;
    // Shares are rounded, so a complete table may miss a little of its own whole.
    const partial = listedNs < 0.97 * wholeNs;
    return {
      kind: 'table',
      id: 'families',
      title: table.title,
      rows: own.length,
      columns: [
        { header: 'Family', kind: 'text', values: own.map(({ family }) => familyOf(family).label) },
        { header: 'Instances', kind: 'count', values: own.map(({ instances }) => instances) },
        { header: 'Total', kind: 'ns', values: own.map(({ totalNs }) => totalNs) },
        {
          header: 'Share of kernel time (%)',
          kind: 'share',
          values: own.map(({ totalNs }) => totalNs / wholeNs),
        },
        { header: 'Kernels', kind: 'text', values: own.map(({ kernels }) => kernels.join(', ')) },
      ],
      ...(partial
        ? {
            advice: `The table lists ${formatDuration(listedNs)} of about ${formatDuration(wholeNs)} (${formatShare(listedNs / wholeNs)}): kernels it omits are in no family here.`,
          }
        : {}),
    };
  });
  return each.length === 2 ? [...blocks, changeTable(each[0], each[1])] : blocks;
}

interface Described {
  readonly table: NamedKernelTable;
  readonly families: readonly TableFamily[];
}

function changeTable(from: Described, to: Described): TableBlock {
  const ids = [...new Set([...from.families, ...to.families].map(({ family }) => family))];
  const of = ({ families: own }: Described, id: FamilyId) => own.find(({ family }) => family === id);
  const rows = ids.map(id => ({ id, a: of(from, id), b: of(to, id) })).sort((x, y) => change(y) - change(x));
  function change({ a, b }: { a?: TableFamily; b?: TableFamily }): number {
    return Math.abs((b?.totalNs ?? 0) - (a?.totalNs ?? 0));
  }
  return tableOf(
    rows,
    {
      id: 'families-change',
      title: `${from.table.title} → ${to.table.title}`,
      advice:
        'Totals of the listed kernels, over runs of unknown length: kernels per step require a profile.',
    },
    [
      ['Family', 'text', ({ id }) => familyOf(id).label],
      ['Instances before', 'count', ({ a }) => a?.instances ?? 0],
      ['Instances after', 'count', ({ b }) => b?.instances ?? 0],
      ['Before', 'ns', ({ a }) => a?.totalNs ?? 0],
      ['After', 'ns', ({ b }) => b?.totalNs ?? 0],
      ['Change', 'ns-change', ({ a, b }) => (b?.totalNs ?? 0) - (a?.totalNs ?? 0)],
    ],
  );
}
