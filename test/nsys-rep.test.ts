/**
 * Opening .nsys-rep: versions in headers, finding nsys, exporting into the cache. Most of it runs against a small
 * script that plays nsys; the last test uses a real one where it is installed. Reports hold the machine's
 * environment, so none is kept as a fixture.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import initSqlJs from 'sql.js';
import { UserError } from '../src/base/user-error.js';
import { ExportCache, hashContent } from '../src/import/nsys-rep/export-cache.js';
import { candidatePaths, findNsys } from '../src/import/nsys-rep/find-nsys.js';
import {
  describeVersion,
  isReport,
  REPORT_MAGIC,
  reportVersion,
  streamVersion,
} from '../src/import/nsys-rep/report-version.js';
import { openProfile } from '../src/import/open.js';
import { lacks, locate } from '../src/testing/needs.js';

const withShell = { skip: lacks('shell') };

const bytes = (text: string) => new TextEncoder().encode(text);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-test-'));
const realNsys = locate('nsys') ?? '';
const environment = { ...process.env };
let work = '';
let cacheFolder = '';

beforeEach(() => {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
  cacheFolder = path.join(work, 'cache', 'nsys-exports');
  restoreEnvironment();
  process.env.STEPSCOPE_CACHE = path.join(work, 'cache');
});
after(() => {
  restoreEnvironment();
  fs.rmSync(scratch, { recursive: true, force: true });
});

/** In place: the temporary folder is looked up in the process's own environment, not in an object put before it. */
function restoreEnvironment(): void {
  for (const name of ['NSYS', 'PATH', 'TMPDIR', 'STEPSCOPE_CACHE']) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
}

/** What nsys says of reports too new for it: 2022.4.2 word for word; of 2023.4.4 only "newer than your current version" is known. */
const REFUSAL_2022 = 'Exportation error: Version not supported: 36398880';
const REFUSAL_2023 = 'The report is newer than your current version. Please update Nsight Systems.';

/** A script that answers as nsys would: `exportLines` run with $TARGET and $REPORT set. */
function fakeNsys(place: string, version: string, exportLines: string, help = ''): string {
  fs.mkdirSync(path.dirname(place), { recursive: true });
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo "NVIDIA Nsight Systems version ${version}-253135822126v0"; exit 0; fi
if [ "$2" = --help ]; then echo 'usage: nsys export [<args>] ${help}'; exit 0; fi
echo run >> '${work}/runs'
echo "$@" > '${work}/words'
while [ $# -gt 1 ]; do if [ "$1" = -o ]; then TARGET=$2; fi; shift; done
REPORT=$1
${exportLines}
`;
  fs.writeFileSync(place, script, { mode: 0o755 });
  return place;
}
const runs = () => (fs.existsSync(`${work}/runs`) ? fs.readFileSync(`${work}/runs`, 'utf8').length / 4 : 0);

/** Copies a small real database, as if exported. */
async function exporting(): Promise<string> {
  const SQL = await initSqlJs();
  const database = new SQL.Database();
  database.run('CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)');
  database.run('CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER)');
  database.run("INSERT INTO StringIds VALUES (1, 'poll')");
  database.run('INSERT INTO OSRT_API VALUES (5, 9, 16777217, 1)');
  fs.writeFileSync(path.join(work, 'export.sqlite'), database.export());
  database.close();
  return `cp '${work}/export.sqlite' "$TARGET"`;
}

function report(name: string, version = '2023@4@4@54-234433681190v0', extra = 'Local (CLI)'): string {
  const file = path.join(work, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${REPORT_MAGIC}${version}.\n\u000b${extra}`);
  return file;
}

const opening = (file: string) => openProfile([file], { workers: 0 });

async function failure(file: string): Promise<UserError> {
  try {
    await opening(file);
  } catch (error) {
    assert.ok(error instanceof UserError, String((error as Error).stack));
    return error;
  }
  throw new Error('it opened');
}

test('the header names the version that captured', () => {
  const of = (text: string) => describeVersion(reportVersion(bytes(REPORT_MAGIC + text)));
  assert.equal(of('2023@4@4@54-234433681190v0.\n'), 'Nsight Systems 2023.4.4');
  assert.deepEqual(reportVersion(bytes(`${REPORT_MAGIC}2023@4@4@54-234433681190v0.`)), {
    kind: 'release',
    release: [2023, 4, 4, 54],
  });
  assert.equal(of('36398880.\n\u000b'), 'Nsight Systems build 36398880');
  assert.equal(of('1.\n\u000b'), 'Nsight Systems 2023.2 or older');
  for (const odd of ['', '.', '\u0000\u0001', '2023@', 'x'.repeat(500), '9'.repeat(500)]) {
    assert.equal(of(odd), 'an unknown version of Nsight Systems', odd);
  }
  assert.ok(isReport(bytes(REPORT_MAGIC)));
  assert.ok(!isReport(bytes('NVIDIA Tegra Profiler Repor')));
  assert.ok(!isReport(new Uint8Array(0)));
  assert.deepEqual(streamVersion(bytes('U3w[END]NVIDIA Nsight Systems Stream 2022.4.2.1-df9881f!')), {
    kind: 'release',
    release: [2022, 4, 2, 1],
  });
});

test('every nsys is found, newest first, each once', async () => {
  const root = path.join(work, 'root');
  fakeNsys(`${root}/opt/nvidia/nsight-systems/2023.4.4/bin/nsys`, '2023.4.4.54', '');
  fakeNsys(`${root}/opt/nvidia/nsight-systems-cli/2025.10.1/target-linux-x64/nsys`, '2025.10.1.3', '');
  fakeNsys(`${root}/opt/nvidia/nsight-compute/2025.3.0/host/target-linux-x64/nsys`, '2025.3.1.90', '');
  fakeNsys(`${root}/usr/local/cuda-12.4/bin/nsys`, '2023.4.4.54', '');
  fs.symlinkSync(`${root}/usr/local/cuda-12.4`, `${root}/usr/local/cuda`);
  fs.mkdirSync(`${root}/opt/nvidia/nsight-systems/2020.1/bin/nsys`, { recursive: true });
  fs.mkdirSync(`${root}/bin`);
  fs.writeFileSync(`${root}/bin/nsys`, '#!/bin/sh\necho something else\n', { mode: 0o755 });
  const env = { PATH: `${root}/bin:${root}/nowhere:.` };
  const found = await findNsys({ env, platform: 'linux', root });
  assert.deepEqual(
    found.map(nsys => nsys.version),
    ['2025.10.1.3', '2025.3.1.90', '2023.4.4.54', '2023.4.4.54'],
  );
});

test('app folders of other systems are searched too', () => {
  const root = path.join(work, 'root');
  const mac = fakeNsys(
    `${root}/Applications/NVIDIA Nsight Systems 2025.3.app/Contents/target/nsys`,
    '2025.3.1.90',
    '',
  );
  const windows = `${root}/Program Files/NVIDIA Corporation/Nsight Systems 2025.3.1/target-windows-x64/nsys.exe`;
  fakeNsys(windows, '2025.3.1.90', '');
  assert.deepEqual(candidatePaths({ env: {}, platform: 'darwin', root }), [mac]);
  assert.deepEqual(candidatePaths({ env: {}, platform: 'win32', root }), [windows]);
});

test('a wrong NSYS is named, not worked around', async () => {
  process.env.NSYS = '/bin/ls';
  const error = await failure(report('a.nsys-rep'));
  assert.equal(error.code, 'needs-nsys');
  assert.match(error.message, /NSYS is set to \/bin\/ls/);
});

test('no nsys at all: the report names its version and the hint the ways out', async () => {
  process.env.PATH = work;
  const installed = await findNsys();
  if (installed.length > 0)
    process.env.NSYS = fakeNsys(`${work}/nsys`, '2022.4.2.1', `echo '${REFUSAL_2022}' >&2; exit 1`);
  const error = await failure(report('a.nsys-rep', '2025@3@1@90-253135822126v0'));
  assert.equal(error.code, 'needs-nsys');
  assert.match(error.message, /^a\.nsys-rep was captured with Nsight Systems 2025\.3\.1/);
  assert.match(error.hint, /Install Nsight Systems 2025\.3 or newer/);
});

test('an export beside the report is named: it needs no nsys', async () => {
  process.env.NSYS = fakeNsys(`${work}/nsys`, '2022.4.2.1', `echo '${REFUSAL_2022}' >&2; exit 1`);
  const folder = fs.mkdtempSync(`${work}/beside-`);
  const file = `${folder}/a.nsys-rep`;
  fs.copyFileSync(report('a.nsys-rep', '2025@3@1@90-253135822126v0'), file);
  fs.writeFileSync(`${folder}/ab.sqlite`, '');
  assert.match((await failure(file)).hint, /Install Nsight Systems 2025\.3/);
  fs.writeFileSync(`${folder}/a.sqlite.zst`, '');
  assert.equal(
    (await failure(file)).hint,
    `Its export is in the same folder and does not need nsys: open ${folder}/a.sqlite.zst`,
  );
});

for (const [refusal, version, words] of [
  [REFUSAL_2022, '36398880', /captured with Nsight Systems build 36398880, .*nsys 2022\.4\.2\.1 at/],
  [
    REFUSAL_2023,
    '2025@3@1@90-253135822126v0',
    /captured with Nsight Systems 2025\.3\.1, .*nsys 2022\.4\.2\.1 at/,
  ],
  [
    'Exportation error: Version number is invalid: 2024@2',
    '2024@2@1@1-1v0',
    /captured with Nsight Systems 2024\.2\.1/,
  ],
] as const) {
  test(`a report too new for nsys: ${refusal}`, async () => {
    process.env.NSYS = fakeNsys(`${work}/nsys`, '2022.4.2.1', `echo '${refusal}' >&2; exit 1`);
    const error = await failure(report('new.nsys-rep', version));
    assert.equal(error.code, 'needs-nsys');
    assert.match(error.message, words);
    assert.match(error.hint, /NSYS=\/path\/to\/nsys/);
    assert.match(error.hint, /nsys export --type sqlite new\.nsys-rep/);
    assert.deepEqual(fs.readdirSync(cacheFolder), []);
  });
}

test('exports once, then opens from the cache, whatever the report is called', withShell, async () => {
  process.env.NSYS = fakeNsys(`${work}/nsys`, '2023.4.4.54', await exporting());
  const file = report('-o.nsys-rep');
  const profile = await opening(file);
  assert.equal(profile.tables.osCalls?.length, 1);
  assert.deepEqual(profile.capture.files, ['-o.nsys-rep']);
  assert.equal(profile.capture.sizeBytes, fs.statSync(file).size);
  assert.equal(profile.capture.settings.EXPORTED_BY, 'nsys 2023.4.4.54');
  assert.equal(profile.capture.profilerVersion, '2023.4.4.54');
  fs.renameSync(file, path.join(work, 'renamed'));
  await opening(path.join(work, 'renamed'));
  assert.equal(runs(), 1);
  // Another nsys may export more: its export is its own.
  fakeNsys(`${work}/nsys`, '2025.3.1.90', await exporting());
  await opening(path.join(work, 'renamed'));
  assert.equal(runs(), 2);
  // Other content, other export.
  await opening(report('other.nsys-rep', '1', 'something else'));
  assert.equal(runs(), 3);
  assert.equal(fs.statSync(cacheFolder).mode & 0o777, 0o700);
});

test('binary payloads are exported too, by an nsys that leaves them out otherwise', withShell, async () => {
  fs.writeFileSync(path.join(work, 'a.nsys-rep'), REPORT_MAGIC);
  for (const [version, help, words] of [
    ['2023.4.4.54', '', / true -o /],
    ['2025.3.1.90', '--include-blobs=', / --include-blobs=true -o /],
  ] as const) {
    process.env.NSYS = fakeNsys(`${work}/nsys`, version, await exporting(), help);
    await openProfile([path.join(work, 'a.nsys-rep')]);
    assert.match(fs.readFileSync(path.join(work, 'words'), 'utf8'), words);
  }
});

test('an export in the cache that is damaged is made again', withShell, async () => {
  process.env.NSYS = fakeNsys(`${work}/nsys`, '2023.4.4.54', await exporting());
  const file = report('healing.nsys-rep');
  await opening(file);
  const [kept] = fs.readdirSync(cacheFolder).map(name => path.join(cacheFolder, name));
  const sound = fs.readFileSync(kept);
  for (const damaged of [sound.subarray(0, 100), Buffer.alloc(sound.length), sound.subarray(0, -512)]) {
    fs.writeFileSync(kept, damaged);
    const profile = await opening(file);
    assert.equal(profile.tables.osCalls?.length, 1);
    assert.deepEqual(fs.readFileSync(kept), sound);
  }
  assert.equal(runs(), 4);
});

test('a packed report is unpacked for nsys, and a cut one says so', withShell, async () => {
  process.env.NSYS = fakeNsys(
    `${work}/nsys`,
    '2023.4.4.54',
    `grep -q '^NVIDIA Tegra' "$REPORT" || exit 1\n${await exporting()}`,
  );
  const plain = report('a.nsys-rep', '1', 'x'.repeat(5000) + Math.PI);
  const packed = gzipSync(fs.readFileSync(plain));
  fs.writeFileSync(`${work}/a.nsys-rep.gz`, packed);
  const profile = await opening(`${work}/a.nsys-rep.gz`);
  assert.deepEqual(profile.capture.files, ['a.nsys-rep.gz']);
  fs.writeFileSync(`${work}/cut.nsys-rep.gz`, packed.subarray(0, packed.length - 9));
  assert.equal((await failure(`${work}/cut.nsys-rep.gz`)).code, 'damaged');
  assert.deepEqual(
    fs.readdirSync(cacheFolder).filter(name => name.includes('unfinished')),
    [],
  );
});

test('a failed or half-written export is told, cleaned up and never reused', withShell, async () => {
  const nsys = `${work}/nsys`;
  const file = report('a.nsys-rep');
  process.env.NSYS = fakeNsys(
    nsys,
    '2023.4.4.54',
    'echo "Exportation error: Section Table Reference magic number mismatch." >&2; exit 1',
  );
  const damaged = await failure(file);
  assert.equal(damaged.code, 'damaged');
  assert.match(
    damaged.message,
    /nsys 2023\.4\.4\.54 could not export a\.nsys-rep: Section Table Reference magic/,
  );
  const copy = await exporting();
  for (const half of [
    `${copy}; kill -9 $$`,
    `${copy}; truncate -s 4096 "$TARGET"; exit 0`,
    'echo text > "$TARGET"; exit 0',
    'exit 0',
  ]) {
    fakeNsys(nsys, '2023.4.4.54', half);
    assert.equal((await failure(file)).code, 'damaged', half);
    assert.deepEqual(fs.readdirSync(cacheFolder), [], half);
  }
  fakeNsys(nsys, '2023.4.4.54', `${copy}\necho 'No space left on device' >&2; exit 1`);
  assert.equal((await failure(file)).code, 'no-space');
  // What a killed Stepscope leaves is not taken for an export either.
  fs.writeFileSync(path.join(cacheFolder, '1-abc.unfinished.sqlite-export'), 'half');
  fakeNsys(nsys, '2023.4.4.54', copy);
  assert.equal((await opening(file)).tables.osCalls?.length, 1);
});

test('two at once each get a whole export', withShell, async () => {
  process.env.NSYS = fakeNsys(
    `${work}/nsys`,
    '2023.4.4.54',
    `printf x > "$TARGET"; sleep 0.2; ${await exporting()}`,
  );
  const file = report('a.nsys-rep');
  const profiles = await Promise.all([opening(file), opening(file), opening(file)]);
  for (const profile of profiles) assert.equal(profile.tables.osCalls?.length, 1);
  assert.equal(fs.readdirSync(cacheFolder).length, 1);
});

test('nothing is written beside the report', withShell, async t => {
  process.env.NSYS = fakeNsys(`${work}/nsys`, '2023.4.4.54', await exporting());
  const file = report('readonly/a.nsys-rep');
  const folder = path.dirname(file);
  fs.chmodSync(folder, 0o500);
  // Whatever happens: an ordinary user could not clean up otherwise.
  t.after(() => fs.chmodSync(folder, 0o700));
  const before = fs.statSync(folder).mtimeMs;
  await opening(file);
  assert.deepEqual(fs.readdirSync(folder), ['a.nsys-rep']);
  assert.equal(fs.statSync(folder).mtimeMs, before);
});

test('a cache that cannot be written falls back to the temporary folder', withShell, async () => {
  process.env.NSYS = fakeNsys(`${work}/nsys`, '2023.4.4.54', await exporting());
  fs.writeFileSync(path.join(work, 'in-the-way'), '');
  process.env.STEPSCOPE_CACHE = path.join(work, 'in-the-way');
  process.env.TMPDIR = path.join(work, 'tmp');
  fs.mkdirSync(process.env.TMPDIR);
  await opening(report('a.nsys-rep'));
  const [fallback] = fs.readdirSync(process.env.TMPDIR);
  assert.match(fallback, /^stepscope-cache-/);
  assert.equal(fs.statSync(path.join(process.env.TMPDIR, fallback)).mode & 0o777, 0o700);
  await opening(report('a.nsys-rep'));
  assert.equal(runs(), 1);
});

test('the cache keeps to its limits, oldest out first, never the one in use', () => {
  const cache = ExportCache.open();
  const at = (name: string, daysOld: number) => {
    const file = path.join(cache.folder, name);
    fs.writeFileSync(file, 'x'.repeat(100));
    const time = Date.now() / 1000 - daysOld * 86_400;
    fs.utimesSync(file, time, time);
    return file;
  };
  const inUse = at('a-1.sqlite', 9);
  for (let age = 1; age <= 5; age++) at(`b-${age}.sqlite`, age);
  at('1-x.unfinished.sqlite-export', 2);
  at('2-x.unfinished.sqlite-export', 0);
  cache.prune(inUse, 4, 1e9);
  const left = () => fs.readdirSync(cache.folder).sort();
  assert.deepEqual(left(), [
    '2-x.unfinished.sqlite-export',
    'a-1.sqlite',
    'b-1.sqlite',
    'b-2.sqlite',
    'b-3.sqlite',
  ]);
  cache.prune(inUse, 50, 250);
  assert.deepEqual(left(), ['2-x.unfinished.sqlite-export', 'a-1.sqlite', 'b-1.sqlite']);
  cache.prune(inUse, 0, 0);
  assert.deepEqual(left(), ['2-x.unfinished.sqlite-export', 'a-1.sqlite']);
});

test('content names an export: one byte or the length makes another', () => {
  const file = path.join(work, 'x');
  const hashes = ['', 'a', 'b', 'ab', 'a'.repeat(9e6), `${'a'.repeat(9e6 - 1)}b`].map(text => {
    fs.writeFileSync(file, text);
    return hashContent(file);
  });
  assert.equal(new Set(hashes).size, hashes.length);
});

test('a real nsys exports a real report, once', { skip: lacks('nsys') }, async () => {
  const out = path.join(work, 'real');
  const collect = [
    '-t',
    'nvtx,osrt',
    '--sample=none',
    '--cpuctxsw=none',
    '-o',
    out,
    '--force-overwrite',
    'true',
  ];
  spawnSync(realNsys, ['profile', ...collect, '/bin/ls', '/'], { stdio: 'ignore', timeout: 60_000 });
  const steps: number[] = [];
  const profile = await openProfile([`${out}.nsys-rep`], {
    workers: 0,
    onProgress: (_, done) => steps.push(done),
  });
  assert.ok(profile.tables.osCalls!.length > 0);
  assert.match(profile.capture.settings.EXPORTED_BY, /^nsys 20\d\d\./);
  assert.ok(steps.every((step, i) => step >= 0 && step <= 1 && (i === 0 || step >= steps[i - 1])));
  const [cached] = fs.readdirSync(cacheFolder);
  const { ino } = fs.statSync(path.join(cacheFolder, cached));
  await opening(`${out}.nsys-rep`);
  assert.equal(fs.statSync(path.join(cacheFolder, cached)).ino, ino);
  // Half a report is not a report.
  fs.truncateSync(`${out}.nsys-rep`, 60_000);
  assert.equal((await failure(`${out}.nsys-rep`)).code, 'damaged');
});
