/** Operators: their GPU time against a naive reading of the JSON, their rates against arithmetic done by hand. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import { operatorRates } from '../src/analyze/host/operator-rates.js';
import { operators } from '../src/analyze/host/operators.js';
import { peakFromProfile } from '../src/catalog/gpus.js';
import { operatorCost } from '../src/catalog/operator-costs.js';
import { markedOperator } from '../src/catalog/operator-ranges.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, externalFolder, readText } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { lacks } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';

interface TraceEvent {
  readonly ph: string;
  readonly cat?: string;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
  readonly pid: number | string;
  readonly tid: number | string;
  readonly args?: Record<string, unknown>;
}

/**
 * GPU nanoseconds by operator and shapes, read without our code: the shortest operator that holds the launch call in
 * time, on its thread. Our code follows the ids that the profiler writes.
 */
function naive(file: string): {
  byOperator: Map<string, number>;
  counts: Map<string, number>;
  outsideNs: number;
} {
  const events = (JSON.parse(readText(file)) as { traceEvents: TraceEvent[] }).traceEvents;
  const isOp = (event: TraceEvent) => event.cat === 'cpu_op';
  const isWork = (event: TraceEvent) => /^(kernel|gpu_memcpy|gpu_memset)$/.test(event.cat ?? '');
  const keyOf = ({ name, args }: TraceEvent) => {
    const dims = JSON.stringify(args?.['Input Dims'] ?? '').replace(/(?:,\[\])+\]$/, ']');
    return `${name} ${dims === '""' ? '' : dims}`;
  };
  const launches = new Map<unknown, TraceEvent>();
  for (const event of events)
    if (/_runtime$|_driver$/.test(event.cat ?? '') && !launches.has(event.args?.correlation))
      launches.set(event.args?.correlation, event);
  const ops = new Map<string, TraceEvent[]>();
  const counts = new Map<string, number>();
  for (const event of events.filter(isOp)) {
    const lane = `${event.pid}/${event.tid}`;
    if (!ops.has(lane)) ops.set(lane, []);
    ops.get(lane)!.push(event);
    counts.set(keyOf(event), (counts.get(keyOf(event)) ?? 0) + 1);
  }
  const byOperator = new Map<string, number>();
  let outsideNs = 0;
  for (const event of events.filter(isWork)) {
    const launch = launches.get(event.args?.correlation);
    const around = (launch ? (ops.get(`${launch.pid}/${launch.tid}`) ?? []) : []).filter(
      op => op.ts <= launch!.ts && launch!.ts < op.ts + op.dur,
    );
    const ns = Math.round(event.dur * 1000);
    if (around.length === 0) outsideNs += ns;
    else {
      const key = keyOf(around.reduce((best, op) => (op.dur < best.dur ? op : best)));
      byOperator.set(key, (byOperator.get(key) ?? 0) + ns);
    }
  }
  return { byOperator, counts, outsideNs };
}

const analyze = async (file: string, settings: Settings = { whole: true }) =>
  new Analyzer(await openProfile([file]), settings).get(operators);

async function compare(file: string): Promise<void> {
  const { rows, summary } = await analyze(file);
  const found = naive(file);
  const ours = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = `${row.operator} ${row.shapes ?? ''}`;
    if (row.gpuNs > 0) ours.set(key, (ours.get(key) ?? 0) + row.gpuNs);
    counts.set(key, (counts.get(key) ?? 0) + row.count);
  }
  const sorted = (map: Map<string, number>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  assert.ok(ours.size > 5, file);
  assert.deepEqual(sorted(ours), sorted(found.byOperator), file);
  assert.deepEqual(sorted(counts), sorted(found.counts), file);
  assert.equal((summary!.replayNs as number) + (summary!.otherNs as number), found.outsideNs, file);
}

for (const name of ['eager', 'moe-learned', 'agent-gpt-oss-eager'])
  test(`${name}: GPU time and calls per operator are those of a naive reading`, () =>
    compare(capturePath(name, 'kineto.json.gz')));

test('other people’s traces: the same', { skip: lacks('external') }, async () => {
  await compare(path.join(externalFolder, 'kineto/ep-moe-b200.json.gz'));
  await compare(path.join(externalFolder, '../external-2/tracelens/hf-qwen-h100-metadata-first.json.gz'));
});

test('eager: TFLOP/s and TB/s of a GEMM are what a calculator says', async () => {
  const { rows } = await analyze(capturePath('eager', 'kineto.json.gz'));
  const up = rows.find(row => row.operator === 'aten::mm' && row.shapes === '[[8,2048],[2048,11264]]')!;
  assert.equal(up.count, 110);
  // 2 × 8 × 2048 × 11264 operations, and (8 × 2048 + 2048 × 11264 + 8 × 11264) × 2 bytes, 110 times in 1,504,756 ns.
  assert.equal(up.gpuNs, 1_504_756);
  assert.ok(Math.abs(up.teraflops! - (110 * 369_098_752) / 1_504_756 / 1000) < 1e-9);
  assert.ok(Math.abs(up.terabytesPerSecond! - (110 * 46_350_336) / 1_504_756 / 1000) < 1e-9);
  // An H200 reads 4.8 TB/s and computes 989.4 TFLOP/s in bf16: memory decides.
  assert.equal(up.bound, 'memory');
  assert.ok(Math.abs(up.ofLight! - up.terabytesPerSecond! / 4.8) < 1e-9);
  assert.equal(up.module, 'layer.*.mlp');
  assert.equal(up.kernels.length, 1);
  const attention = rows.find(row => row.operator === 'aten::scaled_dot_product_attention')!;
  assert.equal(attention.gpuNs, 0);
  assert.ok(attention.gpuTotalNs > 0 && attention.hostSelfNs < attention.hostNs);
});

test('operators that call each other: totals hold what is under them, once', async () => {
  const { rows, summary } = await analyze(capturePath('eager', 'kineto.json.gz'));
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  assert.equal(
    sum(row => row.gpuNs),
    summary!.ofOperatorsNs,
  );
  const tree = summary!.tree as { path: string[]; gpuNs: number; gpuSelfNs: number; hostNs: number }[];
  const outermost = tree.filter(({ path: names }) => names.length === 1);
  assert.equal(
    outermost.reduce((total, node) => total + node.gpuNs, 0),
    summary!.ofOperatorsNs,
  );
  // Host time without that of others adds up to the time in outermost operators.
  assert.ok(sum(row => row.hostSelfNs) >= outermost.reduce((total, node) => total + node.hostNs, 0));
  for (const row of rows) assert.ok(row.gpuNs <= row.gpuTotalNs && row.ofLight! <= 1);
});

test('the table of operators reads as it should', async () => {
  const file = capturePath('eager', 'kineto.json.gz');
  const { out } = await runStepscope(['analyze', file, '--only', 'operators', '--rows', '12']);
  assertGolden('operators-eager.txt', out);
});

test('graph replays record no operators, and that is said', async () => {
  const { summary } = await analyze(capturePath('graph', 'kineto.json.gz'));
  assert.ok((summary!.replayNs as number) > 0.95 * (summary!.gpuNs as number));
});

test('what an operator costs is known where its shapes decide', () => {
  const bf16 = '["c10::BFloat16","c10::BFloat16","c10::BFloat16"]';
  const cost = (name: string, shapes: string, types = bf16) => operatorCost(name, shapes, types);
  assert.deepEqual(cost('aten::mm', '[[4,3],[3,5]]'), {
    ...{ flops: 120, bytes: (12 + 15 + 20) * 2, countsOutput: true, type: 'bf16' },
  });
  assert.equal(cost('aten::addmm', '[[5],[4,3],[3,5]]')!.bytes, (5 + 12 + 15 + 20) * 2);
  assert.equal(cost('aten::bmm', '[[7,4,3],[7,3,5]]')!.flops, 7 * 120);
  assert.equal(cost('aten::linear', '[[2,2,3],[5,3],[]]')!.flops, 120);
  const fp8 = '["c10::Float8_e4m3fn","c10::Float8_e4m3fn"]';
  assert.deepEqual(cost('aten::_scaled_mm', '[[4,3],[3,5]]', fp8), {
    ...{ flops: 120, bytes: 27, countsOutput: false, type: 'fp8' },
  });
  // One query token: 2 × (64 + 64) operations for each of 2 × 8 heads and 10 tokens.
  const one = cost('aten::scaled_dot_product_attention', '[[2,8,1,64],[2,2,10,64],[2,2,10,64]]')!;
  assert.equal(one.flops, 2 * 8 * 10 * 256);
  // With more, a mask that was not recorded decides.
  const many = cost('aten::scaled_dot_product_attention', '[[2,8,10,64],[2,2,10,64],[2,2,10,64]]')!;
  assert.equal(many.flops, undefined);
  for (const [name, shapes, types] of [
    ['aten::mm', '[[4,3],[4,5]]', bf16],
    ['aten::mm', '[[4,3]]', bf16],
    ['aten::mm', '[[4,3],[3,5]]', '["int","int"]'],
    ['aten::mm', '[[4,3],[3', bf16],
    ['aten::mm', '', bf16],
    ['aten::_grouped_mm', '[[4,3],[2,3,5],[2]]', bf16],
    ['aten::mm', '[[4,-3],[-3,5]]', bf16],
  ])
    assert.equal(operatorCost(name, shapes, types), undefined, shapes);
});

test('nothing is above 100%: rates beyond the peak are withheld, a cache is named', () => {
  const limits = peakFromProfile({ deviceId: 0, name: 'NVIDIA H200', host: '' });
  const kind = {
    name: 'aten::mm',
    shapes: '[[4096,4096],[4096,4096]]',
    types: '["c10::BFloat16","c10::BFloat16"]',
  };
  const flops = 2 * 4096 ** 3;
  const atPeak = flops / 989.4e3;
  const why: string[] = [];
  const rates = (ns: number, of = kind) => operatorRates(of, 1, ns, limits, reason => why.push(reason));
  const slow = rates(atPeak * 2);
  assert.ok(Math.abs(slow.ofLight! - 0.5) < 1e-9 && slow.bound === 'compute');
  assert.deepEqual(rates(atPeak * 0.9), {
    teraflops: null,
    terabytesPerSecond: null,
    ofLight: null,
    bound: null,
  });
  const thin = { ...kind, shapes: '[[1,2048],[2048,2048]]' };
  const cached = rates((2048 * 2048 * 2) / 10e3, thin);
  assert.ok(cached.terabytesPerSecond! > 4.8 && cached.ofLight === null);
  assert.deepEqual(why, ['beyond-peak', 'beyond-memory']);
  const unknown = operatorRates(
    kind,
    1,
    atPeak,
    peakFromProfile({ deviceId: 0, name: 'X', host: '' }),
    () => {},
  );
  assert.ok(unknown.teraflops! > 0 && unknown.ofLight === null);
});

test('operators that a program marks as ranges', () => {
  assert.deepEqual(markedOperator('aten::mm, op_id = 314290'), { name: 'aten::mm', shapes: '' });
  const sizes = 'aten::mm, seq = 4, sizes = [[8, 2048], [2048, 2560]], input_op_ids = [(1,0), (2,0)]';
  assert.deepEqual(markedOperator(sizes), { name: 'aten::mm', shapes: '[[8,2048],[2048,2560]]' });
  assert.equal(markedOperator('step 12'), undefined);
  assert.equal(markedOperator('std::vector thing'), undefined);
});
