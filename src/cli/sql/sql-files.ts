/** Answers and tables as files that other programs read: Arrow IPC and Parquet. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { NotRecorded } from '../../analyze/analysis.js';
import { UserError } from '../../base/user-error.js';
import { arrowTable, type FilledColumn } from '../../sql/arrow-table.js';
import { cellNumber, isTexts, wholeOf } from '../../sql/cells.js';
import type { SqlAnswer, SqlSession, SqlSource, SqlValue } from '../../sql/sql-session.js';
import type { ColumnContent, SqlTable, SqlType } from '../../sql/sql-table.js';
import type { Output } from '../output.js';
import { refuseExisting, unwritable, writeBytes } from '../write-result.js';

/** Rows of one file: what a worker with 2 GB can hold as columns. */
const MOST_ROWS = 20e6;
const bounds = { rows: MOST_ROWS, bytes: 4e9, timeMs: 600_000 };

/** A type of DuckDB as one of ours; what has none is JSON text. */
function typeOf(type: string): SqlType {
  if (/^(DOUBLE|FLOAT|DECIMAL)/.test(type)) return 'number';
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'whole';
  return type === 'BOOLEAN' ? 'flag' : 'text';
}

const textOf = (value: SqlValue): string | null =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value);

/** Whole numbers beyond 2^53 are text in an answer. */
const numberOf = (value: SqlValue, type: SqlType): number | bigint | null =>
  value === null ? null : type === 'whole' && typeof value === 'string' ? BigInt(value) : Number(value);

const columnsOf = ({ columns, rows }: SqlAnswer): FilledColumn[] =>
  columns.map(({ name, type: own }, c) => {
    const type = typeOf(own);
    const value = (row: readonly SqlValue[]) =>
      type === 'text' ? textOf(row[c]) : type === 'flag' ? row[c] : numberOf(row[c], type);
    return { name, type, content: rows.map(value) };
  });

/** An Arrow IPC file; `-` is standard output, as a stream. */
export async function writeArrow(
  answer: SqlAnswer,
  file: string,
  force: boolean,
  output: Output,
): Promise<void> {
  const format = file === '-' ? 'stream' : 'file';
  const { bytes } = await arrowTable(columnsOf(answer), answer.rows.length, format);
  if (file === '-') process.stdout.write(bytes);
  else writeBytes(file, bytes, force, output);
}

const parquetTypes = {
  ...{ text: 'STRING', map: 'STRING', number: 'DOUBLE', whole: 'INT64', flag: 'BOOLEAN' },
} as const;

function parquetCells(content: ColumnContent | undefined, type: SqlType, rows: number): unknown[] {
  const cells = (at: (row: number) => unknown) => Array.from({ length: rows }, (_, row) => at(row) ?? null);
  if (content === undefined) return cells(() => null);
  if (isTexts(content)) return cells(row => (content.ids[row] < 0 ? null : content.text(content.ids[row])));
  if (type === 'number' || type === 'whole') {
    const at = cellNumber(content);
    return cells(row => {
      const value = at(row);
      return value === null ? null : type === 'whole' ? wholeOf(value) : Number(value);
    });
  }
  return cells(row => (type === 'map' ? textOf((content[row] ?? null) as SqlValue) : content[row]));
}

async function parquetTable(columns: readonly FilledColumn[], rows: number): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const columnData = columns.map(({ name, type, content }) => ({
    ...{ name, type: parquetTypes[type] as 'DOUBLE', nullable: true },
    data: parquetCells(content, type, rows),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** The answer as `result.parquet`, whole or not at all. */
export async function writeParquet(
  session: SqlSession,
  sql: string,
  folder: string,
  force: boolean,
  output: Output,
): Promise<void> {
  const file = path.join(folder, 'result.parquet');
  if (!force) refuseExisting(file);
  makeFolder(folder);
  const answer = await session.query(sql, bounds);
  if (!answer.complete) throw tooMany('The answer');
  writeBytes(file, await parquetTable(columnsOf(answer), answer.rows.length), force, output);
}

const tooMany = (what: string) =>
  new UserError('too-large', `${what} has more than ${MOST_ROWS} rows.`, 'Ask for a part of it.');

function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw unwritable(folder, error);
  }
}

export type WrittenTable = { readonly table: SqlTable } & (
  | {
      readonly status: 'ok';
      readonly rows: number;
      readonly file: string;
      readonly bytes: number;
      /** Of its columns, as Arrow names them; of Parquet ours. */
      readonly types: readonly string[];
    }
  | { readonly status: 'not-recorded' | 'damaged'; readonly what: string; readonly hint: string }
  | { readonly status: 'failed'; readonly message: string }
);

/** Each table in its own file, without DuckDB; those that the capture does not have are said, not written. */
export async function writeTableFiles(
  source: SqlSource,
  tables: readonly SqlTable[],
  { folder, format, force }: { folder: string; format: 'arrow' | 'parquet'; force: boolean },
): Promise<WrittenTable[]> {
  const fileOf = ({ name }: SqlTable) => `${name}.${format}`;
  if (!force) for (const table of tables) refuseExisting(path.join(folder, fileOf(table)));
  makeFolder(folder);
  await source.prepare(tables);
  const written: WrittenTable[] = [];
  for (const table of tables) written.push(await writeTable(table));
  return written;

  async function writeTable(table: SqlTable): Promise<WrittenTable> {
    const found = await contentOf(source, table);
    if (found.status !== 'found') return { table, ...found };
    const { rows, column } = found.content;
    if (rows > MOST_ROWS) throw tooMany(table.name);
    const columns = table.columns.map(own => ({ ...own, content: column(own.name) }));
    const { bytes, types } =
      format === 'arrow'
        ? await arrowTable(columns, rows, 'file')
        : { bytes: await parquetTable(columns, rows), types: table.columns.map(({ type }) => type) };
    writeBytes(path.join(folder, fileOf(table)), bytes, force);
    return { table, status: 'ok', rows, file: fileOf(table), bytes: bytes.length, types };
  }
}

/** One analysis that fails does not take the others along. */
async function contentOf(source: SqlSource, table: SqlTable) {
  try {
    return { status: 'found' as const, content: await source.content(table) };
  } catch (error) {
    if (error instanceof NotRecorded)
      return {
        ...{ status: error.damaged ? ('damaged' as const) : ('not-recorded' as const) },
        ...{ what: error.what, hint: error.hint },
      };
    if (error instanceof UserError) throw error;
    return { status: 'failed' as const, message: (error as Error).message };
  }
}
