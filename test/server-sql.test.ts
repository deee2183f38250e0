/** SQL over what is selected on the page: the same events as the panel counts, and nothing else of this machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableBlock } from '../src/analyze/block.js';
import { openProfile } from '../src/import/open.js';
import { SelectionSql } from '../src/server/selection-sql.js';
import { capturePath } from '../src/testing/captures.js';
import { viewProfile } from '../src/timeline/view-profile.js';
import type { StateDocument } from '../src/timeline/wire.js';
import { ask, startSmall } from './small-server.js';

const view = viewProfile(await openProfile([capturePath('gc')]), {}, 'gc');
const { steps } = view.timeline();
const range = { fromNs: steps.startNs[1], toNs: steps.endNs[2] };
const inStep = `from=${range.fromNs}&to=${range.toNs}`;

test('the table holds the events that the panel counts', async t => {
  const { port } = await startSmall(t, { view, sql: new SelectionSql() });
  const answer = async (sql: string, selection: string) => {
    const { status, text } = await ask(
      port,
      `/api/profiles/1/selection/sql?${selection}&sql=${encodeURIComponent(sql)}`,
    );
    assert.equal(status, 200, text);
    const [{ columns }] = JSON.parse(text).blocks as TableBlock[];
    return columns.map(({ values }) => Array.from<string | number | null>(values));
  };
  const sums =
    "SELECT count(*), sum(insideNs), min(durationNs), max(durationNs) FROM selection WHERE kind = 'gpu'";
  for (const query of ['', 'family:gemm']) {
    const found = view.selection({ ...range, tracks: [], query, of: 'gpu' });
    const [shortest, longest] = [found.percentiles[0].ns, found.percentiles[4].ns];
    assert.deepEqual(await answer(sums, `${inStep}&q=${query}`), [
      [found.count],
      [found.totalNs],
      [shortest],
      [longest],
    ]);
    assert.ok(found.count > 10);
  }
  const [iterations] = await answer(
    `SELECT DISTINCT iteration FROM selection WHERE kind = 'idle' AND startNs >= ${range.fromNs} ORDER BY 1`,
    inStep,
  );
  assert.deepEqual(iterations, steps.iteration.slice(1, 3));
  const [names] = await answer("SELECT DISTINCT name FROM selection WHERE category = 'GEMM'", inStep);
  assert.ok(names.length > 0 && names.every(name => view.like(String(name)) !== null));
  const { sql } = JSON.parse((await ask(port, '/api/state')).text) as StateDocument;
  const [all] = await answer(`SELECT ${sql!.map(({ name }) => name)} FROM selection LIMIT 3`, inStep);
  assert.equal(all.length, 3);
  // The whole profile is there too, and can be joined with what is selected.
  const kernels = view.lookingAt().profile.tables.kernels!.length;
  assert.deepEqual(await answer('SELECT count(*) FROM kernels', inStep), [[kernels]]);
  const joined = `SELECT count(*) FROM selection s JOIN kernels k ON k.startNs = s.startNs AND k.name = s.name
    WHERE s.kind = 'gpu' AND s.category = 'GEMM'`;
  const gemms = "SELECT count(*) FROM selection WHERE kind = 'gpu' AND category = 'GEMM'";
  assert.deepEqual(await answer(joined, inStep), await answer(gemms, inStep));
  const { sqlTables } = JSON.parse((await ask(port, '/api/state')).text) as StateDocument;
  assert.ok(sqlTables?.some(({ name, about }) => name === 'kernels' && /startNs/.test(about)));
});

test('files, changes, long questions and endless ones are rejected', async t => {
  const sql = new SelectionSql({ rows: 5, bytes: 1e6, timeMs: 300 });
  const { port } = await startSmall(t, { view, sql });
  const asked = (question: string) =>
    ask(port, `/api/profiles/1/selection/sql?${inStep}&sql=${encodeURIComponent(question)}`);
  for (const [question, message] of [
    ["SELECT * FROM read_text('/etc/passwd')", /disabled|reads no files/],
    ["ATTACH '/tmp/x.db'", /Only questions|reads no files/],
    ["COPY selection TO '/tmp/x.csv'", /Only questions|reads no files/],
    ['DROP VIEW selection', /Only questions/],
    ["SET memory_limit = '8GB'", /Only questions|settings/],
    ['SELECT 1; SELECT 2', /2 statements/],
    ['', /No SQL/],
    ['SELECT nothing FROM selection', /nothing/],
    [`SELECT '${'x'.repeat(8000)}'`, /too long/],
    [
      'SELECT count(*) FROM selection a, selection b, selection c WHERE a.name < b.name',
      /longer than 0\.3 s/,
    ],
  ] as const) {
    const { status, text } = await asked(question);
    assert.ok(status >= 400 && status < 500, `${status} ${question.slice(0, 80)}`);
    assert.match(text, message);
  }
  const cut = JSON.parse((await asked('SELECT name FROM selection')).text).blocks[0] as TableBlock;
  assert.equal(cut.rows, 5);
  assert.match(cut.advice ?? '', /There are more rows/);
});

test('without DuckDB the page is not offered SQL', async t => {
  const { port } = await startSmall(t, { view });
  assert.equal('sql' in JSON.parse((await ask(port, '/api/state')).text), false);
  const { status, text } = await ask(port, `/api/profiles/1/selection/sql?sql=SELECT+1`);
  assert.equal(status, 404);
  assert.match(text, /DuckDB is not installed/);
});
