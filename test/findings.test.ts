/** Every rule fires on what it is about and is silent on a healthy one; captures lead with what is wrong with them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer, type Derived, NotRecorded, type Settings } from '../src/analyze/analysis.js';
import type { Finding } from '../src/analyze/findings/finding.js';
import { findings, rules } from '../src/analyze/findings/findings.js';
import type { RuleInput } from '../src/analyze/findings/rule.js';
import type { PhaseBudget } from '../src/analyze/inference/budget-totals.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { adviceFor } from '../src/catalog/advice.js';
import { defaultPolicy, parsePolicy } from '../src/catalog/policy.js';
import { runCommand } from '../src/cli/main.js';
import { openProfile } from '../src/import/open.js';
import type { Profile } from '../src/model/profile.js';
import { capturePath } from '../src/testing/captures.js';
import { drawProfile } from '../src/testing/drawn-profile.js';

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
  const wall = async (name: string) => {
    const { rows } = new Analyzer(await openProfile([capturePath(name)]), {}).get(stepBudget);
    return rows.reduce((sum, row) => sum + row.wallNs, 0) / rows.length;
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

/** A step of 10 ms in decode, all compute, with what a test changes. */
function phase(changes: Partial<PhaseBudget> & { idle?: Record<string, number> }): PhaseBudget {
  const { idle = {}, ...rest } = changes;
  const idleNs = Object.values(idle).reduce((sum, ns) => sum + ns, 0);
  const wallNs = 10e6;
  const exposed = (rest.communicationExposedNs ?? 0) + (rest.copyExposedNs ?? 0);
  return {
    phase: 'decode',
    windows: 1,
    steps: 1,
    wallNs,
    computeNs: wallNs - idleNs - exposed,
    communicationExposedNs: 0,
    copyExposedNs: 0,
    idleNs,
    idleByCause: idle,
    communicationHiddenNs: 0,
    copyHiddenNs: 0,
    graphReplayNs: 0,
    ...rest,
  };
}

interface Case {
  readonly phases?: readonly PhaseBudget[];
  /** Rows (and summary) of analyses by id; what is not here was not recorded. */
  readonly results?: Record<string, { rows: readonly object[]; summary?: object }>;
  readonly profile?: Partial<Profile>;
}

const drawn = drawProfile('cpu a\n gpu .a');

function look(rule: string, { phases = [phase({})], results = {}, profile = {} }: Case): Finding[] {
  const found = rules.find(({ id }) => id === rule);
  assert.ok(found, rule);
  const use = <Result>(other: Derived<Result>): Result => {
    if (!(other.id in results)) throw new NotRecorded(other.id, 'a test');
    return results[other.id] as Result;
  };
  const input: RuleInput = {
    profile: { ...drawn, ...profile },
    policy: defaultPolicy,
    engine: 'TensorRT-LLM',
    phases,
    use,
    useIfRecorded: other => (other.id in results ? use(other) : undefined),
  };
  return found.look(input);
}

const step = (iteration: number, wallNs: number, more: object = {}) => ({
  key: `iteration:${iteration}@${iteration}`,
  iteration,
  phase: 'decode',
  wallNs,
  selected: true,
  state: 'steady',
  ...more,
});
const steps = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => step(i, 10e6, more));
const graphs = (timeShare: number) => ({
  rows: [
    {
      key: 'phase:decode',
      phase: 'decode',
      timeShare,
      graphLaunches: 5,
      gpuNs: 100,
      gpuInGraphsNs: 100 * timeShare,
    },
  ],
});
const kernels = { rows: [{ key: 'phase:decode', phase: 'decode', kernels: 500, meanKernelNs: 2000 }] };
const metric = (name: string, overBusy: number, more: object = {}) => ({
  key: `device:0/${name}`,
  device: 0,
  metric: name,
  phase: null,
  family: null,
  overBusy,
  uncertainty: 0.5,
  bytesPerSecond: null,
  ...more,
});
const busyMetrics = (dram: number, sm: number) => ({
  rows: [
    metric('DRAM read', dram),
    metric('DRAM write', 1),
    metric('SM issue', sm),
    metric('tensor active', 2),
  ],
});
const gemm = {
  rows: [
    {
      key: 'family:gemm',
      family: 'gemm',
      totalNs: 6e6,
      phases: [{ phase: 'decode', nsPerStep: 6e6 }],
      variants: [{ variant: 'dense', dtype: 'bf16', library: '', kernels: 1, totalNs: 6e6 }],
    },
  ],
};
const h200 = { gpus: [{ deviceId: 0, name: 'NVIDIA H200', host: '', clockHz: 1.98e9 }] };
const copy = (more: object) => ({
  key: 'memory:x',
  phase: 'decode',
  operation: 'Host-to-Device',
  from: 'Pinned',
  to: 'Device',
  call: 'cudaMemcpyAsync',
  hostWaits: false,
  count: 20,
  countPerStep: 20,
  bytes: 4000,
  medianBytes: 200,
  totalNs: 100e3,
  ...more,
});
const gap = (family: string, durationNs: number) => ({ family, durationNs });

const cases: [rule: string, sick: Case, healthy: Case, id?: string][] = [
  [
    'launch-overhead',
    {
      phases: [phase({ idle: { 'launch-bound': 8e6 } })],
      results: { 'graph-coverage': graphs(0), 'kernels-per-step': kernels },
    },
    {
      phases: [phase({ idle: { 'launch-bound': 0.5e6 } })],
      results: { 'graph-coverage': graphs(1), 'kernels-per-step': kernels },
    },
  ],
  [
    'launch-overhead',
    { phases: [phase({ phase: 'prefill', idle: { 'launch-bound': 8e6 } })] },
    { phases: [phase({ phase: 'prefill' })] },
    'prefill-launches',
  ],
  [
    'exposed-host-work',
    { phases: [phase({ idle: { scheduling: 1e6, sampling: 1e6 } })] },
    { phases: [phase({ idle: { scheduling: 0.1e6 } })] },
  ],
  [
    'sync-in-decode',
    { phases: [phase({ idle: { synchronisation: 1e6 } })] },
    { phases: [phase({ idle: { synchronisation: 1e3 } })] },
  ],
  [
    'garbage-collection',
    {
      phases: [phase({ idle: { 'garbage-collection': 5e6 } })],
      results: { gc: { rows: [{ key: 'g', longestNs: 5e6, countPerStep: 1 }] } },
    },
    { phases: [phase({})], results: { gc: { rows: [] } } },
  ],
  [
    'gil-contention',
    {
      phases: [phase({ idle: { gil: 5e6 } })],
      results: { gil: { rows: [{ key: 't', runsSteps: true, waits: 3 }] } },
    },
    { phases: [phase({})], results: { gil: { rows: [{ key: 't', runsSteps: true, waits: 0 }] } } },
  ],
  [
    'steady-allocations',
    {
      results: {
        allocations: {
          rows: [{ key: 'call:cudaMalloc', call: 'cudaMalloc', countPerStep: 2, totalNs: 1e6 }],
        },
      },
    },
    { results: { allocations: { rows: [] } } },
  ],
  [
    'pageable-copies',
    { results: { 'memory-operations': { rows: [copy({})] } } },
    { results: { 'memory-operations': { rows: [copy({ countPerStep: 2, medianBytes: 1e6 })] } } },
    'tiny-copies',
  ],
  [
    'pageable-copies',
    {
      results: {
        'memory-operations': { rows: [copy({ from: 'Pageable', countPerStep: 1, medianBytes: 1e6 })] },
      },
    },
    {
      results: {
        'memory-operations': { rows: [copy({ from: 'Pinned', countPerStep: 1, medianBytes: 1e6 })] },
      },
    },
  ],
  [
    'limiter',
    { results: { 'gpu-metrics': busyMetrics(92, 20), 'kernel-families': gemm }, profile: h200 },
    { results: { 'gpu-metrics': busyMetrics(40, 35), 'kernel-families': gemm }, profile: h200 },
    'memory-bandwidth',
  ],
  [
    'limiter',
    { results: { 'gpu-metrics': busyMetrics(30, 93) } },
    {
      results: {
        'gpu-metrics': { rows: [metric('DRAM read', 5, { uncertainty: 30 }), metric('SM issue', 60)] },
      },
    },
    'compute-bound',
  ],
  [
    'tensor-cores-idle',
    {
      results: {
        'gpu-metrics': { rows: [metric('tensor active', 0.1, { family: 'gemm', uncertainty: 0.5 })] },
        'kernel-families': gemm,
      },
    },
    {
      results: {
        'gpu-metrics': { rows: [metric('tensor active', 35, { family: 'gemm' })] },
        'kernel-families': gemm,
      },
    },
  ],
  [
    'fp8-available',
    { results: { 'kernel-families': gemm }, profile: h200 },
    {
      results: { 'kernel-families': gemm },
      profile: { gpus: [{ deviceId: 0, name: 'NVIDIA A100-SXM4-80GB', host: '' }] },
    },
  ],
  [
    'unfused-elementwise',
    {
      results: {
        'step-sequence': {
          rows: [gap('elementwise', 2e6), gap('elementwise', 2e6), gap('elementwise', 2e6), gap('gemm', 1e6)],
          summary: { phase: 'decode', iteration: 3 },
        },
      },
    },
    {
      results: {
        'step-sequence': {
          rows: [gap('elementwise', 1e5), gap('gemm', 9e6)],
          summary: { phase: 'decode', iteration: 3 },
        },
      },
    },
  ],
  [
    'far-from-light',
    {
      results: {
        'speed-of-light': {
          rows: [
            {
              key: 'k',
              phase: 'decode',
              scope: 'gemm',
              measuredNs: 8e6,
              leastNs: 1e6,
              ofLeast: 0.125,
              bound: 'memory',
            },
          ],
        },
      },
    },
    {
      results: {
        'speed-of-light': {
          rows: [
            {
              key: 'k',
              phase: 'decode',
              scope: 'gemm',
              measuredNs: 8e6,
              leastNs: 6e6,
              ofLeast: 0.75,
              bound: 'memory',
            },
          ],
        },
      },
    },
  ],
  [
    'clock-drop',
    { results: { 'gpu-metrics': { rows: [metric('GPU clock', 1.2e9)] } }, profile: h200 },
    { results: { 'gpu-metrics': { rows: [metric('GPU clock', 1.95e9)] } }, profile: h200 },
  ],
  [
    'partial-graphs',
    { phases: [phase({ idle: { 'launch-bound': 2e6 } })], results: { 'graph-coverage': graphs(0.6) } },
    { phases: [phase({})], results: { 'graph-coverage': graphs(0.98) } },
  ],
  [
    'exposed-communication',
    { phases: [phase({ communicationExposedNs: 3e6 })] },
    { phases: [phase({ communicationExposedNs: 0.2e6, communicationHiddenNs: 3e6 })] },
  ],
  [
    'rank-skew',
    {
      results: {
        'rank-skew': {
          rows: [{ key: 'rank:1', rank: 1, lastToStart: 5, steps: 5 }],
          summary: { medianStartSkewNs: 2e6 },
        },
      },
    },
    {
      results: {
        'rank-skew': {
          rows: [{ key: 'rank:1', rank: 1, lastToStart: 3, steps: 5 }],
          summary: { medianStartSkewNs: 20e3 },
        },
      },
    },
  ],
  [
    'prefill-blocks-decode',
    { results: { iterations: { rows: [...steps(3), step(3, 90e6, { phase: 'prefill' }), ...steps(3)] } } },
    { results: { iterations: { rows: [...steps(3), step(3, 15e6, { phase: 'mixed' }), ...steps(3)] } } },
  ],
  [
    'step-jitter',
    {
      results: {
        iterations: { rows: [...steps(12), step(12, 60e6)] },
        'step-budget': {
          rows: [
            {
              key: 'iteration:12@12/device:0',
              computeNs: 0,
              communicationExposedNs: 0,
              copyExposedNs: 0,
              idleByCause: { gil: 50e6 },
            },
          ],
        },
      },
    },
    { results: { iterations: { rows: steps(13) }, 'step-budget': { rows: [] } } },
  ],
  [
    'graph-padding',
    { results: { steps: { steps: [{ facts: { generationRequests: 70, paddedRequests: 128 } }] } as never } },
    { results: { steps: { steps: [{ facts: { generationRequests: 127, paddedRequests: 128 } }] } as never } },
  ],
  [
    'profiler-overhead',
    { phases: [phase({ idle: { 'profiler-overhead': 1e6 } })] },
    { phases: [phase({ idle: { 'profiler-overhead': 1e3 } })] },
  ],
  [
    'low-utilisation',
    {
      phases: [phase({ idle: { unknown: 8e6 } })],
      results: { 'gpu-utilization': { rows: [{ key: 'd', busyShare: 0.2, busyNs: 2e6, windowNs: 10e6 }] } },
    },
    { results: { 'gpu-utilization': { rows: [{ key: 'd', busyShare: 0.9, busyNs: 9e6, windowNs: 10e6 }] } } },
  ],
  ['client-profiled', { profile: { tables: {} } }, {}],
  ['graph-kernels-hidden', { profile: { tables: { graphLaunches: { length: 1 } as never } } }, {}],
  [
    'dropped-data',
    {
      profile: {
        notes: [
          { code: 'cut-off', severity: 'loss', text: 'The file ends in the middle', count: 1, example: '' },
        ],
      },
    },
    { profile: { notes: [{ code: 'odd', severity: 'info', text: 'Something odd', count: 1, example: '' }] } },
  ],
  [
    'steps-captured',
    { results: { iterations: { rows: steps(3) } } },
    { results: { iterations: { rows: steps(30) } } },
    'too-few-steps',
  ],
  [
    'steps-captured',
    {
      results: { iterations: { rows: [step(0, 90e6, { state: 'warm-up', selected: false }), ...steps(30)] } },
    },
    { results: { iterations: { rows: steps(30) } } },
    'warm-up-inside',
  ],
  [
    'steps-captured',
    { results: { iterations: { rows: [] } } },
    { results: { iterations: { rows: steps(30) } } },
    'no-steps',
  ],
  [
    'steps-captured',
    {
      results: { iterations: { rows: steps(30) } },
      profile: { tables: { ...drawn.tables, ranges: { length: 1, start: [0], end: [5e9] } as never } },
    },
    { results: { iterations: { rows: steps(30) } } },
    'whole-run-captured',
  ],
  [
    'one-rank',
    {
      profile: {
        capture: { ...drawn.capture, ranks: [0], distributed: { rank: 0, worldSize: 8, backend: 'nccl' } },
      },
    },
    {
      profile: {
        capture: { ...drawn.capture, ranks: [0], distributed: { rank: 0, worldSize: 1, backend: 'nccl' } },
      },
    },
  ],
];

for (const [rule, sick, healthy, id = rule] of cases) {
  test(`${id} fires where it should and is silent where all is well`, () => {
    const found = look(rule, sick).filter(finding => finding.id === id);
    assert.equal(found.length, 1, `${id} fires once`);
    assert.ok(found[0].evidence.length > 0 && found[0].advice.length > 0);
    if (found[0].gain)
      assert.ok(
        found[0].gain.nsPerStep >= 0 && found[0].gain.nsPerStep <= 10e6,
        `${found[0].gain.nsPerStep}`,
      );
    assert.deepEqual(
      look(rule, healthy).filter(finding => finding.id === id),
      [],
    );
  });
}

test('every rule and every advice is tested', () => {
  const tested = new Set(cases.map(([rule]) => rule));
  assert.deepEqual(
    rules.map(({ id }) => id).filter(id => !tested.has(id)),
    [],
  );
  const ids = new Set(cases.map(([rule, , , id = rule]) => id));
  assert.deepEqual(
    Object.keys(adviceFor).filter(id => !ids.has(id)),
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
  assert.throws(() => parsePolicy({ nonsense: 1 }), /no "nonsense"/);
  assert.throws(() => parsePolicy({ jitter: 'x' }), /jitter must be a number/);
  assert.throws(() => parsePolicy([]), /object/);
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-policy-'));
  try {
    const file = path.join(folder, 'policy.json');
    writeFileSync(file, '{"launchShare": 0.95}');
    let out = '';
    const output = {
      out: (text: string) => {
        out += text;
      },
      err: () => {},
      width: 110,
      color: false,
      progress: () => {},
      clearProgress: () => {},
    };
    assert.equal(
      await runCommand(['analyze', capturePath('eager'), '--only', 'findings', '--policy', file], output),
      0,
    );
    assert.doesNotMatch(out, /launched one by one/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
