/**
 * Nsight Systems exports as a folder of tables: `nsys export --type parquetdir` (one Parquet file per table) and
 * `arrowdir` (one Arrow file per table), with the tables and columns of the SQLite export. They are rewritten as such an
 * export in a temporary file, so that one reader knows what the tables mean.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { makeTemporaryFolder, removeTemporaryFolder } from '../../disk/temporary-folder.js';
import type { TableRows } from './table-rows.js';

/** Loaded when such a file is there. */
const READERS: Readonly<Record<string, (file: string) => Promise<TableRows>>> = {
  '.parquet': async file => (await import('./parquet-rows.js')).parquetRows(file),
  '.arrow': async file => (await import('./arrow-rows.js')).arrowRows(file),
};
/** One of them is in every export. */
const SIGNATURE =
  /^(StringIds|META_DATA_EXPORT|TARGET_INFO_SYSTEM_ENV|CUPTI_ACTIVITY_KIND_\w+)\.(parquet|arrow)$/;

/** Names of the tables of an export, in order. */
export const tableFiles = (folder: string): string[] =>
  fs
    .readdirSync(folder)
    .filter(name => path.extname(name) in READERS)
    .sort();

export function isTableFolder(folder: string): boolean {
  try {
    return tableFiles(folder).some(name => SIGNATURE.test(name));
  } catch {
    return false;
  }
}

/** Runs something on the tables as an SQLite export, which is gone afterwards. */
export async function withTablesAsExport<T>(folder: string, run: (file: string) => Promise<T>): Promise<T> {
  const temporary = makeTemporaryFolder('stepscope-tables-');
  try {
    const file = path.join(temporary, 'export.sqlite');
    await writeExport(folder, file);
    return await run(file);
  } finally {
    removeTemporaryFolder(temporary);
  }
}

async function writeExport(folder: string, target: string): Promise<void> {
  const { RowsWriter } = await import('../../base/sqlite/write-rows.js');
  const out = fs.openSync(target, 'wx', 0o600);
  try {
    // Room for the first page, which comes last.
    let position = -1;
    const database = new RowsWriter({
      append(page) {
        if (position < 0) position = page.length;
        fs.writeSync(out, page, 0, page.length, position);
        position += page.length;
      },
      putFirst: page => void fs.writeSync(out, page, 0, page.length, 0),
    });
    for (const name of tableFiles(folder)) {
      const extension = path.extname(name);
      const file = path.join(folder, name);
      try {
        const { columns, rows } = await READERS[extension](file);
        const table = database.startTable(path.basename(name, extension), columns);
        for await (const row of rows) table.add(row);
        table.finish();
      } catch (error) {
        throw notATable(file, error as NodeJS.ErrnoException);
      }
    }
    database.finish();
  } finally {
    fs.closeSync(out);
  }
}

/** What the system refuses is said elsewhere. */
const notATable = (file: string, error: NodeJS.ErrnoException): Error =>
  error.syscall === undefined
    ? new UserError(
        'damaged',
        `${file} cannot be read as a table: ${error.message.split('\n')[0]}.`,
        'Export the report again, for example: nsys export --type sqlite REPORT.nsys-rep',
      )
    : error;
