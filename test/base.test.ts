import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerBound, upperBound } from '../src/base/bisect.js';
import { GrowingColumn } from '../src/base/growing-column.js';
import { orderBy } from '../src/base/order.js';
import { parseCreateTable } from '../src/base/sqlite/database.js';
import { StringTable } from '../src/base/string-table.js';
import { TupleIndex } from '../src/base/tuple-index.js';
import { formatBytes, formatCount, formatDuration } from '../src/base/units.js';
import { timeWindow } from '../src/cli/option-kinds.js';
import { medianOf, summarize } from '../src/stats/summary.js';

/** Small, seeded, good enough for tests. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

test('median and deviation agree with sorting, also for runs of equal values', () => {
  const next = random(1);
  for (let round = 0; round < 300; round++) {
    const count = 1 + Math.floor(next() * 50);
    const values = Float64Array.from({ length: count }, () =>
      Math.floor(next() * (round % 3 === 0 ? 3 : 1000)),
    );
    const sorted = values.slice().sort();
    const median = count % 2 ? sorted[count >> 1] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    const mean = sorted.reduce((a, b) => a + b, 0) / count;
    const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const summary = summarize(values.slice());
    assert.equal(medianOf(values.slice()), median);
    assert.equal(summary.median, median);
    assert.equal(summary.min, sorted[0]);
    assert.equal(summary.max, sorted[count - 1]);
    assert.ok(Math.abs(summary.stddev - (count > 1 ? Math.sqrt(squares / (count - 1)) : 0)) < 1e-9);
  }
});

test('ordering is stable and complete', () => {
  const next = random(7);
  for (let round = 0; round < 200; round++) {
    const keys = Float64Array.from({ length: Math.floor(next() * 60) }, () => Math.floor(next() * 10));
    const order = Array.from(orderBy(keys));
    const expected = Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b] || a - b);
    assert.deepEqual(order, expected);
  }
});

test('strings are interned once, as bytes or as text, and survive growing', () => {
  const table = new StringTable();
  const ids = Array.from({ length: 5000 }, (_, i) => table.intern(`name ${i} é`));
  assert.equal(new Set(ids).size, 5000);
  ids.forEach((id, i) => {
    assert.equal(table.text(id), `name ${i} é`);
  });
  const bytes = new TextEncoder().encode('xxname 77 éyy');
  assert.equal(table.internBytes(bytes, 2, bytes.length - 2), ids[77]);
  assert.equal(table.find('name 4999 é'), ids[4999]);
  assert.equal(table.find('never seen'), -1);
  assert.equal(table.intern('seen now'), 5000);
  const { bytes: packed, ends } = table.pack();
  assert.equal(StringTable.unpack(packed, ends).text(ids[4321]), 'name 4321 é');
});

test('growing columns hand over exactly what was pushed', () => {
  const column = new GrowingColumn('i32');
  for (let i = 0; i < 200_000; i++) column.push(i - 500);
  const cells = column.finishAll();
  assert.equal(cells.length, 200_000);
  assert.ok(cells.every((value, row) => value === row - 500));
  const late = new GrowingColumn('i32');
  for (const value of [-1, -1, 7]) late.push(value);
  assert.deepEqual(Array.from(late.finish()!), [-1, -1, 7]);
  const missing = new GrowingColumn('i32');
  missing.push(-1);
  assert.deepEqual(Array.from(missing.finishAll()), [-1]);
  assert.equal(missing.finish(), undefined);
});

test('tuples are numbered as they come, however many', () => {
  const index = new TupleIndex();
  const seen = new Map<string, number>();
  const next = random(3);
  for (let i = 0; i < 20_000; i++) {
    const tuple = [0, 0, 0, 0].map(() => Math.floor(next() * 9) - 1) as [number, number, number, number];
    const key = tuple.join();
    if (!seen.has(key)) seen.set(key, seen.size);
    assert.equal(index.intern(...tuple), seen.get(key));
  }
});

test('bounds', () => {
  const values = [1, 3, 3, 7];
  assert.deepEqual(
    [lowerBound(values, 3), upperBound(values, 3), lowerBound(values, 9), lowerBound(values, 0)],
    [1, 3, 4, 0],
  );
});

test('numbers for people', () => {
  assert.deepEqual([0, 999, 1240, 63_800, 1_240_000, 2.5e9, 200e9, 7.5e12].map(formatDuration), [
    '0 ns',
    '999 ns',
    '1.24 µs',
    '63.8 µs',
    '1.24 ms',
    '2.50 s',
    '3 min 20 s',
    '2 h 5 min',
  ]);
  assert.deepEqual([512, 1500, 2.4e9, 150109880320].map(formatBytes), [
    '512 B',
    '1.50 kB',
    '2.40 GB',
    '150 GB',
  ]);
  assert.equal(formatCount(1234567.5), '1,234,567.5');
});

test('time windows', () => {
  assert.deepEqual(timeWindow.read('1.2s-1500ms', '--time'), { fromNs: 1.2e9, toNs: 1.5e9 });
  assert.deepEqual(timeWindow.read('-5us-10', '--time'), { fromNs: -5000, toNs: 10 });
  assert.deepEqual(timeWindow.read('3ms-', '--time'), { fromNs: 3e6, toNs: Infinity });
  for (const bad of ['', 'x', '5-1', '1s', '1h-2h'])
    assert.throws(() => timeWindow.read(bad, '--time'), { code: 'usage' });
});

test('CREATE TABLE as exports write it: comments, quotes, keys', () => {
  const sql = `CREATE TABLE "T" (
    id INTEGER NOT NULL PRIMARY KEY, -- the id, really
    "end" INTEGER, [odd name] TEXT /* , not a column */, price DECIMAL(10, 2) DEFAULT 1,
    FOREIGN KEY (id) REFERENCES other(id))`;
  assert.deepEqual(parseCreateTable(sql), { columns: ['id', 'end', 'odd name', 'price'], rowIdColumn: 0 });
  assert.equal(parseCreateTable('CREATE TABLE t (id INT PRIMARY KEY, b)').rowIdColumn, -1);
});
