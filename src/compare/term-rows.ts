/** A term of a comparison and the rows it is made of: what ran on either side, how often, and how long. */

import { REPLAY } from '../run/run.js';
import type { SideMeans } from '../run/side-means.js';
import type { LinkKind } from './match-kernels.js';

export type TermKind = LinkKind | 'hidden' | 'communication' | 'copies' | 'idle';

export interface RowSide {
  readonly kernel: string;
  readonly name: string;
  /** Launches per step. */
  readonly count: number;
  /** Whole nanoseconds of the step that are its own. */
  readonly ns: number;
}

export interface TermRow {
  readonly from: RowSide | null;
  readonly to: RowSide | null;
  readonly changeNs: number;
}

export interface Term {
  readonly key: string;
  readonly kind: TermKind;
  /** Kernel family or idle cause; empty where it is neither. */
  readonly of: string;
  readonly label: string;
  readonly color: string;
  readonly fromNs: number;
  readonly toNs: number;
  readonly changeNs: number;
  /** Launches per step; null where there is nothing to count. */
  readonly fromCount: number | null;
  readonly toCount: number | null;
  readonly rows: readonly TermRow[];
}

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
