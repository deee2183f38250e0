/** The map step as schedulers call it, a folder that is followed, and what can be wrong with a lake and its disk. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { chunksOf } from '../src/fleet/map-job.js';
import { projectRoot } from '../src/testing/captures.js';
import { writeDrawnRun } from '../src/testing/drawn-fleet.js';
import { lacks } from '../src/testing/needs.js';
import { lakeContent, partitionCount } from './lake-content.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), 'stepscope-fleet-jobs-')));
const at = (...names: string[]) => path.join(folder, ...names);
const bin = path.join(projectRoot, 'bin/stepscope');
let files: string[];
let content: Awaited<ReturnType<typeof lakeContent>>;

before(async () => {
  files = writeDrawnRun(at('a b'), {
    ...{ name: 'run', ranks: 4, steps: 12, startedAt: 1_790_000_000, requests: 3 },
    gemmUs: rank => 100 + rank,
  });
  assert.equal((await runStepscope(['fleet', 'map', ...files, '--out', at('local')])).status, 0);
  content = await lakeContent(at('local'));
  assert.equal(Object.keys(content).length, 4 * 8);
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

test('chunks have about equally many bytes, and every file once', () => {
  const sizes = [900, 10, 400, 300, 200, 5, 80, 500];
  const given = sizes.map((bytes, i) => ({ path: `/f${i}`, bytes, mtimeMs: 0 }));
  const chunks = chunksOf(given, 800);
  const sums = chunks.map(own => own.reduce((sum, { bytes }) => sum + bytes, 0));
  assert.equal(chunks.length, 3);
  assert.deepEqual(
    chunks
      .flat()
      .map(file => file.path)
      .sort(),
    given.map(file => file.path).sort(),
  );
  assert.ok(Math.max(...sums) <= 900 && Math.min(...sums) >= 700, sums.join());
  assert.equal(chunksOf(given, 1).length, given.length);
  assert.equal(chunksOf(given.map(file => ({ ...file, bytes: 0 }))).length, 1);
});

test('the pods of the manifest fill the lake', { skip: lacks('shell') }, async () => {
  const lake = at('k8s lake');
  const sizes = files.reduce((sum, file) => sum + fs.statSync(file).size, 0);
  const command = `${process.execPath} ${bin}`;
  const { out, err, status } = await runStepscope([
    ...['fleet', 'map', at('a b'), '--out', lake, '--engine', 'k8s', '--image', 'registry/stepscope:1'],
    ...['--claim', `profiles:${folder}`, '--command', command, '--label', 'model=Llama 3', '--json'],
    ...['--chunk', String(sizes / 2 / 1e9)],
  ]);
  assert.equal(status, 0, err);
  const job = answerIn(out);
  const manifest = parse(fs.readFileSync(job.manifest, 'utf8'));
  const { completions, completionMode, template } = manifest.spec;
  assert.deepEqual([completionMode, completions, job.tasks, job.files], ['Indexed', 2, 2, 4]);
  const [container] = template.spec.containers;
  assert.deepEqual(container.volumeMounts[0].mountPath, folder);
  // As the kubelet would, in whatever order, and one of them twice.
  const [program, ...args] = container.command as string[];
  for (const index of ['1', '0', '1'])
    execFileSync(program, args, { env: { ...process.env, JOB_COMPLETION_INDEX: index } });
  const found = await lakeContent(lake);
  assert.deepEqual(Object.keys(found), Object.keys(content));
  const [row] = Object.entries(found).find(([name]) => name.endsWith('files.parquet'))![1];
  assert.deepEqual([row.model, row.labels], ['Llama 3', '{"model":"Llama 3"}']);
  const again = await runStepscope([
    ...[
      'fleet',
      'map',
      at('a b'),
      '--out',
      lake,
      '--engine',
      'k8s',
      '--image',
      'x',
      '--claim',
      `c:${folder}`,
    ],
  ]);
  assert.match(again.err, /^stepscope: All 4 files are already in the lake\.\n/);
  const outside = await runStepscope([
    ...[
      'fleet',
      'map',
      at('a b'),
      '--out',
      at('x'),
      '--engine',
      'k8s',
      '--image',
      'x',
      '--claim',
      'c:/mnt/p',
    ],
  ]);
  assert.match(
    outside.err,
    /is not below \/mnt\/p, where the claim is mounted: pods would not see it\.\nMount/,
  );
});

test('make maps with the example, each file once', { skip: lacks('make') }, async () => {
  const plain = at('plain');
  fs.cpSync(at('a b'), plain, { recursive: true });
  const profiles = files.slice(0, 2).map(file => path.join(plain, path.relative(at('a b'), file)));
  const args = [
    ...['-f', path.join(projectRoot, 'docs/examples/fleet.mk'), '-j2', `PROFILES=${profiles.join(' ')}`],
    ...[`STEPSCOPE=${process.execPath} ${bin}`, `LAKE=${at('make-lake')}`],
  ];
  const made = spawnSync('make', args, { cwd: folder, encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  assert.equal(partitionCount(at('make-lake')), 2);
  assert.equal(answerIn(fs.readFileSync(at('fleet-report.json'), 'utf8')).ranks.length, 2);
  assert.match(spawnSync('make', args, { cwd: folder, encoding: 'utf8' }).stdout, /up to date/);
});

test('a folder is followed: new files are mapped when they stopped growing', async () => {
  fs.mkdirSync(at('watched/night'), { recursive: true });
  const args = [bin, 'fleet', 'watch', at('watched'), '--out', at('watch-lake'), '--every', '200ms'];
  const child = spawn(process.execPath, args);
  let [out, err] = ['', ''];
  child.stdout.on('data', data => (out += data));
  child.stderr.on('data', data => (err += data));
  const until = async (holds: () => boolean) => {
    for (let i = 0; i < 150 && !holds(); i++) await new Promise(resolve => setTimeout(resolve, 100));
    assert.ok(holds(), out + err);
  };
  const whole = fs.readFileSync(files[0]);
  const target = at('watched/night/trace_rank0.json');
  for (let part = 0; part < 5; part++) {
    fs.appendFileSync(target, whole.subarray((part * whole.length) / 5, ((part + 1) * whole.length) / 5));
    await new Promise(resolve => setTimeout(resolve, 60));
  }
  fs.writeFileSync(at('watched/night/broken_rank1.json'), whole.subarray(0, 500));
  await until(() => partitionCount(at('watch-lake')) === 1 && /broken: /.test(err));
  child.kill('SIGINT');
  const [status] = await once(child, 'exit');
  assert.equal(status, 0);
  const once2 = await runStepscope(['fleet', 'watch', at('watched'), '--out', at('watch-lake'), '--once']);
  assert.deepEqual([once2.status, once2.out], [0, '0 mapped, 1 already in the lake\n']);
});

/** Two lines, and nothing of what was asked for is done. */
async function refuses(args: readonly string[], error: RegExp, status: number): Promise<void> {
  const answer = await runStepscope(['fleet', ...args]);
  assert.match(answer.err, error);
  assert.equal(answer.err.trimEnd().split('\n').length, 2, answer.err);
  assert.equal(answer.status, status);
}

test('what is wrong with a lake is said in two lines', async () => {
  const [file] = files;
  await refuses(['map', file], /^stepscope: No lake was given\./, 2);
  await refuses(['map', '--out', at('new')], /^stepscope: No profile was given\./, 2);
  await refuses(['map', at('absent.json'), '--out', at('new')], /absent\.json does not exist\./, 3);
  await refuses(['map', file, '--out', at('a b')], /exists and is not a lake\.\nGive --out a new folder/, 2);
  await refuses(['map', file, '--out', at('new'), '--label', 'x'], /"x" is not a label\./, 2);
  await refuses(['map', file, '--out', at('new'), '--engine', 'k8s'], /--engine k8s needs --image\./, 2);
  await refuses(['report', at('a b')], /is not a lake\.\nMake one with: stepscope fleet map/, 2);
  await refuses(['report', at('none')], /none does not exist\./, 3);
  await refuses(['report'], /No lake was given\./, 2);
  await refuses(['watch', file, '--out', at('new')], /is not a folder\./, 3);
  assert.ok(!fs.existsSync(at('new')));
  const lake = at('versions');
  fs.cpSync(at('local'), lake, { recursive: true });
  for (const [format, hint] of [
    [0, /lake of format 0; this version reads and writes format 1\.\nMap the files again into a new folder/],
    [2, /lake of format 2; .*\nUse the version of Stepscope that wrote it, or a newer one/],
  ] as const) {
    fs.writeFileSync(path.join(lake, '_lake.json'), JSON.stringify({ schema: 'stepscope-lake', format }));
    await refuses(['report', lake], hint, 2);
    await refuses(['map', file, '--out', lake], hint, 2);
  }
  assert.deepEqual(await lakeContent(lake), content);
  const damaged = at('damaged');
  fs.cpSync(at('local'), damaged, { recursive: true });
  const [table] = Object.keys(content).filter(name => name.endsWith('steps.parquet'));
  fs.truncateSync(path.join(damaged, table), 100);
  await refuses(
    ['report', damaged],
    /A table of .* cannot be read: .*steps\.parquet.*\nRemove that partition/,
    5,
  );
});

test('an empty lake is reported as such', async () => {
  const lake = at('empty');
  fs.mkdirSync(at('not-a-profile'));
  fs.writeFileSync(at('not-a-profile/x.json'), '[1');
  assert.equal((await runStepscope(['fleet', 'map', at('not-a-profile/x.json'), '--out', lake])).status, 0);
  const { out, status } = await runStepscope(['fleet', 'report', lake]);
  assert.equal(status, 0);
  assert.match(out, /The lake has no run with steps\./);
  assert.match(out, /1 file could not be mapped/);
});

test('a full disk stops the map in two lines; with room the same command completes it', {
  skip: lacks('mount'),
}, async () => {
  const script = `
    set -e
    mkdir -p "$1/disk" && mount -t tmpfs -o size=$2 none "$1/disk"
    shift 2
    lake="$1"; shift
    status=0; "$@" || status=$?
    echo "status $status"
    mount -o remount,size=50m none "$(dirname "$lake")"
    "$@" > /dev/null
    cp -r "$lake" "$(dirname "$lake")-copy"`;
  const lake = at('disk/lake');
  const map = [process.execPath, bin, 'fleet', 'map', ...files, '--out', lake, '--workers', '1'];
  const run = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', folder, '90k', lake, ...map];
  const { stdout, stderr, status } = spawnSync('unshare', run, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /status 10/);
  assert.match(
    stderr,
    /^stepscope: ENOSPC: no space left on device, .*\.\nFree some disk space, or write to another disk\.\n$/,
  );
  assert.deepEqual(await lakeContent(at('disk-copy')), content);
  assert.deepEqual(fs.readdirSync(at('disk-copy/_tmp')), []);
});

test('without rights the error names the folder', { skip: lacks('mount') }, () => {
  // Root may do everything: it has to give that up first.
  fs.mkdirSync(at('closed'), { mode: 0o555 });
  const before =
    process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all'] : ['env'];
  const args = [
    ...before.slice(1),
    process.execPath,
    bin,
    'fleet',
    'map',
    files[0],
    '--out',
    at('closed/lake'),
  ];
  const { stderr, status } = spawnSync(before[0], args, { encoding: 'utf8' });
  assert.match(
    stderr,
    /^stepscope: EACCES: permission denied, mkdir .*closed\/lake.*\nCheck the permissions/,
  );
  assert.equal(status, 9);
});

test('without DuckDB the report says how to get it, and mapping goes on', async () => {
  const hook = at('hook.mjs');
  fs.writeFileSync(
    hook,
    `import { register } from 'node:module';
     register('data:text/javascript,' + encodeURIComponent(\`export async function resolve(name, context, next) {
       if (name.startsWith('@duckdb')) throw Object.assign(new Error('absent'), { code: 'ERR_MODULE_NOT_FOUND' });
       return next(name, context);
     }\`));`,
  );
  const call = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', hook, bin, 'fleet', ...args], { encoding: 'utf8' });
  assert.equal(call('map', files[0], '--out', at('no-duckdb')).status, 0);
  const { stderr, status } = call('report', at('no-duckdb'));
  assert.match(
    stderr,
    /^stepscope: DuckDB, which reads the lake, is not installed .*\nInstall it next to stepscope: npm install @duckdb\/node-api\./,
  );
  assert.equal(status, 3);
});
