/** The Slurm engine with a real Slurm: whatever happens to nodes and controller, the lake is that of the local engine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { mapLines } from '../src/capture/map-script.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { writeDrawnRun } from '../src/testing/drawn-fleet.js';
import { lacks } from '../src/testing/needs.js';
import { lakeContent, partitionCount } from './lake-content.js';
import { answerIn, runStepscope } from './run-stepscope.js';
import { SlurmCluster } from './slurm-cluster.js';

const folder = fs.mkdtempSync(path.join(tmpdir(), 'stepscope-slurm-'));
const at = (...names: string[]) => path.join(folder, ...names);
const skip = lacks('slurm');
let cluster: SlurmCluster | undefined;

before(async () => {
  if (skip) return;
  fs.mkdirSync(at('slurm'));
  cluster = await SlurmCluster.start(at('slurm'));
  for (let number = 0; number < 4; number++)
    writeDrawnRun(at('files'), {
      name: `run-${number}`,
      ranks: 4,
      steps: 60,
      startedAt: 1_790_000_000 + number * 86_400,
      gemmUs: (rank, step) => 200 + rank + (step % 3),
    });
  const corrupt = at('files/run-2/trace_rank1.json');
  fs.writeFileSync(corrupt, fs.readFileSync(corrupt).subarray(0, 9_000));
});
after(async () => {
  await cluster?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

function startMap(lake: string, ...options: string[]) {
  const bin = path.join(projectRoot, 'bin/stepscope');
  const args = [bin, 'fleet', 'map', at('files'), '--out', lake, '--engine', 'slurm', '--json', ...options];
  const child = spawn(process.execPath, args, { env: cluster!.env });
  const written = { out: '', err: '' };
  child.stdout.on('data', data => (written.out += data));
  child.stderr.on('data', data => (written.err += data));
  const ended = once(child, 'exit').then(([status]) => ({ status: status as number, ...written }));
  return { child, written, ended };
}

test('a node dies, the controller restarts, a file is corrupt: the lake is complete, and counted once', {
  skip,
}, async () => {
  const lake = at('lake');
  const bytes = fs
    .readdirSync(at('files'), { recursive: true, encoding: 'utf8' })
    .reduce((sum, name) => sum + fs.statSync(at('files', name)).size, 0);
  const { written, ended } = startMap(lake, '--chunk', String(bytes / 6 / 1e9));
  // In the middle: something is mapped, and a task of the node has just begun.
  await cluster!.until(
    () => partitionCount(lake) > 0 && cluster!.tasksOn('n2') === 0,
    'the end of a task on n2',
  );
  await cluster!.until(() => cluster!.tasksOn('n2') > 0, 'the next task on n2');
  assert.ok((await cluster!.killNode('n2')) > 0, 'the node died while a task ran on it');
  await cluster!.stopController();
  cluster!.startController();
  const { status, out, err } = await ended;
  assert.equal(status, 0, err);
  assert.match(written.err, /1 task ended without a result; submitting again/);
  const result = answerIn(out);
  assert.deepEqual([result.files, result.mapped + result.already, result.broken.length], [16, 15, 1]);
  assert.match(result.broken[0].path, /run-2\/trace_rank1\.json$/);
  const local = await runStepscope(['fleet', 'map', at('files'), '--out', at('local'), '--json']);
  assert.deepEqual(answerIn(local.out).broken, result.broken);
  assert.deepEqual(await lakeContent(lake), await lakeContent(at('local')));
  const reports = await Promise.all(
    [lake, at('local')].map(async own => {
      const { out: text } = await runStepscope(['fleet', 'report', own, '--json']);
      return { ...answerIn(text), lake: '' };
    }),
  );
  assert.deepEqual(reports[0], reports[1]);
});

test('Ctrl-C cancels the job, and keeps what is mapped', { skip }, async () => {
  const { child, ended } = startMap(at('interrupted'));
  await cluster!.until(() => cluster!.ask('squeue', '-h', '-r') !== '', 'a job');
  child.kill('SIGINT');
  const { status, err } = await ended;
  assert.equal(status, 14, err);
  assert.match(err, /Interrupted: Slurm job \d+ was cancelled\.\nWhat was mapped is in the lake/);
  await cluster!.until(() => cluster!.ask('squeue', '-h', '-r') === '', 'no job');
});

test('tasks that fail each time are an error with the last line of their log', { skip }, async () => {
  const { ended } = startMap(
    at('failing'),
    '--command',
    'sh -c "echo no such module; exit 7"',
    '--retries',
    '0',
    ...['--chunk', '1'],
  );
  const { status, err } = await ended;
  assert.equal(status, 14);
  assert.match(
    err,
    /1 task with 16 files failed 1 times; task 0 last said: no such module\.\nThe logs are in /,
  );
  const refused = await startMap(at('refused'), '--sbatch-option=--partition=nowhere').ended;
  assert.match(
    refused.err,
    /^stepscope: sbatch did not accept the job: .*partition.*\nCheck the options given with/i,
  );
});

test('the script of a capture maps its reports in a job that waits for it', { skip }, async () => {
  const home = at('captured');
  fs.mkdirSync(home);
  for (const [i, name] of ['eager', 'graph'].entries())
    fs.writeFileSync(path.join(home, `t.rank${i}.sqlite`), gunzipSync(fs.readFileSync(capturePath(name))));
  const program = path.join(home, 'stepscope');
  fs.writeFileSync(
    program,
    `#!/bin/sh\nexec ${process.execPath} ${path.join(projectRoot, 'bin/stepscope')} "$@"\n`,
    { mode: 0o755 },
  );
  const script = [
    ...['#!/bin/bash', 'set -euo pipefail', `export PATH=${home}:$PATH`, `cd ${home}`],
    ...['reports=(t.rank0.nsys-rep t.rank1.nsys-rep)', ...mapLines(at('captured-lake'))],
    // The first job is not over yet: nothing may be mapped before it is.
    ...['sleep 1', `ls ${at('captured-lake')} > seen || true`],
  ];
  fs.writeFileSync(path.join(home, 'job.sh'), `${script.join('\n')}\n`, { mode: 0o755 });
  cluster!.ask('sbatch', `--output=${home}/log`, `${home}/job.sh`);
  await cluster!.until(() => partitionCount(at('captured-lake')) === 2, 'two partitions');
  assert.equal(fs.readFileSync(path.join(home, 'seen'), 'utf8'), '');
  assert.match(fs.readFileSync(path.join(home, 'log'), 'utf8'), /^Submitted batch job \d+/m);
  await cluster!.until(() => cluster!.ask('squeue', '-h', '-r') === '', 'the end of both jobs');
});

test('without Slurm the error says where to go', async () => {
  const file = path.join(projectRoot, 'test/fixtures/captures/eager/profile.sqlite.gz');
  const bin = path.join(projectRoot, 'bin/stepscope');
  const args = [bin, 'fleet', 'map', file, '--out', at('none'), '--engine', 'slurm'];
  const child = spawn(process.execPath, args, { env: { ...process.env, PATH: '/nowhere' } });
  let err = '';
  child.stderr.on('data', data => (err += data));
  const [status] = await once(child, 'exit');
  assert.equal(status, 3);
  assert.equal(
    err,
    'stepscope: sbatch is not installed on this machine.\nRun this on a login node of a Slurm cluster, or map here: --engine local\n',
  );
});
