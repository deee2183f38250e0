/**
 * Raw streams (.qdstrm): what an nsys without its importer leaves. A real nsys writes one where it is installed (its
 * binary is copied away from the importer), and the importer next to the real nsys makes the report. Choices that need
 * several versions are played by small scripts.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { UserError } from '../src/base/user-error.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';
import { answerIn } from './run-stepscope.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-stream-'));
const kept = { NSYS: process.env.NSYS, STEPSCOPE_CACHE: process.env.STEPSCOPE_CACHE, PATH: process.env.PATH };
let work = '';

function restore(): void {
  for (const [name, value] of Object.entries(kept)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
beforeEach(() => {
  restore();
  work = fs.mkdtempSync(path.join(scratch, 't-'));
  process.env.STEPSCOPE_CACHE = path.join(work, 'cache');
});
after(() => {
  restore();
  fs.rmSync(scratch, { recursive: true, force: true });
});

async function failure(file: string): Promise<UserError> {
  const error = await openProfile([file], { workers: 0 }).then(
    () => assert.fail(`${file} opened`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof UserError, String(error));
  return error;
}

const stepscope = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [path.join(projectRoot, 'bin/stepscope'), ...args], {
    encoding: 'utf8',
    cwd: work,
    env: { ...process.env, ...env },
  });

/** An nsys that does not find its importer: its binary alone is elsewhere, the rest are links. */
let bare = '';
let stream = '';
const real = { skip: lacks('nsys') };
before(() => {
  if (real.skip) return;
  const target = path.dirname(fs.realpathSync(locate('nsys')!));
  const folder = path.join(scratch, 'bare', path.basename(target));
  fs.mkdirSync(folder, { recursive: true });
  for (const name of fs.readdirSync(target)) {
    if (name === 'nsys') fs.copyFileSync(path.join(target, name), path.join(folder, name));
    else fs.symlinkSync(path.join(target, name), path.join(folder, name));
  }
  bare = path.join(folder, 'nsys');
  const flags = ['-t', 'nvtx,osrt', '--sample=none', '--cpuctxsw=none', '-o', path.join(scratch, 'run')];
  spawnSync(bare, ['profile', ...flags, '/bin/ls', '/'], { stdio: 'ignore', timeout: 60_000 });
  stream = path.join(scratch, 'run.qdstrm');
});

test('a real stream opens as its report, is not changed, and is imported once', real, async () => {
  const bytes = fs.readFileSync(stream);
  const profile = await openProfile([stream], { workers: 0 });
  assert.ok(profile.tables.osCalls!.length > 0);
  assert.deepEqual(profile.capture.files, ['run.qdstrm']);
  assert.match(profile.capture.profilerVersion!, /^20\d\d\.\d/);
  assert.ok(bytes.equals(fs.readFileSync(stream)), 'the importer wrote to the stream of the user');
  const exports = path.join(work, 'cache/nsys-exports');
  const [cached, ...others] = fs.readdirSync(exports);
  assert.deepEqual(others, []);
  const { ino } = fs.statSync(path.join(exports, cached));
  await openProfile([stream], { workers: 0 });
  assert.equal(fs.statSync(path.join(exports, cached)).ino, ino);
  // Half a stream is a reason, not a report; neither leaves anything in the cache.
  fs.writeFileSync(path.join(work, 'half.qdstrm'), bytes.subarray(0, bytes.length / 2));
  const error = await failure(path.join(work, 'half.qdstrm'));
  assert.equal(error.code, 'damaged');
  assert.match(
    error.message,
    /half\.qdstrm is a raw stream .*could not make a report of it: File is corrupted\.$/,
  );
  assert.deepEqual(fs.readdirSync(exports), [cached]);
});

test('capture, info and doctor use an importer of another installation', real, () => {
  const captured = stepscope(['capture', '--trace', 'osrt', '-o', 'trace', '--', '/bin/ls', '/'], {
    NSYS: bare,
  });
  assert.ok(fs.existsSync(path.join(work, 'trace.nsys-rep')), captured.stderr);
  assert.ok(!fs.existsSync(path.join(work, 'trace.qdstrm')));
  const info = stepscope(['info', stream, '--json'], { NSYS: bare });
  assert.equal(info.status, 0, info.stderr);
  const { checks } = answerIn(stepscope(['doctor', '--json'], { NSYS: bare }).stdout) as {
    checks: { id: string; state: string }[];
  };
  assert.equal(checks.find(({ id }) => id === 'nsys-report')!.state, 'ok');
});

const withShell = { skip: lacks('shell') };
const STREAM = (version: string) => `U3w[END]NVIDIA Nsight Systems Stream ${version}-df9881f!\nrest`;

/** An installation that refuses every stream but those of its version, as the real importer does, and appends to them. */
function installation(name: string, version: string): string {
  const root = path.join(work, name);
  for (const folder of ['bin', 'host-linux-x64']) fs.mkdirSync(path.join(root, folder), { recursive: true });
  const nsys = `#!/bin/sh\n[ "$1" = --version ] && echo "NVIDIA Nsight Systems version ${version}-1v0"\nexit 0\n`;
  fs.writeFileSync(path.join(root, 'bin/nsys'), nsys, { mode: 0o755 });
  const importer = `#!/bin/sh
grep -q 'Stream ${version}-' "$2" || { echo 'Qdstrm version x is not supported. The QdstrmImporter and qdstrm file versions must match to import successfully.' >&2; exit 2; }
grep -q rest "$2" || { echo 'File is corrupted.'; exit 2; }
echo ${version} >> '${work}/imported'
echo appended >> "$2"
printf 'NVIDIA Tegra Profiler Report 1.' > "$4"
`;
  fs.writeFileSync(path.join(root, 'host-linux-x64/QdstrmImporter'), importer, { mode: 0o755 });
  return path.join(root, 'bin/nsys');
}

test(
  'the importer of the version of the stream is found among several; none is named',
  withShell,
  async () => {
    const [old, other] = [installation('a', '2031.1.1.1'), installation('b', '2032.2.2.2')];
    process.env.NSYS = old;
    process.env.PATH = `${path.dirname(other)}${path.delimiter}${kept.PATH}`;
    const file = path.join(work, 'x.qdstrm');
    fs.writeFileSync(file, STREAM('2032.2.2.2'));
    // The stand-in for nsys exports nothing, so it ends there; the stream was imported by the right one, from a copy.
    assert.match((await failure(file)).message, /could not export x\.qdstrm/);
    assert.equal(fs.readFileSync(path.join(work, 'imported'), 'utf8'), '2032.2.2.2\n');
    assert.equal(fs.readFileSync(file, 'utf8'), STREAM('2032.2.2.2'));
    const packed = path.join(work, 'y.qdstrm.gz');
    fs.writeFileSync(packed, gzipSync(STREAM('2031.1.1.1')));
    assert.match((await failure(packed)).message, /could not export y\.qdstrm\.gz/);
    assert.match(fs.readFileSync(path.join(work, 'imported'), 'utf8'), /2031\.1\.1\.1\n$/);
    fs.writeFileSync(file, STREAM('2033.3.3.3'));
    const none = await failure(file);
    assert.equal(none.code, 'needs-nsys');
    assert.match(
      none.message,
      /raw stream \(\.qdstrm\) of Nsight Systems 2033\.3\.3, .*only other versions were found: /,
    );
    assert.match(none.hint, /QdstrmImporter -i x\.qdstrm/);
  },
);

test(
  'in a folder, the report of a stream and the export of a report are read in its place',
  withShell,
  async () => {
    process.env.NSYS = installation('a', '2031.1.1.1');
    const folder = path.join(work, 'results');
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, 'run.qdstrm'), STREAM('2031.1.1.1'));
    assert.match((await failure(folder)).message, /run\.qdstrm/);
    fs.writeFileSync(path.join(folder, 'run.nsys-rep'), 'NVIDIA Tegra Profiler Report 1.');
    assert.match((await failure(folder)).message, /run\.nsys-rep/);
    fs.writeFileSync(path.join(folder, 'run.sqlite'), 'SQLite format 3\0');
    assert.match((await failure(folder)).message, /SQLite header/);
  },
);
