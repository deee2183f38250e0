/** The tables of a lake for SQL: the same names as in its Parquet files, with run, rank and file of their folders. */
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { inMemory, loadDuckDb, quoted } from '../disk/open-duckdb.js';
import { Lake } from '../fleet/lake.js';
import { type LakeColumn, lakeTableNames, lakeTables } from '../fleet/lake-tables.js';
import type { SqlSource } from './sql-session.js';
import type { SqlColumn, SqlTable, TableContent } from './sql-table.js';

const types = { text: 'text', number: 'number', whole: 'whole', long: 'whole', flag: 'flag' } as const;

const ofPath: readonly SqlColumn[] = [
  { name: 'run', type: 'text', about: 'of the folder' },
  { name: 'rank', type: 'whole', about: 'of the folder; null: none, or several in one file' },
  { name: 'file', type: 'text', about: 'hash of the content' },
];

export const lakeSqlTables: readonly SqlTable[] = lakeTableNames.map(name => ({
  name,
  about: 'a table of the lake (docs/lake-tables.md)',
  columns: [
    ...ofPath,
    ...Object.entries<LakeColumn>(lakeTables[name]).map(([column, { type, about }]) => ({
      ...{ name: column, type: types[type], about },
    })),
  ],
  content: () => {
    throw new Error(`${name} is read from the lake`);
  },
}));

/** A reader of its own takes the files in; the database that answers questions never opens one. */
export async function lakeSource(folder: string): Promise<SqlSource> {
  const lake = Lake.open(folder);
  const partitions = lake
    .claims()
    .map(({ partition }) => partition)
    .sort();
  if (partitions.length === 0)
    throw new UserError(
      'not-found',
      `${folder} contains no mapped file.`,
      'Map some: stepscope fleet map FILES… --out LAKE',
    );
  const { DuckDBInstance } = await loadDuckDb();
  const database = await DuckDBInstance.create(':memory:', { ...inMemory('1GB'), threads: '1' });
  const reader = await database.connect();
  return {
    tables: lakeSqlTables,
    prepare: async () => undefined,
    async content({ name, columns }): Promise<TableContent> {
      const files = partitions.map(own => quoted(path.join(lake.folder, own, `${name}.parquet`)));
      const asked = columns.map(({ name: own }) =>
        own === 'rank' ? 'TRY_CAST(rank AS INTEGER) AS rank' : `"${own}"`,
      );
      const found = await reader.runAndReadAll(
        `SELECT ${asked.join(', ')} FROM read_parquet([${files.join(',')}], hive_partitioning = true, hive_types_autocast = false)`,
      );
      const values = found.getColumnsObjectJS();
      return {
        rows: found.currentRowCount,
        column: own => values[own],
      };
    },
  };
}
