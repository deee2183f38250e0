/** What the analyses say about real captures, held against what is known about how each was made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import { gpuMetricsAnalysis } from '../src/analyze/gpu/gpu-metrics.js';
import { gpuUtilization } from '../src/analyze/gpu/gpu-utilization.js';
import { graphCoverage } from '../src/analyze/gpu/graph-coverage.js';
import { kernelFamilies } from '../src/analyze/gpu/kernel-families.js';
import { kernelsPerStep } from '../src/analyze/gpu/kernels-per-step.js';
import { memoryInUse } from '../src/analyze/gpu/memory-in-use.js';
import { memoryOperations } from '../src/analyze/gpu/memory-operations.js';
import { allocations } from '../src/analyze/host/allocations.js';
import { gc } from '../src/analyze/host/gc.js';
import { gil } from '../src/analyze/host/gil.js';
import { launchOverhead } from '../src/analyze/host/launch-overhead.js';
import type { BudgetRow } from '../src/analyze/inference/budget-totals.js';
import { addBudgets } from '../src/analyze/inference/budget-totals.js';
import { criticalPath } from '../src/analyze/inference/critical-path.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { layers } from '../src/analyze/inference/layers.js';
import { speedOfLight } from '../src/analyze/inference/speed-of-light.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { stepSequence } from '../src/analyze/inference/step-sequence.js';
import { tokenTime } from '../src/analyze/inference/token-time.js';
import { findModel } from '../src/catalog/models.js';
import { openProfile } from '../src/import/open.js';
import { capturePath } from '../src/testing/captures.js';

const open = async (name: string, settings: Settings = {}, file?: string) =>
  new Analyzer(await openProfile([capturePath(name, file)]), settings);

/** Folder, first and last iteration, batch: as the captures were made. */
const known = [
  ['eager', 12, 16, 8],
  ['eager-decode', 12, 17, 8],
  ['graph', 12, 20, 8],
  ['graphmode', 12, 20, 8],
  ['membound', 12, 20, 1],
  ['moe-learned', 6, 10, 64],
  ['moe-perfect', 6, 10, 64],
  ['gc', 12, 15, 8],
  ['gil', 6, 8, 8],
  ['old23', 12, 15, 8],
] as const;

for (const [name, first, last, batch] of known) {
  test(`${name}: iterations ${first} to ${last}, all decode, batch ${batch}, as the markers say`, async () => {
    const { rows } = (await open(name)).get(iterations);
    assert.deepEqual(
      rows.map(row => row.iteration),
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    );
    for (const [i, row] of rows.entries()) {
      assert.equal(row.phase, 'decode');
      assert.equal(row.contextRequests, 0);
      assert.equal(row.generationRequests, batch);
      assert.equal(row.foundBy, 'marker');
      // The first step under the profiler takes an eighth longer where the others are even enough to show it.
      const isFirst = i === 0 && (name === 'graph' || name === 'graphmode');
      assert.equal(row.state, isFirst ? 'warm-up' : 'steady');
      assert.ok(row.gpuStartNs! > row.startNs && row.gpuEndNs! > row.gpuStartNs!);
      assert.ok(row.gpuBusyNs > 0 && row.gpuBusyNs <= row.gpuEndNs! - row.gpuStartNs!);
    }
  });
}

const perStep = async (name: string): Promise<Map<string, number>> =>
  new Map((await open(name)).get(kernelFamilies).rows.map(row => [row.family, row.kernelsPerStep]));

test('eager and graph run the same kernels per decode step, family by family; only one is launch-bound', async () => {
  const eager = await perStep('eager');
  const graph = await perStep('graph');
  // Replay needs its inputs in fixed places: one more fill and one more copy than running eagerly.
  const extra = new Map([
    ['elementwise', 1],
    ['copy', 1],
  ]);
  for (const [family, count] of graph)
    assert.equal(count - (extra.get(family) ?? 0), eager.get(family), family);
  const kernels = async (name: string) => (await open(name)).get(kernelsPerStep).rows[0].kernels;
  assert.equal(await kernels('eager'), 1016);
  assert.equal(await kernels('graph'), 1017);

  const budget = async (name: string) => addBudgets((await open(name)).get(stepBudget).rows);
  const launchShare = (total: Awaited<ReturnType<typeof budget>>) =>
    total.idleByCause['launch-bound'] / total.wallNs;
  assert.ok(launchShare(await budget('eager')) > 0.8);
  assert.ok(launchShare(await budget('graph')) < 0.3);
  const covered = (await open('graph')).get(graphCoverage).rows[0];
  assert.equal(covered.graphLaunches, 8);
  assert.ok(covered.kernelShare! > 0.99);
});

test('graphs recorded as blocks: replays are busy time, what they hide is withheld with the flag that shows it', async () => {
  const analyzer = await open('graphmode');
  for (const analysis of [kernelFamilies, kernelsPerStep]) {
    const outcome = analyzer.run(analysis);
    assert.equal(outcome.status, 'not-recorded', analysis.id);
    if (outcome.status === 'not-recorded') assert.match(outcome.hint, /--cuda-graph-trace=node/);
  }
  const [row] = analyzer.get(gpuUtilization).rows;
  assert.equal(row.idleNs, null);
  assert.equal(row.busyShare, null);
  assert.ok(row.graphReplayNs > 0.9 * row.busyNs);
  assert.equal(analyzer.get(stepBudget).summary!.graphReplaysHidden, true);
  const coverage = analyzer.get(graphCoverage);
  assert.equal(coverage.summary!.mode, 'blocks');
  assert.equal(coverage.rows[0].kernels, null);
  assert.ok(coverage.rows[0].timeShare > 0.9);
  for (const step of analyzer.get(iterations).rows) assert.equal(step.kernels, null);
});

const topCause = async (name: string): Promise<string> =>
  Object.keys(addBudgets((await open(name)).get(stepBudget).rows).idleByCause)[0];

test('garbage collection and the GIL are named as the largest cause where they are', async () => {
  assert.equal(await topCause('gc'), 'garbage-collection');
  assert.equal(await topCause('gil'), 'gil');
  assert.equal(await topCause('eager'), 'launch-bound');

  const collections = (await open('gc')).get(gc).rows;
  assert.deepEqual(
    collections.map(row => row.generation),
    [2, 1, 0],
  );
  // NVIDIA's own nvtx_sum counts these ranges too.
  assert.deepEqual(
    collections.map(row => row.count),
    [12, 140, 1560],
  );
  const total = collections.reduce((sum, row) => sum + row.totalNs, 0);
  const idle = collections.reduce((sum, row) => sum + row.gpuIdleNs, 0);
  assert.ok(idle > 0.95 * total, 'the GPU stood still during collections');

  const [stepThread, burner] = (await open('gil')).get(gil).rows;
  assert.ok(stepThread.runsSteps && !burner.runsSteps);
  assert.ok(stepThread.waitPerStepNs > 100e6 && stepThread.gpuIdleNs > 0.95 * stepThread.waitNs);
  assert.ok(burner.holdNs > 5 * stepThread.holdNs, 'the thread that burns Python holds the lock');
});

test('a profile of the client says that no GPU work was recorded', async () => {
  const analyzer = await open('client');
  for (const analysis of [stepBudget, kernelFamilies, gpuUtilization]) {
    const outcome = analyzer.run(analysis);
    assert.equal(outcome.status, 'not-recorded');
    if (outcome.status === 'not-recorded') assert.match(outcome.hint, /not its client/);
  }
});

for (const name of ['eager', 'graph', 'moe-learned', 'moe-perfect']) {
  test(`${name}: nsys and the PyTorch profiler give family shares within 3 points`, async () => {
    const shares = async (file: string) =>
      new Map((await open(name, {}, file)).get(kernelFamilies).rows.map(row => [row.family, row.share]));
    const nsys = await shares('profile.sqlite.gz');
    const kineto = await shares('kineto.json.gz');
    for (const family of new Set([...nsys.keys(), ...kineto.keys()])) {
      const difference = Math.abs((nsys.get(family) ?? 0) - (kineto.get(family) ?? 0));
      assert.ok(difference < 0.03, `${family}: ${nsys.get(family)} and ${kineto.get(family)}`);
    }
  });
}

test('layers come from ranges in eager captures and from what repeats inside replays', async () => {
  const eager = (await open('eager')).get(layers);
  assert.deepEqual(eager.summary!.methods, ['ranges']);
  assert.equal(eager.summary!.layers, 22);
  assert.deepEqual(eager.summary!.structure, {
    phase: 'decode',
    repeats: 22,
    kernelsPerRepeat: 46,
    otherKernels: 4,
    kernels: 1016,
  });
  const parts = new Set(eager.rows.map(row => row.part));
  assert.deepEqual([...parts].sort(), ['attn', 'mlp', 'outside layers']);
  const perLayer = new Map<number, number>();
  for (const row of eager.rows)
    if (row.layer !== null) perLayer.set(row.layer, (perLayer.get(row.layer) ?? 0) + row.kernelsPerStep);
  assert.deepEqual([...new Set(perLayer.values())], [46]);

  const graph = (await open('graph')).get(layers);
  assert.deepEqual(graph.summary!.methods, ['pattern']);
  assert.equal(graph.summary!.layers, 22);
  assert.equal(
    graph.rows.reduce((sum, row) => sum + row.kernelsPerStep, 0),
    1017,
  );
});

test('nodes of a replayed graph belong to the layer whose range was open when they were captured', async () => {
  const { rows, summary } = (await open('run-ahead')).get(layers);
  assert.deepEqual(summary!.methods, ['ranges', 'graph-capture']);
  const decode = rows.filter(row => row.phase === 'decode' && row.layer !== null);
  assert.deepEqual(
    decode.map(row => [row.layer, row.part, row.kernelsPerStep]),
    [0, 1, 2, 3, 4, 5].flatMap(layer => [
      [layer, 'self_attn', 12],
      [layer, 'mlp', 7],
    ]),
  );
});

test('where the host runs ahead, windows follow the GPU; loading and compiling is warm-up', async () => {
  const analyzer = await open('run-ahead');
  const { rows } = analyzer.get(iterations);
  assert.deepEqual(
    rows.map(row => row.phase),
    [0, 1, 2].flatMap(() => ['prefill', ...Array.from({ length: 6 }, () => 'decode' as const)]),
  );
  assert.deepEqual(
    rows.flatMap(row => (row.state === 'warm-up' ? [row.iteration] : [])),
    [0, 1],
  );
  assert.deepEqual([rows[7].contextRequests, rows[7].contextTokens], [8, 768]);
  // The host needs 0.2 ms per decode step, the GPU 0.4 ms: the last steps are launched long before they run.
  const late = rows.filter(row => row.phase === 'decode' && row.gpuStartNs! > row.endNs);
  assert.ok(late.length >= 8, `${late.length} steps run after the host has left them`);
  for (const row of rows.slice(2, 6))
    assert.ok(row.wallNs >= row.gpuBusyNs && row.wallNs < 1.3 * row.gpuBusyNs);
  const budget = analyzer.get(stepBudget).rows.filter(row => row.phase === 'decode');
  assert.ok(budget.every(row => row.computeNs > 0.5 * row.wallNs));
});

test('GPU metrics of the memory-bound capture: DRAM read 64% over the window, about 75% while busy, tensor 3%', async () => {
  const { rows } = (await open('membound')).get(gpuMetricsAnalysis);
  const of = (metric: string, family: string | null = null) =>
    rows.find(row => row.metric === metric && row.phase === null && row.family === family)!;
  assert.ok(Math.abs(of('DRAM read').overWindow! - 64) < 1.5, `${of('DRAM read').overWindow}`);
  assert.ok(Math.abs(of('DRAM read').overBusy! - 75) < 2, `${of('DRAM read').overBusy}`);
  assert.ok(Math.abs(of('tensor active').overBusy! - 3) < 1);
  assert.ok(of('GPU active').overBusy! > 97, 'the GPU is active while it is busy');
  assert.ok(of('DRAM read', 'gemm').overBusy! > of('DRAM read').overBusy!, 'GEMMs read most');
  assert.ok(of('DRAM read').bytesPerSecond! > 3.4e12);
  assert.ok(of('GPU clock').overBusy! > 1.5e9, 'clocks are in Hz');
  // Where the GPU is mostly idle, whole percents spread over little busy time say little, and the row says so.
  const idle = (await open('eager-decode')).get(gpuMetricsAnalysis).rows[3];
  assert.ok(idle.uncertainty! > 3, `${idle.uncertainty}`);
});

test('memory operations, allocations and memory in use of the eager capture', async () => {
  const analyzer = await open('eager');
  const operations = analyzer.get(memoryOperations).rows;
  const read = operations.find(row => row.operation === 'Device-to-Host')!;
  assert.equal(read.count, 5);
  assert.equal(read.hostWaits, true);
  assert.equal(read.to, 'Pageable');
  assert.equal(analyzer.get(allocations).rows.length, 0);
  const [memory] = analyzer.get(memoryInUse).rows;
  assert.ok(memory.peakBytes > 2e9 && memory.ofMemory! < 0.1);
  assert.ok(memory.series.length <= 240);
  const launch = analyzer.get(launchOverhead).rows.find(row => row.call === 'cudaLaunchKernel')!;
  assert.ok(launch.medianNs > 4000 && launch.medianNs < 10000);
  assert.equal(launch.calls, launch.operations);
});

test('the sequence of one step is that step, in order', async () => {
  const { rows, summary } = (await open('eager')).get(stepSequence);
  assert.equal(summary!.kernels, 1016);
  assert.equal(rows.length, 1018);
  assert.ok(rows.every((row, i) => i === 0 || row.atNs >= rows[i - 1].atNs));
  const attention = rows.filter(row => row.family === 'attention');
  assert.deepEqual(
    attention.map(row => row.layer),
    Array.from({ length: 22 }, (_, i) => i),
  );
});

test('the critical path of a graph replay is GPU work, that of an eager step is launching', async () => {
  const graph = (await open('graph')).get(criticalPath);
  assert.ok((graph.summary!.gpuNs as number) > 0.6 * (graph.summary!.wallNs as number));
  const eager = (await open('eager')).get(criticalPath);
  assert.equal(eager.rows[0].what, 'launch-bound');
  assert.ok(eager.rows[0].share > 0.8);
  // What the GPU is busy with is on the path, no more and no less.
  const [budget] = (await open('eager'))
    .get(stepBudget)
    .rows.filter(row => row.iteration === eager.summary!.iteration);
  assert.equal(eager.summary!.gpuNs, budget.wallNs - budget.idleNs);
});

test('time per token adds up to the step divided by its batch', async () => {
  const [row] = (await open('graph')).get(tokenTime).rows;
  assert.equal(row.tokensPerStep, 8);
  assert.ok(Math.abs(row.perTokenNs * 8 - row.interTokenNs) < 1e-3);
  assert.ok(
    Math.abs(row.kernelNs + row.communicationNs + row.copyNs + row.hostNs + row.idleNs - row.perTokenNs) <
      1e-3,
  );
});

test('speed of light needs the model, and then bounds the measured step from below', async () => {
  const without = (await open('graph')).run(speedOfLight);
  assert.equal(without.status, 'not-recorded');
  // The captured model has the shape of TinyLlama.
  const model = findModel('tinyllama-1.1b')!.config as Settings['model'];
  const { rows, summary } = (await open('graph', { model })).get(speedOfLight);
  const [step] = rows;
  assert.equal(step.bound, 'memory');
  assert.ok(step.leastNs > 300e3 && step.leastNs < step.gpuBusyNs!, `${step.leastNs}`);
  assert.ok(step.overlappedNs! <= step.leastNs);
  assert.equal(summary!.bandwidthFrom, 'file');
  const gemm = rows.find(row => row.scope === 'gemm')!;
  assert.ok(gemm.ofLeast! > 0.4 && gemm.ofLeast! < 1, `${gemm.ofLeast}`);
});

test('iterations and phases are chosen, and what is not there is said', async () => {
  const rows = async (settings: Settings): Promise<readonly BudgetRow[]> =>
    (await open('graph', settings)).get(stepBudget).rows;
  assert.deepEqual(
    (await rows({ iterations: [{ first: 13, last: 14 }] })).map(row => row.iteration),
    [13, 14],
  );
  assert.equal((await rows({ phase: 'decode' })).length, 8);
  assert.equal((await rows({ phase: 'decode', whole: true })).length, 9);
  await assert.rejects(rows({ phase: 'prefill' }), /No prefill step.*iterations 12 to 20/);
  await assert.rejects(rows({ iterations: [{ first: 1, last: 2 }] }), /iterations 12 to 20/);
  const wall = (list: readonly BudgetRow[]) => list.reduce((sum, row) => sum + row.wallNs, 0);
  assert.ok(wall(await rows({ whole: true })) >= wall(await rows({})));
});

test('the two meanings of the end of TLLM_PROFILE_START_STOP are told apart by what was captured', async () => {
  const asked = async (first: number, last: number) =>
    (await open('graph', { requested: { first, last } })).get(iterations).summary!.rangeEnd;
  assert.equal(await asked(12, 20), 'inclusive');
  assert.equal(await asked(12, 21), 'exclusive');
  assert.equal(await asked(12, 40), 'other');
});
