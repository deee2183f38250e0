/** Why the GPU stands still, drawn: one column is 50 µs, and each gap is judged by the thread that ends it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { gc } from '../src/analyze/host/gc.js';
import { gil } from '../src/analyze/host/gil.js';
import { addBudgets } from '../src/analyze/inference/budget-totals.js';
import { criticalPath } from '../src/analyze/inference/critical-path.js';
import { idleGaps } from '../src/analyze/inference/idle-gaps.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { drawProfile } from '../src/testing/drawn-profile.js';

const COLUMN_US = 50;
const draw = (drawing: string) => new Analyzer(drawProfile(drawing, COLUMN_US * 1000), { whole: true });

/** Causes in columns of the drawing, without what is shorter than half a column (the latency of a launch). */
function causes(drawing: string): Record<string, number> {
  const { idleByCause } = addBudgets(draw(drawing).get(stepBudget).rows);
  const columns = Object.entries(idleByCause).map(
    ([cause, ns]) => [cause, Math.round(ns / 1000 / COLUMN_US)] as const,
  );
  return Object.fromEntries(columns.filter(([, count]) => count > 0));
}

test('calls back to back are launching; a long stretch without calls is other host code', () => {
  assert.deepEqual(causes('cpu a.b.c.\n gpu .a.b.c'), { 'launch-bound': 2 });
  assert.deepEqual(
    causes(`
      cpu  a.........b
      gpu  .a.........b
    `),
    { 'host-code': 8, 'launch-bound': 1 },
  );
});

test('a wait, an allocation and an OS call of the launching thread each are their own cause', () => {
  assert.deepEqual(
    causes(`
      s = cudaStreamSynchronize
      m = cudaMalloc
      cpu  asssss.mmmm.b
      gpu  .a...........b
    `),
    { synchronisation: 4, allocation: 4, 'launch-bound': 3 },
  );
  assert.deepEqual(
    causes(`
      cpu  a...........b
      os   ..pppppppp...
      gpu  .a...........b
    `),
    { 'os-call': 8, 'host-code': 2, 'launch-bound': 1 },
  );
});

test('named host ranges say what the host was doing', () => {
  assert.deepEqual(
    causes(`
      S = _sample_async
      R = _handle_responses
      P = _prepare_inputs
      Q = _schedule
      nvtx ..SSSRRRRQQPPPPP.
      cpu  a................b
      gpu  .a................b
    `),
    {
      sampling: 3,
      'request-handling': 4,
      scheduling: 2,
      'input-preparation': 5,
      'host-code': 1,
      'launch-bound': 1,
    },
  );
});

test('garbage collection wins over everything, the GIL over waiting in the system', () => {
  const drawing = `
    G = Python GC gen2
    W = Waiting for GIL
    nvtx ..GGGGG.WWWW...
    os   ........ppppp..
    cpu  a..............b
    gpu  .a..............b
  `;
  assert.deepEqual(causes(drawing), {
    'garbage-collection': 5,
    gil: 4,
    'os-call': 1,
    'host-code': 3,
    'launch-bound': 1,
  });
  const analyzer = draw(drawing);
  const [collection] = analyzer.get(gc).rows;
  assert.deepEqual(
    [collection.generation, collection.count, collection.gpuIdleNs],
    [2, 1, collection.totalNs],
  );
  const [lock] = analyzer.get(gil).rows;
  assert.deepEqual([lock.waits, lock.gpuIdleNs], [1, lock.waitNs]);
});

test('waiting for the GIL while another thread collects garbage is garbage collection', () => {
  assert.deepEqual(
    causes(`
      G = Python GC gen2
      W = Waiting for GIL
      nvtx  ..WWWWWWWW.
      nvtx2 ...GGGGG...
      cpu   a..........b
      gpu   .a..........b
    `),
    { 'garbage-collection': 5, gil: 3, 'host-code': 1, 'launch-bound': 1 },
  );
});

test('work launched before the gap began waited on the device', () => {
  assert.deepEqual(
    causes(`
      cpu  ab........
      gpu  ..a.......
      gpu2 .......b..
    `),
    { 'device-wait': 4 },
  );
});

test('time of the profiler itself is not blamed on the program', () => {
  assert.deepEqual(
    causes(`
      cpu  a..........b
      prof ..ooooooo...
      gpu  .a..........b
    `),
    { 'profiler-overhead': 7, 'host-code': 2, 'launch-bound': 1 },
  );
});

test('without a launch the cause is unknown, not guessed', () => {
  assert.deepEqual(causes('cpu a\n gpu .a....b'), { unknown: 4 });
});

test('compute hides communication, both hide copies, and the rest is exposed', () => {
  const [row] = draw(`
    n = ncclDevKernel_AllReduce
    cpu  xnc
    gpu  xxxx......
    gpu2 ..nnnn....
    copy .....cccc.
  `).get(stepBudget).rows;
  const columns = (ns: number) => ns / 1000 / COLUMN_US;
  assert.deepEqual(
    [
      row.computeNs,
      row.communicationExposedNs,
      row.communicationHiddenNs,
      row.copyExposedNs,
      row.copyHiddenNs,
    ].map(columns),
    [4, 2, 2, 3, 1],
  );
});

test('the longest gaps are listed with what ends them', () => {
  const { rows } = draw(`
    s = cudaStreamSynchronize
    cpu  assssssb..c
    gpu  .a.......b.c
  `).get(idleGaps);
  assert.deepEqual(
    rows.map(row => [row.cause, row.next]),
    [
      ['synchronisation', 'b'],
      ['launch-bound', 'c'],
    ],
  );
});

test('the critical path goes from the wait to the kernel it waited for, and on to its launch', () => {
  const analyzer = new Analyzer(
    drawProfile(
      `
      M = [Executor] _forward_step 1: 0 ctx reqs, 1 gen reqs
      s = cudaStreamSynchronize
      nvtx MMMMMMMMMMMMMM
      cpu  ab.sssssssss..
      gpu  .aabbbbbbbb...
    `,
      50_000,
    ),
    {},
  );
  const { rows, summary } = analyzer.get(criticalPath);
  const columns = new Map(rows.map(row => [`${row.where} ${row.what}`, row.ns / 50_000]));
  // launch a (1), a (2), b (8), host wake-up (1), host code to the end (2).
  assert.deepEqual(
    [...columns].sort(),
    [
      ['gpu other', 10],
      ['host launch-bound', 1],
      ['host other host code', 2],
      ['wait host wake-up', 1],
    ].sort(),
  );
  assert.equal(summary!.wallNs, 14 * 50_000);
});
