/** Markers, lanes and windows: how steps are found and what belongs to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { findPeriod } from '../src/analyze/inference/repetition.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { stepWindows } from '../src/analyze/inference/step-windows.js';
import { mayHoldPasses } from '../src/analyze/inference/token-passes.js';
import { matchMarker } from '../src/catalog/engine-markers.js';
import { layerOf } from '../src/catalog/layer-names.js';
import { type Drawn, drawSteps } from '../src/testing/drawn-steps.js';

test('every marker shape gives its engine, phase and counts', () => {
  const cases: [text: string, engine: string, facts: Record<string, unknown>][] = [
    [
      '[Executor] _forward_step: 2 ctx reqs, 3 gen reqs',
      'TensorRT-LLM',
      { phase: 'mixed', contextRequests: 2, generationRequests: 3 },
    ],
    [
      '[Executor] _forward_step 7: 1 ctx reqs, 0 gen reqs',
      'TensorRT-LLM',
      { iteration: 7, phase: 'prefill', contextRequests: 1, generationRequests: 0 },
    ],
    [
      '[Executor] _forward_step 120: 0 ctx reqs, 500 gen reqs',
      'TensorRT-LLM',
      { iteration: 120, phase: 'decode', contextRequests: 0, generationRequests: 500 },
    ],
    [
      '[Executor] _forward_step 9: 2 ctx reqs, 2048 ctx tokens, 0 gen reqs',
      'TensorRT-LLM',
      { iteration: 9, phase: 'prefill', contextRequests: 2, contextTokens: 2048, generationRequests: 0 },
    ],
    [
      'execute_context_1(512)_generation_4(4)',
      'vLLM',
      { phase: 'mixed', contextRequests: 1, contextTokens: 512, generationRequests: 4, generationTokens: 4 },
    ],
    [
      'execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)',
      'vLLM',
      {
        phase: 'decode',
        contextRequests: 0,
        contextTokens: 0,
        contextKvTokens: 0,
        generationRequests: 32,
        generationTokens: 32,
        generationKvTokens: 32785,
      },
    ],
    [
      'execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_16(sq64sk900sqsq256sqsk9)',
      'vLLM',
      {
        phase: 'speculative',
        contextRequests: 0,
        contextTokens: 0,
        contextKvTokens: 0,
        generationRequests: 16,
        generationTokens: 64,
        generationKvTokens: 900,
      },
    ],
    [
      'step[EXTEND bs=1 toks=1025 c_sqsq=1050625 c_sqsk=1050625 c_sk=1025]',
      'SGLang',
      {
        phase: 'prefill',
        contextRequests: 1,
        contextTokens: 1025,
        contextKvTokens: 1025,
        generationRequests: 0,
      },
    ],
    [
      'step[DECODE bs=64 g_sqsq=64 g_sqsk=100032 g_sk=100032]',
      'SGLang',
      {
        phase: 'decode',
        contextRequests: 0,
        generationRequests: 64,
        generationTokens: 64,
        generationKvTokens: 100032,
      },
    ],
    [
      'step[DECODE bs=8 g_sq=32]',
      'SGLang',
      { phase: 'speculative', contextRequests: 0, generationRequests: 8, generationTokens: 32 },
    ],
    [
      'step[MIXED bs=66 c=2 g=64 c_sq=2048 c_sk=2048 g_sq=64 g_sk=65600]',
      'SGLang',
      {
        phase: 'mixed',
        contextRequests: 2,
        contextTokens: 2048,
        contextKvTokens: 2048,
        generationRequests: 64,
        generationTokens: 64,
        generationKvTokens: 65600,
      },
    ],
    [
      'step[mixed bs=9 ext=100 dec=8]',
      'SGLang',
      { phase: 'mixed', contextTokens: 100, generationRequests: 8, generationTokens: 8 },
    ],
    [
      'step[TARGET_VERIFY bs=1]',
      'SGLang',
      { phase: 'speculative', contextRequests: 0, generationRequests: 1 },
    ],
    ['step[IDLE]', 'SGLang', { phase: 'unknown', contextRequests: 0, generationRequests: 0 }],
    [
      'prefill[bs=2 tok=300 ctx=[100, 200]]',
      'ATOM',
      { phase: 'prefill', contextRequests: 2, contextTokens: 300, generationRequests: 0 },
    ],
    [
      'decode[bs=117/128 tok=117]',
      'ATOM',
      {
        phase: 'decode',
        contextRequests: 0,
        generationRequests: 117,
        generationTokens: 117,
        paddedRequests: 128,
      },
    ],
    [
      'stepscope.step 5 ctx=0/0 gen=8/8 kv=4096',
      'stepscope agent',
      {
        iteration: 5,
        phase: 'decode',
        contextRequests: 0,
        contextTokens: 0,
        generationRequests: 8,
        generationTokens: 8,
        generationKvTokens: 4096,
      },
    ],
    ['ProfilerStep#12', 'PyTorch', { iteration: 12, phase: 'unknown' }],
  ];
  for (const [text, engine, facts] of cases) {
    const match = matchMarker(text);
    assert.equal(match?.grammar.engine, engine, text);
    assert.deepEqual({ ...match?.facts }, facts, text);
  }
  for (const text of [
    '_forward_step',
    'step',
    'execute',
    '[Executor] _forward_step x: 1 ctx reqs, 0 gen reqs',
    '',
  ])
    assert.equal(matchMarker(text), undefined, text);
});

const rowsOf = (drawn: Drawn, settings: Settings = {}) =>
  new Analyzer(drawSteps(drawn), settings).get(iterations);
const mark = (n: number, gen = 8) => `[Executor] _forward_step ${n}: 0 ctx reqs, ${gen} gen reqs`;

test('a step owns what it launched, also when that runs during the next step', () => {
  // The host runs ahead: step 1's kernel runs while the host is in step 2.
  const drawn: Drawn = {
    marks: [
      [0, mark(1), 0, 90],
      [0, mark(2), 100, 190],
    ],
    work: [
      [0, 10, 20, 30, 150],
      [0, 110, 120, 150, 260],
    ],
  };
  const { rows } = rowsOf(drawn);
  assert.deepEqual(
    rows.map(row => [row.iteration, row.kernels, row.gpuStartNs, row.gpuEndNs, row.gpuBusyNs]),
    [
      [1, 1, 30, 150, 120],
      [2, 1, 150, 260, 110],
    ],
  );
  const windows = new Analyzer(drawSteps(drawn), {}).get(stepWindows)!;
  assert.deepEqual(
    windows.map(window => [window.start, window.end]),
    [
      [0, 150],
      [150, 260],
    ],
  );
});

test('when the host waits for the GPU, a step lasts from marker to marker', () => {
  const windows = new Analyzer(
    drawSteps({
      marks: [
        [0, mark(1), 0, 90],
        [0, mark(2), 100, 190],
      ],
      work: [
        [0, 10, 20, 30, 60],
        [0, 110, 120, 130, 160],
      ],
    }),
    {},
  ).get(stepWindows)!;
  assert.deepEqual(
    windows.map(window => [window.start, window.end]),
    // The last step gets the typical time between steps, as far as anything was recorded.
    [
      [0, 100],
      [100, 190],
    ],
  );
});

test('what happens between two markers belongs to the step before', () => {
  const { rows } = rowsOf({
    marks: [
      [0, mark(1), 0, 50],
      [0, mark(2), 100, 150],
      [0, 'the end', 150, 400],
    ],
    work: [
      [0, 10, 12, 20, 30],
      [0, 70, 72, 80, 90],
      [0, 110, 112, 120, 130],
      [0, 170, 172, 180, 190],
      [0, 300, 302, 310, 320],
    ],
  });
  // Sampling of the last step comes within the usual 50 ns after it; what is later is not its own.
  assert.deepEqual(
    rows.map(row => row.kernels),
    [2, 2],
  );
});

test('ranks merge by number, or in order where markers have none', () => {
  const numbered = rowsOf({
    marks: [
      [0, mark(4), 0, 50],
      [1, mark(4), 7, 55],
      [0, mark(5), 60, 90],
      [1, mark(5), 66, 95],
    ],
    work: [
      [0, 10, 12, 20, 30],
      [1, 10, 12, 22, 33],
      [0, 70, 72, 75, 80],
      [1, 70, 72, 79, 85],
    ],
    ranks: [0, 1],
  });
  // Hosts run ahead: how far apart ranks are is told by their GPUs.
  assert.deepEqual(
    numbered.rows.map(row => [row.iteration, row.ranks, row.startSkewNs, row.endSkewNs]),
    [
      [4, 2, 2, 3],
      [5, 2, 4, 5],
    ],
  );
  const plain = rowsOf({
    marks: [
      [0, 'step[DECODE bs=1]', 0, 50],
      [1, 'step[DECODE bs=1]', 3, 50],
      [0, 'step[DECODE bs=1]', 60, 90],
      [1, 'step[DECODE bs=1]', 66, 95],
      [1, 'step[DECODE bs=1]', 500, 595],
    ],
    work: [[0, 10, 12, 20, 30]],
    ranks: [0, 1],
  });
  assert.deepEqual(
    plain.rows.map(row => [row.iteration, row.ranks]),
    [
      [0, 2],
      [1, 2],
      [2, 1],
    ],
  );
});

test('warm-up, ramp, drain and cut steps are left out of the steady state, and said so', () => {
  const batches = [2, 5, 8, 8, 8, 8, 3];
  const drawn: Drawn = {
    marks: batches.map(
      (batch, i) => [0, mark(i, batch), i * 100, i === 6 ? Number.NaN : i * 100 + 90] as const,
    ),
    work: batches.map((_, i) => [0, i * 100 + 10, i * 100 + 12, i * 100 + 20, i * 100 + 40] as const),
  };
  const { rows, summary } = rowsOf(drawn);
  assert.deepEqual(
    rows.map(row => row.state),
    ['ramp', 'ramp', 'steady', 'steady', 'steady', 'steady', 'incomplete'],
  );
  assert.deepEqual(summary!.leftOut, { ramp: 2, incomplete: 1 });
  assert.equal(summary!.selected, 4);
  const slowFirst = rowsOf({
    marks: [
      [0, mark(0), 0, 900],
      [0, mark(1), 900, 1000],
      [0, mark(2), 1000, 1100],
      [0, mark(3), 1100, 1200],
    ],
    work: [
      [0, 10, 12, 20, 30],
      [0, 910, 912, 920, 930],
      [0, 1010, 1012, 1020, 1030],
      [0, 1110, 1112, 1120, 1130],
    ],
  });
  assert.deepEqual(
    slowFirst.rows.map(row => row.state),
    ['warm-up', 'steady', 'steady', 'steady'],
  );
});

test('a pause or a jump in the numbers ends a series: the wait is no step', () => {
  const analyzer = new Analyzer(
    drawSteps({
      marks: [
        [0, mark(1), 0, 90],
        [0, mark(2), 100, 190],
        [0, mark(50), 5000, 5090],
      ],
      work: [
        [0, 10, 12, 20, 30],
        [0, 110, 112, 120, 130],
        [0, 5010, 5012, 5020, 5030],
      ],
    }),
    { whole: true },
  );
  const rows = analyzer.get(stepBudget).rows;
  assert.deepEqual(
    rows.map(row => [row.iteration, row.wallNs]),
    [
      [1, 100],
      [2, 100],
      [null, 4800],
      [50, 90],
    ],
  );
});

test("a user's own marker is read with its groups", () => {
  const drawn: Drawn = {
    marks: [
      [0, 'iter=3 prefill x4', 0, 50],
      [0, 'iter=4 decode x16', 60, 90],
    ],
    work: [
      [0, 10, 12, 20, 30],
      [0, 65, 66, 70, 80],
    ],
  };
  assert.equal(rowsOf(drawn).rows.length, 0);
  const { rows } = rowsOf(drawn, { marker: /^iter=(?<iteration>\d+) (?<phase>\w+) x(?<batch>\d+)$/ });
  assert.deepEqual(
    rows.map(row => [row.iteration, row.phase, row.contextRequests, row.generationRequests]),
    [
      [3, 'prefill', 4, 0],
      [4, 'decode', 0, 16],
    ],
  );
});

/** Kernels launched one by one, 10 ns apart. */
const inTurn = (names: readonly string[]): Drawn['work'] =>
  names.map((name, i) => [0, i * 10, i * 10 + 1, i * 10 + 2, i * 10 + 8, name] as const);
const layers = (count: number) =>
  Array.from({ length: count }, () => ['norm_kernel', 'gemm_qkv', 'attention_kernel', 'gemm_out']).flat();

test('a call that generates many tokens is as many steps: each ends with the token that is sampled', () => {
  const token = [...layers(6), 'gemm_head', 'at::native::ArgMaxOps'];
  const prompt = ['gemm_of_prompts', ...token.slice(1)];
  const call = [prompt, ...Array.from({ length: 11 }, () => token)].flat();
  const { rows } = rowsOf({ marks: [], work: inTurn([call, call, call].flat()) });
  assert.equal(rows.length, 36);
  assert.deepEqual(
    [rows[1], rows[14]].map(row => row.wallNs),
    [260, 260],
  );
});

test('what repeats inside a layer does not make the layer a step: looking tokens up begins one', () => {
  const layer = ['conv_kernel', ...Array.from({ length: 8 }, () => ['mul_kernel', 'exp_kernel']).flat()];
  const pass = ['indexSelectSmallIndex', ...Array.from({ length: 6 }, () => layer).flat(), 'gemm_head'];
  const { rows } = rowsOf({ marks: [], work: inTurn(Array.from({ length: 5 }, () => pass).flat()) });
  assert.equal(rows.length, 5);
});

test('a replay that fills a KV cache is decode', () => {
  const { rows } = rowsOf({
    marks: [],
    call: 'cudaGraphLaunch',
    work: [0, 1, 2].flatMap(i => [
      [0, i * 1000, i * 1000 + 20, i * 1000 + 60, i * 1000 + 100, 'reshape_and_cache_flash_kernel'] as const,
      [0, i * 1000 + 30, i * 1000 + 50, i * 1000 + 110, i * 1000 + 800, 'flash_fwd_splitkv_kernel'] as const,
    ]),
  });
  assert.deepEqual(
    rows.map(row => [row.graphLaunches, row.phase]),
    [0, 1, 2].map(() => [2, 'decode']),
  );
});

test('without markers steps are found by graph launches, then by kernels that come once per step', () => {
  const graph: Drawn = {
    marks: [],
    call: 'cudaGraphLaunch',
    work: [0, 1, 2].map(
      i => [0, i * 1000, i * 1000 + 50, i * 1000 + 60, i * 1000 + 800, 'flash_fwd_splitkv_kernel'] as const,
    ),
  };
  const found = rowsOf(graph);
  assert.deepEqual(
    found.rows.map(row => [row.foundBy, row.confidence, row.graphLaunches, row.phase]),
    // A program of one's own may replay anything.
    [0, 1, 2].map(() => ['graph-launches', 'likely', 1, 'unknown']),
  );
  const names = ['embedding', ...Array.from({ length: 9 }, (_, i) => `layer_kernel_${i % 3}`), 'argmax'];
  const sequence: Drawn = {
    marks: [],
    work: Array.from(
      { length: 44 },
      (_, i) => [0, i * 10, i * 10 + 2, i * 10 + 4, i * 10 + 9, names[i % 11]] as const,
    ),
  };
  const guessed = rowsOf(sequence);
  assert.deepEqual(
    guessed.rows.map(row => [row.foundBy, row.confidence, row.kernels]),
    [0, 1, 2, 3].map(() => ['kernel-sequence', 'guess', 11]),
  );
});

test('what repeats in a sequence is found, with what comes before and after', () => {
  const sequence = (text: string) => Array.from(text, char => char.charCodeAt(0));
  assert.deepEqual(findPeriod(sequence('xabcabcabcabcy')), { period: 3, from: 1, times: 4 });
  assert.deepEqual(findPeriod(sequence('aaaaaa')), { period: 1, from: 0, times: 6 });
  assert.equal(findPeriod(sequence('abcdef')), undefined);
  assert.equal(findPeriod([]), undefined);
});

test('what repeats in a step and has layers itself may be whole passes: tokens of one compiled loop', () => {
  const sequence = (text: string) => Array.from(text, letter => letter.charCodeAt(0));
  const pass = `e${'abcd'.repeat(12)}h`;
  assert.ok(mayHoldPasses(sequence(pass.repeat(24))));
  assert.ok(!mayHoldPasses(sequence(pass)), 'one pass');
  // Five layers with a window and one without, four times.
  assert.ok(!mayHoldPasses(sequence(`e${`${'abcd'.repeat(5)}xyz`.repeat(4)}h`)));
});

test('layers are read from ranges, module paths and module annotations', () => {
  const cases: [string, number | undefined, string?][] = [
    ['layer.3.attn', 3, 'attn'],
    ['model.layers.17.self_attn.qkv_proj', 17, 'self_attn.qkv_proj'],
    ['transformer.h.5.mlp', 5, 'mlp'],
    ['layer12.input_layernorm', 12, 'input_layernorm'],
    ['layer_wise_benchmarks layer_idx 4', 4, ''],
    ["{'Module': 'model.layers.2.mlp', 'TrainableParams': {}}", 2, 'mlp'],
    ['nn.Module: LlamaDecoderLayer_31', 31, ''],
    ['FSDP::pre_forward (encoder.block.14.layer.1), op_id = 3', 14, 'layer.1'],
    ['lm_head', undefined],
    ['aten::layer_norm', undefined],
    ['nn.Module: Sampler_0', undefined],
  ];
  for (const [name, layer, part] of cases) {
    const found = layerOf(name);
    assert.equal(found?.layer, layer, name);
    if (layer !== undefined) assert.equal(found?.part, part, name);
  }
});
