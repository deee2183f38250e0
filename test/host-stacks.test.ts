/** Call stacks, samples and context switches of nsys exports: SQLite reads the same, and bad ids are counted. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Database, SqlValue } from 'sql.js';
import { NONE } from '../src/base/column.js';
import { StackTree } from '../src/import/nsys-sqlite/stack-tree.js';
import { openProfile } from '../src/import/open.js';
import { ProfileBuilder } from '../src/model/builder.js';
import { mergeProfiles } from '../src/model/merge.js';
import type { Profile, Row } from '../src/model/profile.js';
import { FrameKind, SampleSource, ThreadState } from '../src/model/schema.js';
import { sliceProfile } from '../src/model/slice.js';
import { redactProfile } from '../src/redact/redact.js';
import { capturePath, externalFolder, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { validateProfile } from '../src/testing/validate-profile.js';
import { insert, makeDatabase, openDatabase } from './small-exports.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-stacks-'));
after(() => rmSync(folder, { recursive: true }));
const osrt2022 = path.join(projectRoot, 'test/fixtures/stacks/osrt-2022.sqlite.gz');

/** A stack as words, innermost first: the function, or the library it could not be found in. */
function wordsOf(profile: Profile, stack: number): string {
  const frames = profile.tables.stackFrames!;
  const words: string[] = [];
  for (let row = stack as Row<'stackFrames'>; row !== NONE; row = frames.parent[row]) {
    const name = frames.kind[row] === FrameKind.unresolved ? '?' : profile.strings.text(frames.name[row]);
    const line = frames.line?.[row] ?? NONE;
    words.push(`${name} [${profile.strings.text(frames.module[row])}${line === NONE ? '' : `:${line}`}]`);
  }
  return words.join(' < ');
}

/** The same, from SQLite. */
function stacksInFile(database: Database, table: string): Map<number, string> {
  const has = (column: string) =>
    database.exec(`PRAGMA table_info(${table})`)[0].values.some(([, name]) => name === column);
  const kernel = has('kernelMode') ? 'kernelMode' : '0';
  const rows = database.exec(`
    SELECT c.id, s.value, m.value, c.unresolved, ${kernel} FROM ${table} c
    LEFT JOIN StringIds s ON s.id = c.symbol LEFT JOIN StringIds m ON m.id = c.module
    ORDER BY c.id, c.stackDepth DESC`);
  const stacks = new Map<number, string[]>();
  for (const [id, name, module, unresolved, kernelMode] of rows[0]?.values ?? []) {
    const words = stacks.get(Number(id)) ?? [];
    const library = String(module).split('/').pop();
    const word = `${unresolved && !kernelMode ? '?' : name} [${library}]`;
    if (!(word.startsWith('? ') && words.at(-1) === word)) words.push(word);
    stacks.set(Number(id), words);
  }
  return new Map([...stacks].map(([id, words]) => [id, words.reverse().join(' < ')]));
}

const count = (database: Database, table: string): number => {
  const known = database.exec(`SELECT count(*) FROM sqlite_master WHERE name = '${table}'`)[0].values[0][0];
  return known ? Number(database.exec(`SELECT count(*) FROM ${table}`)[0].values[0][0]) : 0;
};

/** Compares every event that has a stack; gives how many there are of each kind. */
async function compareStacks(file: string): Promise<{ samples: number; osCalls: number; apiCalls: number }> {
  const profile = await openProfile([file]);
  assert.deepEqual(validateProfile(profile), [], file);
  const database = await openDatabase(gunzipSync(readFileSync(file)));
  const { hostSamples, osCalls, apiCalls, contextSwitches } = profile.tables;
  assert.equal(hostSamples?.length ?? 0, count(database, 'COMPOSITE_EVENTS'), file);
  assert.equal(contextSwitches?.length ?? 0, count(database, 'SCHED_EVENTS'), file);
  const compared = { samples: 0, osCalls: 0, apiCalls: 0 };
  if (hostSamples) {
    const stacks = stacksInFile(database, 'SAMPLING_CALLCHAINS');
    const [{ values }] = database.exec('SELECT id, start, cpu FROM COMPOSITE_EVENTS ORDER BY start, id');
    for (let row = 0 as Row<'hostSamples'>; row < hostSamples.length; row++) {
      assert.equal(hostSamples.start[row], values[row][1]);
      assert.equal(hostSamples.cpu?.[row], values[row][2]);
      assert.equal(wordsOf(profile, hostSamples.stack[row]), stacks.get(Number(values[row][0])) ?? '');
      compared.samples++;
    }
  }
  if (osCalls?.stack) {
    const stacks = stacksInFile(database, 'OSRT_CALLCHAINS');
    const [{ values }] = database.exec('SELECT callchainId, start FROM OSRT_API ORDER BY start, rowid');
    for (let row = 0 as Row<'osCalls'>; row < osCalls.length; row++) {
      assert.equal(osCalls.start[row], values[row][1]);
      assert.equal(wordsOf(profile, osCalls.stack[row]), stacks.get(Number(values[row][0])) ?? '');
      if (osCalls.stack[row] !== NONE) compared.osCalls++;
    }
  }
  for (let row = 0 as Row<'apiCalls'>; apiCalls?.stack && row < apiCalls.length; row++) {
    if (apiCalls.stack[row] === NONE) continue;
    compared.apiCalls++;
    // Whatever the ids count from: a call is on its own stack.
    const call = profile.strings.text(apiCalls.name[row]).replace(/_v\d+$/, '');
    assert.match(wordsOf(profile, apiCalls.stack[row]), new RegExp(`\\b${call}`), file);
  }
  return compared;
}

test('stacks of OS calls are those of the file, of 2022 and of 2025', async () => {
  assert.deepEqual(await compareStacks(osrt2022), { samples: 0, osCalls: 69, apiCalls: 0 });
  assert.deepEqual(await compareStacks(capturePath('gil')), { samples: 0, osCalls: 7, apiCalls: 0 });
});

test('a program that waits for a lock is found there by its stacks', async () => {
  const profile = await openProfile([osrt2022]);
  const { osCalls } = profile.tables;
  const waits: string[] = [];
  for (let row = 0 as Row<'osCalls'>; row < osCalls!.length; row++)
    if (profile.strings.text(osCalls!.name[row]) === 'pthread_cond_timedwait')
      waits.push(wordsOf(profile, osCalls!.stack![row]));
  assert.ok(waits.some(words => / < take_gil /.test(words)));
});

test('samples, context switches and CUDA stacks of other people’s files', {
  skip: lacks('external'),
}, async () => {
  const external = (name: string) => path.join(externalFolder, 'nsys', `${name}.sqlite.gz`);
  assert.deepEqual(await compareStacks(external('t4-3.17')), { samples: 1601, osCalls: 348, apiCalls: 0 });
  assert.deepEqual(await compareStacks(external('no-kernels-3.23')), {
    samples: 99,
    osCalls: 162,
    apiCalls: 0,
  });
  assert.deepEqual(await compareStacks(external('rtx6000-2021-noschema')), {
    samples: 69,
    osCalls: 105,
    apiCalls: 0,
  });
  // Ids of CUDA stacks are one less than they should be in exports of 2022.
  assert.deepEqual(await compareStacks(external('a100-saxpy-mpi-2.9')), {
    samples: 5451,
    osCalls: 0,
    apiCalls: 38,
  });
});

test('a window and a merge keep the stacks', async () => {
  const profile = await openProfile([osrt2022]);
  const words = (of: Profile) => {
    const { osCalls } = of.tables;
    return Array.from(
      osCalls!.stack! as unknown as Int32Array,
      (stack, row) => `${osCalls!.start[row as never]} ${wordsOf(of, stack)}`,
    );
  };
  const all = words(profile);
  const { start } = profile.tables.osCalls!;
  const from = start[100 as never];
  const window = sliceProfile(profile, { fromNs: from, toNs: start[150 as never] });
  const kept = words(window);
  assert.ok(kept.length >= 50);
  for (const line of kept) assert.ok(all.includes(line), line);
  const both = mergeProfiles([profile, profile]);
  assert.deepEqual(validateProfile(both), []);
  assert.deepEqual([...words(both)].sort(), [...all, ...all].sort());
});

test('stacks are read only with the events they belong to', async () => {
  const some = await openProfile([osrt2022], { tables: new Map([['osCalls', []]]) });
  assert.ok(some.skipped.includes('stackFrames'));
  assert.equal(some.tables.osCalls!.stack, undefined);
  const none = await openProfile([osrt2022], { tables: new Map([['stackFrames', []]]) });
  assert.equal(none.tables.stackFrames, undefined);
});

const PROCESS = 5 * 2 ** 24;
const THREAD = PROCESS + 9;

/** Payload of a Python stack, as nsys writes it. */
function pythonPayload(
  state: number,
  frames: readonly (readonly [name: number, file: number, line: number])[],
): Uint8Array {
  const bytes = new Uint8Array(48 + 24 * frames.length);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, 1n, true);
  view.setBigUint64(8, 7n, true);
  view.setBigUint64(16, BigInt(bytes.length - 32), true);
  view.setBigUint64(24, BigInt(bytes.length), true);
  view.setBigUint64(32, 1n, true);
  view.setUint32(40, state, true);
  view.setUint32(44, frames.length, true);
  frames.forEach((frame, i) => {
    for (const [part, value] of frame.entries())
      view.setBigUint64(48 + 24 * i + 8 * part, BigInt(value), true);
  });
  return bytes;
}

/** The tables of an export that stacks are in, without rows, and some names. */
function fillMade(database: Database): void {
  database.run(`
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER,
      threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);
    CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL,
      kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER,
      unwindMethod INTEGER, stackDepth INTEGER NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER,
      globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, callchainId INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
      globalTid INTEGER, textId INTEGER, domainId INTEGER, binaryData TEXT);`);
  const names = [
    'a',
    'b',
    'c',
    '/lib/x.so',
    'cudaLaunchKernel',
    'step',
    '/app/model.py',
    'forward',
    '/app/main.py',
  ];
  insert(
    database,
    'StringIds',
    names.map((name, i): SqlValue[] => [i + 1, name]),
  );
}

async function openMade(fill: (database: Database) => void): Promise<Profile> {
  const file = path.join(folder, 'made.sqlite');
  writeFileSync(
    file,
    await makeDatabase(1024, database => {
      fillMade(database);
      fill(database);
    }),
  );
  const profile = await openProfile([file]);
  assert.deepEqual(validateProfile(profile), []);
  return profile;
}

const note = (profile: Profile, code: string) => profile.notes.find(known => known.code === code)?.count ?? 0;

test('broken stacks are counted and the rest is kept', async () => {
  const frame = (id: number, symbol: number, depth: number | null, unresolved = 0): SqlValue[] => [
    id,
    symbol,
    4,
    0,
    0,
    unresolved,
    null,
    0,
    0,
    depth as SqlValue,
  ];
  const profile = await openMade(database => {
    database.run('DROP TABLE SAMPLING_CALLCHAINS');
    database.run(`CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, kernelMode INTEGER,
      thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER, unwindMethod INTEGER,
      stackDepth INTEGER)`);
    insert(
      database,
      'COMPOSITE_EVENTS',
      [1, 2, 3, 4, 77].map((id): SqlValue[] => [id, id * 100, 3, 1, THREAD, 1]),
    );
    insert(database, 'SAMPLING_CALLCHAINS', [
      frame(1, 2, 1),
      frame(1, 1, 0),
      frame(2, 999, 0),
      frame(2, 3, 1),
      frame(3, 1, null),
      frame(3, 1, 0, 1),
      frame(3, 2, 1, 1),
      frame(3, 3, 2),
      frame(1, 3, 2),
      frame(1000, 1, 0),
    ]);
  });
  const { hostSamples } = profile.tables;
  const words = Array.from(hostSamples!.stack as unknown as Int32Array, stack => wordsOf(profile, stack));
  assert.deepEqual(words, ['a [x.so] < b [x.so]', '? [x.so] < c [x.so]', '? [x.so] < c [x.so]', '', '']);
  // A row without a depth, and one that stands apart from its stack.
  assert.equal(note(profile, 'stack-rows'), 2);
  assert.equal(note(profile, 'missing-names'), 1);
});

test('Python samples and Python stacks of calls come out of NVTX payloads', async () => {
  const profile = await openMade(database => {
    const mark = (start: number, domain: number, payload: Uint8Array | string | null): SqlValue[] => [
      start,
      null,
      34,
      null,
      THREAD,
      null,
      domain,
      payload,
    ];
    insert(database, 'NVTX_EVENTS', [
      [0, null, 75, 'Python Periodic Sampling', THREAD, null, 1, null],
      [0, null, 75, 'Python Backtrace on CUDA', THREAD, null, 2, null],
      mark(
        100,
        1,
        pythonPayload(1, [
          [6, 7, 41],
          [8, 9, 12],
        ]),
      ),
      mark(200, 1, pythonPayload(2, [[8, 9, 13]])),
      mark(
        1000,
        2,
        pythonPayload(0, [
          [6, 7, 55],
          [8, 9, 14],
        ]),
      ),
      // Something else's payload, a name that is not in the file, and text.
      mark(1100, 1, new Uint8Array(72)),
      mark(1200, 1, pythonPayload(1, [[4444, 7, 1]])),
      mark(1300, 1, 'words'),
    ]);
    insert(database, 'CUPTI_ACTIVITY_KIND_RUNTIME', [
      [900, 950, 0, THREAD, 1, 5, 0, null],
      [1010, 1050, 0, THREAD, 2, 5, 0, null],
      [1020, 1030, 1, THREAD, 2, 5, 0, null],
      [2000, 2010, 0, THREAD, 3, 5, 0, null],
    ]);
  });
  const { hostSamples, apiCalls } = profile.tables;
  assert.equal(note(profile, 'python-stacks-missing'), 3);
  assert.deepEqual(
    Array.from(hostSamples!.stack as unknown as Int32Array, (stack, row) => [
      hostSamples!.start[row as never],
      hostSamples!.source[row as never],
      hostSamples!.state![row as never],
      wordsOf(profile, stack),
    ]),
    [
      [100, SampleSource.python, ThreadState.running, 'step [/app/model.py:41] < forward [/app/main.py:12]'],
      [200, SampleSource.python, ThreadState.interruptible, 'forward [/app/main.py:13]'],
    ],
  );
  assert.deepEqual(
    Array.from(apiCalls!.pythonStack as unknown as Int32Array, stack => wordsOf(profile, stack)),
    ['', 'step [/app/model.py:55] < forward [/app/main.py:14]', '', ''],
  );
});

test('a redacted copy keeps Python stacks, without folders and without anything else', async () => {
  const file = path.join(folder, 'python.sqlite');
  const copy = path.join(folder, 'copy.sqlite');
  const hidden = pythonPayload(1, [[6, 7, 41]]);
  new TextEncoder().encodeInto('secret', hidden.subarray(32));
  const padded = pythonPayload(1, [[6, 7, 41]]);
  // Memory that no field covers holds what was there before; the header may say where the payload begins.
  new TextEncoder().encodeInto('leak', padded.subarray(68));
  padded.set([32, 0], 24);
  writeFileSync(
    file,
    await makeDatabase(1024, database => {
      fillMade(database);
      insert(database, 'NVTX_EVENTS', [
        [0, null, 75, 'Python Periodic Sampling', THREAD, null, 1, null],
        [
          100,
          null,
          34,
          null,
          THREAD,
          null,
          1,
          pythonPayload(1, [
            [6, 7, 41],
            [8, 9, 12],
          ]),
        ],
        [200, null, 34, null, THREAD, null, 1, hidden],
        [300, null, 34, null, THREAD, null, 1, padded],
      ]);
    }),
  );
  await redactProfile({ input: file, output: copy, hashRanges: false, force: true, onProgress: () => {} });
  const { hostSamples } = (await openProfile([file])).tables;
  assert.equal(hostSamples!.length, 3);
  const redacted = await openProfile([copy]);
  assert.deepEqual(
    Array.from(redacted.tables.hostSamples!.stack as unknown as Int32Array, stack =>
      wordsOf(redacted, stack),
    ),
    ['step [model.py:41] < forward [main.py:12]', 'step [model.py:41]'],
  );
  assert.ok(readFileSync(file).includes('leak'));
  for (const word of ['secret', 'leak']) assert.ok(!readFileSync(copy).includes(word), word);
});

test('the tree of stacks is bounded, and says what it left out', () => {
  const builder = new ProfileBuilder();
  const frame = (name: number) => ({
    name: builder.strings.intern(`f${name}`),
    module: NONE,
    kind: FrameKind.native,
    line: NONE,
  });
  const deep = new StackTree(3, 100);
  const row = deep.add([0, 1, 2, 3, 4].map(frame));
  assert.deepEqual(
    [...deep.namesOn(row)].map(id => builder.strings.text(id)),
    ['f0', 'f1', 'f2'],
  );
  deep.finish(builder);
  const wide = new StackTree(10, 4);
  assert.notEqual(wide.add([1, 0].map(frame)), NONE);
  wide.add([2, 0].map(frame));
  const cut = wide.add([5, 4, 3, 0].map(frame));
  assert.deepEqual(
    [...wide.namesOn(cut)].map(id => builder.strings.text(id)),
    ['f3', 'f0'],
  );
  assert.equal(wide.add([1, 0].map(frame)), 1);
  wide.finish(builder);
  const notes = builder.notes.list();
  assert.deepEqual(
    notes.map(({ code, count, example }) => [code, count, example]),
    [
      ['deep-stacks', 1, '2 functions'],
      ['many-stacks', 1, ''],
    ],
  );
});

/** Ids of CUDA stacks by release: what calls name, and what the stacks are called. */
for (const [title, first, callIds] of [
  ['from 0, as in 2025', 0, [0, 1, null]],
  ['from 1 with calls from 0, as in 2022', 1, [0, 1, null]],
  ['from 1', 1, [1, 2, 0]],
] as const)
  test(`stacks of CUDA calls, with ids ${title}`, async () => {
    const profile = await openMade(database => {
      database.run(
        'CREATE TABLE CUDA_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, unresolved INTEGER, stackDepth INTEGER)',
      );
      insert(database, 'CUDA_CALLCHAINS', [
        [first, 5, 4, 0, 0],
        [first, 1, 4, 0, 1],
        [first + 1, 3, 4, 0, 0],
        [first + 1, 2, 4, 0, 1],
      ]);
      insert(
        database,
        'CUPTI_ACTIVITY_KIND_RUNTIME',
        callIds.map((id, i): SqlValue[] => [i * 100, i * 100 + 50, 0, THREAD, i, i === 0 ? 5 : 3, 0, id]),
      );
    });
    assert.deepEqual(
      Array.from(profile.tables.apiCalls!.stack as unknown as Int32Array, stack => wordsOf(profile, stack)),
      ['cudaLaunchKernel [x.so] < a [x.so]', 'c [x.so] < b [x.so]', ''],
    );
  });
