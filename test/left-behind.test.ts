/** Nothing is left behind or replaced: files are whole or not there, devices stay devices, nobody's result is lost. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { withoutSecretValues } from '../src/catalog/secret-shapes.js';
import { withLock } from '../src/disk/file-lock.js';
import { writeWhole } from '../src/disk/write-whole.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'left-behind-'));
after(() => fs.rmSync(scratch, { recursive: true, force: true }));
const place = (name: string) => path.join(scratch, name);
const bin = path.join(projectRoot, 'bin/stepscope');
const run = promisify(execFile);

test('eight baselines saved at once are eight baselines', async () => {
  const file = place('baselines.json');
  const names = Array.from({ length: 8 }, (_, i) => `run-${i}`);
  const save = (name: string) =>
    run(bin, ['baseline', 'save', name, capturePath('eager'), '--baselines', file], { cwd: scratch });
  await Promise.all(names.map(save));
  const { baselines } = JSON.parse(fs.readFileSync(file, 'utf8')) as { baselines: { name: string }[] };
  assert.deepEqual(baselines.map(({ name }) => name).sort(), names);
  assert.deepEqual(
    fs.readdirSync(scratch).filter(name => /lock|tmp/.test(name)),
    [],
  );
});

test('a lock of a process that is gone is taken over', () => {
  const file = place('locked');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  fs.writeFileSync(`${file}.lock`, `${os.hostname()} ${pid}\n`);
  assert.equal(
    withLock(file, () => 7),
    7,
  );
  assert.ok(!fs.existsSync(`${file}.lock`));
});

test('a file is whole or as it was; links stay links, modes stay modes', () => {
  const file = place('plain.txt');
  writeWhole(file, 'one');
  fs.chmodSync(file, 0o640);
  writeWhole(file, 'two');
  assert.equal(fs.readFileSync(file, 'utf8'), 'two');
  assert.equal(fs.statSync(file).mode & 0o777, 0o640);
  assert.throws(() => writeWhole(file, 'three', { exclusive: true }), { code: 'EEXIST' });
  fs.symlinkSync(file, place('link'));
  writeWhole(place('link'), 'four');
  assert.ok(fs.lstatSync(place('link')).isSymbolicLink());
  assert.equal(fs.readFileSync(file, 'utf8'), 'four');
  fs.symlinkSync(place('nothing-yet'), place('dangling'));
  writeWhole(place('dangling'), 'five');
  assert.equal(fs.readFileSync(place('nothing-yet'), 'utf8'), 'five');
  assert.deepEqual(
    fs.readdirSync(scratch).filter(name => name.endsWith('.tmp')),
    [],
  );
});

test('a device or a pipe is written to or refused, never replaced', { skip: lacks('shell') }, async () => {
  const pipe = place('pipe');
  execFileSync('mkfifo', [pipe]);
  const reading = run('cat', [pipe]);
  await run(bin, ['steps', capturePath('eager'), '--json', '-o', pipe, '--force']);
  assert.match((await reading).stdout, /"schema"/);
  assert.ok(fs.statSync(pipe).isFIFO());
  fs.symlinkSync('/dev/full', place('full'));
  for (const target of ['/dev/full', place('full')]) {
    for (const args of [
      ['steps', capturePath('eager'), '--json', '-o', target, '--force'],
      ['report', capturePath('eager'), '-o', target, '--force'],
      ['redact', capturePath('eager'), '-o', target, '--force'],
      ['baseline', 'save', 'x', capturePath('eager'), '--baselines', target],
    ]) {
      const failed = await run(bin, args, { cwd: scratch }).then(
        () => undefined,
        (error: { code: number; stderr: string }) => error,
      );
      assert.ok(failed && failed.code > 0, args.join(' '));
      assert.match(failed.stderr, /^stepscope: [^\n]+\n[^\n]+\n$/, args.join(' '));
      assert.ok(fs.statSync('/dev/full').isCharacterDevice(), args.join(' '));
    }
  }
});

test('an unpacked profile leaves nothing behind, whatever ends the process', {
  skip: lacks('shell'),
}, async () => {
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
    const folder = fs.mkdtempSync(place('tmp-'));
    const child = spawn(bin, ['analyze', capturePath('eager')], {
      env: { ...process.env, TMPDIR: folder },
      stdio: 'ignore',
    });
    const ended = new Promise(resolve => child.once('exit', resolve));
    setTimeout(() => child.kill(signal), 250);
    await ended;
    assert.deepEqual(fs.readdirSync(folder), [], signal);
  }
});

test('what a process that was killed left behind goes with the next one', async () => {
  const folder = fs.mkdtempSync(place('stale-'));
  const gone = spawn(process.execPath, ['-e', '']);
  await new Promise(resolve => gone.once('exit', resolve));
  const script = `
    import { makeTemporaryFolder } from ${JSON.stringify(`file://${projectRoot}/dist/src/disk/temporary-folder.js`)};
    import * as fs from 'node:fs';
    const own = makeTemporaryFolder('stepscope-', ${JSON.stringify(folder)});
    const stale = own.replace(/-${'\\d'}+-(?=\\w{6}$)/, '-${gone.pid}-');
    fs.mkdirSync(stale);
    fs.writeFileSync(stale + '/unpacked', 'secret');
    process.kill(process.pid, 'SIGKILL');
  `;
  await run(process.execPath, ['--input-type=module', '-e', script]).catch(() => undefined);
  assert.equal(fs.readdirSync(folder).length, 2);
  fs.writeFileSync(path.join(folder, 'stepscope-of-someone-else'), '');
  const again = `
    import { makeTemporaryFolder } from ${JSON.stringify(`file://${projectRoot}/dist/src/disk/temporary-folder.js`)};
    makeTemporaryFolder('stepscope-', ${JSON.stringify(folder)});
  `;
  await run(process.execPath, ['--input-type=module', '-e', again]);
  assert.deepEqual(fs.readdirSync(folder), ['stepscope-of-someone-else']);
});

test('a recipe keeps no key', () => {
  const kept = JSON.stringify(
    withoutSecretValues({
      command: ['vllm', 'serve', 'm', '--api-key', 'planted1', '--hf-token=planted2', '--port', '8000'],
      environment: { HF_TOKEN: 'planted3', A: 'https://me:planted4@x.org', MAX_TOKENS: '12' },
      plan: {
        command: ['env', 'OPENAI_API_KEY=planted5', 'x', '--header', 'Authorization: Bearer planted6'],
      },
    }),
  );
  assert.doesNotMatch(kept, /planted/);
  assert.match(kept, /"--port","8000"/);
  assert.match(kept, /"MAX_TOKENS":"12"/);
});
