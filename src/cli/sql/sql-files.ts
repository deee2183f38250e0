/** Answers and tables as files that other programs read: Arrow IPC and Parquet. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { SqlAnswer, SqlSession, SqlValue } from '../../sql/sql-session.js';
import type { Output } from '../output.js';
import { refuseExisting, unwritable, writeBytes } from '../write-result.js';

/** Rows of one file: what a worker with 2 GB can hold as columns. */
const MOST_ROWS = 20e6;
const bounds = { rows: MOST_ROWS, bytes: 4e9, timeMs: 600_000 };

const isNumber = (type: string) => /^(DOUBLE|FLOAT|DECIMAL)/.test(type);
const isWhole = (type: string) => /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type);

const textOf = (value: SqlValue): string | null =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value);

/** Values of a column, as its type says; numbers of any kind stay numbers. */
function valuesOf({ columns, rows }: SqlAnswer, c: number): readonly (string | number | boolean | null)[] {
  const { type } = columns[c];
  if (isNumber(type) || isWhole(type)) return rows.map(row => (row[c] === null ? null : Number(row[c])));
  if (type === 'BOOLEAN') return rows.map(row => row[c] as boolean | null);
  return rows.map(row => textOf(row[c]));
}

/** An Arrow IPC file; `-` is standard output, as a stream. */
export async function writeArrow(
  answer: SqlAnswer,
  file: string,
  force: boolean,
  output: Output,
): Promise<void> {
  const { bool, columnFromArray, float64, int64, tableFromColumns, tableToIPC, utf8 } = await import(
    '@uwdata/flechette'
  );
  const columns = answer.columns.map(({ name, type }, c) => {
    const arrow = isNumber(type) ? float64() : isWhole(type) ? int64() : type === 'BOOLEAN' ? bool() : utf8();
    return [name, columnFromArray(valuesOf(answer, c) as unknown[], arrow)] as const;
  });
  const bytes = tableToIPC(tableFromColumns(columns as never), { format: file === '-' ? 'stream' : 'file' });
  if (!bytes) throw new Error('the Arrow writer gave nothing');
  if (file === '-') process.stdout.write(bytes);
  else writeBytes(file, bytes, force, output);
}

async function parquetOf(answer: SqlAnswer): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const columnData = answer.columns.map(({ name, type }, c) => {
    const own = isNumber(type)
      ? 'DOUBLE'
      : isWhole(type)
        ? 'INT64'
        : type === 'BOOLEAN'
          ? 'BOOLEAN'
          : 'STRING';
    const values = valuesOf(answer, c);
    return {
      ...{ name, type: own as 'DOUBLE', nullable: true },
      data:
        own === 'INT64'
          ? values.map(value => (value === null ? null : BigInt(value as number)))
          : [...values],
    };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** The answer as `result.parquet`; without a question every table that was recorded, in its own file. */
export async function writeParquet(
  session: SqlSession,
  sql: string | undefined,
  folder: string,
  force: boolean,
  output: Output,
): Promise<void> {
  const asked =
    sql === undefined
      ? session.tables.map(({ name }) => ({ name, sql: `SELECT * FROM ${name}` }))
      : [{ name: 'result', sql }];
  const place = (name: string) => path.join(folder, `${name}.parquet`);
  if (!force) for (const { name } of asked) refuseExisting(place(name));
  try {
    fs.mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw unwritable(folder, error);
  }
  for (const { name, sql: question } of asked) {
    try {
      const answer = await session.query(question, bounds);
      if (!answer.complete)
        throw new UserError('too-large', `${name} has more than ${MOST_ROWS} rows.`, 'Ask for a part of it.');
      writeBytes(place(name), await parquetOf(answer), force, output);
    } catch (error) {
      if (sql !== undefined || !(error instanceof UserError) || error.code !== 'not-recorded') throw error;
      output.err(`${error.message}\n`);
    }
  }
}
