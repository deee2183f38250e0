/** SQL over profiles and lakes: the sums of the other commands, the tables as documented, and nothing but questions. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { tableFromIPC } from '@uwdata/flechette';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parquetReadObjects } from 'hyparquet';
import { completions } from '../src/cli/sql/sql-prompt.js';
import { openProfile } from '../src/import/open.js';
import { SqlSession } from '../src/sql/sql-session.js';
import { profileSource, profileTables } from '../src/sql/tables.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { assertSameText } from '../src/testing/golden.js';
import { answerIn, runStepscope } from './run-stepscope.js';
import { sqlPage } from './sql-page.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-sql-'));
const inFolder = (name: string) => path.join(folder, name);
const eager = capturePath('eager');
const bounds = { rows: 1000, bytes: 1e6, timeMs: 20_000 };
let session: SqlSession;

before(async () => {
  session = await SqlSession.open(
    profileSource(tables => openProfile([eager], { tables }), {}),
    '200MB',
  );
});
after(() => {
  session.close();
  rmSync(folder, { recursive: true });
});

const rows = async (sql: string) => (await session.query(sql, bounds)).rows;

test('docs/sql.md lists the tables that there are', () => {
  assertSameText(path.join(projectRoot, 'docs/sql.md'), sqlPage());
  const names = profileTables.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  assert.deepEqual(names, [...new Set(names)]);
  for (const { name, columns } of profileTables) {
    const own = columns.map(column => column.name.toLowerCase());
    assert.deepEqual(own, [...new Set(own)], name);
  }
});

test('sums are those of stats and of every analysis', async () => {
  const stats = answerIn(
    (await runStepscope(['stats', eager, '-r', 'cuda_gpu_kern_sum,cuda_api_sum', '--json'])).out,
  );
  const [kernels, calls] = stats.reports.map((report: { rows: Record<string, number>[] }) => report.rows);
  const total = (of: readonly Record<string, number>[], name: string) =>
    of.reduce((sum, row) => sum + row[name], 0);
  assert.deepEqual(await rows('SELECT sum(durationNs), count(*) FROM kernels'), [
    [total(kernels, 'Total Time (ns)'), total(kernels, 'Instances')],
  ]);
  assert.deepEqual(await rows('SELECT sum(durationNs), count(*) FROM api'), [
    [total(calls, 'Total Time (ns)'), total(calls, 'Num Calls')],
  ]);
  const ids = [
    'iterations',
    'step-budget',
    'kernel-families',
    'idle-gaps',
    'top-kernels',
    'layers',
    'findings',
  ];
  const { analyses } = answerIn((await runStepscope(['analyze', eager, '--only', ids.join(), '--json'])).out);
  for (const id of ids) {
    const expected: Record<string, unknown>[] = analyses[id].rows;
    const answer = await session.query(`SELECT * FROM ${id.replaceAll('-', '_')}`, bounds);
    assert.equal(answer.rows.length, expected.length, id);
    for (const [r, row] of answer.rows.entries())
      for (const [c, { name, type }] of answer.columns.entries()) {
        const said = expected[r][name] ?? null;
        const isList = type === 'VARCHAR' && typeof said === 'object' && said !== null;
        assert.deepEqual(row[c], isList ? JSON.stringify(said) : said, `${id} ${r} ${name}`);
      }
  }
  // By step, as analyses attribute kernels.
  assert.deepEqual(
    await rows(
      'SELECT iteration, count(*) FROM kernels JOIN kernel_steps ON kernelRow = row GROUP BY ALL ORDER BY 1',
    ),
    analyses.iterations.rows.map((row: { iteration: number; kernels: number }) => [
      row.iteration,
      row.kernels,
    ]),
  );
  assert.deepEqual(
    await rows('SELECT family FROM kernels GROUP BY ALL ORDER BY sum(durationNs) DESC LIMIT 1'),
    [['elementwise']],
  );
});

test('nothing but questions: no files, no other databases, no settings, and bounds', async () => {
  const refused = [
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/etc/*')",
    `COPY kernels TO '${inFolder('stolen.csv')}'`,
    `COPY (SELECT 1) TO '${inFolder('stolen.parquet')}'`,
    `EXPORT DATABASE '${inFolder('stolen')}'`,
    `ATTACH '${inFolder('other.db')}'`,
    "ATTACH ':memory:' AS other",
    'INSTALL httpfs',
    'LOAD json',
    "SET memory_limit = '100GB'",
    'SET enable_external_access = true',
    'RESET lock_configuration',
    'PRAGMA enable_profiling',
    'CREATE TABLE mine (a INTEGER)',
    'DROP VIEW kernels',
    'DELETE FROM kernels',
    'CALL force_checkpoint()',
    'SELECT 1; SELECT 2',
    'SELECT * FROM duckdb_secrets(); DROP VIEW kernels',
    '',
    'SELEC 1',
    'SELECT nothing FROM kernels',
  ];
  await rows('SELECT count(*) FROM kernels');
  for (const sql of refused) await assert.rejects(session.query(sql, bounds), { name: 'UserError' }, sql);
  assert.deepEqual(readdirSync(folder), []);
  // Far more rows than anyone can take, more time than there is, more memory than there is.
  const many = await session.query('SELECT * FROM range(10000000000)', bounds);
  assert.deepEqual([many.rows.length, many.complete], [1000, false]);
  const wide = await session.query("SELECT repeat('x', 2000) FROM range(100000)", bounds);
  assert.ok(!wide.complete && wide.rows.length <= 500);
  await assert.rejects(
    session.query('SELECT count(*) FROM range(1000000000) a, range(1000) b WHERE a.range % 7 = b.range', {
      ...bounds,
      timeMs: 100,
    }),
    { code: 'too-large' },
  );
  await assert.rejects(session.query('SELECT list(range) FROM (SELECT * FROM range(30000000))', bounds), {
    code: 'too-large',
  });
  // It lives, and has lost nothing.
  assert.deepEqual(await rows('SELECT count(*) > 5000 FROM kernels'), [[true]]);
  await assert.rejects(session.query('SELECT * FROM gil', bounds), { code: 'not-recorded' });
  await assert.rejects(session.query('SELECT * FROM gc', bounds), /not recorded: Python garbage collections/);
});

test('answers as Arrow and Parquet, a lake, and the same bytes twice', async () => {
  const ask = (...args: string[]) => runStepscope(['sql', ...args]);
  const question =
    'SELECT iteration, phase, wallNs, selected, idleByCause FROM steps JOIN budget USING (iteration, phase, wallNs)';
  const arrow = inFolder('steps.arrow');
  assert.equal((await ask(question, eager, '--arrow', arrow)).status, 0);
  const table = tableFromIPC(readFileSync(arrow), { useBigInt: false }).toArray() as Record<
    string,
    unknown
  >[];
  const json = answerIn((await ask(question, eager, '--json')).out);
  const expected = json.rows.map((row: Record<string, unknown>) => ({
    ...row,
    idleByCause: JSON.stringify(row.idleByCause),
  }));
  assert.ok(expected.length === 5);
  assert.deepEqual(
    table.map(row => ({ ...row })),
    expected,
  );
  assert.equal((await ask(question, eager, '--parquet', inFolder('one'))).status, 0);
  const file = readFileSync(inFolder('one/result.parquet'));
  const read = await parquetReadObjects({
    file: file.buffer.slice(file.byteOffset, file.byteOffset + file.length),
  });
  assert.deepEqual(
    read.map(row => ({ ...row, iteration: Number(row.iteration) })),
    expected,
  );
  const lake = inFolder('lake');
  await runStepscope(['fleet', 'map', eager, '--out', lake, '--workers', '1']);
  const budget = answerIn((await runStepscope(['analyze', eager, '--only', 'step-budget', '--json'])).out)
    .analyses['step-budget'].rows;
  const sum = await ask('SELECT sum(idleNs) AS ns, count(*) AS n FROM steps', lake, '--json');
  assert.deepEqual(answerIn(sum.out).rows, [
    { ns: budget.reduce((all: number, row: { idleNs: number }) => all + row.idleNs, 0), n: budget.length },
  ]);
  const [a, b] = [await ask('FROM families', eager, '--json'), await ask('FROM families', eager, '--json')];
  assert.equal(a.out, b.out);
  const wrong = await ask('SELECT 1', lake, eager);
  assert.deepEqual([wrong.status, wrong.out], [2, '']);
  writeFileSync(inFolder('SELECT 1'), '');
  assert.equal((await ask('SELECT 1 AS x')).status, 2);
  assert.match(
    (await ask('--tables')).out,
    /^kernels: .*\n {2}row, startNs, endNs, device, stream, pid, rank/,
  );
});

test('tables as files: what was written, what is missing, and the same bytes twice', async () => {
  const write = (...args: string[]) =>
    runStepscope(['sql', eager, '--only', 'steps,kernels,gil', '--json', ...args]);
  const written = await write('--arrow', inFolder('a'));
  assert.equal(written.status, 0, written.err);
  const validate = new Ajv2020({ strict: false }).compile(
    JSON.parse(readFileSync(path.join(projectRoot, 'docs/schemas/tables.schema.json'), 'utf8')),
  );
  assert.ok(validate(JSON.parse(written.out)), JSON.stringify(validate.errors));
  const { tables, clock } = answerIn(written.out);
  assert.match(clock.originNs, /^\d{19}$/);
  const said = (table: Record<string, unknown>) => [table.name, table.status, table.rows ?? table.what];
  const [[count]] = await rows('SELECT count(*) FROM kernels');
  assert.deepEqual(tables.map(said), [
    ['iterations', 'ok', 5],
    ['kernels', 'ok', count],
    ['gil', 'not-recorded', 'the GIL'],
  ]);
  assert.deepEqual(readdirSync(inFolder('a')), ['iterations.arrow', 'kernels.arrow']);
  const typeOf = (name: string) =>
    tables[1].columns.find((column: { name: string }) => column.name === name).type;
  assert.deepEqual(['startNs', 'rank', 'name', 'occupancyPercent'].map(typeOf), [
    ...['int64', 'int64', 'dictionary<string>', 'float64'],
  ]);
  await write('--arrow', inFolder('b'));
  for (const name of readdirSync(inFolder('a')))
    assert.ok(
      readFileSync(path.join(inFolder('a'), name)).equals(readFileSync(path.join(inFolder('b'), name))),
    );
  assert.equal((await write('--parquet', inFolder('p'))).status, 0);
  const file = readFileSync(inFolder('p/kernels.parquet'));
  const read = await parquetReadObjects({
    file: file.buffer.slice(file.byteOffset, file.byteOffset + file.length),
  });
  const [[ns]] = await rows('SELECT sum(durationNs) FROM kernels');
  assert.deepEqual([read.length, read.reduce((all, row) => all + row.durationNs, 0)], [count, ns]);
  const again = await write('--arrow', inFolder('a'));
  assert.deepEqual([again.status, again.err.includes('already exists')], [2, true]);
  const unknown = await runStepscope(['sql', eager, '--arrow', inFolder('c'), '--only', 'kernel']);
  assert.deepEqual([unknown.status, unknown.err.split('\n').length], [2, 3]);
  assert.match(unknown.err, /no table "kernel".*\nDid you mean kernels\?/);
});

test('the prompt completes columns of tables that are named, then tables', () => {
  assert.deepEqual(completions(profileTables, 'SELECT sum(dura'), [[], 'dura']);
  assert.deepEqual(completions(profileTables, 'FROM kernels SELECT sum(dura'), [['durationNs'], 'dura']);
  assert.ok(completions(profileTables, 'SELECT * FROM kern')[0].includes('kernel_steps'));
  assert.deepEqual(completions(profileTables, '.sch'), [['.schema'], '.sch']);
});
