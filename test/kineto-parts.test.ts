/** A trace read by several threads, in whatever pieces and turns, is the trace one thread reads: byte for byte. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ImportContext } from '../src/import/importer.js';
import { finishImport } from '../src/import/kineto-json/build/finish-import.js';
import type { Wanted } from '../src/import/kineto-json/events/read-trace.js';
import { importKineto, unwanted } from '../src/import/kineto-json/import-kineto.js';
import { cutTrace } from '../src/import/kineto-json/read/trace-cuts.js';
import { type Helpers, PieceCounter, startHelpers } from '../src/import/kineto-json/threads/part-helpers.js';
import { memoryOf, type Part, PartReader } from '../src/import/kineto-json/threads/part-reader.js';
import { readPieces } from '../src/import/kineto-json/threads/read-pieces.js';
import { readTogether } from '../src/import/kineto-json/threads/read-together.js';
import { ProfileFile } from '../src/import/profile-file.js';
import type { TableName } from '../src/model/schema.js';
import { capturePath, readText } from '../src/testing/captures.js';
import { bytesOfProfile } from '../src/testing/profile-bytes.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kineto-parts-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

type Tables = ReadonlyMap<TableName, readonly string[]> | undefined;
type Event = Record<string, unknown>;
const START = 3_852_574_043_478;
const HEAD = '{\n  "schemaVersion": 1,\n  "record_shapes": 1,\n  "traceEvents": [';
const TAIL = '\n  ],\n  "host_name": "node7",\n  "traceName": "x.json"\n}\n';

/** An event as Kineto lays it out. */
const written = (event: Event) => `\n  {\n    ${JSON.stringify(event).slice(1, -1)}\n  }`;
const traceOf = (events: readonly string[], tail = TAIL) => HEAD + events.join(',') + tail;

let files = 0;
async function withFile<T>(content: string | Uint8Array, use: (file: ProfileFile) => Promise<T>): Promise<T> {
  const target = path.join(folder, `${files++}`, 'trace.json');
  fs.mkdirSync(path.dirname(target));
  fs.writeFileSync(target, content);
  const file = ProfileFile.open(target);
  try {
    return await use(file);
  } finally {
    file.close();
    fs.rmSync(target);
  }
}

const wantedOf = (tables: Tables): Wanted => ({ unwanted: unwanted({ tables }), tables });
const nobody = () => {};

async function alone(file: ProfileFile, tables?: Tables): Promise<Buffer> {
  return Buffer.from(bytesOfProfile(await importKineto(file, { tables, workers: 0 })));
}

/** What reading with these helpers gives; undefined when that is left to one thread. */
async function finished(file: ProfileFile, helpers: Helpers, tables?: Tables): Promise<Buffer | undefined> {
  const read = await readTogether(helpers, wantedOf(tables), nobody);
  return read && Buffer.from(bytesOfProfile(finishImport(file, read, wantedOf(tables))));
}

/** Real threads, which read everything but the first and last piece. */
async function byThreads(file: ProfileFile, pieceBytes: number, workers: number, tables?: Tables) {
  const sharing = { leastBytes: 0, pieceBytes, helpersOnly: true };
  const helpers = await startHelpers(file, { workers }, wantedOf(tables), sharing);
  return helpers && finished(file, helpers, tables);
}

/** Helpers of this thread that take turns with it as the numbers have it: every order of pieces can come up. */
async function inTurns(
  file: ProfileFile,
  pieceBytes: number,
  random: () => number,
  tables?: Tables,
): Promise<Buffer | undefined> {
  const source = await file.randomAccess();
  const bounds = cutTrace(source, pieceBytes);
  if (!bounds || bounds.length < 4) return undefined;
  const counter = new PieceCounter(bounds.length - 1);
  const help = async (): Promise<Part | undefined> => {
    const part = new PartReader(wantedOf(tables));
    while (Atomics.load(counter.shared.control, 1) === 0) await setImmediate();
    part.startAt(counter.waitForOrigin());
    for (const readable of readPieces(part, counter, bounds, (into, at) => source.read(into, at))) {
      if (!readable) return undefined;
      for (let turns = Math.floor(random() * 4); turns > 0; turns--) await setImmediate();
    }
    const given = part.give();
    return structuredClone(given, { transfer: memoryOf(given) });
  };
  return finished(file, { source, bounds, counter, helpersOnly: false, parts: [help(), help()] }, tables);
}

function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** Every twelfth event of a real trace, twice, the second time later and on other correlations. */
function grownTrace(): string {
  const text = readText(capturePath('eager', 'kineto.json.gz'));
  const from = text.indexOf('"traceEvents": [') + '"traceEvents": ['.length;
  const to = text.lastIndexOf('\n  ],');
  const events = text.slice(from, to).split(/(?<=\n {2}\}),/);
  const some = events.filter((event, i) => i % 12 === 0 || /"ph": "M"|"cat": "Trace"/.test(event));
  const later = some.map(event =>
    event
      .replace(/"ts": (\d+)/, (_, ts) => `"ts": ${Number(ts) + 1_000_000}`)
      .replace(/"correlation": (\d+)/, (_, id) => `"correlation": ${Number(id) + 1_000_000}`),
  );
  return text.slice(0, from) + [...some, ...later].join(',') + text.slice(to);
}

const restricted: Tables[] = [
  undefined,
  new Map([['kernels', []]]),
  new Map([
    ['kernels', ['op']],
    ['apiCalls', []],
    ['ranges', []],
  ]),
  new Map([
    ['flows', []],
    ['ops', ['shapes']],
    ['copies', []],
  ]),
];

test('threads read a real trace as one thread does, every table and a few', async () => {
  const trace = grownTrace();
  assert.ok(trace.length > 1e6);
  await withFile(trace, async file => {
    for (const tables of restricted) {
      const expected = await alone(file, tables);
      for (const workers of [1, 3]) {
        const got = await byThreads(file, 50_000, workers, tables);
        assert.ok(got, 'read by one thread after all');
        assert.ok(expected.equals(got), `${workers} workers`);
      }
      for (const [seed, pieceBytes] of [10_000, 33_333, 200_001].entries()) {
        const got = await inTurns(file, pieceBytes, numbersFrom(seed), tables);
        assert.ok(got && expected.equals(got), `pieces of ${pieceBytes}`);
      }
    }
  });
});

/** Events whose meaning hangs on what was first, last or seen before. */
function oddEvent(i: number, random: () => number): Event {
  const pick = <T>(...values: T[]) => values[Math.floor(random() * values.length)];
  const ts = START + i * 10 + pick(0.25, 0.001, 0);
  const place = {
    pid: pick<unknown>(100, 200, 'word', 'other'),
    tid: pick<unknown>(1, 2, 'stream 7', 'loop'),
  };
  const gpu = { pid: pick(0, 1), tid: pick(7, 8), ts, dur: 3 };
  const X = { ph: 'X', ts, dur: 1.5, ...place };
  const name = `name ${Math.floor(random() * 40)}`;
  return pick<() => Event>(
    () => ({
      ...X,
      cat: 'cpu_op',
      name,
      args: { 'External id': i, 'Input Dims': [[i % 9]], 'Input type': ['a'] },
    }),
    () => ({ ...X, cat: 'cpu_op', name: 'ProfilerStep#7' }),
    () => ({ ...X, cat: 'python_function', name: `é"\\${i % 7}`, args: { 'Python id': i } }),
    () => ({ ...X, cat: 'cuda_runtime', name, args: { correlation: i, 'External id': i - 1 } }),
    () => ({ ...X, cat: pick('user_annotation', 'overhead', 'something new', `rare ${i}`), name }),
    () => ({
      ph: 'X',
      cat: 'kernel',
      name: `void ns::${name}<int>(int)`,
      ...gpu,
      args: { stream: pick(7, 9), correlation: i - 1 },
    }),
    () => ({
      ph: 'X',
      cat: 'gpu_memcpy',
      name: pick('Copy', 'Memcpy HtoD (Pageable -> Device)'),
      ...gpu,
      args: { bytes: i, kind: pick('HostToDevice', 'DeviceToHost') },
    }),
    () => ({ ph: 'X', cat: 'gpu_user_annotation', name, ...gpu }),
    () => ({
      ph: 'X',
      cat: 'cuda_sync',
      name: 'Event Sync',
      ...gpu,
      args: { stream: 7, wait_on_cuda_event_id: i },
    }),
    () => ({
      ph: 'i',
      name: pick('[memory]', 'mark'),
      ts,
      ...place,
      args: { Bytes: i, 'Device Type': 1, 'Device Id': 0 },
    }),
    () => ({ ph: pick('s', 'f'), id: i, cat: 'ac2g', name: 'ac2g', ts, ...place }),
    () => ({ ph: 'M', name: pick('process_name', 'thread_name'), ...place, args: { name: `called ${i}` } }),
    () => ({
      ph: 'X',
      cat: 'Trace',
      name: 'PyTorch Profiler (0)',
      ts,
      dur: i,
      pid: 'Spans',
      tid: 'PyTorch Profiler',
    }),
    () =>
      pick<Event>(
        { ...X, dur: -1, cat: 'cpu_op', name },
        { name },
        { ph: 'X', cat: 'kernel', name },
        { ph: 'X', ts, cat: 'kernel', name, pid: 0, tid: 7 },
      ),
    () => ({ ...X, ts: pick<unknown>(`${START + i}.12345`, '3.9e12'), cat: 'cpu_op', name }),
  )();
}

test('first, last and counted things come out the same in every order of pieces', async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = numbersFrom(seed);
    const first = { ph: 'X', cat: 'cpu_op', name: 'first', pid: 100, tid: 1, ts: START, dur: 1 };
    const events = [first, ...Array.from({ length: 600 }, (_, i) => oddEvent(i, random))].map(written);
    await withFile(traceOf(events), async file => {
      for (const tables of restricted) {
        const expected = await alone(file, tables);
        const got = await inTurns(file, 1000 + seed * 777, random, tables);
        assert.ok(got, `seed ${seed}: read by one thread after all`);
        assert.ok(expected.equals(got), `seed ${seed}`);
      }
    });
  }
});

const op = (i: number, rest: Event = {}): string =>
  written({ ph: 'X', cat: 'cpu_op', name: `op ${i % 5}`, pid: 1, tid: 1, ts: START + i, dur: 1, ...rest });
const ops = (count: number) => Array.from({ length: count }, (_, i) => op(i));
const opsWith = (count: number, at: number, ...events: string[]) => ops(count).toSpliced(at, 0, ...events);

/** All ways to read it agree; says whether it was read in pieces. */
async function agrees(trace: string, pieceBytes = 2000, threads = true): Promise<boolean> {
  return withFile(trace, async file => {
    const expected = await alone(file);
    const pieces = await inTurns(file, pieceBytes, numbersFrom(1));
    if (pieces) assert.ok(expected.equals(pieces));
    if (!threads) return pieces !== undefined;
    const context: ImportContext = { workers: 1 };
    const sharing = { leastBytes: 0, pieceBytes, helpersOnly: true };
    assert.ok(expected.equals(Buffer.from(bytesOfProfile(await importKineto(file, context, sharing)))));
    return pieces !== undefined;
  });
}

test('what only one reader of the whole can judge is left to one', async () => {
  const begin = written({ ph: 'B', cat: 'user_annotation', name: 'span', pid: 1, tid: 1, ts: START });
  const end = written({ ph: 'E', pid: 1, tid: 1, ts: START + 300 });
  assert.equal(await agrees(traceOf(opsWith(200, 50, begin, op(7), end))), true, 'a pair within a piece');
  const pair = opsWith(200, 50, begin).toSpliced(150, 0, end);
  assert.equal(await agrees(traceOf(pair)), false, 'a pair across a cut');
  assert.equal(await agrees(traceOf(opsWith(200, 100, begin))), false, 'no end');
  assert.equal(await agrees(traceOf([...ops(200), begin])), false, 'no end in the last piece');
  assert.equal(await agrees(traceOf(opsWith(200, 100, end))), false, 'no beginning');
  assert.equal(await agrees(traceOf(opsWith(200, 100, '\n  {\n    "ph": "X", oops\n  }'))), false, 'damage');
  assert.equal(await agrees(traceOf(['\n  nonsense', ...ops(200)])), false, 'damage in the first piece');
  assert.equal(await agrees(traceOf([...ops(200), '\n  nonsense'])), false, 'damage in the last piece');
  const ambiguous = op(1, { pid: 2 ** 40, tid: 'word' });
  assert.equal(await agrees(traceOf(opsWith(200, 100, ambiguous))), false, 'an id among the words');
});

test('damage at every place around a cut', async () => {
  const trace = traceOf(ops(120));
  const cut = trace.indexOf('\n  {', 4000);
  for (let at = cut - 12; at < cut + 40; at++) {
    for (const wrong of ['', '"', '}', ']', '{'])
      await agrees(trace.slice(0, at) + wrong + trace.slice(at + 1), 4000, false);
  }
});

test('text and arguments that look like the beginning of an event', async () => {
  const lookalike = '\n  {\n    "ph": "X", ';
  // A raw line break is not JSON, but it is read.
  const raw = op(1).replace('op 1', lookalike.repeat(300).replaceAll('"', '\\"'));
  await agrees(traceOf(opsWith(200, 100, raw)));
  const nested = op(1).replace('"dur":1', `"dur":1,"args":{"x":[${`${lookalike}"a":1},`.repeat(300)}0]}`);
  assert.equal(await agrees(traceOf(opsWith(200, 100, nested))), false);
  const behind = TAIL.replace('"traceName"', `"list": [${lookalike}"a":1}],\n "traceName"`);
  await agrees(traceOf(ops(200), behind));
  assert.equal(await agrees(traceOf(ops(200), behind.replace('"a":1', `"a":"${'x'.repeat(9000)}"`))), true);
});

test('a file cut off anywhere', async () => {
  const trace = traceOf(ops(150));
  for (let end = trace.length; end > 6000; end -= 391)
    assert.equal(await agrees(trace.slice(0, end), 2000, false), true);
  assert.equal(await agrees(trace.slice(0, -TAIL.length)), true);
});

test('one thread is used where it should be', async () => {
  const trace = traceOf(ops(500));
  const used = async (content: string | Uint8Array, workers: number, leastBytes = 0, pieceBytes = 4000) =>
    withFile(content, async file => {
      const helpers = await startHelpers(file, { workers }, wantedOf(undefined), { leastBytes, pieceBytes });
      helpers?.counter.stop();
      await Promise.all(helpers?.parts ?? []);
      return helpers?.parts.length ?? 0;
    });
  assert.equal(await used(trace, 1), 1);
  assert.equal(await used(trace, 99), 3);
  assert.equal(await used(trace, 0), 0);
  assert.equal(await used(trace, 1, trace.length + 1), 0);
  assert.equal(await used(trace, 1, 0, trace.length), 0);
  assert.equal(await used(gzipSync(trace), 1), 0);
  const oneLine = JSON.stringify(JSON.parse(traceOf(ops(20_000))));
  assert.equal(await used(oneLine, 1), 0);
  assert.equal(await agrees(oneLine), false);
});

test('a helper that fails leaves the file to one thread; a file that goes away hurts nobody else', async () => {
  await withFile(traceOf(ops(500)), async file => {
    const sharing = { leastBytes: 0, pieceBytes: 4000 };
    const helpers = (await startHelpers(file, { workers: 1 }, wantedOf(undefined), sharing))!;
    const failing = { ...helpers, parts: [...helpers.parts, Promise.resolve(undefined)] };
    assert.equal(await readTogether(failing, wantedOf(undefined), nobody), undefined);
  });
  // Long enough that no helper, however fast, has read it all before the file is closed.
  await withFile(traceOf(ops(100_000)), async file => {
    const sharing = { leastBytes: 0, pieceBytes: 4000 };
    const closed = (await startHelpers(file, { workers: 2 }, wantedOf(undefined), sharing))!;
    file.close();
    await assert.rejects(readTogether(closed, wantedOf(undefined), nobody));
    // They end by themselves; what they have read is nobody's.
    await Promise.all(closed.parts);
  });
});

test('progress rises to 1, also when a file is read again', async () => {
  for (const trace of [traceOf(ops(500)), traceOf(opsWith(500, 400, '\n  {\n    oops\n  }'))]) {
    await withFile(trace, async file => {
      const seen: number[] = [];
      const context = { workers: 1, onProgress: (done: number) => void seen.push(done) };
      await importKineto(file, context, { leastBytes: 0, pieceBytes: 4000 });
      assert.equal(seen.at(-1), 1);
      assert.ok(seen.length > 1 && seen.every((done, i) => i === 0 || done >= seen[i - 1]));
    });
  }
});
