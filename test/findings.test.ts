/** Every rule fires on what it is about and is silent on a healthy one; captures lead with what is wrong with them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import type { Finding } from '../src/analyze/findings/finding.js';
import { findings } from '../src/analyze/findings/findings.js';
import { undisturbedStep } from '../src/analyze/undisturbed/undisturbed-step.js';
import { adviceFor } from '../src/catalog/advice-texts.js';
import { findModel } from '../src/catalog/models.js';
import { defaultPolicy, parsePolicy } from '../src/catalog/policy.js';
import { openProfile } from '../src/import/open.js';
import { capturePath } from '../src/testing/captures.js';
import { drawEngine, type EngineOptions } from '../src/testing/drawn-engine.js';
import { validateProfile } from '../src/testing/validate-profile.js';
import { runStepscope } from './run-stepscope.js';

const open = async (name: string, settings: Settings = {}) =>
  new Analyzer(await openProfile([capturePath(name)]), settings).get(findings);

const leading: [capture: string, rule: string][] = [
  ['eager', 'launch-overhead'],
  ['membound', 'memory-bandwidth'],
  ['gc', 'garbage-collection'],
  ['gil', 'gil-contention'],
  ['graphmode', 'graph-kernels-hidden'],
  ['client', 'client-profiled'],
  ['moe-learned', 'launch-overhead'],
  ['moe-perfect', 'launch-overhead'],
];
for (const [capture, rule] of leading) {
  test(`${capture} leads with ${rule}`, async () => {
    const { findings: found } = await open(capture);
    assert.equal(found[0]?.id, rule);
    for (const finding of found) {
      assert.ok(finding.evidence.length > 0, `${finding.id} has evidence`);
      assert.ok(finding.advice.length > 0, `${finding.id} has advice`);
      assert.ok(finding.confirm.length > 0 && finding.claim.length < 140, finding.claim);
    }
  });
}

test('graph replays are not blamed for launch overhead', async () => {
  const { findings: found } = await open('graph');
  assert.ok(!found.some(({ id }) => id === 'launch-overhead' || id === 'partial-graphs'));
});

test('the gain predicted from eager alone is the one graphs bring', async () => {
  const [first] = (await open('eager')).findings;
  // Gains are those of the step without the profiler.
  const wall = async (name: string) => {
    const { rows } = new Analyzer(await openProfile([capturePath(name)]), {}).get(undisturbedStep);
    return rows[0].undisturbedNs;
  };
  const before = await wall('eager');
  const after = await wall('graph');
  const measured = before - after;
  const predicted = first.gain!.nsPerStep;
  assert.ok(Math.abs(predicted - measured) < 0.3 * measured, `${predicted} and ${measured} ns per step`);
  const factor = 1 + first.gain!.throughput;
  assert.ok(
    Math.abs(factor - before / after) < 0.3 * (before / after),
    `× ${factor} and × ${before / after}`,
  );
});

test('captures without GPU metrics abstain from what needs them, and say so', async () => {
  const { findings: found, unmeasured } = await open('eager');
  assert.ok(
    !found.some(({ id }) => id === 'memory-bandwidth' || id === 'compute-bound' || id === 'clock-drop'),
  );
  assert.ok(
    unmeasured.some(({ what, hint }) => /GPU metrics/.test(what) && /gpu-metrics-devices/.test(hint)),
  );
});

const findIn = (options: EngineOptions, settings: Settings = {}): readonly Finding[] => {
  const profile = drawEngine(options);
  validateProfile(profile);
  return new Analyzer(profile, settings).get(findings).findings;
};

test('a healthy engine has no findings', () => {
  assert.deepEqual(
    findIn({}).map(({ id, claim }) => `${id}: ${claim}`),
    [],
  );
});

test('recorded and harmless is silent too: balanced counters, short collections, short waits, few large pinned copies', () => {
  const balanced = {
    'DRAM Read Bandwidth [Throughput %]': 40,
    'SM Issue [Throughput %]': 35,
    'Tensor Active [Throughput %]': 35,
    'GPC Clock Frequency [MHz]': 1.95e9,
  };
  const healthy: EngineOptions[] = [
    { metrics: balanced, clockHz: 1.98e9 },
    { before: { ns: 10e3, range: 'Python GC gen0' } },
    { before: { ns: 10e3, range: 'Waiting for GIL' } },
    { before: { ns: 5e3, call: 'cudaMalloc' } },
    { before: { ns: 5e3, call: 'cudaStreamSynchronize' } },
    { copies: { count: 1, bytes: 1e6 } },
    { marker: () => 'decode[bs=127/128 tok=127]' },
    { secondRankLateNs: 20e3 },
    { worldSize: 1 },
  ];
  for (const options of healthy)
    assert.deepEqual(
      findIn(options).map(({ id, claim }) => `${id}: ${claim}`),
      [],
      JSON.stringify(options),
    );
});

const dram = {
  'DRAM Read Bandwidth [Throughput %]': 92,
  'SM Issue [Throughput %]': 20,
  'Tensor Active [Throughput %]': 20,
};
const phases = (step: number) =>
  step === 9
    ? '[Executor] _forward_step 9: 4 ctx reqs, 0 gen reqs'
    : `[Executor] _forward_step ${step}: 0 ctx reqs, 8 gen reqs`;
const prefill = (step: number) => `[Executor] _forward_step ${step}: 4 ctx reqs, 0 gen reqs`;
const attention =
  'fmhaSm100fKernel_QkvBfloat16OBfloat16H64PagedKvCausalP64VarSeqQ8Kv128PersistentSwapsAbForGen';
const odd = ['a', 'bb', 'ccc'].map(name => `kernel_${name}`);

/** What makes the healthy engine sick, and the finding that must come of it. */
const cases: [id: string, sick: EngineOptions, settings?: Settings][] = [
  ['launch-overhead', { eager: 100 }],
  ['prefill-launches', { eager: 100, marker: prefill }],
  ['launch-stall', { eager: 12, eagerBusy: 0.95, steps: 8, stall: { step: 3, ns: 6e6 } }],
  ['host-work-in-step', { kernels: [attention], pieces: { count: 2, gapNs: 1e6 } }],
  ['blocking-in-layers', { eager: 32, eagerBusy: 0.7, waits: true }],
  ['fp32-gemm', { kernels: ['ampere_sgemm_128x64_tn'] }],
  ['cuda-errors', { queryResult: 700 }],
  ['memory-growth', { keepsBytes: 1e6 }],
  ['stacks-recorded', { frames: { perStep: 100, name: 'model.py(12): forward' } }],
  ['first-step-unlike', { steps: 8, stepNs: step => (step === 0 ? 14e6 : 10e6) }],
  ['gpu-work-lost', { without: 'gpu-activities' }],
  ['graph-being-captured', { eager: 40, capturing: true, without: 'gpu-activities' }],
  ['exposed-host-work', { before: { ns: 2e6, range: '_schedule' } }],
  ['graph-captured-again', { before: { ns: 2e6, call: 'cudaGraphInstantiate' } }],
  ['sync-in-decode', { before: { ns: 1e6, call: 'cudaStreamSynchronize' } }],
  ['garbage-collection', { before: { ns: 2e6, range: 'Python GC gen2' } }],
  ['gil-contention', { before: { ns: 2e6, range: 'Waiting for GIL' } }],
  ['cpu-contention', { before: { ns: 1e6, offCpu: 'taken' } }],
  ['core-migrations', { before: { ns: 1e6, offCpu: 'moved' } }],
  ['page-faults', { before: { ns: 4e6 }, counted: { pageFaults: 3000, systemNs: 2e6 } }],
  ['lost-cpu', { before: { ns: 4e6 }, counted: { preemptions: 3, systemNs: 1e6 } }],
  ['distant-gpu', { counted: { nodes: { cpu: 1, gpu: 0 } } }],
  ['steady-allocations', { before: { ns: 1e6, call: 'cudaMalloc' } }],
  ['tiny-copies', { copies: { count: 10, bytes: 200 } }],
  ['pageable-copies', { copies: { count: 1, bytes: 1e6, pageable: true } }],
  ['link-bound', { copies: { count: 1, bytes: 4e7, ns: 2e6 } }],
  ['memory-bandwidth', { metrics: dram }],
  [
    'compute-bound',
    { metrics: { ...dram, 'DRAM Read Bandwidth [Throughput %]': 30, 'SM Issue [Throughput %]': 93 } },
  ],
  [
    'tensor-cores-idle',
    {
      metrics: {
        'DRAM Read Bandwidth [Throughput %]': 20,
        'SM Issue [Throughput %]': 20,
        'Tensor Active [Throughput %]': 0,
      },
    },
  ],
  ['clock-drop', { clockHz: 1.98e9, metrics: { 'GPC Clock Frequency [MHz]': 1.2e9 } }],
  [
    'attention-heavy',
    { kernels: ['flash_fwd_splitkv_kernel', 'flash_fwd_splitkv_kernel', 'nvjet_sm80_tst_64x8'] },
  ],
  ['fp8-available', { gpu: 'NVIDIA H200', kernels: ['nvjet_sm90_tst_64x8'] }],
  [
    'unfused-elementwise',
    {
      kernels: ['void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)'],
    },
  ],
  [
    'unfused-attention',
    {
      kernels: [
        'nvjet_sm80_tst_64x8',
        'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)',
        'void (anonymous namespace)::softmax_warp_forward<float, float, float, 11, false, false>(float*, float const*)',
      ],
    },
  ],
  [
    'costly-sampling',
    {
      stepNs: () => 4e6,
      kernels: ['nvjet_sm80_tst_64x8', 'flash_fwd_kernel', 'nvjet_sm80_tst_128x8', 'silu_kernel'],
      afterGraph: Array<string>(30).fill('void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<float>(…)'),
    },
  ],
  [
    'concatenation',
    {
      kernels: [
        'nvjet_sm80_tst_64x8',
        'void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(…)',
      ],
    },
  ],
  [
    'far-from-light',
    { gpu: 'NVIDIA A100-SXM4-80GB' },
    { model: findModel('tinyllama-1.1b')!.config as Settings['model'] },
  ],
  ['partial-graphs', { graphless: step => step % 4 === 0 }],
  ['graphs-in-pieces', { besideGraph: 0.4 }],
  ['exposed-communication', { kernels: ['nvjet_sm80_tst_64x8', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'] }],
  [
    'rank-skew',
    { secondRankLateNs: 1e6, kernels: ['nvjet_sm80_tst_64x8', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'] },
  ],
  ['shared-gpu', { secondRankLateNs: 1e5, oneGpu: true }],
  ['prefill-blocks-decode', { marker: phases, stepNs: step => (step === 9 ? 50e6 : 10e6) }],
  [
    'step-jitter',
    { stepNs: step => (step === 12 ? 30e6 : 10e6), before: { ns: 20e6, range: 'Waiting for GIL', only: 12 } },
  ],
  ['graph-padding', { marker: () => 'decode[bs=70/128 tok=70]' }],
  ['profiler-overhead', { before: { ns: 1e6, overhead: true } }],
  ['profiler-cost', { stepNs: () => 200e3, feeding: { nodeGapNs: 1e3 } }],
  ['low-utilisation', { eager: 100, without: 'launches' }],
  ['client-profiled', { without: 'gpu' }],
  ['graph-kernels-hidden', { without: 'graph-nodes' }],
  ['dropped-data', { loss: 'no-timestamp' }],
  ['broken-file', { loss: 'cut-off', without: 'gpu' }],
  ['too-few-steps', { steps: 4 }],
  ['warm-up-inside', { stepNs: step => (step === 0 ? 90e6 : 10e6) }],
  ['no-steps', { steps: 2, eager: 3, marker: () => '', kernels: odd }],
  ['whole-run-captured', { recordedNs: 5e9 }],
  ['one-rank', { worldSize: 8 }],
];

for (const [id, sick, settings] of cases) {
  test(`${id} comes with the sickness and goes with it`, () => {
    const own = findIn(sick, settings).filter(finding => finding.id === id);
    assert.equal(own.length, 1, `${id} fires once: ${findIn(sick, settings).map(finding => finding.id)}`);
    const [finding] = own;
    assert.ok(finding.evidence.length > 0 && finding.advice.length > 0);
    for (const { text, numerator = 0, denominator = numerator } of finding.evidence)
      assert.ok(numerator <= denominator, `${text}: ${numerator} is no part of ${denominator}`);
    if (finding.gain) {
      const { nsPerStep, throughput } = finding.gain;
      assert.ok(nsPerStep >= 0 && nsPerStep <= 50e6 && throughput >= 0, `${nsPerStep} ns, ${throughput}`);
    }
    assert.ok(!findIn({}).some(other => other.id === id), 'the healthy engine is without it');
  });
}

test('page faults that cost little, kernel time without faults, and preemptions of a thread that has its CPU are no findings', () => {
  for (const counted of [
    { pageFaults: 20, systemNs: 2e6 },
    { pageFaults: 3000, systemNs: 2e4 },
    { preemptions: 3, systemNs: 4e6 },
    { preemptions: 0.1 },
  ])
    assert.ok(
      !findIn({ before: { ns: 4e6 }, counted }).some(({ id }) => /page-faults|lost-cpu/.test(id)),
      JSON.stringify(counted),
    );
  assert.ok(!findIn({ counted: { nodes: { cpu: 1, gpu: 1 } } }).some(({ id }) => id === 'distant-gpu'));
});

const costOf = (found: readonly Finding[], id: string) =>
  found.find(finding => finding.id === id)?.costNs ?? 0;
const isNear = (ns: number, expected: number, share: number) => Math.abs(ns - expected) <= share * expected;

test('one place that holds the host up is not launching, however many launches are around it', () => {
  const found = findIn({ eager: 100, insideNs: 6e6 });
  assert.deepEqual(
    found.slice(0, 2).map(({ id }) => id),
    ['host-work-in-step', 'launch-overhead'],
  );
  assert.ok(isNear(costOf(found, 'host-work-in-step'), 6e6, 0.02), `${costOf(found, 'host-work-in-step')}`);
  assert.ok(isNear(costOf(found, 'launch-overhead'), 3.6e6, 0.1), `${costOf(found, 'launch-overhead')}`);
  // A host that is slow at every launch is launch-bound, all of it.
  const slow = findIn({ eager: 100 });
  assert.equal(slow[0].id, 'launch-overhead');
  assert.ok(!slow.some(({ id }) => id === 'host-work-in-step'));
});

test('host work inside forward passes and between them is told apart, each with its own amount', () => {
  const found = findIn({
    kernels: [attention],
    pieces: { count: 2, gapNs: 1e6 },
    before: { ns: 2e6, range: '_schedule' },
  });
  assert.ok(isNear(costOf(found, 'host-work-in-step'), 1e6, 0.05), `${costOf(found, 'host-work-in-step')}`);
  assert.ok(isNear(costOf(found, 'exposed-host-work'), 2e6, 0.05), `${costOf(found, 'exposed-host-work')}`);
});

test('a step that waits for the GPU cannot be captured as a graph: that comes first', () => {
  const advice = (sick: EngineOptions) =>
    findIn(sick).find(({ id }) => id === 'launch-overhead')?.advice[0].text ?? '';
  assert.match(advice({ eager: 100, waits: true }), /^first remove the 99 waits for the GPU in each step/);
  assert.doesNotMatch(advice({ eager: 100 }), /waits/);
});

test('copies that never happened are not called unmeasured', () => {
  const { unmeasured } = new Analyzer(drawEngine()).get(findings);
  assert.ok(unmeasured.length > 0 && !unmeasured.some(({ what }) => /copies/.test(what)));
});

test('ranks that never talk to each other may start when they like', () => {
  assert.ok(!findIn({ secondRankLateNs: 1e6 }).some(({ id }) => id === 'rank-skew'));
});

test('every advice belongs to a finding that is tested', () => {
  // One engine of one clock does not wait for ranks: those are tested with drawn ranks (comm-*.test.ts).
  // Two need what only real captures have (own-programs.test.ts).
  const elsewhere = ['waiting-for-slowest-rank', 'pipeline-waiting', 'held-up', 'host-function'];
  const tested = new Set([...cases.map(([id]) => id), ...elsewhere]);
  assert.deepEqual(
    Object.keys(adviceFor).filter(id => !tested.has(id)),
    [],
  );
});

test('findings stand in order of gain, what makes figures doubtful first', async () => {
  for (const name of ['eager', 'graph', 'membound', 'run-ahead', 'graphmode']) {
    const { findings: found } = await open(name);
    const gains = found
      .filter(({ gain, phase: own }) => gain && own === 'decode')
      .map(({ gain }) => gain!.nsPerStep);
    assert.deepEqual(
      gains,
      [...gains].sort((a, b) => b - a),
      name,
    );
    const firstNote = found.findIndex(({ severity }) => severity === 'note');
    assert.ok(firstNote < 0 || found.slice(firstNote).every(({ severity }) => severity === 'note'), name);
  }
});

test('a policy file changes thresholds; mistakes in it get two lines', async () => {
  const strict = { ...defaultPolicy, launchShare: 0.95 };
  assert.ok(!(await open('eager', { policy: strict })).findings.some(({ id }) => id === 'launch-overhead'));
  assert.equal(parsePolicy({ jitter: 3 }).jitter, 3);
  assert.throws(() => parsePolicy({ nonsense: 1 }), /threshold "nonsense"/);
  assert.throws(() => parsePolicy({ jitter: 'x' }), /jitter must be a number/);
  assert.throws(() => parsePolicy([]), /object/);
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-policy-'));
  try {
    const file = path.join(folder, 'policy.json');
    writeFileSync(file, '{"launchShare": 0.95}');
    const { status, out } = await runStepscope([
      ...['analyze', capturePath('eager'), '--only', 'findings', '--policy', file],
    ]);
    assert.equal(status, 0);
    assert.doesNotMatch(out, /launch-bound:/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a gain is a prediction, and never certain', async () => {
  for (const name of ['eager', 'graph', 'gc', 'gil', 'membound', 'moe-learned']) {
    const { findings: found } = await open(name);
    for (const { id, gain, confidence } of found)
      assert.ok(gain === null || confidence !== 'certain', `${name}: ${id}`);
  }
});
