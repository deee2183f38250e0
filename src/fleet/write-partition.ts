/** The rows of one file as Parquet files in a folder. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { ColumnSource } from 'hyparquet-writer';
import { type LakeColumn, type LakeRows, type LakeTable, lakeTableNames, lakeTables } from './lake-tables.js';

const PARQUET_TYPE = {
  text: 'STRING',
  number: 'DOUBLE',
  whole: 'INT32',
  long: 'INT64',
  flag: 'BOOLEAN',
} as const;

export async function writeTables(folder: string, rows: LakeRows): Promise<void> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  for (const table of lakeTableNames) {
    // Readers open thousands of these small files and skip none: indexes and statistics only make them larger.
    const content = parquetWriteBuffer({ columnData: columnsFor(table, rows[table]), statistics: false });
    fs.writeFileSync(path.join(folder, `${table}.parquet`), new Uint8Array(content));
  }
}

function columnsFor(table: LakeTable, rows: readonly object[]): ColumnSource[] {
  return Object.entries<LakeColumn>(lakeTables[table]).map(
    ([name, { type, optional }]): ColumnSource => ({
      name,
      type: PARQUET_TYPE[type],
      nullable: optional === true,
      offsetIndex: false,
      data: rows.map(row => (row as Record<string, unknown>)[name] ?? null),
    }),
  );
}
