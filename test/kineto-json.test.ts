/** Kineto traces: every number against an independent JSON.parse, and every way a file can be wrong. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { UserError } from '../src/base/user-error.js';
import type { ImportContext } from '../src/import/importer.js';
import { shortKernelName } from '../src/import/kineto-json/events/kernel-name.js';
import { kinetoJson } from '../src/import/kineto-json/kineto-json.js';
import { ProfileFile } from '../src/import/profile-file.js';
import type { Profile } from '../src/model/profile.js';
import { OpKind, RangeKind } from '../src/model/schema.js';
import { capturePath, externalFiles } from '../src/testing/captures.js';
import { validateProfile } from '../src/testing/validate-profile.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kineto-test-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
let fileNumber = 0;

async function importBytes(bytes: Uint8Array | string, context: ImportContext = {}): Promise<Profile> {
  const target = path.join(folder, `trace-${fileNumber++}.json`);
  fs.writeFileSync(target, bytes);
  return importPath(target, context);
}

async function importPath(target: string, context: ImportContext = {}): Promise<Profile> {
  const file = ProfileFile.open(target);
  try {
    const profile = await kinetoJson.import(file, context);
    assert.deepEqual(validateProfile(profile), [], target);
    return profile;
  } finally {
    file.close();
  }
}

/** A loose view of tables: the tests read many columns of many tables. */
type Cells = { length: number } & Record<string, ArrayLike<number>>;
const table = (profile: Profile, name: string): Cells =>
  (profile.tables as Record<string, unknown>)[name] as Cells;
const texts = (profile: Profile, ids: ArrayLike<number>) => Array.from(ids, id => profile.strings.text(id));
const note = (profile: Profile, code: string) => profile.notes.find(candidate => candidate.code === code);

/** Everything a profile says, without the file it came from. */
function contents(profile: Profile): unknown {
  const tables = Object.entries(profile.tables).map(([name, columns]) => [
    name,
    Object.entries(columns as object).map(([column, cells]) => [
      column,
      typeof cells === 'number' ? cells : Array.from(cells as ArrayLike<number>),
    ]),
  ]);
  const strings = Array.from({ length: profile.strings.size }, (_, id) => profile.strings.text(id));
  const { originNs, clock, gpus, processes, threads, streams } = profile;
  return { tables, strings, originNs, clock, gpus, processes, threads, streams };
}

const X = (cat: string, name: string, ts: number | string, dur: number | string, rest: object = {}) => ({
  ph: 'X',
  cat,
  name,
  pid: 100,
  tid: 100,
  ts,
  dur,
  ...rest,
});
const kernel = (name: string, ts: number, dur: number, args: object = {}) =>
  X('kernel', name, ts, dur, {
    pid: 0,
    tid: 7,
    args: { device: 0, context: 1, stream: 7, correlation: 5, ...args },
  });
const small = [
  X('cpu_op', 'aten::add', 1000.25, 30, {
    args: { 'External id': 3, 'Input Dims': [[2, 3], []], 'Input type': ['long int', ''] },
  }),
  X('cuda_runtime', 'cudaLaunchKernel', 1005.5, 10.125, { args: { 'External id': 3, correlation: 5 } }),
  { ph: 's', id: 5, pid: 100, tid: 100, ts: 1005.5, cat: 'ac2g', name: 'ac2g' },
  { ph: 'f', id: 5, pid: 0, tid: 7, ts: 1020.001, cat: 'ac2g', name: 'ac2g', bp: 'e' },
  kernel('void at::native::add_kernel<int>(int)', 1020.001, 3.999, {
    'External id': 3,
    grid: [8, 2, 1],
    block: [256, 1, 1],
    'registers per thread': 32,
    'shared memory': 1024,
    'est. achieved occupancy %': 41,
  }),
  X('gpu_user_annotation', 'step', 1020.001, 3.999, { pid: 0, tid: 7, args: { 'External id': 1 } }),
  X('user_annotation', 'step', 999.5, 40, {}),
  { ph: 'M', name: 'process_name', ts: 0, pid: 100, tid: 0, args: { name: 'python3' } },
  { ph: 'M', name: 'thread_name', ts: 0, pid: 100, tid: 100, args: { name: 'thread 100 (main)' } },
];
const wrap = (events: unknown, before: object = { schemaVersion: 1 }, behind: object = {}) =>
  JSON.stringify({ ...before, traceEvents: events, ...behind });

/** The project's own traces, and other people's where that folder is present. */
const realTraces = [
  capturePath('eager', 'kineto.json.gz'),
  capturePath('graph', 'kineto.json.gz'),
  ...externalFiles(/\/(kineto|hta|tracelens|sglang-[^/]*|lightllm-[^/]*)\/[^/]*json(\.gz)?$/),
];

/** The digits of a time as whole nanoseconds: the slow, obvious way. */
function nanoseconds(digits: string): bigint {
  const [whole, fraction = ''] = digits.split('.');
  return BigInt(whole) * 1000n + BigInt(fraction.padEnd(3, '0').slice(0, 3));
}

test('counts, totals and bounds of every real trace equal an independent parse', async () => {
  for (const trace of realTraces) {
    const raw = fs.readFileSync(trace);
    const json = (trace.endsWith('.gz') ? gunzipSync(raw) : raw).toString('utf8');
    assert.ok(kinetoJson.recognizes(Buffer.from(json.slice(0, 4096))), trace);
    // Numbers kept as text, so that the oracle does not round either.
    const quoted = json.replace(/"(ts|dur)":\s*(-?[\d.]+)/g, '"$1":"$2"');
    const parsed = JSON.parse(quoted);
    const base = BigInt(/"baseTimeNanoseconds":\s*(\d+)/.exec(json)?.[1] ?? '0');
    const profile = await importPath(trace);
    assert.deepEqual(
      profile.notes.filter(({ severity }) => severity === 'loss'),
      [],
      trace,
    );
    const categories: [string, RegExp][] = [
      ['kernels', /^kernel$/i],
      ['copies', /^(gpu_)?memcpy$/i],
      ['memsets', /^(gpu_)?memset$/i],
      ['apiCalls', /^(cuda_)?(runtime|driver)$/i],
      ['frames', /^python_function$/i],
    ];
    const isOp = (event: { ph: string; cat?: string; name: string }) =>
      event.ph === 'X' &&
      /^(cpu_op|operator)$/i.test(event.cat ?? '') &&
      !event.name.startsWith('ProfilerStep#');
    assert.equal(
      table(profile, 'ops')?.length ?? 0,
      parsed.traceEvents.filter(isOp).length,
      `ops of ${trace}`,
    );
    for (const [name, pattern] of categories) {
      const events = parsed.traceEvents.filter(
        (event: { ph: string; cat?: string }) => event.ph === 'X' && pattern.test(event.cat ?? ''),
      );
      const cells = table(profile, name);
      assert.equal(cells?.length ?? 0, events.length, `${name} of ${trace}`);
      if (events.length === 0) continue;
      const starts = events
        .map((event: { ts: string }) => base + nanoseconds(event.ts))
        .sort((a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0));
      const got = Array.from(cells.start, start => profile.originNs + BigInt(start));
      assert.ok(
        got.every((start, row) => start === starts[row]),
        `starts of ${name} in ${trace}`,
      );
      const total = events.reduce((sum: bigint, event: { dur: string }) => sum + nanoseconds(event.dur), 0n);
      let gotTotal = 0n;
      for (let row = 0; row < cells.length; row++) gotTotal += BigInt(cells.end[row] - cells.start[row]);
      assert.equal(gotTotal, total, `time in ${name} of ${trace}`);
    }
    const bytes = parsed.traceEvents.reduce(
      (sum: number, event: { cat?: string; args?: { bytes?: number } }) =>
        sum + (/^(gpu_)?memcpy$/i.test(event.cat ?? '') ? (event.args?.bytes ?? 0) : 0),
      0,
    );
    const copies = table(profile, 'copies');
    let gotBytes = 0;
    for (let row = 0; row < (copies?.length ?? 0); row++) gotBytes += copies.bytes[row] || 0;
    assert.equal(gotBytes, bytes, trace);
    const { kernels, ops } = { kernels: table(profile, 'kernels'), ops: table(profile, 'ops') };
    const opIds = new Set<number>();
    for (const event of parsed.traceEvents) {
      if (/^(cpu_op|operator|python_function)$/i.test(event.cat ?? ''))
        opIds.add(event.args?.['External id']);
    }
    const linked = parsed.traceEvents.filter(
      (event: { ph: string; cat?: string; args?: Record<string, number> }) => {
        const id = event.args?.['External id'] ?? event.args?.['external id'];
        return (
          /^kernel$/i.test(event.cat ?? '') &&
          id !== undefined &&
          id !== event.args?.correlation &&
          opIds.has(id)
        );
      },
    );
    assert.equal(Array.from(kernels?.op ?? []).filter(op => op >= 0).length, linked.length, trace);
    assert.ok(
      Array.from(kernels?.op ?? []).every(op => op < (ops?.length ?? 0)),
      trace,
    );
    const counted = Object.values(profile.capture.sourceCounts).reduce((sum, count) => sum + count, 0);
    assert.equal(counted, parsed.traceEvents.length, trace);
  }
});

test('kernels of a real trace link to their launch and their op', async () => {
  const trace = capturePath('eager', 'kineto.json.gz');
  const profile = await importPath(trace);
  const parsed = JSON.parse(gunzipSync(fs.readFileSync(trace)).toString('utf8')).traceEvents;
  const opName = new Map(
    parsed
      .filter((e: { cat?: string }) => e.cat === 'cpu_op')
      .map((e: { args: Record<string, number>; name: string }) => [e.args['External id'], e.name]),
  );
  const expected = parsed
    .filter((e: { cat?: string }) => e.cat === 'kernel')
    .sort((a: { ts: number }, b: { ts: number }) => a.ts - b.ts)
    .map((e: { args: Record<string, number> }) => opName.get(e.args['External id']));
  const kernels = table(profile, 'kernels');
  const ops = table(profile, 'ops');
  assert.deepEqual(
    Array.from(kernels.op, op => profile.strings.text(ops.name[op])),
    expected,
  );
  const calls = table(profile, 'apiCalls');
  for (let row = 0; row < kernels.length; row++) {
    assert.equal(calls.correlation[kernels.launch[row]], kernels.correlation[row]);
  }
  assert.equal(profile.gpus[0].name, 'NVIDIA H200');
  assert.equal(profile.gpus[0].smCount, 132);
  assert.deepEqual(
    profile.processes.map(({ pid, name }) => [pid, name]),
    [[1407, 'python3']],
  );
});

test('a graph trace is told from an eager one', async () => {
  const modeOf = async (name: string) =>
    (await importPath(capturePath(name, 'kineto.json.gz'))).capture.graphTracing;
  assert.equal(await modeOf('graph'), 'nodes');
  assert.equal(await modeOf('eager'), 'none');
  const launchOnly = await importBytes(
    wrap([X('cuda_runtime', 'cudaGraphLaunch', 1, 1, { args: { correlation: 9 } })]),
  );
  assert.equal(launchOnly.capture.graphTracing, undefined);
});

test('each column of a small trace', async () => {
  const profile = await importBytes(wrap(small));
  const kernels = table(profile, 'kernels');
  assert.equal(profile.originNs, 1000_000n);
  assert.equal(profile.clock, 'session');
  assert.deepEqual([kernels.start[0], kernels.end[0]], [20_001, 24_000]);
  assert.deepEqual(texts(profile, kernels.name), ['void at::native::add_kernel<int>(int)']);
  assert.deepEqual(texts(profile, kernels.shortName), ['add_kernel']);
  const shape = [
    'gridX',
    'gridY',
    'gridZ',
    'blockX',
    'blockY',
    'blockZ',
    'registersPerThread',
    'dynamicSharedBytes',
    'occupancyPercent',
  ];
  assert.deepEqual(
    shape.map(column => kernels[column][0]),
    [8, 2, 1, 256, 1, 1, 32, 1024, 41],
  );
  assert.equal(kernels.staticSharedBytes, undefined);
  assert.equal(kernels.graphNode, undefined);
  assert.equal(kernels.launch[0], 0);
  assert.equal(kernels.op[0], 0);
  assert.equal(table(profile, 'apiCalls').op[0], 0);
  const ops = table(profile, 'ops');
  assert.deepEqual(
    [ops.start[0], ops.end[0], ops.kind[0], ops.externalId[0]],
    [250, 30_250, OpKind.framework, 3],
  );
  assert.deepEqual(texts(profile, ops.shapes), ['[[2,3],[]]']);
  assert.deepEqual(texts(profile, ops.types), ['["long int",""]']);
  const ranges = table(profile, 'ranges');
  assert.deepEqual(Array.from(ranges.kind), [RangeKind.pushPop, RangeKind.gpuAnnotation]);
  assert.equal(ranges.start[0], -500);
  assert.deepEqual(Array.from(ranges.thread), [0, -1]);
  assert.deepEqual(Array.from(ranges.stream), [-1, kernels.stream[0]]);
  const flows = table(profile, 'flows');
  assert.deepEqual(
    [Array.from(flows.phase), Array.from(flows.thread), Array.from(flows.stream)],
    [
      [0, 2],
      [0, -1],
      [-1, 0],
    ],
  );
  assert.deepEqual(profile.threads, [{ process: 0, tid: 100, name: 'main' }]);
  assert.deepEqual(profile.streams, [{ process: 0, gpu: 0, contextId: 1, streamId: 7 }]);
  assert.deepEqual(profile.capture.sourceCounts, {
    cpu_op: 1,
    cuda_runtime: 1,
    'flow:ac2g': 2,
    kernel: 1,
    gpu_user_annotation: 1,
    user_annotation: 1,
    'ph:M': 2,
  });
});

test('plain, gzip, bare array, pretty-printed and metadata behind give the same profile', async () => {
  const plain = contents(await importBytes(wrap(small)));
  assert.deepEqual(contents(await importBytes(gzipSync(wrap(small)))), plain);
  assert.deepEqual(contents(await importBytes(JSON.stringify(small))), plain);
  assert.deepEqual(
    contents(await importBytes(wrap(small, {}, { schemaVersion: 1, displayTimeUnit: 'ms' }))),
    plain,
  );
  assert.deepEqual(
    contents(await importBytes(JSON.stringify({ schemaVersion: 1, traceEvents: small }, null, 3))),
    plain,
  );
  assert.deepEqual(contents(await importBytes(`\ufeff ${wrap(small)}\n`)), plain);
});

test('metadata is read before and behind the events', async () => {
  const distributedInfo = {
    backend: 'nccl',
    rank: 3,
    world_size: 8,
    nccl_version: '2.21.5',
    pg_config: [{ ranks: [0] }],
  };
  const before = {
    schemaVersion: 1,
    deviceProperties: [
      { id: 0, name: 'GPU X', totalGlobalMem: 1e9, computeMajor: 9, computeMinor: 0, numSms: 132 },
    ],
  };
  const behind = {
    distributedInfo,
    cuda_driver_version: 12080,
    record_shapes: 1,
    with_stack: 1,
    host_name: 'node7',
  };
  for (const text of [wrap(small, before, behind), wrap(small, { ...before, ...behind })]) {
    const { capture, gpus, processes } = await importBytes(text);
    assert.deepEqual(capture.distributed, { rank: 3, worldSize: 8, backend: 'nccl' });
    assert.deepEqual(capture.ranks, [3]);
    assert.equal(processes[0].rank, 3);
    assert.deepEqual(capture.versions, { nccl: '2.21.5', cuda_driver: '12.8' });
    assert.deepEqual(capture.settings, { record_shapes: '1', with_stack: '1' });
    assert.deepEqual(gpus, [
      { deviceId: 0, name: 'GPU X', host: 'node7', memoryBytes: 1e9, smCount: 132, computeCapability: '9.0' },
    ]);
  }
});

test('times are exact to the nanosecond, beyond what a double holds', async () => {
  const events =
    '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3852574043478.484,"dur":0.001},' +
    '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3852574043479.007,"dur":28386.49}';
  const profile = await importBytes(
    `{"baseTimeNanoseconds": 1790857026000000001, "traceEvents":[${events}]}`,
  );
  const kernels = table(profile, 'kernels');
  assert.equal(profile.originNs, 1790857026000000001n + 3852574043478000n);
  assert.equal(profile.clock, 'utc');
  assert.deepEqual(Array.from(kernels.start), [484, 1007]);
  assert.deepEqual(Array.from(kernels.end), [485, 1007 + 28386490]);
});

test('times as text, with exponent, with too many digits, negative', async () => {
  const at = (ts: string) => `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":${ts},"dur":1}`;
  const starts = async (...values: string[]) => {
    const profile = await importBytes(`[${values.map(at).join()}]`);
    return {
      profile,
      starts: Array.from(table(profile, 'kernels').start, start => profile.originNs + BigInt(start)),
    };
  };
  assert.deepEqual((await starts('"5.25"')).starts, [5250n]);
  const exponent = await starts('1.7e15', '1.700000000000001E+15');
  assert.deepEqual(exponent.starts, [1700000000000000000n, 1700000000000001000n]);
  assert.equal(note(exponent.profile, 'time-exponent')?.count, 2);
  assert.equal(exponent.profile.clock, 'utc');
  const rounded = await starts('7.0014', '7.0015', '7.0020000');
  assert.deepEqual(rounded.starts, [7001n, 7002n, 7002n]);
  assert.equal(note(rounded.profile, 'time-rounded')?.count, 2);
  assert.deepEqual((await starts('-2.5', '3')).starts, [-2500n, 3000n]);
});

test('events without a usable time are counted, never guessed', async () => {
  const profile = await importBytes(
    wrap([
      ...small,
      { ...kernel('k', 1, 1), ts: undefined },
      { ...kernel('k', 1, 1), ts: 'soon' },
      { ...kernel('k', 1, 1), ts: null },
      kernel('k', 1100, -0.5),
      { ...kernel('late', 1200, 1), dur: undefined },
    ]),
  );
  assert.equal(note(profile, 'no-timestamp')?.count, 3);
  assert.equal(note(profile, 'negative-duration')?.count, 1);
  assert.equal(note(profile, 'no-duration')?.count, 1);
  assert.equal(table(profile, 'kernels').length, 2);
  assert.equal(table(profile, 'kernels').end[1] - table(profile, 'kernels').start[1], 0);
});

test('begin and end become one event', async () => {
  const begin = (cat: string, name: string, ts: number, args = {}) => ({
    ph: 'B',
    cat,
    name,
    pid: 1,
    tid: 2,
    ts,
    args,
  });
  const end = (ts: number) => ({ ph: 'E', pid: 1, tid: 2, ts });
  const profile = await importBytes(
    wrap([
      begin('cpu_op', 'outer', 10, { 'External id': 4 }),
      begin('cpu_op', 'inner', 12),
      end(15.5),
      end(20),
      end(21),
      begin('user_annotation', 'open', 30),
      begin('cpu_op', 'lost', 31),
    ]),
  );
  const ops = table(profile, 'ops');
  assert.deepEqual(texts(profile, ops.name), ['outer', 'inner']);
  assert.deepEqual(
    [Array.from(ops.start), Array.from(ops.end)],
    [
      [0, 2000],
      [10_000, 5500],
    ],
  );
  assert.equal(ops.externalId[0], 4);
  assert.ok(Number.isNaN(ops.externalId[1]));
  assert.equal(note(profile, 'unmatched-end')?.count, 1);
  assert.equal(note(profile, 'unmatched-begin')?.count, 2);
  assert.ok(Number.isNaN(table(profile, 'ranges').end[0]));
});

test('a file cut anywhere keeps its complete events', async () => {
  const whole = wrap(
    small,
    { schemaVersion: 1, deviceProperties: [{ id: 0, name: 'G' }] },
    { traceName: 'x' },
  );
  let kept = 0;
  for (let length = 1; length < whole.length; length++) {
    const cut = whole.slice(0, length);
    const complete = whole.indexOf('[{"ph"') < 0 ? 0 : completeEvents(cut);
    for (const bytes of length % 7 === 0 ? [cut, gzipSync(cut)] : [cut]) {
      try {
        const profile = await importBytes(bytes);
        assert.match(
          note(profile, 'cut-off')?.text ?? '',
          new RegExp(`\\b${complete} events?\\b`),
          `at ${length}`,
        );
        assert.equal(note(profile, 'cut-off')?.severity, 'loss');
        kept++;
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        assert.equal(error.code, 'damaged');
        assert.equal(complete, 0, `at ${length}`);
      }
    }
  }
  assert.ok(kept > 500);
});

function completeEvents(cut: string): number {
  const from = cut.indexOf('"traceEvents":[');
  let count = 0;
  let text = from < 0 ? '' : '[';
  for (const event of small) {
    text += JSON.stringify(event);
    if (from < 0 || !cut.slice(from + '"traceEvents":'.length).startsWith(text)) break;
    count++;
    text += ',';
  }
  return count;
}

test('a packed file cut in its packed bytes keeps what could be unpacked', async () => {
  const many = Array.from({ length: 5000 }, (_, i) => kernel(`k${Math.imul(i, 2654435761) >>> 0}`, i, 1));
  const packed = gzipSync(wrap(many));
  const profile = await importBytes(packed.subarray(0, packed.length >> 1));
  const rows = table(profile, 'kernels').length;
  assert.ok(rows > 1000 && rows < 5000, `${rows}`);
  assert.equal(note(profile, 'cut-off')?.count, 1);
});

test('events that straddle chunks are read once and whole', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `${i}-`.padEnd(50_000 + i * 211, 'x'));
  const events = Array.from({ length: 240 }, (_, i) => kernel(names[i % 60], i, 1));
  const text = wrap(events);
  assert.ok(text.length > 2 * 4 * 1024 * 1024);
  const profile = await importBytes(text);
  assert.deepEqual(
    texts(profile, table(profile, 'kernels').name),
    events.map(event => event.name),
  );
});

test('hostile shapes: deep nesting, huge names, huge events', async () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  const nested = `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"x":${deep},"stream":3}}`;
  const deepProfile = await importBytes(`[${nested}]`);
  assert.equal(deepProfile.streams[0].streamId, 3);

  const longName = `é${'n'.repeat(5_000_000)}`;
  const long = await importBytes(wrap([kernel(longName, 1, 1), kernel('short', 2, 1)]));
  const names = texts(long, table(long, 'kernels').name);
  assert.equal(names[0], longName.slice(0, 64 * 1024 - 1));
  assert.equal(names[1], 'short');
  assert.equal(note(long, 'name-cut')?.count, 1);

  const huge = `{"ph":"X","cat":"kernel","name":"big","ts":1,"dur":1,"args":{"x":"${'y'.repeat(70 * 1024 * 1024)}"}}`;
  const skipped = await importBytes(
    `[${JSON.stringify(kernel('a', 1, 1))},${huge},${JSON.stringify(kernel('b', 2, 1))}]`,
  );
  assert.deepEqual(texts(skipped, table(skipped, 'kernels').name), ['a', 'b']);
  assert.equal(note(skipped, 'oversized-value')?.count, 1);
  assert.equal(note(skipped, 'cut-off'), undefined);
});

test('odd texts are kept readable', async () => {
  const at = (name: string, ts: number) =>
    `{"ph":"X","cat":"kernel","name":"${name}","pid":0,"tid":7,"ts":${ts},"dur":1}`;
  const good = await importBytes(`[${at('a\\"b\\\\c\\u00e9\\ud83d\\ude00\\n', 1)},${at('\\ud800!', 2)}]`);
  assert.deepEqual(texts(good, table(good, 'kernels').name), ['a"b\\cé😀\n', '\ufffd!']);
  assert.equal(note(good, 'bad-string'), undefined);
  const bad = await importBytes(`[${at('tab\there', 1)},${at('bad\\qescape', 2)},${at('cut\\u12', 3)}]`);
  assert.deepEqual(texts(bad, table(bad, 'kernels').name), ['tab\there', 'bad\\qescape', 'cut\\u12']);
  assert.equal(note(bad, 'bad-string')?.count, 3);
  const bytes = Buffer.from(`[${at('x?y', 1)}]`);
  bytes[bytes.indexOf('?')] = 0xff;
  const invalid = await importBytes(bytes);
  assert.deepEqual(texts(invalid, table(invalid, 'kernels').name), ['x\ufffdy']);
});

test('damage between and inside events costs what is in it', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name, i) => JSON.stringify(kernel(name, i + 1, 1)));
  const namesOf = async (text: string) => {
    const profile = await importBytes(text);
    return {
      names: texts(profile, table(profile, 'kernels').name),
      damaged: note(profile, 'damaged-event')?.count ?? 0,
    };
  };
  assert.deepEqual(await namesOf(`[${a} @@!? ${b},,${c}]`), { names: ['a', 'b', 'c'], damaged: 1 });
  assert.deepEqual(await namesOf(`[${a} ${b}\n${c},]`), { names: ['a', 'b', 'c'], damaged: 0 });
  const broken = b.replace('"name":"b"', '"name":"b');
  const { names, damaged } = await namesOf(`[${a},${broken},${c}]`);
  assert.deepEqual(names, ['a', 'c']);
  assert.ok(damaged >= 1);
  assert.deepEqual((await namesOf(`[${a},{"x":}, ${c}]`)).names, ['a', 'c']);
});

test('damage never costs more than time in proportion', async () => {
  const nested = `${'{"args":'.repeat(200_000)}${'1}@'.repeat(200_000)}`;
  const before = performance.now();
  const profile = await importBytes(`[${JSON.stringify(kernel('a', 1, 1))},${nested}${'{"'.repeat(200_000)}`);
  assert.equal(table(profile, 'kernels').length, 1);
  assert.ok(performance.now() - before < 5000);
});

test('random damage to a trace never crashes the import', async () => {
  const whole = Buffer.from(
    wrap(small, { schemaVersion: 1, deviceProperties: [{ id: 0, name: 'G' }] }, { traceName: 'x' }),
  );
  const odd = '{}[]",:\\0e-.n\n\u0000\u00ff';
  let seed = 12345;
  const random = (below: number) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % below;
  let survived = 0;
  for (let round = 0; round < 1500; round++) {
    const bytes = Buffer.from(whole);
    for (let change = 0; change <= round % 4; change++) {
      bytes[20 + random(bytes.length - 20)] = odd.charCodeAt(random(odd.length));
    }
    try {
      await importBytes(bytes);
      survived++;
    } catch (error) {
      assert.ok(error instanceof UserError, `round ${round}: ${(error as Error).stack}`);
    }
  }
  assert.ok(survived > 1000, `${survived}`);
});

test('unknown phases and categories are counted and harmless', async () => {
  const profile = await importBytes(
    wrap([
      ...small,
      { ph: 'C', name: 'counter', pid: 1, ts: 1, args: { value: 3 } },
      { ph: '??', ts: 2 },
      { name: 'no phase' },
      { ph: 'X', cat: 'mystery', name: 'on a thread', pid: 100, tid: 100, ts: 1001, dur: 1 },
      { ph: 'X', cat: 'mystery', name: 'on a gpu', pid: 0, tid: 7, ts: 1001, dur: 1, args: { stream: 7 } },
      17,
      null,
      'text',
    ]),
  );
  assert.equal(profile.capture.sourceCounts['ph:C'], 1);
  assert.equal(profile.capture.sourceCounts['ph:?'], 2);
  assert.equal(profile.capture.sourceCounts.mystery, 2);
  const ops = table(profile, 'ops');
  assert.deepEqual(texts(profile, ops.name), ['aten::add', 'on a thread']);
  assert.equal(ops.kind[1], OpKind.other);
});

test('legacy categories and text ids', async () => {
  const profile = await importBytes(
    wrap([
      {
        ph: 'X',
        cat: 'Operator',
        name: 'aten::empty',
        pid: 25738,
        tid: '25738',
        ts: 10,
        dur: 1,
        args: { 'External id': 537 },
      },
      {
        ph: 'X',
        cat: 'Runtime',
        name: 'cudaMemcpyAsync',
        pid: 25738,
        tid: '25738',
        ts: 11,
        dur: 1,
        args: { correlation: 4, 'external id': 537 },
      },
      {
        ph: 'X',
        cat: 'Memcpy',
        name: 'Memcpy HtoD (Pageable -> Device)',
        pid: 0,
        tid: 'stream 7',
        ts: 12,
        dur: 2,
        args: { device: 0, context: 1, stream: 7, correlation: 4, bytes: 64 },
      },
      {
        ph: 'X',
        cat: 'Kernel',
        name: 'k',
        pid: 0,
        tid: 'stream 7',
        ts: 15,
        dur: 2,
        args: { device: 0, context: 1, stream: 7, correlation: 4, 'external id': 537 },
      },
      {
        ph: 'X',
        cat: 'Memset',
        name: 'Memset (Device)',
        pid: 0,
        tid: 'stream 7',
        ts: 18,
        dur: 2,
        args: { device: 0, context: 1, stream: 7, bytes: 8 },
      },
      { ph: 'f', id: 4, pid: 0, tid: 'stream 7', ts: 12, cat: 'async', name: 'launch' },
      {
        ph: 'i',
        s: 't',
        name: '[memory]',
        pid: 25738,
        tid: 25738,
        ts: 19,
        args: {
          'Device Type': 1,
          'Device Id': 0,
          Bytes: -512,
          Addr: 140737488355328,
          'Total Allocated': 7,
          'Total Reserved': 9,
        },
      },
      {
        ph: 'i',
        s: 't',
        name: '[memory]',
        pid: 25738,
        tid: 25738,
        ts: 20,
        args: { 'Device Type': 0, 'Device Id': -1, Bytes: 4 },
      },
      {
        ph: 'X',
        cat: 'Trace',
        ts: 5,
        dur: 20,
        pid: 'Traces',
        tid: 'PyTorch Profiler',
        name: 'PyTorch Profiler (0)',
      },
      { ph: 'X', cat: 'cpu_op', name: 'named', pid: 'worker A', tid: 'loop', ts: 21, dur: 1 },
    ]),
  );
  assert.deepEqual(profile.streams, [{ process: 0, gpu: 0, contextId: 1, streamId: 7 }]);
  const kernels = table(profile, 'kernels');
  assert.deepEqual([kernels.length, kernels.op[0], kernels.launch[0]], [1, 0, 0]);
  const copies = table(profile, 'copies');
  assert.deepEqual(
    [copies.kind[0], copies.bytes[0], copies.sourceMemory[0], copies.targetMemory[0]],
    [1, 64, 0, 2],
  );
  assert.equal(table(profile, 'memsets').memory[0], 2);
  const memory = table(profile, 'memoryEvents');
  assert.deepEqual(
    [Array.from(memory.bytes), Array.from(memory.gpu)],
    [
      [-512, 4],
      [0, -1],
    ],
  );
  assert.deepEqual(
    [memory.address[0], memory.totalAllocatedBytes[0], memory.totalReservedBytes[0]],
    [140737488355328, 7, 9],
  );
  assert.deepEqual(
    profile.processes.map(process => process.name),
    ['', 'worker A'],
  );
  assert.equal(profile.threads[1].name, 'loop');
  assert.deepEqual([profile.capture.startNs, profile.capture.endNs], [-5000, 15_000]);
});

test('ROCm: no context, quoted numbers, device numbers of its own', async () => {
  const profile = await importBytes(
    wrap(
      [
        X('cuda_runtime', 'hipMemcpyWithStream', 1, 1, {
          args: { 'External id': 8, stream: '0x0', correlation: 117, size: '2560', kind: '1' },
        }),
        X('gpu_memcpy', 'Memcpy HtoD (Host -> Device)', 2, 1, {
          pid: 9,
          tid: 0,
          args: { device: 9, stream: 0, correlation: 117, kind: 'HtoD' },
        }),
        X('gpu_memcpy', 'CopyDeviceToHost', 3, 1, {
          pid: 9,
          tid: 0,
          args: { device: 9, stream: 0, correlation: 117 },
        }),
        X('gpu_memcpy', 'copy', 4, 1, {
          pid: 9,
          tid: 0,
          args: { device: 9, stream: 0, kind: 'PtoP', bytes: '12' },
        }),
        X('kernel', 'k', 5, 1, {
          pid: 9,
          tid: 0,
          args: { device: 9, stream: 0, correlation: 117, grid: '[1, 1, 1]' },
        }),
      ],
      { deviceProperties: [0, 1].map(id => ({ id, name: 'MI300X', numSms: 304 })) },
    ),
  );
  const copies = table(profile, 'copies');
  assert.deepEqual(Array.from(copies.kind), [1, 2, 10]);
  assert.deepEqual(Array.from(copies.bytes), [Number.NaN, Number.NaN, 12]);
  assert.equal(copies.targetMemory[0], 2);
  assert.equal(copies.sourceMemory, undefined);
  assert.deepEqual(profile.streams, [{ process: 0, gpu: 0, contextId: 0, streamId: 0 }]);
  assert.equal(profile.gpus[0].deviceId, 9);
  assert.equal(profile.gpus[0].name, 'MI300X');
  assert.equal(table(profile, 'apiCalls').class[0], 0);
  assert.equal(table(profile, 'kernels').launch[0], 0);
});

test('waits, Python frames, graph nodes, overheads, marks', async () => {
  const profile = await importBytes(
    wrap([
      ...['Event Sync', 'Stream Wait Event', 'Stream Sync', 'Context Sync'].map((name, i) =>
        X('cuda_sync', name, i + 1, 1, {
          pid: 0,
          tid: i < 3 ? 7 : -1,
          args: {
            stream: i < 3 ? 7 : -1,
            device: 0,
            context: 1,
            correlation: i + 1,
            wait_on_cuda_event_id: 40 + i,
          },
        }),
      ),
      X('python_function', 'a.py(1): f', 1, 9, { args: { 'Python parent id': null, 'Python id': 1 } }),
      X('python_function', 'a.py(2): g', 2, 3, { args: { 'Python parent id': 1, 'Python id': 2 } }),
      kernel('k', 3, 1, { 'graph node id': 77, 'graph id': 2 }),
      kernel('l', 4, 1, { 'graph node id': 0, 'graph id': 0 }),
      X('overhead', 'Activity Buffer Request', 5, 1, { pid: -1, tid: 0 }),
      { ph: 'i', name: 'here', pid: 100, tid: 100, ts: 6, s: 't' },
      { ph: 'i', name: 'Iteration Start', pid: 'Traces', tid: 'Trace', ts: 6, s: 'g' },
    ]),
  );
  const syncs = table(profile, 'syncs');
  assert.deepEqual(
    [Array.from(syncs.kind), Array.from(syncs.event)],
    [
      [1, 2, 3, 4],
      [40, 41, 42, 43],
    ],
  );
  assert.deepEqual(Array.from(syncs.stream), [0, 0, 0, -1]);
  const frames = table(profile, 'frames');
  assert.deepEqual(
    [Array.from(frames.pythonId), Array.from(frames.pythonParentId)],
    [
      [1, 2],
      [Number.NaN, 1],
    ],
  );
  const kernels = table(profile, 'kernels');
  assert.deepEqual(
    [Array.from(kernels.graphNode), Array.from(kernels.graph)],
    [
      [77, Number.NaN],
      [2, Number.NaN],
    ],
  );
  assert.equal(profile.capture.graphTracing, 'nodes');
  assert.equal(table(profile, 'overheads').thread[0], -1);
  const ranges = table(profile, 'ranges');
  assert.deepEqual([texts(profile, ranges.name), Array.from(ranges.kind)], [['here'], [RangeKind.mark]]);
  assert.deepEqual(
    profile.processes.map(({ pid }) => pid),
    [100],
  );
});

test('ranks merged into one file keep their streams and ops apart', async () => {
  const rank = (pid: number, first: number, ts: number) => [
    X('cpu_op', `op of ${pid}`, ts, 5, { pid, args: { 'External id': 3 } }),
    X('cuda_runtime', 'cudaLaunchKernel', ts + 1, 1, { pid, args: { 'External id': 3, correlation: first } }),
    kernel(`kernel of ${pid}`, ts + 3, 1, { correlation: first, 'External id': 3 }),
  ];
  const profile = await importBytes(wrap([...rank(100, 10, 0), ...rank(200, 20, 100)]));
  const kernels = table(profile, 'kernels');
  assert.deepEqual(
    Array.from(kernels.stream, stream => profile.processes[profile.streams[stream].process].pid),
    [100, 200],
  );
  assert.deepEqual(
    texts(
      profile,
      Array.from(kernels.op, op => table(profile, 'ops').name[op]),
    ),
    ['op of 100', 'op of 200'],
  );
  assert.deepEqual(Array.from(kernels.launch), [0, 1]);
});

test('ranks that used the same correlation ids are told apart by time, and that is said', async () => {
  const rank = (pid: number, ts: number) => [
    X('cuda_runtime', 'cudaLaunchKernel', ts, 1, { pid, args: { correlation: 10 } }),
    kernel(`kernel of ${pid}`, ts + 3, 1, { correlation: 10 }),
  ];
  const profile = await importBytes(wrap([...rank(100, 0), ...rank(200, 100)]));
  const { stream } = table(profile, 'kernels');
  assert.deepEqual(
    Array.from(stream, row => profile.processes[profile.streams[row].process].pid),
    [100, 200],
  );
  assert.equal(note(profile, 'ambiguous-launch')?.count, 2);
});

test('times too far from the first to be exact are said to be', async () => {
  const profile = await importBytes(wrap([kernel('a', 0, 1), kernel('b', 1.7e15, 1)]));
  assert.equal(note(profile, 'time-far')?.count, 1);
});

test('a time that is rounded counts once, also where the end of a chunk cuts its event', async () => {
  const args = { padding: 'x'.repeat(400) };
  const events = Array.from({ length: 15_000 }, (_, i) => X('cpu_op', 'op', i + 0.12345, 1, { args }));
  const profile = await importBytes(wrap(events), { workers: 0 });
  assert.equal(note(profile, 'time-rounded')?.count, events.length);
});

test('a copy whose name does not tell its kind has that of its own argument', async () => {
  const copy = (ts: number, name: string, kind?: string) =>
    X('gpu_memcpy', name, ts, 1, { pid: 0, tid: 7, args: { device: 0, stream: 7, kind } });
  const profile = await importBytes(
    wrap([
      copy(1, 'CopyBuffer', 'HostToDevice'),
      copy(2, 'CopyBuffer', 'DeviceToHost'),
      copy(3, 'CopyBuffer'),
      copy(4, 'Memcpy DtoD (Device -> Device)', 'HostToDevice'),
    ]),
  );
  assert.deepEqual(Array.from(table(profile, 'copies').kind), [1, 2, 0, 8]);
});

test('an external id that only repeats the correlation links to no op', async () => {
  const profile = await importBytes(
    wrap([
      X('cpu_op', 'unrelated', 1, 1, { args: { 'External id': 92523 } }),
      kernel('k', 2, 1, { correlation: 92523, 'External id': 92523 }),
    ]),
  );
  assert.equal(table(profile, 'kernels').op, undefined);
});

test('environment is counted, its values are nowhere', async () => {
  const secret = 'hf_PlantedTokenValue123456';
  const behind = {
    environment: { HF_TOKEN: secret, PATH: `/bin:${secret}`, lower: secret },
    job: { WANDB_API_KEY: secret, CUDA_VISIBLE_DEVICES: '0', note: secret },
    env: [`AWS_SECRET_ACCESS_KEY=${secret}`, 'HOME=/root'],
    MY_NOTE: secret,
    comment: secret,
    traceName: secret,
    user: 'someone',
  };
  const profile = await importBytes(wrap(small, { schemaVersion: 1 }, behind));
  assert.deepEqual(profile.capture.environment, { variables: 10, looksSecret: 8 });
  const kept = JSON.stringify(profile.capture) + JSON.stringify(profile.notes) + JSON.stringify(profile.gpus);
  assert.ok(!kept.includes(secret) && !kept.includes('someone'));
  for (let id = 0; id < profile.strings.size; id++) assert.ok(!profile.strings.text(id).includes(secret));
});

test('only wanted tables are kept, and the others said to be skipped', async () => {
  const profile = await importBytes(wrap(small), { tables: new Map([['kernels', []]]) });
  assert.deepEqual(Object.keys(profile.tables), ['kernels']);
  assert.ok(profile.skipped.includes('ops') && !profile.skipped.includes('kernels'));
});

test('progress goes up to 1', async () => {
  const seen: number[] = [];
  await importBytes(wrap(small), { onProgress: done => seen.push(done) });
  assert.equal(seen.at(-1), 1);
  assert.ok(seen.every((done, i) => i === 0 || done >= seen[i - 1]));
});

test('short kernel names', () => {
  const names: [full: string, short: string][] = [
    [
      'void at::native::elementwise_kernel<128, 4, F<int>(T&)::{lambda(int)#1}>(int, T3)',
      'elementwise_kernel',
    ],
    ['void at::native::(anonymous namespace)::cat<at::(anonymous namespace)::T<4u>, 1>(T<4u>*, int)', 'cat'],
    ['ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 'ncclDevKernel_SendRecv'],
    ['void deep_gemm::fp8<1536u, true, (deep_gemm::GemmType)0>(__nv_bfloat16*)', 'fp8'],
    ['f(int)::{lambda(float)#1}::operator()(float) const', 'operator()'],
    ['ns::kernel<float>', 'kernel'],
    ['triton_poi_fused_0', 'triton_poi_fused_0'],
    ['Cijk_Alik_Bljk_BBS_BH', 'Cijk_Alik_Bljk_BBS_BH'],
    ['_ZN5aiter24add_rmsnorm_quant_kernelE', 'add_rmsnorm_quant_kernel'],
    ['_ZN7cutlass13device_kernelIN2at4cuda6detail', 'device_kernel'],
    ['_Z4tinyPf', 'tiny'],
    ['_Z99cut', '_Z99cut'],
    ['my kernel 7', 'my kernel 7'],
    ['', ''],
    ['(', '('],
  ];
  for (const [full, short] of names) assert.equal(shortKernelName(full), short);
});

test('what is a trace and what is not', async () => {
  const recognizes = (text: string) => kinetoJson.recognizes(Buffer.from(text));
  for (const yes of [
    '{"traceEvents":[',
    ' \n{"schemaVersion": 1',
    '{"a":{"b":[1]},"distributedInfo":{}}',
    '[]',
    '[{"ph":"X"}',
    '[{"name":"x","cat":"k"}]',
    '\ufeff{"traceName":1}',
  ]) {
    assert.ok(recognizes(yes), yes);
  }
  for (const no of [
    '',
    '{}',
    '{"name":1}',
    '{"nested":{"traceEvents":[]}}',
    '{"s":"traceEvents"}',
    '[1,2]',
    '[{"name":"x"}]',
    '[[{"ph":"X"}]]',
    'SQLite format 3\0',
    '"traceEvents"',
    '{"backend":"vllm","request_throughput":3.1}',
  ]) {
    assert.ok(!recognizes(no), no);
  }
});

test('files that hold no events at all', async () => {
  assert.deepEqual((await importBytes('{"traceEvents":[]}')).tables, {});
  assert.deepEqual((await importBytes('[]')).tables, {});
  await assert.rejects(
    importBytes('{"schemaVersion":1}'),
    (error: UserError) => error.code === 'not-a-profile',
  );
  await assert.rejects(
    importBytes('{"schemaVersion":1,"traceEv'),
    (error: UserError) => error.code === 'damaged',
  );
  await assert.rejects(importBytes('[{"ph":"X"'), (error: UserError) => error.code === 'damaged');
});

/** Python frames, one written like the next, as Kineto writes them; odd ones in between. */
function framesText(count: number): string {
  const odd: Record<number, string> = {
    7: '"name": "quoted \\"name\\"", "pid": 1, "tid": 2, "ts": 7.5, "dur": 1, "args": {"Python id": 7}',
    11: '"name": "é", "pid": 1, "tid": 2, "ts": 11.25, "dur": 0.125, "args": {"Python id": 11}',
    13: '"ts": 13.001, "dur": 2, "pid": 1, "tid": 2, "name": "other order", "args": {"Python id": 13}',
    17: '"name": "no duration", "pid": 1, "tid": 2, "ts": 17.5, "args": {"Python id": 17}',
    19: '"name": "exponent", "pid": 1, "tid": 2, "ts": 1.9e1, "dur": 1, "args": {"Python id": 19, "Python parent id": 18}',
  };
  const events = Array.from({ length: count }, (_, i) => {
    const usual =
      `"name": "torch/nn/module.py(${i % 5}): call_${i % 3}", "pid": 1, "tid": ${i % 29 === 0 ? 3 : 2}, ` +
      `"ts": ${i}.${String(i % 1000).padStart(3, '0')}, "dur": ${i % 7}.5, ` +
      `"args": {"Python id": ${i}, "Python parent id": ${i - 1 < 0 ? 'null' : i - 1}, "Ev Idx": ${i * 3}}`;
    return `{"ph": "X", "cat": "python_function", ${odd[i] ?? usual}}`;
  });
  return `{"schemaVersion": 1, "traceEvents": [\n${events.join(',\n')}\n]}`;
}

const frameTables = new Map([['frames', ['start', 'end', 'thread', 'name']]] as const);

test('frames read by their shape are those read key by key, damaged or not', async () => {
  const text = Buffer.from(framesText(80));
  const random = (seed: number) => (seed * 1_103_515_245 + 12_345) >>> 8;
  for (let round = 0; round < 150; round++) {
    const bytes = Buffer.from(text);
    // Nothing is changed in the first round.
    if (round > 0) bytes[random(round) % bytes.length] = ' 0"{}9,x'.charCodeAt(round % 8);
    const read = async (context: ImportContext) => {
      const profile = await importBytes(bytes, context);
      const { start, end, thread, name } = table(profile, 'frames');
      return {
        ...{ start: [...Array.from(start)], end: Array.from(end), names: texts(profile, name) },
        threads: Array.from(thread, id => profile.threads[id].tid),
        notes: profile.notes.map(({ code, count }) => `${code} ${count}`),
      };
    };
    const byShape = await read({ tables: frameTables });
    assert.deepEqual(byShape, await read({}), `round ${round}`);
    if (round === 0) assert.equal(byShape.names.length, 80);
  }
});
