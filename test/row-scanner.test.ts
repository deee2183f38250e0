/**
 * Rows that WebAssembly decodes are those that the decoder decodes: the same cells, parts and losses, whatever is done to
 * the file. FUZZ_ROUNDS and FUZZ_SEED change how much and what.
 */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type AnyArray, allocate, missingValue, type Storage } from '../src/base/column.js';
import { compactPlaces, wholeColumn } from '../src/base/sqlite/compact-parts.js';
import { SqliteDatabase, type SqliteTable } from '../src/base/sqlite/database.js';
import { decodeLeaves } from '../src/base/sqlite/decode-leaves.js';
import type { DecodePlan, Sink } from '../src/base/sqlite/decode-plan.js';
import { RowScanner } from '../src/base/sqlite/row-scanner.js';
import { UserError } from '../src/base/user-error.js';
import { capturePath } from '../src/testing/captures.js';
import { insert, makeDatabase } from './small-exports.js';

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 60);
const SEED = Number(process.env.FUZZ_SEED ?? 20261118);

const sourceOf = (bytes: Uint8Array) => ({
  size: bytes.length,
  read(into: Uint8Array, position: number) {
    const part = bytes.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  },
});

const storages: readonly Storage[] = ['f64', 'i32', 'u32', 'u8', 'i16', 'i8'];

/** Every kind of column takes its turn; `turn` says with which. */
function planFor({ columns, rowIdColumn }: SqliteTable, rows: number, turn: number): DecodePlan {
  const sinks = columns.map((column, c): Sink | undefined => {
    if (/^global/.test(column)) {
      const ids = () => new Int32Array(rows);
      return (turn + c) % 2 === 0
        ? { kind: 'compact-id' }
        : { kind: 'global-id', machine: ids(), pid: ids(), tid: ids() };
    }
    const kind = (turn + c) % (storages.length + 3);
    if (kind === storages.length) return { kind: 'compact' };
    if (kind === storages.length + 1) return { kind: 'compact', isReal: true };
    if (kind > storages.length) return undefined;
    const storage = storages[kind];
    return { kind: 'number', into: allocate(storage, rows), missing: missingValue(storage) };
  });
  return { sinks, rowIdColumn };
}

const cellsOf = (plan: DecodePlan): AnyArray[] =>
  plan.sinks.flatMap(sink => {
    if (sink?.kind === 'number') return [sink.into];
    return sink?.kind === 'global-id' ? [sink.machine, sink.pid, sink.tid] : [];
  });

/** What one way reads of all tables; undefined where the file says nothing any more. */
function readAll(bytes: Uint8Array, turn: number, mayScan: boolean) {
  try {
    const database = new SqliteDatabase(sourceOf(bytes));
    return [...database.tables].map(([name, table]) => {
      const leaves = database.leaves(table);
      const plan = planFor(table, leaves.rows, turn);
      const decoded = decodeLeaves(database.pages, leaves, plan, 0, leaves.pages.length, mayScan);
      const parts = [...decoded.parts].sort((a, b) => a.first - b.first);
      const whole = compactPlaces(plan).map((_, place) => wholeColumn(parts, place, leaves.rows));
      return { name, cells: cellsOf(plan), whole, ...decoded, parts: undefined };
    });
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return Math.floor(((state >>> 8) / 2 ** 24) * below);
  };
}

const exported = gunzipSync(fs.readFileSync(capturePath('eager')));

test('the scanner takes part', () => {
  const database = new SqliteDatabase(sourceOf(exported));
  const table = database.tables.get('CUPTI_ACTIVITY_KIND_KERNEL')!;
  const leaves = database.leaves(table);
  const scanner = RowScanner.for(database.pages, planFor(table, leaves.rows, 1))!;
  for (let leaf = 0; leaf < leaves.pages.length; leaf++)
    assert.ok(scanner.page(leaves, leaf), `leaf ${leaf}`);
});

test('sound files', async () => {
  const values = [
    0,
    1,
    -1,
    127,
    -129,
    40000,
    -(2 ** 31),
    2 ** 31,
    2 ** 32 - 1,
    2 ** 33,
    -(2 ** 40),
    2 ** 53 + 2,
  ];
  const made = await makeDatabase(1024, database => {
    database.run('CREATE TABLE T (a INT, globalTid INT, b REAL, c TEXT, d INT)');
    const rows = Array.from({ length: 400 }, (_, i) => {
      const at = (step: number) => values[(i * step) % values.length];
      return [at(1), i % 7 === 0 ? null : at(5), i % 3 === 0 ? 0.5 : at(2), 'x'.repeat(i % 90), at(3)];
    });
    insert(database, 'T', rows);
    database.run('ALTER TABLE T ADD COLUMN later INT');
  });
  for (const bytes of [made, exported])
    for (let turn = 0; turn < 9; turn++)
      assert.deepEqual(readAll(bytes, turn, true), readAll(bytes, turn, false), `turn ${turn}`);
});

test('damaged files', () => {
  const random = randomFrom(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = Uint8Array.from(exported);
    for (let change = 1 + random(40); change > 0; change--) {
      const at = 100 + random(bytes.length - 100);
      bytes[at] = random(3) === 0 ? random(256) : bytes[at] ^ (1 << random(8));
    }
    assert.deepEqual(
      readAll(bytes, round, true),
      readAll(bytes, round, false),
      `seed ${SEED}, round ${round}`,
    );
  }
});
