/** Operators of graph replays from a trace of the graph capture: node by node, or not at all. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import type { CapturedCall, CapturedGraph } from '../src/analyze/captured-graph.js';
import { gpuWork, WorkKind } from '../src/analyze/gpu/gpu-work.js';
import { workFamilies } from '../src/analyze/gpu/work-families.js';
import { capturedGraphs } from '../src/analyze/host/captured-graphs.js';
import { operators } from '../src/analyze/host/operators.js';
import { NONE } from '../src/base/column.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, externalFolder, readText } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';

const decode = path.join(externalFolder, 'tracelens/sglang-mi300x-decode.json.gz');
const captured = path.join(externalFolder, '../external-2/tracelens/sglang-mi300x-graph-capture.json.gz');

interface TraceEvent {
  readonly cat?: string;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
  readonly args?: { readonly kernel?: string; readonly correlation?: number };
}
const eventsOf = (file: string) => (JSON.parse(readText(file)) as { traceEvents: TraceEvent[] }).traceEvents;

test('a real replay and its capture: every node has the kernel that was captured', {
  skip: lacks('external'),
}, async () => {
  // This profiler writes the kernel's name with the launch: the order of nodes can be held against it.
  const capture = eventsOf(captured).filter(event => event.cat === 'cuda_runtime');
  const from = capture.find(({ name }) => name === 'hipStreamBeginCapture')!.ts;
  const to = capture.find(({ name }) => name === 'hipStreamEndCapture')!.ts;
  const launches = capture
    .filter(({ name, ts }) => /LaunchKernel/.test(name) && ts > from && ts < to)
    .sort((a, b) => a.ts - b.ts);
  const replay = eventsOf(decode);
  const launch = replay.find(({ name }) => name === 'hipGraphLaunch')!.args!.correlation;
  const nodes = replay
    .filter(event => event.cat === 'kernel' && event.args?.correlation === launch)
    .sort((a, b) => a.ts - b.ts);
  assert.equal(nodes.length, 544);
  assert.equal(launches.length, 544);
  const graphs = new Analyzer(await openProfile([captured]), { whole: true }).get(capturedGraphs);
  assert.deepEqual(
    graphs.map(({ batch, nodeCall }) => [batch, nodeCall.length]),
    [[32, 544]],
  );
  const analyzer = new Analyzer(await openProfile([decode]), { whole: true, capturedGraphs: graphs });
  const { rows, summary } = analyzer.get(operators);
  assert.deepEqual(summary!.replays, { matched: 1 });
  // GPU time of GEMMs, by the place of their launches in the capture.
  const [graph] = graphs;
  const gemmNs = nodes.reduce((sum, { dur }, node) => {
    const call = graph.nodeCall[node];
    return sum + (call !== NONE && graph.calls[call].kind.name === 'aten::mm' ? Math.round(dur * 1000) : 0);
  }, 0);
  const ours = rows.filter(row => row.operator === 'aten::mm').reduce((sum, row) => sum + row.gpuNs, 0);
  assert.equal(ours, gemmNs);
  // Names agree wherever both files write one: the kernels of the replay are those that were captured.
  let agree = 0;
  launches.forEach(({ args }, node) => {
    if (args?.kernel === nodes[node].name) agree++;
  });
  assert.ok(agree >= 0.95 * launches.length, `${agree} of ${launches.length} names agree`);
  const down = rows.find(row => row.shapes === '[[32,4096],[4096,24576]]')!;
  assert.equal(down.count, 36);
  assert.equal(down.module, 'MergedColumnParallelLinear');
});

test('the command takes both files, and refuses a trace without a capture', {
  skip: lacks('external'),
}, async () => {
  const both = ['analyze', decode, '--only', 'operators', '--whole', '--graph-capture'];
  const { status, out } = await runStepscope([...both, captured]);
  assert.equal(status, 0);
  assert.match(out, /ran in 1 CUDA graph replay: their operators come from the trace of the graph capture/);
  const refused = await runStepscope([...both, capturePath('eager', 'kineto.json.gz')]);
  assert.equal(refused.status, 2);
  assert.match(refused.err, /contains no graph capture with operators/);
});

const kernel = { name: 'aten::mul', shapes: '[[8,2048],[8,2048]]', types: '' };
const product = { name: 'aten::mm', shapes: '[[8,2048],[2048,2048]]', types: '' };
const call = (kind: CapturedCall['kind']): CapturedCall => ({ kind, module: '', parent: NONE });

/** A capture of our own graph: nodes by what the replay's kernels are, `gemmAt` deciding which are GEMMs. */
async function drawn(gemmAt: (node: number, isGemm: boolean) => boolean, shapes = product.shapes) {
  const analyzer = new Analyzer(await openProfile([capturePath('graph', 'kineto.json.gz')]), { whole: true });
  const work = analyzer.get(gpuWork);
  const { classOf } = analyzer.get(workFamilies);
  const { profile } = analyzer;
  const launches = new Map<number, number[]>();
  for (let i = 0; i < work.length; i++)
    launches.set(work.launch[i], [...(launches.get(work.launch[i]) ?? []), i]);
  const replay = [...launches.values()].sort((a, b) => b.length - a.length)[0];
  const nodeKind = replay.map(i => work.kind[i]);
  const isGemm = (i: number) =>
    work.kind[i] === WorkKind.kernel && classOf(profile.tables.kernels!.name[work.row[i]]).family === 'gemm';
  const graph: CapturedGraph = {
    calls: [call(kernel), ...replay.map(() => call({ ...product, shapes }))],
    nodeKind,
    nodeCall: replay.map((i, node) => (gemmAt(node, isGemm(i)) ? node + 1 : 0)),
  };
  return { profile, graph };
}

test('a replay that fits no captured graph, or several, has no operators', async () => {
  const right = await drawn((_, isGemm) => isGemm);
  const result = (graphs: readonly CapturedGraph[]) =>
    new Analyzer(right.profile, { whole: true, capturedGraphs: graphs }).get(operators).summary!;
  const replays = (result([right.graph]).replays as { matched: number }).matched;
  assert.ok(replays >= 8);
  assert.equal(result([right.graph]).replayNs, 0);
  const short = {
    ...right.graph,
    nodeKind: right.graph.nodeKind.slice(1),
    nodeCall: right.graph.nodeCall.slice(1),
  };
  assert.deepEqual(result([short]).replays, { matched: 0, 'node-count': replays });
  assert.ok((result([short]).replayNs as number) > 0);
  const shifted = await drawn((node, isGemm) => !isGemm && node % 3 === 0);
  assert.deepEqual(result([shifted.graph]).replays, { matched: 0, 'other-kernels': replays });
  const wider = await drawn((_, isGemm) => isGemm, '[[16,2048],[2048,2048]]');
  // Captured for two batch sizes: the steps say 8 requests, and sizes of graphs decide where they are known.
  assert.deepEqual(result([right.graph, wider.graph]).replays, { matched: 0, 'several-graphs': replays });
  const sized = [
    { ...wider.graph, batch: 16 },
    { ...right.graph, batch: 8 },
  ];
  assert.equal((result(sized).replays as { matched: number }).matched, replays);
});
