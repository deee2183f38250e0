/** Compiled code is kept between calls, and runs only where it is ours, whole, and of the source that is there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import * as zlib from 'node:zlib';
import { projectRoot } from '../src/testing/captures.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-code-'));
after(() => rmSync(folder, { recursive: true }));
const cannotKeep = zlib.crc32 === undefined || process.getuid === undefined;
const skip = cannotKeep ? 'this Node or system keeps no code' : false;
const loader = path.join(projectRoot, 'dist/cli/load-bundle.js');

const { STEPSCOPE_NO_CACHE: _, ...withCache } = process.env;

/** A bundle of two files and a cache of its own. A kept file that is written again has another number. */
function bundle(name: string) {
  const place = path.join(folder, name);
  const cache = path.join(place, 'cache');
  const kept = path.join(cache, 'code');
  mkdirSync(place);
  const say = (word: string) => writeFileSync(path.join(place, 'said.js'), `exports.word = () => '${word}';`);
  writeFileSync(path.join(place, 'main.js'), `exports.run = () => require('./said.js').word();`);
  say('one');
  const run = (env: NodeJS.ProcessEnv = {}, words = ['stats']) => {
    const program = `console.log(require(${JSON.stringify(loader)}).loadBundle(${JSON.stringify(path.join(place, 'main.js'))}, ${JSON.stringify(words)}).run())`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
      env: { ...withCache, STEPSCOPE_CACHE: cache, ...env },
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
    return stdout.trim();
  };
  const files = () => (existsSync(kept) ? readdirSync(kept) : []);
  const file = () => path.join(kept, files()[0]);
  return { place, run, say, kept, files, file, written: () => statSync(file()).ino };
}

test('a second call takes what the first compiled', { skip }, () => {
  const { run, kept, files, file, written } = bundle('twice');
  assert.equal(run(), 'one');
  assert.equal(files().length, 1);
  assert.deepEqual([statSync(kept).mode & 0o777, statSync(file()).mode & 0o777], [0o700, 0o600]);
  const first = written();
  assert.equal(run(), 'one');
  assert.equal(written(), first, 'V8 took all of it: nothing had to be kept anew');
  assert.equal(run({}, ['analyze']), 'one');
  assert.equal(files().length, 2, 'another command has its own');
});

test('other source of the same length is compiled', { skip }, () => {
  const { run, say } = bundle('changed');
  assert.equal(run(), 'one');
  say('two');
  assert.equal(run(), 'two');
  assert.equal(run(), 'two');
});

test('a chunk that is named by its content is kept whole', { skip }, () => {
  const { run, place } = bundle('named');
  const chunk = path.join(place, 'said.0aB_-9xZ.js');
  writeFileSync(chunk, `exports.word = () => 'named \\u00b5s';`);
  writeFileSync(path.join(place, 'main.js'), `exports.run = () => require('./said.0aB_-9xZ.js').word();`);
  assert.equal(run(), 'named µs');
  rmSync(chunk);
  assert.equal(run(), 'named µs');
  writeFileSync(path.join(place, 'said.0aB_-9xY.js'), `exports.word = () => 'other';`);
  writeFileSync(path.join(place, 'main.js'), `exports.run = () => require('./said.0aB_-9xY.js').word();`);
  assert.equal(run(), 'other', 'main.js has no such name and is read');
});

test('damaged code does not run, and is replaced', { skip }, () => {
  const { run, file, written } = bundle('damaged');
  run();
  for (const damage of [
    () => truncateSync(file(), statSync(file()).size - 10),
    () => {
      const bytes = readFileSync(file());
      bytes[bytes.length - 100] ^= 0x55;
      writeFileSync(file(), bytes);
    },
    () => writeFileSync(file(), 'stepscope code 1\n'),
    () => writeFileSync(file(), 'something else'),
  ]) {
    damage();
    const broken = written();
    assert.equal(run(), 'one');
    assert.notEqual(written(), broken);
    const whole = written();
    assert.equal(run(), 'one');
    assert.equal(written(), whole);
  }
});

test('a folder that others can write is not trusted', { skip }, () => {
  const { run, kept, written } = bundle('open');
  run();
  const before = written();
  chmodSync(kept, 0o777);
  assert.equal(run(), 'one');
  assert.notEqual(written(), before, 'what lay there was not taken');
  assert.equal(statSync(kept).mode & 0o777, 0o700);
});

test('STEPSCOPE_NO_CACHE keeps nothing, and a folder that cannot be made is no error', { skip }, () => {
  const { run, files } = bundle('off');
  assert.equal(run({ STEPSCOPE_NO_CACHE: '1' }), 'one');
  assert.deepEqual(files(), []);
  assert.equal(run({ STEPSCOPE_CACHE: path.join(folder, 'off/main.js') }), 'one');
});

/** The command as it is built, with a cache of its own. */
const command = (args: readonly string[], cache: string, env: NodeJS.ProcessEnv = withCache) =>
  spawnSync(process.execPath, [path.join(projectRoot, 'bin/stepscope'), ...args], {
    env: { ...env, STEPSCOPE_CACHE: path.join(folder, cache) },
    encoding: 'utf8',
  });

test('the real command prints the same with and without it', { skip }, () => {
  const args = ['stats', '--list', '--json'];
  const without = command(args, 'real', { ...withCache, STEPSCOPE_NO_CACHE: '1' });
  assert.equal(without.status, 0, without.stderr);
  assert.equal(existsSync(path.join(folder, 'real')), false);
  for (let call = 0; call < 2; call++) {
    const { status, stdout, stderr } = command(args, 'real');
    assert.deepEqual([status, stdout, stderr], [0, without.stdout, '']);
  }
  assert.equal(readdirSync(path.join(folder, 'real/code')).length, 1);
});

test('a word that could be no path is no error', { skip }, () => {
  for (const word of ['x'.repeat(5000), '/proc/self/mem/x', 'a\nb', '']) {
    const { status, stderr } = command(['stats', word], 'words');
    assert.notEqual(status, 1, stderr);
    assert.match(stderr, /^stepscope: .*\n.*\n$/);
  }
});

test('kept code imports modules', { skip }, () => {
  const plugin = path.join(folder, 'plugin.mjs');
  writeFileSync(plugin, "process.stderr.write('imported'); export default { name: 'mine' };");
  for (let call = 0; call < 2; call++) {
    const { status, stderr } = command(['stats', '--list', '--plugin', plugin], 'imports');
    assert.deepEqual([status, stderr], [0, 'imported']);
  }
});
