/** The rows of one file as Parquet files in a folder. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { type LakeColumn, type LakeRows, type LakeTable, lakeTableNames, lakeTables } from './lake-tables.js';

const PARQUET_TYPE = {
  text: 'STRING',
  number: 'DOUBLE',
  whole: 'INT32',
  long: 'INT64',
  flag: 'BOOLEAN',
} as const;

export function writeTables(folder: string, rows: LakeRows): void {
  for (const table of lakeTableNames)
    fs.writeFileSync(path.join(folder, `${table}.parquet`), parquetOf(table, rows[table]));
}

function parquetOf(table: LakeTable, rows: readonly object[]): Uint8Array {
  const columnData = Object.entries<LakeColumn>(lakeTables[table]).map(
    ([name, { type, optional }]): ColumnSource => ({
      name,
      type: PARQUET_TYPE[type],
      nullable: optional === true,
      offsetIndex: false,
      data: rows.map(row => (row as Record<string, unknown>)[name] ?? null),
    }),
  );
  // Readers open thousands of these small files and skip none: indexes and statistics only make them larger.
  return new Uint8Array(parquetWriteBuffer({ columnData, statistics: false }));
}
