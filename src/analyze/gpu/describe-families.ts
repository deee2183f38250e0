/** Kernel families as tables: the families, what they are made of, and the kernels no rule knows. */

import { plural } from '../../base/units.js';
import { type FamilyId, familyOf } from '../../catalog/kernels/families.js';
import type { AnalysisResult, AnyAnalysis } from '../analysis.js';
import type { Block, TableBlock } from '../block.js';
import { rowsTable } from '../rows-table.js';
import { tableOf } from '../table-of.js';
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
  return tableOf(lines, { id: 'kernel-variants', title: 'Composition by variant' }, [
    ['Family', 'text', line => line.family],
    ['Variant', 'text', line => line.variant],
    ['Type', 'text', line => line.dtype],
    ['Library', 'text', line => line.library],
    ['Kernels', 'count', line => line.kernels],
    ['Total', 'ns', line => line.totalNs],
    ['Share (%)', 'share', line => line.totalNs / sum],
  ]);
}

function unknownTable(summary: NonNullable<AnalysisResult<FamilyRow>['summary']>): TableBlock[] {
  const unknown = summary.unclassified as { name: string; kernels: number; totalNs: number; share: number }[];
  if (unknown.length === 0) return [];
  return [
    tableOf(
      unknown,
      {
        id: 'unknown-kernels',
        title: 'Unclassified kernels',
        advice: `${plural(summary.unclassifiedNames as number, 'name')}. --why NAME shows which rules were tried; --rules FILE assigns a family.`,
      },
      [
        ['Kernels', 'count', row => row.kernels],
        ['Total', 'ns', row => row.totalNs],
        ['Share (%)', 'share', row => row.share],
        ['Name', 'text', row => row.name],
      ],
    ),
  ];
}
