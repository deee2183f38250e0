/** An answer to SQL as a result: a table for people, rows by column name in JSON. */
import type { Block } from '../../analyze/block.js';
import { csvCell } from '../../base/csv-cell.js';
import type { Static } from '../../base/document.js';
import type { Profile } from '../../model/profile.js';
import { wrapLines } from '../../report/terminal.js';
import { answerTable, sqlText } from '../../sql/answer-table.js';
import type { SqlAnswer } from '../../sql/sql-session.js';
import type { SqlTable } from '../../sql/sql-table.js';
import type { sqlAnswerSchema, sqlTablesSchema, writtenTablesSchema } from '../answers-schema.js';
import type { Result } from '../emit.js';
import type { WrittenTable } from './sql-files.js';

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
    text: ({ width }) => wrapLines(`${lines.join('\n')}\n`, width),
  };
}

/** Which tables were written, and why the others were not. */
export function writtenResult(written: readonly WrittenTable[], profile: Profile | undefined): Result {
  const said = (each: WrittenTable) =>
    each.status === 'ok'
      ? each.file
      : each.status === 'failed'
        ? `failed: ${each.message}`
        : `${each.status.replace('-', ' ')}: ${each.what}; ${each.hint}`;
  const table: Block = {
    ...{ kind: 'table', id: 'tables', title: 'Tables', rows: written.length },
    columns: [
      { header: 'table', kind: 'text', values: written.map(each => each.table.name) },
      {
        header: 'rows',
        kind: 'count',
        values: written.map(each => (each.status === 'ok' ? each.rows : Number.NaN)),
      },
      { header: 'file', kind: 'text', values: written.map(said) },
    ],
  };
  return {
    blocks: () => [table],
    document: (): Static<typeof writtenTablesSchema> => ({
      schema: 'stepscope-tables/1',
      clock: profile ? { kind: profile.clock, originNs: String(profile.originNs) } : null,
      tables: written.map(writtenJson),
      notes: profile?.notes ?? [],
    }),
    shown: { rowLimit: written.length },
  };
}

function writtenJson(each: WrittenTable): Static<typeof writtenTablesSchema>['tables'][number] {
  const { name, about, columns } = each.table;
  const own = { key: name, name, about };
  if (each.status === 'failed') return { ...own, status: each.status, message: each.message };
  if (each.status !== 'ok') return { ...own, status: each.status, what: each.what, hint: each.hint };
  const { status, rows, file, bytes, types } = each;
  const described = columns.map((column, c) => ({
    ...{ name: column.name, type: types[c], about: column.about },
  }));
  return { ...own, status, rows, file, bytes, columns: described };
}
