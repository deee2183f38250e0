/** Exports as folders of tables: the same answers as the SQLite export with the same rows. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from '@uwdata/flechette';
import { parquetWriteBuffer } from 'hyparquet-writer';
import initSqlJs, { type Database } from 'sql.js';
import { capturePath } from '../src/testing/captures.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-tables-'));
const at = (...names: string[]) => path.join(folder, ...names);
after(() => rmSync(folder, { recursive: true, force: true }));

type Cells = (string | number | bigint | Uint8Array | null)[];

before(async () => {
  const sql = await initSqlJs();
  const database = new sql.Database(gunzipSync(readFileSync(capturePath('graph'))));
  mkdirSync(at('profile-parquet'));
  mkdirSync(at('profile-arrow'));
  for (const [name] of database.exec("select name from sqlite_master where type = 'table'")[0].values) {
    const found = rowsOf(database, String(name));
    if (!found) continue;
    const names = found.columns;
    const cells = names.map((_, i): Cells => found.values.map(row => row[i]));
    const columnData = names.map((column, i) => ({ name: column, ...typed(cells[i]) }));
    writeFileSync(
      at('profile-parquet', `${name}.parquet`),
      new Uint8Array(parquetWriteBuffer({ columnData })),
    );
    const arrays = Object.fromEntries(names.map((column, i) => [column, asArrow(cells[i])]));
    const bytes = tableToIPC(tableFromArrays(arrays), { format: 'file' })!;
    writeFileSync(at('profile-arrow', `${name}.arrow`), bytes);
  }
  database.close();
});

/** Ids of threads pass 2^53; the types of `exec` do not know its last argument. */
function rowsOf(database: Database, table: string): { columns: string[]; values: Cells[] } | undefined {
  return Reflect.apply(database.exec, database, [`select * from "${table}"`, [], { useBigInt: true }])[0];
}

/** One type per column, as nsys writes them. */
function typed(data: Cells) {
  const known = data.find(cell => cell !== null);
  const type =
    typeof known === 'string'
      ? 'STRING'
      : typeof known === 'number'
        ? 'DOUBLE'
        : known instanceof Uint8Array
          ? 'BYTE_ARRAY'
          : 'INT64';
  return { data, type, nullable: true } as const;
}
const asArrow = (data: Cells): Cells => (data.every(cell => cell === null) ? data.map(() => null) : data);

// biome-ignore lint/suspicious/noExplicitAny: a document that other tests check
async function analyzed(file: string): Promise<any> {
  const { out, err, status } = await runStepscope(['analyze', file, '--json']);
  assert.equal(status, 0, err);
  const { files, ...rest } = answerIn(out);
  assert.equal(files.length, 1);
  return rest;
}

test('parquetdir and arrowdir give the answers of the SQLite export', async () => {
  const expected = await analyzed(capturePath('graph'));
  assert.ok(expected.analyses['step-budget'].rows.length > 3);
  assert.deepEqual(await analyzed(at('profile-parquet')), expected);
  assert.deepEqual(await analyzed(at('profile-arrow')), expected);
});

test('fleet map takes such a folder as one file', async () => {
  const args = ['fleet', 'map', folder, '--out', at('lake'), '--workers', '1', '--json'];
  const mapped = answerIn((await runStepscope(args)).out);
  assert.deepEqual([mapped.files, mapped.mapped, mapped.broken], [2, 2, []]);
  assert.equal(answerIn((await runStepscope(args)).out).already, 2);
  const report = answerIn((await runStepscope(['fleet', 'report', at('lake'), '--json'])).out);
  assert.equal(report.runs.length, 2);
  assert.equal(report.runs[0].wallNs, report.runs[1].wallNs);
});

test('a truncated table is an error in two lines', async () => {
  for (const [kind, name] of [
    ['parquet', 'CUPTI_ACTIVITY_KIND_KERNEL.parquet'],
    ['arrow', 'CUPTI_ACTIVITY_KIND_KERNEL.arrow'],
  ] as const) {
    truncateSync(at(`profile-${kind}`, name), 200);
    const { err, status } = await runStepscope(['info', at(`profile-${kind}`)]);
    assert.match(err, /^stepscope: .*KERNEL\.\w+ cannot be read as a table: .*\nExport the report again/);
    assert.equal(status, 5);
  }
});
