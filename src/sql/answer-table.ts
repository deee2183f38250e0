/** An answer to SQL as a table for people. Names of columns say the unit, as everywhere: times are shown as times. */
import type { ColumnKind, TableBlock } from '../analyze/block.js';
import type { SqlAnswer, SqlValue } from './sql-session.js';

const isNumeric = (type: string) => /INT|DOUBLE|FLOAT|DECIMAL/.test(type);

function kindOf({ name, type }: SqlAnswer['columns'][number]): ColumnKind {
  if (!isNumeric(type)) return 'text';
  if (/^(start|end)Ns$/.test(name)) return 'timestamp';
  if (/Ns$/.test(name)) return 'ns';
  if (/Bytes$|^bytes$/.test(name)) return 'bytes';
  return 'mean';
}

/** What is no text is shown as JSON writes it. */
export const sqlText = (value: SqlValue): string | null =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value);

const shownValues = (values: readonly SqlValue[], kind: ColumnKind) =>
  kind === 'text' ? values.map(sqlText) : values.map(value => (value === null ? Number.NaN : Number(value)));

/** `more`: what to do where rows were left out. */
export function answerTable({ columns, rows, complete }: SqlAnswer, more: string): TableBlock {
  const kinds = columns.map((column, c) => {
    const kind = kindOf(column);
    return kind === 'mean' && rows.every(row => row[c] === null || Number.isInteger(row[c])) ? 'count' : kind;
  });
  return {
    kind: 'table',
    id: 'sql',
    title: 'Answer',
    rows: rows.length,
    columns: columns.map(({ name }, c) => ({
      header: name,
      kind: kinds[c],
      values: shownValues(
        rows.map(row => row[c]),
        kinds[c],
      ),
    })),
    ...(complete ? {} : { advice: `There are more rows. ${more}` }),
  };
}
