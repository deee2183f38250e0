/** What our page decoder reads must be what SQLite reads: every table, column and row, of made and of real files. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { SqlValue } from 'sql.js';
import type { ByteSource } from '../src/base/byte-source.js';
import { SqliteDatabase } from '../src/base/sqlite/database.js';
import { decodeLeaves } from '../src/base/sqlite/decode-leaves.js';
import { captures, insert, makeDatabase, openDatabase } from './small-exports.js';

class MemorySource implements ByteSource {
  constructor(private readonly bytes: Uint8Array) {}

  get size(): number {
    return this.bytes.length;
  }

  read(into: Uint8Array, position: number): number {
    const part = this.bytes.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  }
}

/** Compares everything; gives the number of cells compared. */
async function compare(bytes: Uint8Array): Promise<number> {
  const theirs = await openDatabase(bytes);
  const ours = new SqliteDatabase(new MemorySource(bytes));
  const list = theirs.exec(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID'",
  );
  const names = list[0].values.map(([name]) => String(name));
  assert.deepEqual([...ours.tables.keys()].sort(), [...names].sort());
  let cells = 0;
  for (const name of names) {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    const table = ours.tables.get(name)!;
    const rows = ours.smallRows(table, Number.POSITIVE_INFINITY);
    const statement = theirs.prepare(`SELECT * FROM ${quoted} ORDER BY rowid`);
    assert.deepEqual([...table.columns], statement.getColumnNames(), name);
    let row = 0;
    while (statement.step()) {
      const values = statement.get();
      table.columns.forEach((column, c) => {
        const got = rows[row]?.[column] ?? null;
        if (!Object.is(got, plain(values[c]))) {
          assert.fail(`${name}.${column} row ${row}: ${got} instead of ${plain(values[c])}`);
        }
        cells++;
      });
      row++;
    }
    statement.free();
    assert.equal(rows.length, row, name);
    for (const column of table.columns) {
      if (/^global[PT]id$/i.test(column))
        compareGlobalIds(ours, name, column, theirs.exec(splitSql(column, quoted))[0]?.values ?? []);
    }
  }
  assert.equal(ours.damagedPages, 0);
  theirs.close();
  return cells;
}

const splitSql = (column: string, table: string) =>
  `SELECT ("${column}" >> 48) & 65535, ("${column}" >> 24) & 16777215, "${column}" & 16777215 FROM ${table} ORDER BY rowid`;

function compareGlobalIds(ours: SqliteDatabase, name: string, column: string, expected: SqlValue[][]): void {
  const table = ours.tables.get(name)!;
  const leaves = ours.leaves(table);
  const [machine, pid, tid] = [0, 1, 2].map(() => new Int32Array(leaves.rows));
  const sinks = table.columns.map(c =>
    c === column ? ({ kind: 'global-id', machine, pid, tid } as const) : undefined,
  );
  decodeLeaves(ours.pages, leaves, { sinks, rowIdColumn: table.rowIdColumn });
  expected.forEach((values, row) => {
    assert.deepEqual(
      [machine[row], pid[row], tid[row]],
      values.map(v => (v === null ? -1 : v)),
      `${name} row ${row}`,
    );
  });
}

/** Blobs are stepped over; minus zero is stored as an integer. */
const plain = (value: SqlValue) => (value instanceof Uint8Array ? null : value === 0 ? 0 : value);

const integers = [
  0,
  1,
  -1,
  127,
  -128,
  128,
  32767,
  -32768,
  8388607,
  -8388608,
  2147483647,
  -2147483648,
  2 ** 40,
  -(2 ** 40),
  2 ** 47 - 1,
  -(2 ** 47),
  2 ** 52 + 1,
  -(2 ** 52) - 1,
];

for (const pageSize of [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]) {
  test(`pages of ${pageSize} bytes: overflow, added columns, every kind of value`, async () => {
    const bytes = await makeDatabase(pageSize, database => {
      database.run('CREATE TABLE "odd ""name""" (id INTEGER PRIMARY KEY, "a b" REAL, [c] TEXT, `d` BLOB, e)');
      database.run(
        'CREATE TABLE plain (start INTEGER, text TEXT, globalTid INTEGER -- a comment, with a comma\n)',
      );
      database.run('CREATE TABLE keyed (n INTEGER, id INTEGER, CONSTRAINT k PRIMARY KEY (id))');
      database.run('CREATE TABLE empty (a, b DECIMAL(10, 5) DEFAULT (1 + 2), CHECK (a > 0))');
      database.run('CREATE TABLE other (a PRIMARY KEY) WITHOUT ROWID');
      const around = [
        0,
        1,
        30,
        pageSize - 60,
        pageSize - 36,
        pageSize - 35,
        pageSize - 34,
        pageSize,
        3 * pageSize + 7,
        50_000,
      ];
      insert(
        database,
        '"odd ""name"""',
        around.map((length, i) => [
          i * 3 - 4,
          i / 3,
          'é'.repeat(length / 2),
          new Uint8Array(length),
          'x'.repeat(length),
        ]),
      );
      insert(
        database,
        'plain',
        Array.from({ length: 3000 }, (_, i) => [
          integers[i % integers.length] + i,
          i % 5 ? `t${i}` : null,
          16777216 * 99 + i,
        ]),
      );
      insert(database, 'keyed', [
        [5, 50],
        [7, -70],
        [9, 900],
      ]);
      // Beyond exact doubles: both sides round alike.
      database.run(
        'INSERT INTO plain VALUES (9223372036854775807, 1, -9223372036854775808), (-9007199254740993, 2.5, NULL)',
      );
      database.run(
        'INSERT INTO plain (rowid, start) VALUES (-9223372036854775808, 1), (9007199254740990, 2)',
      );
      database.run('ALTER TABLE plain ADD COLUMN late INTEGER');
      database.run("INSERT INTO plain VALUES (1, 'new', 3, 4)");
      database.run('DELETE FROM plain WHERE rowid % 7 = 3');
    });
    assert.ok((await compare(bytes)) > 10_000);
  });
}

for (const { name, file } of captures()) {
  test(`capture ${name}`, async () => {
    assert.ok((await compare(gunzipSync(fs.readFileSync(file)))) > 1000);
  });
}
test('there are captures to compare', () => {
  assert.ok(captures().length > 0);
});
