/** Traces for other tools: what goes out comes in again, with equal counts and times. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { MessageWriter } from '../src/base/protobuf/message-writer.js';
import { UserError } from '../src/base/user-error.js';
import {
  AnnotationField,
  EventField,
  EventType,
  PacketField,
  ProcessField,
  ThreadField,
  TRACE_PACKET,
  TrackField,
} from '../src/catalog/perfetto-fields.js';
import { openProfile } from '../src/import/open.js';
import { mergeProfiles } from '../src/model/merge.js';
import type { Profile } from '../src/model/profile.js';
import { RangeKind, type TableName } from '../src/model/schema.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { drawProfile } from '../src/testing/drawn-profile.js';
import { lacks, locate } from '../src/testing/needs.js';
import { validateProfile } from '../src/testing/validate-profile.js';
import { chromeTrace } from '../src/timeline/export/chrome-trace.js';
import { ownEvents } from '../src/timeline/export/own-events.js';
import { perfettoTrace } from '../src/timeline/export/perfetto-trace.js';
import { recordedEvents } from '../src/timeline/export/recorded-events.js';
import type { TraceEvent } from '../src/timeline/export/trace-event.js';
import { seeded } from './damage/mutations.js';
import { runStepscope } from './run-stepscope.js';
import { TORCH_BASE_NS, type TorchSlice, torchTrace } from './torch-pftrace.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-export-'));
after(() => rmSync(folder, { recursive: true }));
const EVERYTHING = { fromNs: -Infinity, toNs: Infinity };

function* eventsOf(profile: Profile): Iterable<TraceEvent> {
  yield* recordedEvents(profile, EVERYTHING);
  yield* ownEvents(new Analyzer(profile), EVERYTHING);
}

/** Each is made once for a profile. */
function once<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new WeakMap<Key, { value: Made }>();
  return key => {
    if (!made.has(key)) made.set(key, { value: make(key) });
    return made.get(key)!.value;
  };
}

const allEvents = once((profile: Profile) => [...eventsOf(profile)]);
const written = {
  json: once((profile: Profile) => Buffer.from([...chromeTrace(profile, allEvents(profile))].join(''))),
  pftrace: once((profile: Profile) => Buffer.concat([...perfettoTrace(profile, allEvents(profile))])),
} as const;

const graphs = openProfile([capturePath('graph')]);
const eager = openProfile([capturePath('eager-decode')]);

function save(name: string, bytes: Uint8Array): string {
  const file = path.join(mkdtempSync(path.join(folder, 'x-')), name);
  writeFileSync(file, bytes);
  return file;
}

const again = async (profile: Profile, ending: keyof typeof written) =>
  openProfile([save(`x.${ending}`, written[ending](profile))]);

/** Every row as text, times since 1970 or the file's zero: the same rows in any order give the same lists. */
function rowsOf(profile: Profile, table: TableName): string[] {
  const rows = profile.tables[table] as unknown as Record<string, ArrayLike<number>> & { length: number };
  const text = (id: number | undefined) => (id === undefined || id < 0 ? '' : profile.strings.text(id));
  const origin = profile.clock === 'utc' ? profile.originNs : 0n;
  return Array.from({ length: rows?.length ?? 0 }, (_, row) => {
    const thread = profile.threads[rows.thread?.[row] ?? -1];
    const stream = profile.streams[rows.stream?.[row] ?? -1];
    const place = thread
      ? `${profile.processes[thread.process].rank ?? ''}/${profile.processes[thread.process].pid}/${thread.tid}`
      : stream
        ? `${profile.processes[stream.process].rank ?? ''}/${profile.gpus[stream.gpu].deviceId}/${stream.streamId}`
        : '';
    const isLost = rows.kind?.[row] === RangeKind.gpuAnnotation && table === 'ranges';
    return isLost || place === ''
      ? ''
      : `${origin + BigInt(Math.round(rows.start[row]))} ${Math.round(rows.end[row] - rows.start[row])} ${place} ${text(rows.name?.[row])}`;
  })
    .filter(line => line !== '')
    .sort();
}

const compared = ['kernels', 'copies', 'memsets', 'apiCalls', 'ranges'] as const;

const samples: readonly [
  name: string,
  open: () => Promise<Profile>,
  endings?: readonly ('json' | 'pftrace')[],
][] = [
  ['graphs of an nsys export', () => graphs, ['pftrace']],
  ['an eager nsys export', () => eager],
  ['a PyTorch trace', () => openProfile([capturePath('graph', 'kineto.json.gz')]), ['pftrace']],
  [
    'two ranks',
    async () =>
      mergeProfiles(
        [0, 1].map(rank => {
          const profile = drawEngine({ steps: 4 });
          const processes = profile.processes.map(process => ({ ...process, rank, host: `node ${rank}` }));
          const gpus = profile.gpus.map(gpu => ({ ...gpu, host: `node ${rank}` }));
          return { ...profile, processes, gpus, capture: { ...profile.capture, ranks: [rank] } };
        }),
      ),
  ],
];

for (const [name, open, endings = ['json', 'pftrace'] as const] of samples)
  for (const ending of endings)
    test(`${name} as .${ending} and back: the same events at the same nanoseconds`, async () => {
      const profile = await open();
      const back = await again(profile, ending);
      assert.deepEqual(validateProfile(back), []);
      for (const table of compared) {
        const [before, now] = [rowsOf(profile, table), rowsOf(back, table)];
        assert.equal(now.length, before.length, table);
        // Copies and waits have no name of their own.
        assert.deepEqual(now, before, table);
      }
      assert.equal(back.clock, profile.clock);
      assert.equal(back.capture.profiler, profile.capture.profiler);
      assert.deepEqual(
        back.gpus.map(gpu => gpu.name),
        profile.gpus.map(gpu => gpu.name),
      );
      const launched = ({ tables: { kernels } }: Profile) =>
        Array.from(kernels!.launch as ArrayLike<number>).filter(call => call >= 0).length;
      assert.equal(launched(back), launched(profile), 'kernels with a launch');
    });

test('a profile that went out and came in has the budget and the first finding it had', async () => {
  const profile = await eager;
  const back = await again(profile, 'pftrace');
  // Times count from another zero.
  const rows = (of: Profile) =>
    new Analyzer(of)
      .get(stepBudget)
      .rows.map(({ startNs, endNs, ...row }) => ({ ...row, ns: endNs - startNs }));
  assert.deepEqual(rows(back), rows(profile));
  const claim = (of: Profile) => new Analyzer(of).get(findings).findings[0].claim;
  assert.equal(claim(back), claim(profile));
});

/** Slices of one stream that overlap, lie inside each other, touch, or take no time. */
const overlapping = `
cpu  abcdefgh......
gpu  aaaa..bb..cc..
gpu2 .dddd.........
`;

test('Perfetto itself reads the trace: no unknown field, every slice nested, the sums of the profile', {
  skip: lacks('perfetto'),
}, async () => {
  const files: [Profile, string][] = [];
  for (const profile of [await graphs, await eager, drawEngine({ steps: 5 })])
    files.push([profile, save('x.pftrace', written.pftrace(profile))]);
  for (const [profile, file] of files) {
    const script = path.join(projectRoot, 'test/perfetto/slices.py');
    const { stdout, stderr, status } = spawnSync(locate('perfetto')!, [script, file], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const told = JSON.parse(stdout) as {
      unknownFields: number;
      wrong: string[];
      oddArrows: number;
      arrows: number;
      categories: Record<string, { count: string; startNs: string; durationNs: string }>;
    };
    assert.equal(told.unknownFields, 0);
    assert.deepEqual(told.wrong, []);
    assert.equal(told.oddArrows, 0);
    const expected = new Map<string, { count: bigint; startNs: bigint; durationNs: bigint }>();
    let arrows = 0;
    for (const event of allEvents(profile)) {
      if (event.kind === 'counter') continue;
      const sum = expected.get(event.category) ?? { count: 0n, startNs: 0n, durationNs: 0n };
      sum.count++;
      sum.startNs += profile.originNs + BigInt(Math.round(event.startNs));
      if (event.kind === 'slice') {
        sum.durationNs += BigInt(Math.round(event.endNs)) - BigInt(Math.round(event.startNs));
        if (event.arrow?.begins) arrows++;
      }
      expected.set(event.category, sum);
    }
    delete told.categories.stepscope_capture;
    assert.deepEqual(
      told.categories,
      Object.fromEntries(
        [...expected].map(([category, sum]) => [
          category,
          Object.fromEntries(Object.entries(sum).map(([key, value]) => [key, String(value)])),
        ]),
      ),
    );
    assert.equal(told.arrows, arrows);
  }
});

test('slices that overlap, touch or take no time keep their times', async () => {
  const profile = drawProfile(overlapping);
  const back = await again(profile, 'pftrace');
  assert.deepEqual(rowsOf(back, 'kernels'), rowsOf(profile, 'kernels'));
});

test('a range that never ended stays open, in both formats', async () => {
  const profile = drawEngine({ steps: 3 });
  const ranges = profile.tables.ranges!;
  const end = Float64Array.from(ranges.end as unknown as ArrayLike<number>);
  end[end.length - 1] = Number.NaN;
  const open = { ...profile, tables: { ...profile.tables, ranges: { ...ranges, end: end as never } } };
  for (const ending of ['json', 'pftrace'] as const) {
    const back = (await again(open, ending)).tables.ranges!;
    assert.equal(back.length, ranges.length);
    const ends = Array.from(back.end as unknown as ArrayLike<number>);
    assert.equal(ends.filter(Number.isNaN).length, 1, ending);
  }
});

test('keys and passwords in names are left out', () => {
  const profile = drawEngine({ steps: 2 });
  const key = `hf_${'a'.repeat(30)}`;
  const text = profile.strings.text.bind(profile.strings);
  const strings = Object.assign(Object.create(profile.strings), {
    text: (id: number) => (text(id).includes('iter') ? `${text(id)} token=${key}` : text(id)),
  }) as Profile['strings'];
  for (const ending of ['json', 'pftrace'] as const)
    assert.ok(
      !written[ending]({ ...profile, strings })
        .toString('latin1')
        .includes(key),
      ending,
    );
});

test("PyTorch's own Perfetto traces: stages are kernels, groups are paired by their order", async () => {
  const host = [
    { name: 'ProfilerStep#1', category: 'user_annotation', startNs: 0, endNs: 50_000 },
    { name: 'aten::mm', category: 'cpu_op', startNs: 1_000, endNs: 9_000, args: { 'External id': 7 } },
    { name: 'aten::add', category: 'cpu_op', startNs: 9_000, endNs: 20_001 },
  ];
  const calls: TorchSlice[] = [
    { name: 'cudaLaunchKernel', startNs: 2_000, endNs: 5_003, args: { cbid: 211, correlation: 1 } },
    {
      name: 'cudaMemcpyAsync',
      category: 'cuda_runtime',
      startNs: 10_000,
      endNs: 12_000,
      args: { correlation: 2 },
    },
  ];
  const kernels = [
    { name: 'gemm', stage: 'Kernel', startNs: 6_000, endNs: 16_007, stream: 7, correlation: 1 },
    { name: '', stage: 'Memcpy', startNs: 16_007, endNs: 17_000, stream: 9, correlation: 2 },
  ] as const;
  const profile = await openProfile([save('torch.pftrace.gz', gzipSync(torchTrace([host, calls], kernels)))]);
  assert.deepEqual(validateProfile(profile), []);
  assert.deepEqual(profile.notes, []);
  assert.equal(profile.clock, 'utc');
  const at = (ns: number) => TORCH_BASE_NS + BigInt(ns);
  assert.deepEqual(rowsOf(profile, 'kernels'), [`${at(6_000)} 10007 /0/7 gemm`]);
  assert.deepEqual(rowsOf(profile, 'copies'), [`${at(16_007)} 993 /0/9 `]);
  assert.deepEqual(rowsOf(profile, 'apiCalls'), [
    `${at(2_000)} 3003 /4242/4242 cudaLaunchKernel`,
    `${at(10_000)} 2000 /4242/4242 cudaMemcpyAsync`,
  ]);
  assert.deepEqual(rowsOf(profile, 'ops'), [
    `${at(1_000)} 8000 /4242/4242 aten::mm`,
    `${at(9_000)} 11001 /4242/4242 aten::add`,
  ]);
  assert.deepEqual(rowsOf(profile, 'ranges'), [`${at(0)} 50000 /4242/4242 ProfilerStep#1`]);
  const { kernels: found, apiCalls } = profile.tables;
  assert.equal(profile.strings.text(apiCalls!.name[found!.launch[0 as never]]), 'cudaLaunchKernel');
  assert.deepEqual([found!.gridX![0 as never], found!.gridY![0 as never]], [8, 4]);
});

test("Kineto's own Perfetto traces: a track per event, arguments in one text, times since 1970", async () => {
  const out = new MessageWriter();
  const message = (field: number, write: () => void) => {
    const at = out.open(field);
    write();
    out.close(at);
  };
  const track = (uuid: number, parent: number, pid: number, tid?: number) =>
    message(TRACE_PACKET, () =>
      message(PacketField.trackDescriptor, () => {
        out.whole(TrackField.uuid, uuid);
        if (parent > 0) out.whole(TrackField.parent, parent);
        out.text(TrackField.name, 'python');
        if (pid < 0) return;
        message(tid === undefined ? TrackField.process : TrackField.thread, () => {
          out.whole(ProcessField.pid, pid);
          if (tid !== undefined) out.whole(ThreadField.tid, tid);
        });
      }),
    );
  const packet = (ns: number | undefined, write: () => void) =>
    message(TRACE_PACKET, () => {
      if (ns !== undefined) {
        const at = TORCH_BASE_NS + BigInt(ns);
        out.split(PacketField.timestamp, Number(at / 2n ** 35n), Number(at % 2n ** 35n));
      }
      out.whole(PacketField.sequence, 7);
      message(PacketField.trackEvent, write);
    });
  let uuid = 10;
  const activity = (name: string, parent: number, startNs: number, endNs: number, metadata: string) => {
    const own = uuid++;
    track(own, parent, -1);
    packet(startNs, () => {
      out.whole(EventField.type, EventType.begin);
      out.whole(EventField.track, own);
      out.text(EventField.nameText, name);
      message(EventField.annotation, () => {
        out.text(AnnotationField.nameText, 'metadata');
        out.text(AnnotationField.text, metadata);
      });
    });
    packet(endNs, () => {
      out.whole(EventField.type, EventType.end);
      out.whole(EventField.track, own);
    });
  };
  packet(undefined, () => {
    out.whole(EventField.type, EventType.instant);
    out.text(EventField.nameText, 'device_properties');
    message(EventField.annotation, () => {
      out.text(AnnotationField.nameText, 'properties');
      out.text(AnnotationField.text, '{"id": 0, "name": "NVIDIA H200", "numSms": 132}');
    });
  });
  track(1, 0, 4242);
  track(2, 1, 4242, 4243);
  track(3, 0, 0);
  track(4, 3, 0, 7);
  activity('cudaLaunchKernel', 2, 1_000, 3_003, '"cbid": 211, "correlation": 5');
  activity(
    'gemm',
    4,
    4_000,
    9_001,
    '"device": 0, "context": 1, "stream": 7, "correlation": 5, "grid": [8,1,1], "block": [4,1,1]',
  );
  activity('aten::mm', 2, 500, 3_500, '"External id": 9');
  const profile = await openProfile([save('kineto.pftrace', out.take())]);
  assert.deepEqual(validateProfile(profile), []);
  const at = (ns: number) => TORCH_BASE_NS + BigInt(ns);
  assert.equal(profile.clock, 'utc');
  assert.equal(profile.gpus[0].name, 'NVIDIA H200');
  assert.deepEqual(rowsOf(profile, 'kernels'), [`${at(4_000)} 5001 /0/7 gemm`]);
  assert.deepEqual(rowsOf(profile, 'apiCalls'), [`${at(1_000)} 2003 /4242/4243 cudaLaunchKernel`]);
  assert.deepEqual(rowsOf(profile, 'ops'), [`${at(500)} 3000 /4242/4243 aten::mm`]);
  assert.equal(profile.tables.kernels!.launch[0 as never], 0);
});

test('a cut or damaged trace is refused, or says what is missing', async () => {
  const whole = written.pftrace(drawEngine({ steps: 2 }));
  const intact = await openProfile([save('x.pftrace', whole)]);
  const random = seeded(20_261_116);
  for (let round = 0; round < 80; round++) {
    const bytes = Uint8Array.from(whole);
    const isCut = round % 2 === 0;
    const at = Math.floor(random() * bytes.length);
    if (!isCut) for (let i = 0; i < 4; i++) bytes[(at + i) % bytes.length] = Math.floor(random() * 256);
    const file = save('x.pftrace', isCut ? bytes.subarray(0, at) : bytes);
    try {
      const profile = await openProfile([file]);
      assert.deepEqual(validateProfile(profile), []);
      const lost = profile.notes.some(({ severity }) => severity === 'loss');
      if (isCut) assert.ok(lost, `cut at ${at}, and not a word about it`);
      const counts = (of: Profile) => compared.map(table => of.tables[table]?.length ?? 0);
      if (!lost && profile.notes.length === 0)
        assert.deepEqual(counts(profile), counts(intact), `byte ${at}`);
    } catch (error) {
      assert.ok(error instanceof UserError, String(error));
    }
  }
});

test('a length that claims more than the file has costs neither time nor memory', async () => {
  const whole = written.pftrace(drawEngine({ steps: 2 }));
  const huge = Buffer.concat([whole, Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3])]);
  const { notes } = await openProfile([save('x.pftrace', huge)]);
  assert.ok(notes.some(({ code }) => code === 'damaged-packet'));
});

test('packets inside packets are unpacked; a bomb among them is left out, and counted', async () => {
  const profile = drawEngine({ steps: 6 });
  const packed = (bytes: Uint8Array) => {
    const inner = deflateSync(bytes);
    const length = (size: number) => {
      const digits: number[] = [];
      for (let rest = size; rest > 0; rest = Math.floor(rest / 128)) digits.push(rest % 128);
      return digits.map((digit, i) => (i < digits.length - 1 ? digit | 0x80 : digit));
    };
    const tag = PacketField.compressed * 8 + 2;
    const field = [(tag & 0x7f) | 0x80, tag >> 7, ...length(inner.length)];
    return Buffer.concat([
      Buffer.from([TRACE_PACKET * 8 + 2, ...length(field.length + inner.length), ...field]),
      inner,
    ]);
  };
  const whole = packed(written.pftrace(profile));
  assert.ok(whole.length > 4096, 'longer than the first look at a file');
  const back = await openProfile([save('x.pftrace', whole)]);
  assert.deepEqual(rowsOf(back, 'kernels'), rowsOf(profile, 'kernels'));
  assert.deepEqual(back.notes, []);
  const bomb = Buffer.concat([whole, packed(new Uint8Array(80 * 1024 * 1024))]);
  const { notes, tables } = await openProfile([save('x.pftrace', bomb)]);
  assert.equal(tables.kernels?.length, back.tables.kernels?.length);
  assert.deepEqual(
    notes.map(({ code, severity }) => [code, severity]),
    [['damaged-packet', 'loss']],
  );
});

test('export: writes what its name says, refuses what is there, and is the same twice', async () => {
  const [one, two] = ['a.pftrace', 'b.pftrace.gz'].map(name => path.join(folder, name));
  const first = await runStepscope(['export', capturePath('gil'), '-o', one, '--json']);
  assert.equal(first.status, 0, first.err);
  const { data } = JSON.parse(first.out) as { data: { events: { category: string; events: number }[] } };
  assert.equal(data.events.find(({ category }) => category === 'kernel')?.events, 564);
  assert.equal((await runStepscope(['export', capturePath('gil'), '-o', one])).status, 2);
  assert.equal((await runStepscope(['export', capturePath('gil'), '-o', two])).status, 0);
  assert.deepEqual(gunzipSync(readFileSync(two)), readFileSync(one));
  const unknown = await runStepscope(['export', capturePath('gil'), '-o', path.join(folder, 'x.txt')]);
  assert.match(unknown.err, /does not name a format/);
  const redacted = await runStepscope(['redact', one, '-o', path.join(folder, 'r.json')]);
  assert.match(redacted.err, /is a Perfetto trace[\s\S]*stepscope export TRACE\.pftrace -o TRACE\.json/);
  const part = path.join(folder, 'part.json');
  await runStepscope(['export', capturePath('gil'), '-o', part, '--time', '10ms-200ms']);
  const kernels = (await openProfile([part])).tables.kernels!.length;
  assert.ok(kernels > 0 && kernels < 564, String(kernels));
});

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

test('spans follow the JSON mapping of OTLP, are stable, and say where the time of day is missing', async () => {
  const fixture = (name: string) => path.join(projectRoot, 'test/fixtures/requests', name);
  const write = async (name: string, ...files: string[]) => {
    const file = path.join(folder, name);
    const { status, err } = await runStepscope(['export', ...files, '-o', file, '--force']);
    assert.equal(status, 0, err);
    return { text: readFileSync(file, 'utf8'), err };
  };
  const { text } = await write('requests.otlp.json', fixture('vllm.agent.json'), fixture('vllm.load.json'));
  const steps = await write('steps.otlp.json', capturePath('gil'));
  assert.equal((await write('again.otlp.json', capturePath('gil'))).text, steps.text);
  const spansIn = (json: string) => {
    const { resourceSpans } = JSON.parse(json) as {
      resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  };
  for (const spans of [spansIn(text), spansIn(steps.text)]) {
    const ids = new Set(spans.map(({ spanId }) => spanId));
    assert.equal(ids.size, spans.length);
    for (const span of spans) {
      assert.match(span.traceId, /^(?!0+$)[0-9a-f]{32}$/);
      assert.match(span.spanId, /^(?!0+$)[0-9a-f]{16}$/);
      if (span.parentSpanId !== undefined) assert.ok(ids.has(span.parentSpanId));
      assert.match(span.startTimeUnixNano, /^\d{19}$/);
      assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
      assert.ok(Number.isInteger(span.kind) && span.kind >= 1 && span.kind <= 5);
      for (const { value } of span.attributes) {
        const [[kind, content]] = Object.entries(value);
        if (kind === 'intValue') assert.match(content as string, /^-?\d+$/);
        else assert.ok(['stringValue', 'boolValue', 'doubleValue'].includes(kind), kind);
      }
    }
  }
  // A request is its time to the first token and what follows; the parts of the former add up to it.
  const spans = spansIn(text);
  const requests = spans.filter(({ name }) => name === 'request');
  assert.equal(requests.length, 24);
  for (const { spanId, startTimeUnixNano, endTimeUnixNano } of requests) {
    const [first, decode] = ['time to first token', 'decode'].map(wanted =>
      spans.find(({ parentSpanId, name }) => parentSpanId === spanId && name === wanted),
    );
    assert.ok(first);
    assert.equal(first.startTimeUnixNano, startTimeUnixNano);
    // Steps are missing in the rest of some requests: they end where the last known part does.
    assert.equal((decode ?? first).endTimeUnixNano, endTimeUnixNano);
    if (decode) assert.equal(decode.startTimeUnixNano, first.endTimeUnixNano);
    const parts = first.attributes.filter(({ key }) => key.endsWith('_ns'));
    const sum = parts.reduce((total, { value }) => total + Number(value.intValue), 0);
    assert.equal(sum, Number(BigInt(first.endTimeUnixNano) - BigInt(first.startTimeUnixNano)));
  }
  const drawn = save('drawn.json', written.json({ ...drawEngine({ steps: 3 }), clock: 'session' }));
  assert.match((await write('session.otlp.json', drawn)).err, /does not record the time of day/);
});
