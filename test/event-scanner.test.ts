/**
 * Events read by WebAssembly are those that the EventReader reads: the same profile, byte for byte, and the same notes,
 * whatever is done to the trace. FUZZ_ROUNDS and FUZZ_SEED change how much and what.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { finishImport } from '../src/import/kineto-json/build/finish-import.js';
import { EventReader } from '../src/import/kineto-json/events/event-reader.js';
import { EventScanner, Scanned } from '../src/import/kineto-json/events/event-scanner.js';
import { Labels } from '../src/import/kineto-json/events/labels.js';
import type { Wanted } from '../src/import/kineto-json/events/read-trace.js';
import { unwanted } from '../src/import/kineto-json/import-kineto.js';
import { readAlone } from '../src/import/kineto-json/read/read-alone.js';
import type { TableName } from '../src/model/schema.js';
import { capturePath, readText } from '../src/testing/captures.js';
import { bytesOfProfile } from '../src/testing/profile-bytes.js';
import { type Random, randomTrace } from './random-trace.js';

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 600);
const SEED = Number(process.env.FUZZ_SEED ?? 20261116);

type Tables = ReadonlyMap<TableName, readonly string[]> | undefined;
const asked: readonly Tables[] = [
  undefined,
  new Map([
    ['kernels', ['op']],
    ['ranges', []],
  ]),
  new Map([
    ['kernels', []],
    ['apiCalls', []],
    ['frames', []],
  ]),
  new Map([
    ['flows', []],
    ['ops', ['shapes', 'values']],
    ['syncs', []],
  ]),
];
const wantedOf = (tables: Tables): Wanted => ({ unwanted: unwanted({ tables }), tables });

function numbersFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** What comes of a text that arrives in pieces of so many bytes. */
async function profileOf(bytes: Uint8Array, pieceBytes: number, tables: Tables, mayScan: boolean) {
  const file = {
    name: 'trace.json',
    sizeBytes: bytes.length,
    async *borrowedChunks() {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    },
  };
  try {
    const wanted = wantedOf(tables);
    return Buffer.from(
      bytesOfProfile(finishImport(file, await readAlone(file, wanted, () => {}, mayScan), wanted)),
    );
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return Buffer.from(error.message);
  }
}

async function assertSame(bytes: Uint8Array, pieceBytes: number, tables: Tables, what: string) {
  const expected = await profileOf(bytes, pieceBytes, tables, false);
  const got = await profileOf(bytes, pieceBytes, tables, true);
  if (expected.equals(got)) return;
  const place = expected.findIndex((byte, i) => got[i] !== byte);
  const near = (all: Buffer) => all.toString('latin1', Math.max(0, place - 60), place + 60);
  assert.fail(`${what}: ${JSON.stringify(near(got))} instead of ${JSON.stringify(near(expected))}`);
}

for (const name of ['eager', 'graph', 'moe-learned']) {
  test(`${name}, a real trace, for every question`, async () => {
    const bytes = Buffer.from(readText(capturePath(name, 'kineto.json.gz')));
    for (const [i, tables] of asked.entries()) await assertSame(bytes, 1e6 + i, tables, `question ${i}`);
  });
}

test(`generated traces, ${ROUNDS} times`, async () => {
  const random = numbersFrom(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = randomTrace(random);
    const pieceBytes = random() < 0.5 ? bytes.length : 50 + Math.floor(random() * 2000);
    const tables = asked[round % asked.length];
    const text = () => Buffer.from(bytes).toString('latin1').slice(0, 3000);
    await assertSame(bytes, pieceBytes, tables, `round ${round} of seed ${SEED}, ${text()}`);
  }
});

const kernel = `{
    "ph": "X", "cat": "kernel", "name": "void f<int>(\\"x\\")", "pid": 0, "tid": 7,
    "ts": 3852574043478.484, "dur": 28.5,
    "args": {
      "External id": 12, "device": 0, "stream": 7, "correlation": 1234567, "grid": [8, 1, 1], "occupancy": 1e-3
    }
  }`;
const call =
  '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":"9 ","tid":9,"ts":1.25,"dur":0,"args":{}}';
const op = '{"ph":"X","cat":"cpu_op","name":"aten::mm","args":{"Input Dims":[[1,[]],{"a":null}]}}';

/** Scans a list of events; each as [phase, pid, duration, correlation] where it is wanted. */
function scanned(text: string, tables: Tables): { events: unknown[]; passed: number; status: number } {
  const scanner = EventScanner.create(10_000, unwanted({ tables }))!;
  const event = new EventReader(new Labels(), unwanted({ tables }));
  const end = Buffer.from(text).copy(scanner.bytes);
  scanner.bytes.fill(0x22, end, end + 2);
  const events: unknown[] = [];
  let passed = 0;
  for (let at = 0; ; ) {
    const status = scanner.next(at, end);
    passed += scanner.passed;
    if (status !== Scanned.wanted) return { events, passed, status };
    scanner.give(event);
    events.push([String.fromCharCode(event.phase), event.pid, event.durationNs, event.numbers[3]]);
    at = text.indexOf('{', scanner.after);
    if (at < 0) return { events, passed, status };
  }
}

test('usual events are read by the scanner, and what nobody wants is passed over by it', () => {
  const tables: Tables = new Map([['kernels', []]]);
  const { events, passed } = scanned([kernel, op, op, call, op].join(', '), tables);
  assert.deepEqual(events, [
    ['X', 0, 28500, 1234567],
    ['X', 9, 0, Number.NaN],
  ]);
  assert.equal(passed, 3);
});

test('what it does not understand in full is declined, and so is what is cut', () => {
  const odd = [
    kernel.replace('28.5', '"28.5"'),
    kernel.replace('28.5', '28.5001'),
    kernel.replace('"dur"', '"ts": 1, "dur"'),
    kernel.replace('"tid": 7', '"tid": 1099511627777'),
    kernel.replace('1234567', '012'),
    kernel.replace('1234567', 'null'),
    kernel.replace('[8, 1, 1]', '[8, 1, 1,]'),
    kernel.replace('1e-3', 'NaN'),
    kernel.replace('f<int>', '\\u00e9'),
    kernel.replace('f<int>', 'é'),
    kernel.replace('"cat"', ',"cat"'),
    ...Array.from({ length: kernel.length }, (_, length) => kernel.slice(0, length)).slice(1),
  ];
  for (const text of odd)
    assert.deepEqual(scanned(text, undefined), { events: [], passed: 0, status: Scanned.declined }, text);
});

test('nothing is read behind the memory, wherever the bytes end', () => {
  // One page of WebAssembly, but for what the scanner wants to be spare.
  const capacity = 65536 - 256;
  const scanner = EventScanner.create(capacity, unwanted({ tables: undefined }))!;
  const end = capacity - 2;
  const whole = Buffer.from(`${kernel},${kernel.replace('1234567', '7654321')}`);
  for (let length = 1; length <= whole.length; length++) {
    // What an earlier piece left goes on to the last byte.
    scanner.bytes.fill(whole[length - 1]);
    const from = end - length;
    scanner.bytes.set(whole.subarray(0, length), from);
    scanner.bytes.fill(0x22, end);
    const status = scanner.next(from, end);
    assert.equal(status, length < kernel.length ? Scanned.declined : Scanned.wanted, `${length} bytes`);
  }
});
