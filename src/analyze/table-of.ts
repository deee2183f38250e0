/** A table of rows: each column says how it reads one of them. */
import type { ColumnKind, TableBlock, TableColumn } from './block.js';

type NumberKind = Exclude<ColumnKind, 'text'>;
type More = Pick<TableColumn, 'align' | 'priority'>;

/** Its header, how values are shown, and the value of a row; where there is no number, nothing is shown. */
export type ColumnOf<Row> =
  | readonly [header: string, kind: 'text', of: (row: Row, i: number) => string | null, more?: More]
  | readonly [header: string, kind: NumberKind, of: (row: Row, i: number) => number | undefined, more?: More];

export const tableOf = <Row>(
  rows: readonly Row[],
  { id, title, advice }: Pick<TableBlock, 'id' | 'title' | 'advice'>,
  columns: readonly ColumnOf<Row>[],
): TableBlock => ({
  kind: 'table',
  id,
  title,
  rows: rows.length,
  columns: columns.map(([header, kind, of, more]) => {
    const values = rows.map((row, i) => of(row, i) ?? (kind === 'text' ? null : Number.NaN));
    return { header, kind, ...more, values: values as TableColumn['values'] };
  }),
  ...(advice === undefined ? {} : { advice }),
});
