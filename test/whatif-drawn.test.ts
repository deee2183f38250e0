/** Predictions on synthetic steps whose answer is known: each model does what docs/gains.md says, and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { changesOf } from '../src/analyze/whatif/changes.js';
import { equationOf } from '../src/analyze/whatif/equation.js';
import { type PhasePrediction, predictPhases } from '../src/analyze/whatif/predict.js';
import { modelError, predictionInterval } from '../src/analyze/whatif/prediction-interval.js';
import { isPredicted } from '../src/analyze/whatif/whatif-document.js';
import { defaultPolicy } from '../src/catalog/policy.js';
import { type Drawn, drawSteps } from '../src/testing/drawn-steps.js';

const US = 1000;
const STEPS = 4;
const label = (step: number) => `[Executor] _forward_step ${step}: 0 ctx reqs, 8 gen reqs`;
const LAYER = ['rms_norm_kernel', 'sm90_bf16_gemm', 'flash_fwd_kernel', 'sm90_bf16_gemm'];

type Asked = Parameters<typeof changesOf>[0];

function predict(
  drawn: Drawn,
  asked: Asked,
  settings: Parameters<typeof predictPhases>[2] = {},
): PhasePrediction {
  const [prediction] = predictPhases(new Analyzer(drawSteps(drawn)), changesOf(asked), settings);
  assert.ok(isPredicted(prediction), JSON.stringify(prediction));
  return prediction;
}

const stepNs = (prediction: PhasePrediction) => equationOf(prediction);
const statusOf = ({ changes }: PhasePrediction) => changes.map(({ outcome }) => outcome.status);

/** Code, then `layers` layers launched kernel by kernel every 50 µs, a wait that returns 5 µs late, more code. */
function eagerSteps({ layers = 5, gcUs = 0, innerWait = false, lateReads = 0 } = {}) {
  const marks: [number, string, number, number][] = [];
  const work: [number, number, number, number, number, string][] = [];
  const waits: [number, number, number][] = [];
  let at = 0;
  for (let step = 0; step < STEPS; step++) {
    const begin = at;
    if (gcUs > 0) marks.push([0, 'Python GC generation 2', at + 10 * US, at + (10 + gcUs) * US]);
    at += (100 + gcUs) * US;
    for (let i = 0; i < layers * LAYER.length; i++) {
      work.push([0, at, at + 5 * US, at + 7 * US, at + 17 * US, LAYER[i % LAYER.length]]);
      // In the middle of the step the host reads something back.
      if (innerWait && i === 10) waits.push([0, at + 8 * US, at + 22 * US]);
      at += 50 * US;
    }
    const lastEnd = at - 33 * US;
    waits.push([0, at - 40 * US, lastEnd + 5 * US]);
    at = lastEnd + 5 * US;
    // Then it reads some numbers, one by one.
    for (let i = 0; i < lateReads; i++, at += 20 * US) {
      work.push([0, at, at + 5 * US, at + 7 * US, at + 8 * US, 'reduce_kernel']);
      waits.push([0, at + 6 * US, at + 10 * US]);
    }
    at += 80 * US;
    marks.push([0, label(step), begin, at]);
  }
  marks.sort((a, b) => a[2] - b[2]);
  return { marks, work, waits };
}

test('a graph leaves the code around the forward pass, one launch and the gaps between nodes', () => {
  const nodes = 5 * LAYER.length;
  const prediction = predict(eagerSteps(), { graphs: true });
  const { fromNs, toNs } = stepNs(prediction);
  assert.equal(fromNs, (100 + nodes * 50 - 33 + 5 + 80) * US);
  const { graphLaunchPerNodeNs, graphNodeGapNs } = defaultPolicy;
  // The GPU starts 2 µs behind the launch call, and works 10 µs per kernel.
  const expected =
    100 * US +
    nodes * graphLaunchPerNodeNs +
    2 * US +
    nodes * 10 * US +
    (nodes - 1) * graphNodeGapNs +
    85 * US;
  assert.ok(Math.abs(toNs - expected) <= 1, `${toNs} instead of ${expected}`);
});

test('terms are whole nanoseconds that sum to both steps', () => {
  const { fromNs, toNs, changeNs, terms } = stepNs(predict(eagerSteps(), { graphs: true }));
  const sum = (of: (term: (typeof terms)[number]) => number) =>
    terms.reduce((all, term) => all + of(term), 0);
  assert.deepEqual([sum(t => t.fromNs), sum(t => t.toNs), sum(t => t.changeNs)], [fromNs, toNs, changeNs]);
  assert.ok(terms.every(term => Number.isInteger(term.fromNs) && term.toNs >= 0));
});

test('a wait inside the forward pass cannot be part of a graph; without it, it can', () => {
  const drawn = eagerSteps({ innerWait: true });
  const refused = predict(drawn, { graphs: true });
  assert.deepEqual(statusOf(refused), ['cannot-tell']);
  assert.equal(stepNs(refused).changeNs, 0);
  const both = predict(drawn, { fewerSyncs: true, graphs: true });
  assert.deepEqual(statusOf(both), ['applied', 'applied']);
  const without = predict(eagerSteps(), { graphs: true });
  assert.ok(Math.abs(stepNs(both).toNs - stepNs(without).toNs) < 5 * US);
});

test('only the last wait of a step stays', () => {
  const drawn = eagerSteps({ innerWait: true });
  const prediction = predict(drawn, { fewerSyncs: true });
  // The launch that followed the wait comes when the code between the two is done: 14 µs sooner.
  assert.equal(stepNs(prediction).changeNs, -14 * US);
  assert.deepEqual(statusOf(predict(eagerSteps(), { fewerSyncs: true })), ['does-not-apply']);
});

test('a small read behind the result is not taken for the result', () => {
  const drawn = eagerSteps({ lateReads: 3 });
  const prediction = predict(drawn, { fewerSyncs: true });
  assert.deepEqual(statusOf(prediction), ['applied']);
  assert.match(JSON.stringify(prediction.changes[0].outcome), /"3 waits/);
  // The host still waits for the result of every step: only what the reads themselves take goes.
  const { changeNs } = stepNs(prediction);
  assert.ok(changeNs < 0 && changeNs >= -3 * 20 * US, String(changeNs));
});

test('collections go, and nothing else', () => {
  const prediction = predict(eagerSteps({ gcUs: 300 }), { noGc: true });
  assert.equal(stepNs(prediction).changeNs, -300 * US);
  assert.deepEqual(statusOf(predict(eagerSteps(), { noGc: true })), ['cannot-tell']);
});

/** Code, one graph launch of one kernel, a wait that returns 10 µs late, code. */
function graphSteps({ gpuUs = 1000, waitsFor = 0, stream2Us = 0 } = {}): Drawn {
  const marks: [number, string, number, number][] = [];
  const work: [number, number, number, number, number, string, number][] = [];
  const waits: [number, number, number][] = [];
  let at = 0;
  const ends: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const begin = at;
    at += 300 * US;
    const started = Math.max(at + 22 * US, ends[step - 1] ?? 0);
    const end = started + gpuUs * US;
    work.push([0, at, at + 20 * US, started, end, 'flash_fwd_kernel', 1]);
    ends.push(end);
    at += 20 * US;
    if (stream2Us > 0) {
      work.push([0, at, at + 5 * US, at + 7 * US, at + (7 + stream2Us) * US, 'other_kernel', 2]);
      at += 5 * US;
    }
    const awaited = Math.max(ends[step - waitsFor] ?? 0, stream2Us > 0 ? at + (2 + stream2Us) * US : 0);
    const done = Math.max(at, awaited) + 10 * US;
    waits.push([0, at, done]);
    at = done + 400 * US;
    marks.push([0, label(step), begin, at]);
  }
  return { marks, work, waits, call: 'cudaGraphLaunch' };
}

test('asynchronous scheduling leaves the longer of host and GPU', () => {
  const long = predict(graphSteps({ gpuUs: 1000 }), { async: true });
  assert.equal(stepNs(long).fromNs, (300 + 22 + 1000 + 10 + 400) * US);
  // One kernel behind the other, with the usual gap between them.
  assert.ok(Math.abs(stepNs(long).toNs - 1001 * US) <= US, `${stepNs(long).toNs}`);
  const short = predict(graphSteps({ gpuUs: 200 }), { async: true });
  // The host needs 300 + 20 + 10 + 400 µs, whatever the GPU does.
  assert.ok(Math.abs(stepNs(short).toNs - 730 * US) <= US, `${stepNs(short).toNs}`);
});

test('what the host reads one step later is asynchronous already', () => {
  assert.deepEqual(statusOf(predict(graphSteps({ waitsFor: 1 }), { async: true })), ['does-not-apply']);
});

test('work of another stream holds the step when it is what takes longest', () => {
  const drawn = graphSteps({ gpuUs: 200, stream2Us: 900 });
  const prediction = predict(drawn, { fp8: true, async: true });
  assert.ok(prediction.replayError < 1e-9);
  const { toNs } = stepNs(prediction);
  // The stream of 900 µs alone, work after work.
  assert.ok(Math.abs(toNs - 901 * US) <= 2 * US, `${toNs}`);
});

test('changes that do not apply say so and change nothing', () => {
  const drawn = graphSteps();
  const asked = {
    graphs: true,
    noGc: true,
    pinned: true,
    fewerSyncs: true,
    fp8: true,
    perfectRouting: true,
  };
  const prediction = predict(drawn, asked);
  assert.ok(!statusOf(prediction).includes('applied'), statusOf(prediction).join());
  assert.equal(stepNs(prediction).changeNs, 0);
});

test('what recording costs is taken from calls before other changes', () => {
  const drawn = graphSteps({ gpuUs: 200 });
  // The drawing has no launch of a kernel to measure the host by: 8 µs are taken for one.
  const tracingCost = {
    ...{
      apiCall: 0.5,
      graphNode: 0.125,
      graphNodeLeast: 0,
      range: 0,
      op: 0,
      frame: 0,
      mostOfCode: 0,
      mostOfHost: 1,
    },
    ...{ spread: { less: 0, more: 0 }, stepError: 0, source: 'test' },
  };
  const prediction = predict(drawn, { noProfiler: true }, { tracingCost });
  // The launch with its one node, and the wait.
  assert.equal(stepNs(prediction).changeNs, -(4 + 1 + 4) * US);
});

test('an untested model has a wide interval and is never more than possible', () => {
  assert.deepEqual(modelError('perfect-routing'), { share: 0.25, pairs: 0 });
  const eager = { aloneNs: -300 * US, error: modelError('perfect-routing') };
  const interval = predictionInterval([-300 * US, -300 * US, -300 * US], [eager], 1000 * US);
  assert.ok(interval[0] <= -375 * US && interval[1] >= -225 * US, interval.join());
});

test('another batch: latency-bound kernels stay, the host has more to do', () => {
  const prediction = predict(
    graphSteps({ gpuUs: 9 }),
    { batch: { requests: 16 } },
    { batch: { requests: 16 } },
  );
  assert.deepEqual(prediction.requests, { from: 8, to: 16 });
  assert.equal(stepNs(prediction).changeNs, 8 * 16 * US);
});
