/** Small nsys exports made by SQLite itself, to be damaged by tests; and the real captures. */
import initSqlJs, { type Database, type SqlValue } from 'sql.js';
import { captureNames, capturePath } from '../src/testing/captures.js';

export function captures(): { name: string; file: string }[] {
  return captureNames.map(name => ({ name, file: capturePath(name) }));
}

export async function openDatabase(bytes?: Uint8Array): Promise<Database> {
  const SQL = await initSqlJs();
  return new SQL.Database(bytes);
}

/** Runs `fill` on an empty database of this page size and gives the file's bytes. */
export async function makeDatabase(
  pageSize: number,
  fill: (database: Database) => void,
): Promise<Uint8Array> {
  const database = await openDatabase();
  database.run(`PRAGMA page_size = ${pageSize}`);
  database.run('VACUUM');
  fill(database);
  const bytes = database.export();
  database.close();
  return bytes;
}

export function insert(database: Database, table: string, rows: readonly SqlValue[][]): void {
  database.run('BEGIN');
  const statement = database.prepare(`INSERT INTO ${table} VALUES (${rows[0].map(() => '?').join(',')})`);
  for (const row of rows) statement.run(row);
  statement.free();
  database.run('COMMIT');
}

const PROCESS = 77 * 2 ** 24;

/** Kernels, calls and ranges, enough of them for b-trees of several levels and for rows that overflow. */
export function fillExport(database: Database, kernels = 300): void {
  database.run(`
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, memoryBandwidth INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
      contextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
      demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, gridX INTEGER, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER,
      globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
      globalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, doubleValue REAL);
  `);
  const names = Array.from({ length: 20 }, (_, i): SqlValue[] => [
    i + 1,
    `kernel_${i}_${'t'.repeat(i * 37)}`,
  ]);
  insert(database, 'StringIds', names);
  insert(database, 'META_DATA_EXPORT', [
    ['EXPORT_SCHEMA_VERSION', '3.20.1'],
    ['EXPORT_PRODUCT_VERSION', '2025.3.1.90'],
  ]);
  insert(database, 'TARGET_INFO_GPU', [[0, 'NVIDIA H200', 132, 4.8e12]]);
  const each = (row: (i: number) => SqlValue[]) => Array.from({ length: kernels }, (_, i) => row(i));
  insert(
    database,
    'CUPTI_ACTIVITY_KIND_KERNEL',
    each(i => [
      1e9 + i * 1000,
      1e9 + i * 1000 + 700,
      0,
      1,
      7 + (i % 2),
      500 + i,
      PROCESS,
      1 + (i % 20),
      1,
      i * 3,
      i % 4 === 0 ? null : i,
    ]),
  );
  insert(
    database,
    'CUPTI_ACTIVITY_KIND_RUNTIME',
    each(i => [1e9 + i * 1000 - 400, 1e9 + i * 1000 - 100, 0, PROCESS + 78, 500 + i, 1 + ((i * 7) % 20), 0]),
  );
  insert(
    database,
    'NVTX_EVENTS',
    each(i => [
      1e9 + i * 990,
      1e9 + i * 990 + 900,
      59,
      `step ${i} ${'long '.repeat((i % 9) * 60)}`,
      PROCESS + 78,
      null,
      0,
      i,
      null,
    ]),
  );
}

/** First page of a table's b-tree. */
export async function rootPage(bytes: Uint8Array, table: string): Promise<number> {
  const database = await openDatabase(bytes);
  const [[page]] = database.exec(`SELECT rootpage FROM sqlite_master WHERE name = '${table}'`)[0].values;
  database.close();
  return Number(page);
}
