/** A term of a comparison and the rows it is made of: what ran on either side, how often, and how long. */

import type { Static } from '../base/document.js';
import { REPLAY } from '../run/run.js';
import type { SideMeans } from '../run/side-means.js';
import type { termSchema } from './compare-schema.js';

/** A term of the document, and the colour it is drawn in. */
export type Term = Static<typeof termSchema> & { readonly color: string };
export type TermKind = Term['kind'];
export type TermRow = Term['rows'][number];
type RowSide = NonNullable<TermRow['from']>;

export function rowSide({ kernels }: SideMeans, part: string, count: number, ns: number): RowSide {
  const plain = part === REPLAY ? 'graph replay' : part.slice(part.indexOf(':') + 1);
  const { shortName = plain, name = plain } = kernels.get(part) ?? {};
  return { kernel: shortName, name, count, ns };
}

export const termRow = (from: RowSide | null, to: RowSide | null): TermRow => ({
  from,
  to,
  changeNs: (to?.ns ?? 0) - (from?.ns ?? 0),
});

export const byChange = (rows: readonly TermRow[]) =>
  [...rows].sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs));

export function sumsOf(rows: readonly TermRow[]) {
  const sum = (of: (row: TermRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    fromNs: sum(row => row.from?.ns ?? 0),
    toNs: sum(row => row.to?.ns ?? 0),
    changeNs: sum(row => row.changeNs),
    fromCount: sum(row => row.from?.count ?? 0),
    toCount: sum(row => row.to?.count ?? 0),
  };
}
