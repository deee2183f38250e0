/** Questions that could take any amount of memory are asked in a process that can be ended; all others are not. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { askGuarded, needsGuard } from '../src/cli/sql/guarded-sql.js';

test('a question that builds texts needs it', () => {
  for (const question of [
    "SELECT length(repeat('x', 4000000000))",
    "SELECT LPAD ('x', 2000000000, 'y') FROM kernels",
    "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT * FROM t",
    "SELECT string_agg(name, ',') FROM kernels",
  ])
    assert.ok(needsGuard(question), question);
  for (const question of [
    'SELECT family, sum(durationNs) FROM kernels GROUP BY ALL',
    'SELECT repeated, padding, formatted FROM steps',
  ])
    assert.ok(!needsGuard(question), question);
});

const needsProc = {
  skip: existsSync('/proc/self/statm') ? false : 'memory of a process is seen on Linux alone',
};

test('too much memory ends the process, and nothing else does', needsProc, async () => {
  const hungry = ['-e', 'globalThis.kept = Buffer.alloc(6e8, 1); setInterval(() => {}, 1000)'];
  await assert.rejects(
    askGuarded(60_000, 3e8, hungry),
    (error: unknown) => error instanceof UserError && error.code === 'too-large',
  );
  assert.equal(await askGuarded(60_000, 3e8, ['-e', 'process.exit(8)']), 8);
});
