/** Kernel families as tables: the families, what they are made of, and the kernels no rule knows. */
import { plural } from '../../base/units.js';
import { type FamilyId, familyOf } from '../../catalog/kernels/families.js';
import type { AnalysisResult, AnyAnalysis } from '../analysis.js';
import type { Block, TableBlock } from '../block.js';
import { rowsTable } from '../rows-table.js';
import type { FamilyRow } from './family-row.js';

export function describeFamilies(
  analysis: AnyAnalysis,
  { rows, summary = {} }: AnalysisResult<FamilyRow>,
): Block[] {
  const labelled = rows.map(row => ({ ...row, family: familyOf(row.family as FamilyId).label }));
  return [rowsTable(analysis, labelled), variantsTable(rows), ...unknownTable(summary)];
}

function variantsTable(rows: readonly FamilyRow[]): TableBlock {
  const sum = rows.reduce((total, row) => total + row.totalNs, 0);
  const lines = rows.flatMap(row =>
    row.variants
      .filter(({ variant, dtype, library }) => variant || dtype || library)
      .map(variant => ({ ...variant, family: familyOf(row.family as FamilyId).label })),
  );
  lines.sort((a, b) => b.totalNs - a.totalNs);
  const text = (header: string, of: (line: (typeof lines)[number]) => string) =>
    ({ header, kind: 'text', values: lines.map(of) }) as const;
  return {
    kind: 'table',
    id: 'kernel-variants',
    title: 'What they are made of',
    rows: lines.length,
    columns: [
      text('Family', line => line.family),
      text('Variant', line => line.variant),
      text('Type', line => line.dtype),
      text('Library', line => line.library),
      { header: 'Kernels', kind: 'count', values: lines.map(line => line.kernels) },
      { header: 'Total', kind: 'ns', values: lines.map(line => line.totalNs) },
      { header: 'Share (%)', kind: 'share', values: lines.map(line => line.totalNs / sum) },
    ],
  };
}

function unknownTable(summary: NonNullable<AnalysisResult<FamilyRow>['summary']>): TableBlock[] {
  const unknown = summary.unclassified as { name: string; kernels: number; totalNs: number; share: number }[];
  if (unknown.length === 0) return [];
  return [
    {
      kind: 'table',
      id: 'unknown-kernels',
      title: 'Kernels of no known family',
      advice: `${plural(summary.unclassifiedNames as number, 'name')}. --why NAME says what was tried; --rules FILE gives them a family.`,
      rows: unknown.length,
      columns: [
        { header: 'Kernels', kind: 'count', values: unknown.map(row => row.kernels) },
        { header: 'Total', kind: 'ns', values: unknown.map(row => row.totalNs) },
        { header: 'Share (%)', kind: 'share', values: unknown.map(row => row.share) },
        { header: 'Name', kind: 'text', values: unknown.map(row => row.name) },
      ],
    },
  ];
}
