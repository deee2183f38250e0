/** Many files: mapped into a lake once each, whatever happens meanwhile, and reported from the lake alone. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FileSummary } from '../src/fleet/file-summary.js';
import { Lake } from '../src/fleet/lake.js';
import { LAKE_FORMAT, type LakeColumn, lakeTableNames, lakeTables } from '../src/fleet/lake-tables.js';
import { partitionValue, runOfPath } from '../src/fleet/run-name.js';
import { capturePath, externalFiles, externalFolder, projectRoot } from '../src/testing/captures.js';
import { type DrawnFleetRun, drawnRankText, drawnStepUs, writeDrawnRun } from '../src/testing/drawn-fleet.js';
import { assertSameText } from '../src/testing/golden.js';
import { lacks } from '../src/testing/needs.js';
import { lakeContent, partitionCount } from './lake-content.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = fs.mkdtempSync(path.join(tmpdir(), 'stepscope-fleet-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(folder, ...names);

/** Rank 2 needs 30 µs more in every step; since night 6 every GEMM needs 60 µs more. */
const night = (number: number): DrawnFleetRun => ({
  name: `night-${number}`,
  ranks: 4,
  steps: 16,
  startedAt: 1_790_000_000 + number * 86_400,
  gemmUs: (rank, step) => (number >= 6 ? 260 : 200) + (rank === 2 ? 30 : 0) + ((step * 7 + number) % 5),
});

interface Mapped {
  readonly mapped: number;
  readonly already: number;
  readonly broken: readonly { path: string; code: string; message: string }[];
  readonly partitions: readonly { path: string; partition: string }[];
}
async function map(files: readonly string[], lake: string, ...options: string[]): Promise<Mapped> {
  const { status, out, err } = await runStepscope([
    'fleet',
    'map',
    ...files,
    '--out',
    lake,
    '--json',
    ...['--workers', '1'],
    ...options,
  ]);
  assert.equal(status, 0, err);
  return followed('fleet-map', out) as Mapped;
}
// biome-ignore lint/suspicious/noExplicitAny: a document that its schema describes
async function report(lake: string): Promise<any> {
  const { status, out, err } = await runStepscope(['fleet', 'report', lake, '--json']);
  assert.equal(status, 0, err);
  return followed('fleet-report', out);
}
const ajv = new Ajv2020({ strict: false });
function followed(schema: string, text: string): unknown {
  const file = path.join(projectRoot, 'docs/schemas', `${schema}.schema.json`);
  const validate =
    ajv.getSchema(`stepscope-${schema}-1`) ?? ajv.compile(JSON.parse(fs.readFileSync(file, 'utf8')));
  assert.ok(validate(JSON.parse(text)), JSON.stringify(validate.errors?.slice(0, 3)));
  return answerIn(text);
}

test('a lake shows the planted straggler, when the change came, and its terms', async () => {
  for (let number = 0; number < 10; number++) writeDrawnRun(at('nightly'), night(number));
  const mapped = await map([at('nightly')], at('lake'));
  assert.equal(mapped.mapped, 40);
  const found = await report(at('lake'));
  assert.equal(found.runs.length, 10);
  for (const [number, run] of found.runs.entries()) {
    const walls = Array.from({ length: 16 }, (_, step) => drawnStepUs(night(number), step) * 1000);
    // The last step has no next one to end its window; it ends with its own work.
    assert.equal(run.run, `night-${number}.trace`);
    assert.ok(Math.abs(run.wallNs - walls.reduce((a, b) => a + b) / 16) < 2500, `${run.run}: ${run.wallNs}`);
    const slow = found.ranks.filter((rank: { run: string }) => rank.run === run.run)[0];
    assert.deepEqual([slow.rank, slow.aboveMedianNs, slow.persistent], [2, 30_000, true]);
    assert.deepEqual([slow.mostly, slow.slowestShare, slow.collectiveExcessNs], ['compute', 1, 0]);
  }
  for (const { rank, collectiveExcessNs } of found.ranks)
    if (rank !== 2) assert.equal(collectiveExcessNs, 30_000);
  assert.equal(found.changes.length, 1);
  const [change] = found.changes;
  assert.deepEqual([change.lastBefore, change.firstAfter], ['night-5.trace', 'night-6.trace']);
  const gemm = change.terms[0];
  assert.deepEqual([gemm.part, change.load], ['gemm', []]);
  const sum = change.terms.reduce((total: number, term: { changeNs: number }) => total + term.changeNs, 0);
  assert.equal(sum, change.meanAfterNs - change.meanBeforeNs);
  assert.ok(Math.abs(gemm.changeNs - 60_000) < 1_000, String(gemm.changeNs));
  const printed = await runStepscope(['fleet', 'report', at('lake')]);
  const out = printed.out.replaceAll(/\s+/g, ' ');
  assert.match(
    out,
    /Decode steps are 15\.\d% slower since run night-6\.trace, mostly GEMM \(\+60\.\d µs\)\./,
  );
  assert.match(out, /medians of the runs up to night-5\.trace and from night-6\.trace on/);
  assert.match(out, /Rank 2 is the slowest most of the time in 10 runs/);
  // A long path takes several lines.
  const slowest = `stepscopeanalyze${fs.realpathSync(at('nightly/night-0/trace_rank2.json'))}`;
  assert.ok(printed.out.replaceAll(/\s+/g, '').includes(slowest));
});

test('a step budget in the lake is that of analyze, and its parts sum to the wall time', async () => {
  await map([capturePath('eager')], at('one'));
  const content = await lakeContent(at('one'));
  const rowsOf = (table: string) =>
    Object.entries(content).find(([name]) => name.endsWith(`${table}.parquet`))![1] as Record<
      string,
      never
    >[];
  const { out } = await runStepscope(['analyze', capturePath('eager'), '--only', 'step-budget', '--json']);
  const { rows } = answerIn(out).analyses['step-budget'];
  const inSteps = rows.filter((row: { iteration: number | null }) => row.iteration !== null);
  assert.deepEqual(
    rowsOf('steps').map(({ iteration, wallNs, computeNs, idleNs }) => ({
      iteration,
      wallNs,
      computeNs,
      idleNs,
    })),
    inSteps.map(({ iteration, wallNs, computeNs, idleNs }: Record<string, number>) => ({
      ...{ iteration, wallNs, computeNs, idleNs },
    })),
  );
  const wall = inSteps.reduce((sum: number, row: { wallNs: number }) => sum + row.wallNs, 0);
  for (const table of ['budget', 'kernels'])
    assert.equal(
      rowsOf(table)
        .filter(row => row.phase !== null)
        .reduce((sum, row) => sum + (row.ns as number), 0),
      wall,
      table,
    );
  assert.deepEqual(
    Object.keys(content).map(name => path.basename(name, '.parquet')),
    [...lakeTableNames].sort(),
  );
});

test('content counts once, by whatever name and however often', async () => {
  const [first] = writeDrawnRun(at('again'), { ...night(0), name: 'a' });
  const lake = at('again-lake');
  await map([first], lake);
  const before = await lakeContent(lake);
  const second = await map([first, first], lake);
  assert.deepEqual([second.mapped, second.already], [0, 1]);
  fs.mkdirSync(at('again/copy'));
  fs.copyFileSync(first, at('again/copy/other_rank0.json'));
  const copied = await map([at('again/copy')], lake);
  assert.deepEqual([copied.mapped, copied.already], [0, 1]);
  assert.match(copied.partitions[0].partition, /run=a\.trace/);
  assert.deepEqual(await lakeContent(lake), before);
  // A lost partition is made again; its record does not prevent that.
  fs.rmSync(path.join(lake, second.partitions[0].partition), { recursive: true });
  fs.utimesSync(first, 1, 1);
  assert.equal((await map([first], lake)).mapped, 1);
});

test('copies that are mapped at the same time under two names count once', () => {
  const lake = Lake.create(at('race-lake'));
  const draftOf = (run: string) => {
    const draft = path.join(lake.own('_tmp'), run);
    fs.mkdirSync(draft);
    fs.writeFileSync(path.join(draft, 'files.parquet'), run);
    return draft;
  };
  const claim = (run: string) => ({
    ...{ file: 'f'.repeat(32), path: `/${run}.json`, bytes: 1, mtimeMs: 1, summary: {} as FileSummary },
    partition: `run=${run}/rank=0/file=${'f'.repeat(32)}`,
  });
  // The first has claimed the content and not moved its partition yet when the second comes.
  const record = path.join(lake.own('_files'), `${'f'.repeat(32)}.json`);
  fs.writeFileSync(record, JSON.stringify(claim('one')));
  assert.equal(lake.commit(draftOf('two'), claim('two')).path, '/two.json');
  // Now the first goes on where it was.
  assert.equal(lake.commit(draftOf('one'), claim('one')).path, '/two.json');
  assert.deepEqual(
    lake.claims().map(({ partition }) => partition.split('/')[0]),
    ['run=two'],
  );
  assert.equal(partitionCount(at('race-lake')), 1);
});

test('a broken file is recorded and the others go on; once repaired it is in', async () => {
  const files = writeDrawnRun(at('broken'), { ...night(1), name: 'b' });
  const whole = fs.readFileSync(files[1]);
  fs.writeFileSync(files[1], whole.subarray(0, whole.length / 2));
  fs.writeFileSync(files[3], '');
  const lake = at('broken-lake');
  const mapped = await map(files, lake);
  assert.deepEqual([mapped.mapped, mapped.broken.map(({ code }) => code)], [2, ['damaged', 'not-a-profile']]);
  const found = await report(lake);
  assert.equal(found.broken.length, 2);
  assert.deepEqual(
    found.problems.map(({ kind, text }: { kind: string; text: string }) => [kind, text]),
    [['missing-ranks', '2 ranks of 4 missing (1, 3)']],
  );
  fs.writeFileSync(files[1], whole);
  const repaired = await map(files, lake);
  assert.deepEqual([repaired.mapped, repaired.already, repaired.broken.length], [1, 2, 1]);
  assert.equal((await report(lake)).broken.length, 1);
});

test('a rank given twice is counted once, and files of different runs are not compared', async () => {
  const run = { ...night(2), name: 'c' };
  const files = writeDrawnRun(at('twice'), run);
  // The same rank and time with other content: recorded twice, or named wrongly.
  fs.writeFileSync(at('twice/c/trace_rank00.json'), drawnRankText({ ...run, attentionUs: 101 }, 0));
  await map([at('twice')], at('twice-lake'));
  const found = await report(at('twice-lake'));
  assert.equal(found.files, 4);
  assert.match(found.leftOut[0].why, /^rank 0 again, over the same time/);
  assert.equal(files.length, 4);
  const other = { ...night(2), name: 'd', startedAt: night(2).startedAt + 86_400, ranks: 2, worldSize: 8 };
  const all = [...writeDrawnRun(at('mixed'), { ...run, ranks: 2 }), ...writeDrawnRun(at('mixed'), other)];
  await map(all, at('mixed-lake'), '--run', 'both');
  const mixed = await report(at('mixed-lake'));
  assert.equal(mixed.problems[0].kind, 'mixed');
  assert.match(mixed.problems[0].text, /number of ranks 2 in .* 8 in /);
  assert.deepEqual([mixed.runs[0].mixed, mixed.ranks], [true, []]);
});

test('ranks are not compared where graph blocks hide their communication', async () => {
  const capture = gunzipSync(fs.readFileSync(capturePath('graphmode')));
  fs.mkdirSync(at('blocks'));
  // The same content, packed differently: two ranks with files of their own.
  for (const level of [1, 9])
    fs.writeFileSync(at('blocks', `run_rank${level}.sqlite.gz`), gzipSync(capture, { level }));
  await map([at('blocks')], at('blocks-lake'));
  const { problems, ranks, runs } = await report(at('blocks-lake'));
  assert.deepEqual(
    problems.map(({ kind }: { kind: string }) => kind),
    ['graph-blocks'],
  );
  assert.deepEqual([ranks, runs[0].units, runs[0].spread], [[], 2, null]);
});

test('steps without numbers are compared only if times show which are the same', async () => {
  const run = { ...night(3), unnumbered: true as const };
  const clocks = { near: (rank: number) => rank * 20, far: (rank: number) => rank * 300 };
  for (const [name, clockUs] of Object.entries(clocks))
    writeDrawnRun(at('places'), { ...run, name, clockUs });
  await map([at('places')], at('places-lake'));
  const { ranks } = await report(at('places-lake'));
  const of = (name: string) => ranks.filter((rank: { run: string }) => rank.run === `${name}.trace`);
  assert.deepEqual([of('near')[0].rank, of('near')[0].slowestShare, of('near')[0].persistent], [2, 1, true]);
  assert.deepEqual(
    [of('far')[0].rank, of('far')[0].aboveMedianNs, of('far')[0].slowestShare],
    [2, 30_000, null],
  );
});

test('published ranks: time in collectives above the least is a lower bound of the waiting', {
  skip: lacks('external'),
}, async () => {
  const folderOfRanks = path.join(externalFolder, 'sglang-gptoss120b-b200-tp8');
  const files = externalFiles(/bs-1-.*-TP-[0-3]-DECODE\.trace\.json\.gz$/, folderOfRanks);
  // Half of the group: what is compared is the same four ranks.
  await map(files, at('published'));
  const { ranks } = await report(at('published'));
  const { out } = await runStepscope(['analyze', ...files, '--only', 'rank-skew', '--json']);
  const exact = new Map<number, number>(
    answerIn(out).analyses['rank-skew'].rows.map((row: { rank: number; waitingNs: number }) => [
      row.rank,
      row.waitingNs,
    ]),
  );
  assert.equal(ranks.length, 4);
  for (const { rank, collectiveExcessNs } of ranks) {
    assert.ok(
      collectiveExcessNs <= exact.get(rank)!,
      `rank ${rank}: ${collectiveExcessNs} > ${exact.get(rank)}`,
    );
    // A bound that says nothing would hold too.
    assert.ok(collectiveExcessNs > 0.1 * exact.get(rank)!, `rank ${rank}`);
  }
});

test('whatever kills a map, the next one completes the lake', async () => {
  const files = [0, 1].flatMap(number => writeDrawnRun(at('killed'), { ...night(number), steps: 60 }));
  const [lake, whole] = [at('killed-lake'), at('killed-whole')];
  const bin = path.join(projectRoot, 'bin/stepscope');
  const child = spawn(process.execPath, [bin, 'fleet', 'map', ...files, '--out', lake], { stdio: 'ignore' });
  while (partitionCount(lake) < 3 && child.exitCode === null)
    await new Promise(resolve => setTimeout(resolve, 5));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const left = partitionCount(lake);
  const resumed = await map(files, lake);
  assert.equal(resumed.mapped + resumed.already, 8);
  assert.ok(resumed.already >= Math.min(3, left), `${left} were there, ${resumed.already} were kept`);
  assert.deepEqual(fs.readdirSync(path.join(lake, '_tmp')), []);
  await map(files, whole);
  assert.deepEqual(await lakeContent(lake), await lakeContent(whole));
});

test('runs are named by folder and file, without the rank', () => {
  const cases: readonly [string, string][] = [
    ['/n/0412/decode_rank3.sqlite', '0412.decode'],
    ['/n/0412/rank3.json.gz', '0412'],
    ['/n/0412/vllm-tp8-rank3.nsys-rep', '0412.vllm-tp8'],
    ['/n/0412/trace-TP-2-DECODE.json.gz', '0412.trace-DECODE'],
    ['/n/0412/node7_4242.1730000000000.pt.trace.json', '0412'],
  ];
  for (const [file, run] of cases) assert.equal(runOfPath(file), run, file);
  assert.notEqual(partitionValue('a b'), partitionValue('a_b'));
  assert.match(partitionValue('../../x'), /^[\w.+-]+$/);
});

test('docs/lake-tables.md describes every table and column', () => {
  const rows = (columns: Readonly<Record<string, LakeColumn>>) =>
    Object.entries(columns).map(
      ([name, { type, about, optional }]) => `| ${name} | ${type}${optional ? ', or null' : ''} | ${about} |`,
    );
  const tables = lakeTableNames.map(name =>
    [`## ${name}`, '', '| column | type | meaning |', '|---|---|---|', ...rows(lakeTables[name]), ''].join(
      '\n',
    ),
  );
  const intro = `# Tables of a lake

Format ${LAKE_FORMAT}. Made from \`src/fleet/lake-tables.ts\` by its test. Each table is \`run=…/rank=…/file=…/TABLE.parquet\`; \`run\`, \`rank\` and \`file\` are in the path. Types: text is a UTF-8 string, number a double, whole a 32-bit and long a 64-bit integer, flag a boolean. Times are nanoseconds. How a lake is made: [fleet.md](fleet.md).
`;
  assertSameText(path.join(projectRoot, 'docs/lake-tables.md'), [intro, ...tables].join('\n'));
});
