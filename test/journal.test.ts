/** The journal of optimize: from a profile to a verdict, in order, by several people at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { journalEntrySchema } from '../src/journal/journal-schema.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { writeRun } from './gate-runs.js';
import { runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-journal-'));
after(() => rmSync(folder, { recursive: true }));
const trace = (name: string, options: Parameters<typeof writeRun>[1]) =>
  writeRun(path.join(folder, `${name}.json`), { steps: 30, ...options });
const base = [1, 2, 3].map(seed => trace(`base${seed}`, { seed }));
const same = [4, 5, 6].map(seed => trace(`same${seed}`, { seed }));
const slow = [7, 8, 9].map(seed => trace(`slow${seed}`, { seed, slower: 1.3 }));

const runs = ([first, ...others]: readonly string[]) => [
  first,
  ...others.flatMap(file => ['--repeat', file]),
];

interface Told {
  readonly state: string;
  readonly comparison: {
    readonly verdict: string;
    readonly obstacles: string[];
    readonly remarks: string[];
  } | null;
  readonly next: string;
}

/** A journal of its own, and commands on it. */
function journal(name: string) {
  const place = path.join(folder, name);
  const run = (command: string, ...args: string[]) =>
    runStepscope(['optimize', command, '--journal', place, ...args]);
  return {
    place,
    run,
    async ok(command: string, ...args: string[]): Promise<Told> {
      const { status, out, err } = await run(command, '--json', ...args);
      assert.equal(status, 0, err);
      return (JSON.parse(out) as { data: Told }).data;
    },
  };
}

test('from diagnosis to decision: the verdict is that of the steps, and every file is valid', async () => {
  const { place, ok, run } = journal('whole');
  assert.equal((await ok('start', ...runs(slow), '--title', 'Halve the batch!')).state, 'diagnosed');
  assert.equal((await ok('propose', 'a smaller batch')).state, 'changed');
  assert.equal((await ok('record', ...runs(base))).state, 'captured');
  const told = await ok('compare');
  assert.equal(told.comparison?.verdict, 'faster');
  assert.deepEqual(told.comparison.remarks, []);
  assert.equal((await ok('keep')).state, 'kept');
  assert.deepEqual(readdirSync(place), ['001-halve-the-batch']);
  const file = path.join(place, '001-halve-the-batch/entry.json');
  const validate = new Ajv2020({ strict: false }).compile(journalEntrySchema);
  assert.ok(validate(JSON.parse(readFileSync(file, 'utf8'))), JSON.stringify(validate.errors));
  assert.match(readFileSync(path.join(path.dirname(file), 'README.md'), 'utf8'), /\*\*faster\*\* \(decode\)/);
  // The result that was kept is the next base.
  assert.equal((await ok('start')).state, 'diagnosed');
  await ok('propose', 'nothing');
  await ok('record', ...runs(same));
  assert.equal((await ok('compare')).comparison?.verdict, 'no measurable change');
  const kept = await run('keep');
  assert.match(kept.err, /is not measurably faster \(no measurable change\)/);
  await ok('drop', 'no use');
  const { out } = await run('status');
  assert.match(out, /001-halve-the-batch\s+kept[\s\S]*002-\S+\s+dropped/);
});

test('gains are written as everywhere else: what more than doubles is a factor', async () => {
  const { place, run } = journal('gains');
  const { out } = await run('start', capturePath('gil'));
  const page = readFileSync(path.join(place, readdirSync(place)[0], 'README.md'), 'utf8');
  assert.match(out, /\(gain ×[\d.]+, /);
  assert.match(page, /estimated gain ×[\d.]+ steps\/s/);
  for (const [, share] of (out + page).matchAll(/gain \+?([\d.]+)%/g)) assert.ok(Number(share) <= 100, share);
});

test('what is out of order is refused, and says what comes first', async () => {
  const { run, ok } = journal('order');
  assert.match((await run('compare')).err, /The journal has no entries/);
  assert.match((await run('start')).err, /No profile was given/);
  await ok('start', base[0]);
  assert.match((await run('record', base[0])).err, /has no change yet/);
  await ok('propose', 'something', '--', 'python', 'serve.py', '--api-key', 'sk-abcdefghijklmnopqrstuvwxyz');
  assert.match((await run('compare')).err, /has no result to compare/);
  await ok('record', slow[0]);
  const told = await ok('compare');
  assert.match(told.comparison?.remarks.join() ?? '', /run-to-run noise is not measured/);
  await ok('drop');
  assert.match((await run('propose', 'more')).err, /No open|is closed \(dropped\)/);
});

test('runs of another GPU are not compared, and the reasons are kept', async () => {
  const { run, ok, place } = journal('other');
  const other = trace('other', { seed: 3, gpu: 'NVIDIA A100' });
  await ok('start', base[0], '--title', 'x');
  await ok('propose', 'another GPU');
  await ok('record', other);
  const { status, out } = await run('compare', '--json');
  assert.equal(status, 1);
  const { data } = JSON.parse(out) as { data: Told };
  assert.equal(data.comparison?.verdict, 'not comparable');
  assert.match(data.comparison.obstacles.join(), /GPU/);
  assert.match(readFileSync(path.join(place, '001-x/README.md'), 'utf8'), /cannot be compared: different/);
  assert.equal((await ok('compare', '--allow-different', 'gpu')).state, 'compared');
});

test('keys in texts and commands are not kept', async () => {
  const { ok, place } = journal('secret');
  await ok('start', base[0], '--title', 'x');
  const key = `hf_${'b'.repeat(30)}`;
  await ok('propose', `with token ${key}`, '--', 'serve', `--token=${key}`);
  for (const name of ['entry.json', 'README.md'])
    assert.ok(!readFileSync(path.join(place, '001-x', name), 'utf8').includes(key), name);
});

test('two who begin at the same time get an entry each; a half of an entry is passed over', async () => {
  const { place, ok, run } = journal('together');
  const started = (title: string) =>
    new Promise<number | null>(resolve => {
      const own = ['optimize', 'start', base[0], '--journal', place, '--title', title];
      const args = [path.join(projectRoot, 'bin/stepscope'), ...own];
      spawn(process.execPath, args, { stdio: 'ignore' }).on('exit', resolve);
    });
  assert.deepEqual(await Promise.all([started('one'), started('two')]), [0, 0]);
  assert.deepEqual(
    readdirSync(place).map(name => name.slice(0, 3)),
    ['001', '002'],
  );
  // Killed between making the folder and writing the entry, or merged by hand.
  mkdirSync(path.join(place, '003-half'));
  mkdirSync(path.join(place, '004-merged'));
  writeFileSync(path.join(place, '004-merged/entry.json'), '<<<<<<< HEAD');
  const status = await run('status');
  assert.match(status.out, /unreadable\s+003-half[\s\S]*004-merged/);
  // Begun again, it is the same entry.
  const title = readdirSync(place)[1].slice(4);
  assert.equal((await ok('start', base[0], '--title', title)).state, 'diagnosed');
  assert.equal(readdirSync(place).length, 4);
  await ok('propose', 'goes on', '--entry', '2');
  assert.equal((await ok('start', base[0], '--title', 'next')).state, 'diagnosed');
  assert.ok(readdirSync(place).includes('005-next'));
});
