/** An answer to SQL as a result: a table for people, rows by column name in JSON. */
import { csvCell } from '../../base/csv-cell.js';
import type { Static } from '../../base/document.js';
import { answerTable, sqlText } from '../../sql/answer-table.js';
import type { SqlAnswer } from '../../sql/sql-session.js';
import type { SqlTable } from '../../sql/sql-table.js';
import type { sqlAnswerSchema, sqlTablesSchema } from '../answers-schema.js';
import type { Result } from '../emit.js';

export function sqlResult(sql: string, answer: SqlAnswer, rowLimit: number | undefined): Result {
  const { columns, rows, complete } = answer;
  const table = answerTable(answer, 'Add LIMIT and OFFSET, or give a larger --max-rows.');
  return {
    blocks: () => [table],
    // As they are: what is asked in SQL is rounded there.
    csv: () =>
      `${[columns.map(({ name }) => name), ...rows.map(row => row.map(value => sqlText(value) ?? ''))]
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
