/**
 * Files that are cut, damaged, hostile or something else. Each gives two clear lines or a counted note: never a
 * crash, a hang, or a number that is not in the file.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { createGzip, gunzipSync, gzipSync } from 'node:zlib';
import type { Database } from 'sql.js';
import { UserError } from '../src/base/user-error.js';
import { nsysSqlite } from '../src/import/nsys-sqlite/nsys-sqlite.js';
import { openProfile } from '../src/import/open.js';
import { ProfileFile } from '../src/import/profile-file.js';
import type { Profile } from '../src/model/profile.js';
import type { TableName } from '../src/model/schema.js';
import { validateProfile } from '../src/testing/validate-profile.js';
import { captures, fillExport, insert, makeDatabase, openDatabase, rootPage } from './small-exports.js';

const PAGE = 1024;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-bad-'));
// A test looks for what unpacking leaves behind: other test files unpack at the same time, elsewhere.
process.env.TMPDIR = scratch;
after(() => fs.rmSync(scratch, { recursive: true, force: true }));

type Outcome = { profile: Profile; error?: undefined } | { error: UserError; profile?: undefined };

/** Opens bytes as a user would; anything but a sound Profile or a UserError of two lines fails the test. */
async function open(bytes: Uint8Array, name = 'x.sqlite'): Promise<Outcome> {
  const file = path.join(scratch, name);
  fs.writeFileSync(file, bytes);
  return openPath(file);
}

async function openPath(file: string): Promise<Outcome> {
  let profile: Profile;
  try {
    profile = await openProfile([file], { workers: 0 });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    assert.ok(error.message.length > 10 && error.hint.length > 10 && !/\n/.test(error.message + error.hint));
    return { error };
  }
  assert.deepEqual(validateProfile(profile), []);
  return { profile };
}

const losses = (profile: Profile) => profile.notes.filter(note => note.severity === 'loss');

/** Rows as text, with names and owners looked up: what a report would show. */
function rowsOf(profile: Profile, name: TableName): string[] {
  const table = profile.tables[name] as unknown as
    | ({ length: number } & Record<string, ArrayLike<number>>)
    | undefined;
  const columns = [
    'start',
    'end',
    'correlation',
    'gridX',
    'graphNode',
    'result',
    'kind',
    'payload',
    'sourceRow',
  ];
  return Array.from({ length: table?.length ?? 0 }, (_, row) => {
    const cells = columns.map(column => table![column]?.[row]);
    const text = table!.name ? profile.strings.text(table!.name[row]) : '';
    const stream = table!.stream ? profile.streams[table!.stream[row]] : undefined;
    const thread = table!.thread ? profile.threads[table!.thread[row]] : undefined;
    return [...cells, stream?.streamId, stream && profile.gpus[stream.gpu].deviceId, thread?.tid, text].join(
      '|',
    );
  });
}
const read: TableName[] = ['kernels', 'apiCalls', 'ranges'];

/** Whatever was read must be in the whole file too; names may be lost with the string pool. Gives the rows missing. */
function checkSubset(part: Profile, whole: Profile): number {
  let missing = 0;
  for (const table of read) {
    const left = new Map<string, number>();
    const nameless = (row: string) => row.slice(0, row.lastIndexOf('|') + 1);
    for (const row of rowsOf(whole, table)) {
      for (const key of new Set([row, nameless(row)])) left.set(key, (left.get(key) ?? 0) + 1);
    }
    const rows = rowsOf(part, table);
    for (const row of rows) {
      const count = left.get(row) ?? 0;
      assert.ok(count > 0, `${table} has a row that the file has not: ${row.slice(0, 200)}`);
      left.set(row, count - 1);
    }
    missing += (whole.tables[table]?.length ?? 0) - rows.length;
  }
  return missing;
}

/** Damages a copy and expects a subset of the true rows, with a note where some are missing. */
async function damaged(
  bytes: Uint8Array,
  change: (copy: Uint8Array, view: DataView) => void,
): Promise<Profile> {
  const whole = await open(bytes);
  const copy = bytes.slice();
  change(copy, new DataView(copy.buffer));
  const { profile, error } = await open(copy);
  assert.ok(profile, error?.message);
  if (checkSubset(profile, whole.profile!) > 0)
    assert.ok(losses(profile).length > 0, 'rows are missing without a note');
  return profile;
}

const made = makeDatabase(PAGE, fillExport);
const root = async (table: string) => rootPage(await made, table);
const at = (page: number) => (page - 1) * PAGE;
/** Where the n-th cell of a page begins. */
const cell = (view: DataView, page: number, n: number) =>
  at(page) + view.getUint16(at(page) + (view.getUint8(at(page)) === 5 ? 12 : 8) + n * 2);

test('what is no database at all', async () => {
  const codes: Record<string, string> = {};
  const expected = {
    empty: 'not-a-profile',
    text: 'not-a-profile',
    header: 'damaged',
    zeros: 'not-a-profile',
    other: 'not-a-profile',
  };
  const other = await makeDatabase(4096, database => database.run('CREATE TABLE users (name TEXT)'));
  const files = {
    empty: new Uint8Array(0),
    text: new TextEncoder().encode('SQLite format 3 is what this text is about'),
    header: (await made).subarray(0, 60),
    zeros: new Uint8Array(100_000),
    other,
  };
  for (const [name, bytes] of Object.entries(files))
    codes[name] = (await open(bytes)).error?.code ?? 'opened';
  assert.deepEqual(codes, expected);
});

test('page sizes that cannot be, UTF-16, no tables', async () => {
  for (const size of [0, 3, 256, 1000, 4097, 65535]) {
    const bytes = (await made).slice();
    new DataView(bytes.buffer).setUint16(16, size);
    assert.equal((await open(bytes)).error?.code, 'damaged', String(size));
  }
  const wide = await makeDatabase(4096, database => {
    database.run("PRAGMA encoding = 'UTF-16le'");
    database.run('CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)');
  });
  assert.equal((await open(wide)).error?.code, 'damaged');
  assert.equal((await open(await makeDatabase(4096, () => {}))).error !== undefined, true);
});

test('cut anywhere: what is left is true, and the loss is told', async () => {
  const bytes = await made;
  const whole = (await open(bytes)).profile!;
  assert.deepEqual(losses(whole), []);
  const points = new Set([
    1,
    15,
    16,
    99,
    100,
    101,
    PAGE - 1,
    PAGE,
    PAGE + 1,
    bytes.length - 1,
    bytes.length - PAGE,
  ]);
  for (let i = 1; i < 60; i++) points.add(Math.floor((bytes.length * i) / 60) + (i % 3));
  for (const point of points) {
    const { profile } = await open(bytes.subarray(0, point));
    if (profile && checkSubset(profile, whole) > 0) assert.ok(losses(profile).length > 0, `cut at ${point}`);
  }
});

test('interior pages that point out of the file, at themselves, upwards, or twice at one leaf', async () => {
  const kernels = await root('CUPTI_ACTIVITY_KIND_KERNEL');
  const targets = (view: DataView) => {
    assert.equal(view.getUint8(at(kernels)), 5);
    return [
      0,
      0x7fffffff,
      0xffffffff,
      kernels,
      1,
      view.getUint32(cell(view, kernels, 2)),
      view.getUint32(at(kernels) + 8),
    ];
  };
  const bytes = await made;
  for (const target of targets(new DataView(bytes.buffer, bytes.byteOffset))) {
    for (const field of ['cell', 'last']) {
      const profile = await damaged(bytes, (_, view) => {
        view.setUint32(field === 'cell' ? cell(view, kernels, 1) : at(kernels) + 8, target);
      });
      assert.ok(profile.tables.kernels!.length > 0);
    }
  }
});

test('a page of another table where one of ours belongs', async () => {
  const kernels = await root('CUPTI_ACTIVITY_KIND_KERNEL');
  const calls = await root('CUPTI_ACTIVITY_KIND_RUNTIME');
  await damaged(await made, (_, view) => {
    view.setUint32(cell(view, kernels, 1), view.getUint32(cell(view, calls, 3)));
  });
});

test('overflow chains that leave the file, turn in circles or end early', async () => {
  const bytes = await made;
  const ranges = await root('NVTX_EVENTS');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const leaf = view.getUint32(cell(view, ranges, 0));
  // Row 8 of each nine overflows; its chain begins in the last four bytes of the cell. Found by trying them all.
  for (const target of [0, 0x7fffffff, leaf, 1, ranges]) {
    for (let offset = at(leaf) + 600; offset < at(leaf) + PAGE - 4; offset += 97) {
      const outcome = await open(
        withBytes(bytes, copy => new DataView(copy.buffer).setUint32(offset, target)),
      );
      assert.ok(outcome);
    }
  }
  const overflowing = await makeDatabase(PAGE, database => {
    fillExport(database, 5);
    insert(database, 'NVTX_EVENTS', [[5, 6, 59, 'z'.repeat(20_000), 77 * 2 ** 24 + 78, null, 0, 1, null]]);
  });
  const firstZ = overflowing.findIndex(
    (_, i) => overflowing[i] === 122 && overflowing[i + 300] === 122 && i % PAGE === 4,
  );
  for (const target of [0, 0x7fffffff, Math.floor(firstZ / PAGE) + 1, 1]) {
    const profile = await damaged(overflowing, (_, copy) => copy.setUint32(firstZ - 4, target));
    assert.equal(profile.tables.ranges!.length, 5);
  }
});

const withBytes = (bytes: Uint8Array, change: (copy: Uint8Array) => void) => {
  const copy = bytes.slice();
  change(copy);
  return copy;
};

test('cells that lie: lengths, pointers, kinds of page, record headers', async () => {
  const bytes = await made;
  const kernels = await root('CUPTI_ACTIVITY_KIND_KERNEL');
  const leafOf = (view: DataView) => view.getUint32(cell(view, kernels, 1));
  const lies: Record<string, (view: DataView, copy: Uint8Array) => void> = {
    'huge payload': (view, copy) => copy.set([0xff, 0xff, 0xff, 0x7f], cell(view, leafOf(view), 2)),
    'endless length': (view, copy) =>
      copy.fill(0xff, cell(view, leafOf(view), 2), cell(view, leafOf(view), 2) + 20),
    'payload of nothing': (view, copy) => copy.set([0], cell(view, leafOf(view), 2)),
    'pointer past the page': view => view.setUint16(at(leafOf(view)) + 8, 0xffff),
    'pointer into the header': view => view.setUint16(at(leafOf(view)) + 8, 3),
    'pointer at its neighbour': view =>
      view.setUint16(at(leafOf(view)) + 8, view.getUint16(at(leafOf(view)) + 10)),
    'all pointers at one cell': view => {
      for (let i = 0; i < 9; i++)
        view.setUint16(at(leafOf(view)) + 8 + 2 * i, view.getUint16(at(leafOf(view)) + 8));
    },
    'index page': view => view.setUint8(at(leafOf(view)), 10),
    'no page': view => view.setUint8(at(leafOf(view)), 0),
    'too many cells': view => view.setUint16(at(leafOf(view)) + 3, 0xffff),
    'more cells than are there': view =>
      view.setUint16(at(leafOf(view)) + 3, view.getUint16(at(leafOf(view)) + 3) + 3),
    'record header longer than the record': (view, copy) => copy.set([0x7f], cell(view, leafOf(view), 2) + 3),
    'record header of nothing': (view, copy) => copy.set([0], cell(view, leafOf(view), 2) + 3),
    'text longer than the record': (view, copy) => copy.set([0xff, 0x7f], cell(view, leafOf(view), 2) + 4),
    'reserved type': (view, copy) => copy.set([10], cell(view, leafOf(view), 2) + 4),
  };
  for (const [lie, change] of Object.entries(lies)) {
    const profile = await damaged(bytes, (copy, view) => change(view, copy));
    assert.ok(losses(profile).length > 0, lie);
  }
});

test('an export of a run without CUDA opens, and has no tables of it', async () => {
  const bytes = await makeDatabase(4096, database => {
    fillExport(database);
    database.run('DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME');
  });
  const { profile } = await open(bytes);
  assert.deepEqual(Object.keys(profile!.tables), ['ranges']);
  assert.deepEqual(losses(profile!), []);
});

test('without StringIds rows count and names are told missing', async () => {
  const { profile } = await open(await changed('DROP TABLE StringIds'));
  assert.equal(profile!.tables.kernels!.length, 300);
  assert.ok(losses(profile!).some(note => note.code === 'missing-names' && note.count >= 300));
});

async function changed(...statements: string[]): Promise<Uint8Array> {
  const database: Database = await openDatabase(await made);
  for (const statement of statements) database.run(statement);
  const bytes = database.export();
  database.close();
  return bytes;
}

const asText =
  'CREATE TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; ALTER TABLE k RENAME TO CUPTI_ACTIVITY_KIND_KERNEL;';
const nvtx =
  'CREATE TABLE n (start, end, eventType, text, globalTid, textId, domainId); DROP TABLE NVTX_EVENTS; ALTER TABLE n RENAME TO NVTX_EVENTS;';

test('NULL, text, fractions and far too large numbers where a plain number belongs', async () => {
  const nothing = await open(
    await changed(
      `${nvtx} INSERT INTO NVTX_EVENTS VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL), (NULL, NULL, 59, NULL, NULL, NULL, NULL)`,
    ),
  );
  assert.equal(nothing.profile!.tables.ranges, undefined);
  assert.ok(losses(nothing.profile!).length > 0);

  const odd = await open(
    await changed(
      `${nvtx} INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'a', 16777217, -5, 0), (1, 2, 59, 'b', 16777217, 1.5, 0), (1, 2, 59, 'c', 'me', 1e300, 'x'), (1, 2, 59, 'd', 1.5, 4294967297, 0)`,
    ),
  );
  const names = Array.from(odd.profile!.tables.ranges!.name as ArrayLike<number>, id =>
    odd.profile!.strings.text(id),
  );
  // A thread that is a text or a fraction is nobody's.
  assert.deepEqual(names, ['a', 'b']);
  assert.equal(losses(odd.profile!).find(note => note.code === 'no-owner')?.count, 2);

  const text = (
    await open(
      await changed(
        `${asText} UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon' WHERE rowid % 10 = 0; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'wide' WHERE rowid % 10 = 1`,
      ),
    )
  ).profile!;
  assert.equal(text.tables.kernels!.length, 270);
  assert.equal(losses(text).find(note => note.code === 'impossible-times')?.count, 30);
  assert.ok(losses(text).find(note => note.code === 'not-numbers')!.count >= 60);

  const large = (
    await open(
      await changed(
        `${asText} UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 4294967297, streamId = 4294967303, deviceId = -4294967296, end = 9e999 WHERE rowid = 5; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 4294967297, deviceId = 1e30 WHERE rowid = 6`,
      ),
    )
  ).profile!;
  // They run on GPUs whose numbers no GPU has; one also ends in infinity.
  assert.equal(large.tables.kernels!.length, 298);
  assert.equal(losses(large).find(note => note.code === 'no-owner')?.count, 2);
  assert.ok(losses(large).find(note => note.code === 'not-numbers')!.count >= 4);
});

test('metadata of the wrong kind', async () => {
  const { profile } = await open(
    await changed(
      `CREATE TABLE PROCESSES (globalPid, name); INSERT INTO PROCESSES VALUES (1.5, 7), ('x', NULL), (9e999, 'y'), (1291845632, x'00')`,
      `CREATE TABLE ThreadNames (globalTid, nameId, priority); INSERT INTO ThreadNames VALUES (1.5, 'x', 1), (9e999, 2.5, NULL)`,
      'CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (9e999)',
      `INSERT INTO TARGET_INFO_GPU VALUES ('zero', 1, 'x', 9e999), (1e300, NULL, NULL, NULL)`,
      'CREATE TABLE GPU_METRICS (when_, typeId, metricId, value); INSERT INTO GPU_METRICS VALUES (1, 2, 3, 4)',
      `CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, bytes, deviceId); INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES ('a', 1, 2, 3), (1, 'b', 'c', 'd')`,
      'ALTER TABLE NVTX_EVENTS RENAME COLUMN start TO begin',
    ),
  );
  assert.equal(profile!.tables.kernels!.length, 300);
  assert.deepEqual(
    [profile!.tables.ranges, profile!.tables.metricSamples, profile!.tables.memoryEvents],
    [undefined, undefined, undefined],
  );
  assert.ok(losses(profile!).find(note => note.code === 'impossible-times')!.count >= 303);
});

test('many tables that claim the same pages are read once', async () => {
  const bytes = await changed(
    ...Array.from({ length: 3000 }, (_, i) => `CREATE TABLE t${i} (a)`),
    'PRAGMA writable_schema = ON',
    "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS') WHERE name GLOB 't[0-9]*'",
  );
  const { profile } = await open(bytes);
  assert.equal(profile!.tables.ranges!.length, 300);
  assert.ok(Object.keys(profile!.capture.sourceCounts!).every(name => !/^t\d/.test(name)));
});

test('a file that shrinks while it is read', async () => {
  const bytes = await makeDatabase(4096, database => fillExport(database, 20_000));
  const whole = (await open(bytes)).profile!;
  for (const left of [0, 50, 4096, 5000, bytes.length >> 1]) {
    const place = path.join(scratch, 'shrinks.sqlite');
    fs.writeFileSync(place, bytes);
    const file = ProfileFile.open(place);
    fs.truncateSync(place, left);
    const before = await nsysSqlite.import(file, { workers: 0 }).catch(error => error);
    assert.ok(before instanceof UserError || losses(before).length > 0, `${left} left before`);
    file.close();

    fs.writeFileSync(place, bytes);
    const again = ProfileFile.open(place);
    const profile = await nsysSqlite.import(again, {
      workers: 0,
      onProgress: () => fs.truncateSync(place, left),
    });
    again.close();
    assert.deepEqual(validateProfile(profile), []);
    if (checkSubset(profile, whole) > 0) assert.ok(losses(profile).length > 0, `${left} left meanwhile`);
  }
  fs.writeFileSync(path.join(scratch, 'gone.sqlite'), bytes);
  const gone = ProfileFile.open(path.join(scratch, 'gone.sqlite'));
  fs.rmSync(path.join(scratch, 'gone.sqlite'));
  assert.equal((await nsysSqlite.import(gone, { workers: 0 })).tables.kernels!.length, 20_000);
  gone.close();
});

test('packed files: cut, damaged, of text, of nothing', async () => {
  const bytes = await made;
  const whole = (await open(bytes)).profile!;
  const packed = gzipSync(bytes);
  for (const point of [
    3,
    9,
    10,
    12,
    20,
    40,
    packed.length >> 2,
    packed.length >> 1,
    packed.length - 9,
    packed.length - 1,
  ]) {
    const { profile } = await open(packed.subarray(0, point), 'cut.sqlite.gz');
    if (!profile) continue;
    checkSubset(profile, whole);
    assert.ok(losses(profile).length > 0, `cut at ${point}`);
  }
  const flipped = packed.slice();
  flipped[packed.length - 6] ^= 1;
  const { profile, error } = await open(flipped, 'flipped.sqlite.gz');
  assert.ok(error?.code === 'damaged' || losses(profile!).length > 0, 'a wrong checksum is told');
  assert.equal((await open(gzipSync('just text'), 'text.gz')).error?.code, 'not-a-profile');
  assert.equal((await open(gzipSync(''), 'nothing.gz')).error?.code, 'not-a-profile');
  assert.deepEqual(leftovers(), []);
});

/** Temporary files of ours that outlived the import. */
const leftovers = () =>
  fs.readdirSync(os.tmpdir()).filter(name => /^stepscope-[A-Za-z0-9]{6}$/.test(name) && isNew(name));
const started = Date.now();
const isNew = (name: string) => fs.statSync(path.join(os.tmpdir(), name)).ctimeMs > started;

test('a gzip bomb stops at the stated limit, in bounded memory, and leaves nothing behind', async () => {
  const file = path.join(scratch, 'bomb.sqlite.gz');
  const gzip = createGzip();
  const done = once(gzip.pipe(fs.createWriteStream(file)), 'close');
  gzip.write((await made).subarray(0, PAGE));
  const zeros = new Uint8Array(16 << 20);
  for (let i = 0; i < 64; i++) if (!gzip.write(zeros)) await once(gzip, 'drain');
  gzip.end();
  await done;
  const before = process.memoryUsage().rss;
  const begin = performance.now();
  const { error } = await openPath(file);
  assert.equal(error?.code, 'too-large');
  assert.match(error!.message, /decompresses to more than \d+ [MG]B/);
  assert.ok(performance.now() - begin < 10_000);
  assert.ok(process.memoryUsage().rss - before < 200e6);
  assert.deepEqual(leftovers(), []);
});

test('lying counts and lengths do not make us allocate or work without bound', async () => {
  // Thousands of leaves under one table, whose rows each claim nearly the whole file, through one page that is its
  // own successor.
  const pages = 4000;
  const bytes = new Uint8Array(pages * PAGE);
  const small = await makeDatabase(PAGE, database => fillExport(database, 1));
  bytes.set(small);
  const view = new DataView(bytes.buffer);
  view.setUint32(28, pages);
  const first = small.length / PAGE + 1;
  const circle = first;
  view.setUint32(at(circle), circle);
  const interior = (page: number, children: number[]) => {
    bytes.fill(0, at(page), at(page) + PAGE);
    view.setUint8(at(page), 5);
    view.setUint16(at(page) + 3, children.length - 1);
    for (const [i, child] of children.slice(0, -1).entries()) {
      view.setUint16(at(page) + 12 + 2 * i, PAGE - 8 * (i + 1));
      view.setUint32(at(page) + PAGE - 8 * (i + 1), child);
      // Keys that fall say nothing, so no row is out of bounds.
      view.setUint8(at(page) + PAGE - 8 * (i + 1) + 4, 100 - i);
    }
    view.setUint32(at(page) + 8, children.at(-1)!);
  };
  const middles = Array.from({ length: 60 }, (_, i) => first + 1 + i);
  const leaves = Array.from({ length: pages - first - 61 }, (_, i) => first + 61 + i);
  interior(await rootPage(small, 'NVTX_EVENTS'), middles);
  for (const [i, middle] of middles.entries()) interior(middle, leaves.slice(i * 70, (i + 1) * 70));
  for (const page of leaves) {
    view.setUint8(at(page), 13);
    view.setUint16(at(page) + 3, 170);
    for (const [i, offset] of [350, 675].entries()) {
      view.setUint16(at(page) + 8 + 2 * i, offset);
      // A payload of 3,997,696 bytes, of which 316 lie here; then row id, record header, and the chain.
      bytes.set([0x81, 0xf4, 0x80, 0x00, i + 1, 2, 0], at(page) + offset);
      view.setUint32(at(page) + offset + 5 + 316, circle);
    }
  }
  const before = process.memoryUsage().rss;
  const begin = performance.now();
  const { profile } = await open(bytes);
  const took = performance.now() - begin;
  assert.ok(losses(profile!).find(note => note.code === 'damaged-rows')!.count >= leaves.length);
  assert.ok(took < 3000, `${took} ms`);
  const times = (process.memoryUsage().rss - before) / bytes.length;
  assert.ok(times < 60, `memory grew by ${times} times the file`);
});

/** Small enough to open thousands of times: a real capture with most of its rows gone. */
async function fuzzBase(): Promise<Uint8Array> {
  const real = captures().find(({ name }) => name === 'graph') ?? captures()[0];
  if (!real) return made;
  const database = await openDatabase(gunzipSync(fs.readFileSync(real.file)));
  for (const [name] of database.exec("SELECT name FROM sqlite_master WHERE type = 'table'")[0].values) {
    if (String(name).startsWith('ENUM_')) database.run(`DROP TABLE "${name}"`);
    else if (name !== 'StringIds') database.run(`DELETE FROM "${name}" WHERE rowid > 60`);
  }
  database.run(
    'DELETE FROM StringIds WHERE length(value) > 2000 OR (id > 80 AND id NOT IN (SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL))',
  );
  database.run('PRAGMA page_size = 1024');
  database.run('VACUUM');
  const bytes = database.export();
  database.close();
  return bytes;
}

/** xorshift32: the same damage every time. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0 || 1;
  return below => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

test('bytes changed at random: a sound profile or a UserError, quickly', async () => {
  const base = await fuzzBase();
  const pageSize = new DataView(base.buffer, base.byteOffset).getUint16(16);
  const rounds = Number(process.env.FUZZ_ROUNDS ?? 1000);
  const random = randomFrom(Number(process.env.FUZZ_SEED ?? 20260101));
  const telling = [0, 1, 5, 10, 13, 0x7f, 0x80, 0xfe, 0xff];
  let opened = 0;
  for (let round = 0; round < rounds; round++) {
    const bytes = base.slice();
    for (let n = 1 + random(8); n > 0; n--) {
      // Half of the damage goes where structure is: page headers, cell pointers, the schema.
      const page = random(Math.ceil(base.length / pageSize)) * pageSize;
      const spots = [
        random(base.length),
        random(base.length),
        page + random(12),
        page + random(80),
        random(6000),
      ];
      const spot = Math.min(spots[random(spots.length)], base.length - 1);
      bytes[spot] = random(2)
        ? telling[random(telling.length)]
        : random(2)
          ? random(256)
          : bytes[spot] ^ (1 << random(8));
    }
    const begin = performance.now();
    try {
      const { profile } = await open(bytes, 'fuzz.sqlite');
      if (profile) opened++;
    } catch (error) {
      const kept = path.join(os.tmpdir(), `stepscope-fuzz-${round}.sqlite`);
      fs.writeFileSync(kept, bytes);
      throw new Error(`round ${round} (kept as ${kept}): ${(error as Error).stack}`);
    }
    assert.ok(performance.now() - begin < 2000, `round ${round} took too long`);
  }
  assert.ok(opened > rounds / 4, `only ${opened} of ${rounds} opened`);
});

test('exports from before mid 2021 name their GPUs in another table', async () => {
  const bytes = await makeDatabase(4096, database => {
    fillExport(database, 3);
    database.run(`
      DROP TABLE TARGET_INFO_GPU;
      CREATE TABLE TARGET_INFO_CUDA_GPU (deviceId INTEGER, name TEXT, numMultiprocessors INTEGER, coreClockRate INTEGER,
        globalMemorySize INTEGER, globalMemoryBandwidth INTEGER, computeCapabilityMajor INTEGER,
        computeCapabilityMinor INTEGER);
      INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0, 'Tesla V100-SXM2-32GB', 80, 1530000, 34089730048, 898048000, 7, 0);`);
  });
  const file = path.join(scratch, 'from-2020.sqlite');
  fs.writeFileSync(file, bytes);
  const [gpu] = (await openProfile([file])).gpus;
  assert.equal(gpu.name, 'Tesla V100-SXM2-32GB');
  assert.deepEqual([gpu.smCount, gpu.memoryBytes, gpu.computeCapability], [80, 34_089_730_048, '7.0']);
  assert.deepEqual([gpu.clockHz, gpu.memoryBandwidthBytesPerSecond], [undefined, undefined]);
});
