/** An answer to SQL as a result: a table for people, rows by column name in JSON. */
import type { Block, ColumnKind } from '../../analyze/block.js';
import { csvCell } from '../../base/csv-cell.js';
import type { Static } from '../../base/document.js';
import type { SqlAnswer, SqlValue } from '../../sql/sql-session.js';
import type { SqlTable } from '../../sql/sql-table.js';
import type { sqlAnswerSchema, sqlTablesSchema } from '../answers-schema.js';
import type { Result } from '../emit.js';

const isNumeric = (type: string) => /INT|DOUBLE|FLOAT|DECIMAL/.test(type);

/** Names say the unit, as everywhere: times are shown as times. */
function kindOf({ name, type }: SqlAnswer['columns'][number]): ColumnKind {
  if (!isNumeric(type)) return 'text';
  if (/^(start|end)Ns$/.test(name)) return 'timestamp';
  if (/Ns$/.test(name)) return 'ns';
  if (/Bytes$|^bytes$/.test(name)) return 'bytes';
  return 'mean';
}

const textOf = (value: SqlValue): string | null =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value);

/** Numbers stay numbers; what is none is shown as JSON writes it. */
const shownValues = (values: readonly SqlValue[], kind: ColumnKind) =>
  kind === 'text' ? values.map(textOf) : values.map(value => (value === null ? Number.NaN : Number(value)));

export function sqlResult(sql: string, answer: SqlAnswer, rowLimit: number | undefined): Result {
  const { columns, rows, complete } = answer;
  const kinds = columns.map(column => {
    const kind = kindOf(column);
    const c = columns.indexOf(column);
    return kind === 'mean' && rows.every(row => row[c] === null || Number.isInteger(row[c])) ? 'count' : kind;
  });
  const table: Block = {
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
    ...(complete
      ? {}
      : { advice: 'There are more rows. Add LIMIT and OFFSET, or give a larger --max-rows.' }),
  };
  return {
    blocks: () => [table],
    // As they are: what is asked in SQL is rounded there.
    csv: () =>
      `${[columns.map(({ name }) => name), ...rows.map(row => row.map(value => textOf(value) ?? ''))]
        .map(cells => cells.map(csvCell).join(','))
        .join('\n')}\n`,
    document: (): Static<typeof sqlAnswerSchema> => ({
      schema: 'stepscope-sql/1',
      sql,
      columns,
      rows: rows.map(row => Object.fromEntries(columns.map(({ name }, c) => [name, row[c]]))),
      complete,
    }),
    shown: { rowLimit, allColumns: '--csv' },
  };
}

export function tablesResult(tables: readonly SqlTable[]): Result {
  const lines = tables.flatMap(({ name, aliases = [], about, columns }) => [
    `${[name, ...aliases].join(', ')}: ${about}`,
    `  ${columns.map(column => column.name).join(', ')}`,
  ]);
  return {
    blocks: () => [{ kind: 'statement', id: 'tables', title: 'Tables', lines }],
    document: (): Static<typeof sqlTablesSchema> => ({
      schema: 'stepscope-sql-tables/1',
      tables: tables.map(({ name, aliases = [], about, columns }) => ({
        ...{ key: name, name, aliases, about },
        columns: columns.map(({ name: own, type, about: words }) => ({ name: own, type, about: words })),
      })),
    }),
    text: () => `${lines.join('\n')}\n`,
  };
}
