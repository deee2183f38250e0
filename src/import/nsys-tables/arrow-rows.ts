/** Rows of an Arrow file or stream. */
import * as fs from 'node:fs';
import { tableFromIPC } from '@uwdata/flechette';
import type { SqliteValue } from '../../base/sqlite/write-rows.js';
import { plainValue, type TableRows } from './table-rows.js';

export async function arrowRows(name: string): Promise<TableRows> {
  const table = tableFromIPC(fs.readFileSync(name), { useBigInt: true });
  const columns = table.names as string[];
  const vectors = columns.map(column => table.getChild(column)!);
  function* rows(): Generator<readonly SqliteValue[]> {
    for (let row = 0; row < table.numRows; row++) yield vectors.map(vector => plainValue(vector.at(row)));
  }
  return { columns, rows: rows() };
}
