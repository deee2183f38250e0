/**
 * Pages decoded by WebAssembly hold what the RowDecoder finds: the same columns and the same losses, whatever values a
 * table has and whatever was done to the file. FUZZ_ROUNDS and FUZZ_SEED change how much and what.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyArray, allocate, missingValue, type Storage } from '../src/base/column.js';
import { SqliteDatabase, type SqliteTable } from '../src/base/sqlite/database.js';
import { decodeLeaves } from '../src/base/sqlite/decode.js';
import type { DecodePlan, Sink } from '../src/base/sqlite/decode-plan.js';
import { RowScanner } from '../src/base/sqlite/row-scanner.js';
import { damage, databaseDamages, seeded } from './damage/mutations.js';
import { makeDatabase } from './small-exports.js';

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 150);
const SEED = Number(process.env.FUZZ_SEED ?? 20261118);
const storages: readonly Storage[] = ['f64', 'i32', 'u32', 'u8', 'i16', 'i8'];

function opened(bytes: Uint8Array): SqliteDatabase {
  return new SqliteDatabase({
    size: bytes.length,
    read(into, position) {
      const part = bytes.subarray(position, position + into.length);
      into.set(part);
      return part.length;
    },
  });
}

/** Every column into one kind of array, the last one split as a global id. */
function planFor(table: SqliteTable, rows: number, storage: Storage): { plan: DecodePlan; all: AnyArray[] } {
  const all: AnyArray[] = [];
  const array = (kind: Storage) => {
    const cells = allocate(kind, rows);
    all.push(cells);
    return cells;
  };
  const ids = () => array('i32') as Int32Array;
  const sinks = table.columns.map((_, c): Sink => {
    if (c === table.columns.length - 1) return { kind: 'global-id', machine: ids(), pid: ids(), tid: ids() };
    return { kind: 'number', into: array(storage), missing: missingValue(storage) };
  });
  const rowIds = array('f64') as Float64Array;
  return { plan: { sinks, rowIds, rowIdColumn: table.rowIdColumn }, all };
}

/** What is found of a table: with WebAssembly, or as if there were none. */
function decoded(bytes: Uint8Array, name: string, storage: Storage, mayScan: boolean) {
  const wasm = Object.getOwnPropertyDescriptor(globalThis, 'WebAssembly')!;
  if (!mayScan) Object.defineProperty(globalThis, 'WebAssembly', { ...wasm, value: undefined });
  try {
    const database = opened(bytes);
    const table = database.tables.get(name);
    if (!table) return undefined;
    const leaves = database.leaves(table);
    const { plan, all } = planFor(table, leaves.rows, storage);
    return { losses: decodeLeaves(database.pages, leaves, plan), all };
  } catch (error) {
    return String(error);
  } finally {
    Object.defineProperty(globalThis, 'WebAssembly', wasm);
  }
}

/** How many of a table's pages the scanner takes. */
function pagesTaken(bytes: Uint8Array, name: string): { taken: number; pages: number } {
  const database = opened(bytes);
  const table = database.tables.get(name)!;
  const leaves = database.leaves(table);
  const scanner = RowScanner.create(database.pages, planFor(table, leaves.rows, 'f64').plan, leaves.rows)!;
  let taken = 0;
  for (let leaf = 0; leaf < leaves.pages.length; leaf++) if (scanner.page(leaves, leaf)) taken++;
  return { taken, pages: leaves.pages.length };
}

/** Numbers of every size SQLite has, around each border; the last column as nsys packs ids. */
const sizes = [0, 1, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 53, 62];
const usual = Array.from({ length: 1500 }, (_, row) => {
  const size = 2n ** BigInt(sizes[row % sizes.length]);
  const value = row % 3 === 0 ? -size : row % 3 === 1 ? size - 1n : size;
  const id = (BigInt(row % 5) << 48n) | (BigInt(4000 + (row % 7)) << 24n) | BigInt(row);
  return `(${row % 11 === 0 ? 'NULL' : row % 100}, ${row % 13 === 0 ? 'NULL' : value}, ${row / 8}, ${row % 17 === 0 ? 'NULL' : id})`;
});
const odd = usual.map((row, i) => {
  if (i === 700) return "('a text', 1, 2, 3)";
  if (i === 710) return "(1, 9e999, x'00ff', 2.5)";
  if (i === 720) return `(1, 2, '${'long'.repeat(3000)}', 4)`;
  return row;
});
const made = (rows: readonly string[], key = '') =>
  makeDatabase(1024, database => {
    database.run(`CREATE TABLE T (small INTEGER${key}, value INTEGER, fraction REAL, id INTEGER)`);
    database.run(`INSERT INTO T VALUES ${rows.join(', ')}`);
  });

test('values of every size, in every kind of column', async () => {
  const keyed = usual.map((row, i) => row.replace(/^\([^,]+/, `(${i * 3 + 1}`));
  for (const bytes of [await made(usual), await made(keyed, ' PRIMARY KEY'), await made(odd)])
    for (const storage of storages) {
      const found = decoded(bytes, 'T', storage, true);
      assert.notEqual(typeof found, 'string');
      assert.deepEqual(found, decoded(bytes, 'T', storage, false), storage);
    }
});

test('usual pages are taken, those with anything else are declined', async () => {
  const plain = pagesTaken(await made(usual), 'T');
  assert.ok(plain.pages > 5);
  assert.equal(plain.taken, plain.pages);
  const { taken, pages } = pagesTaken(await made(odd), 'T');
  assert.ok(taken < pages && taken > pages / 2, `${taken} of ${pages}`);
});

test('damage is found alike', async () => {
  const bytes = await made(usual);
  let changed = 0;
  const whole = JSON.stringify(decoded(bytes, 'T', 'f64', true));
  for (let round = 0; round < ROUNDS; round++) {
    const broken = damage(databaseDamages, bytes, seeded(SEED + round)).bytes;
    const storage = storages[round % 2];
    const found = decoded(broken, 'T', storage, true);
    assert.deepEqual(found, decoded(broken, 'T', storage, false), `seed ${SEED + round}`);
    if (JSON.stringify(found) !== whole) changed++;
  }
  assert.ok(changed > ROUNDS / 2, `only ${changed} of ${ROUNDS} were changed`);
});
