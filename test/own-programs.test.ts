/**
 * Programs of one's own on PyTorch, JAX and plain CUDA, without a marker of an engine, each with a known bottleneck
 * (docs/evidence/own-programs): the page leads with it. PyTorch profiler or nsys; H200, redacted.
 */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { undisturbedStep } from '../src/analyze/undisturbed/undisturbed-step.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';

interface Program {
  readonly file: string;
  /** Steps the program ran; 0: its layers are all alike, so that nothing shows where a step begins. */
  readonly steps: number;
  /** The first finding of all, where it says that the others are doubtful or has no gain. */
  readonly doubt?: string;
  /** Findings with a gain, the first of the page first; empty: none. */
  readonly first: readonly string[];
  /** What the evidence or the advice of the first says. */
  readonly says?: RegExp;
  /** Of all steps, where the file tells. */
  readonly phase?: string;
  /** Times faster when the cause was removed, on the same machine. The gain promises no more. */
  readonly mended?: number;
  /** Times faster that it promises at least and at most. */
  readonly within?: readonly [number, number];
  readonly confidence?: string;
  /** False: what removing the first would bring cannot be told. */
  readonly promises?: boolean;
}

const programs: readonly Program[] = [
  // cuDNN builds a plan of its attention for every new length of the cache, which grows by one each step.
  {
    file: 'nsys-eager-decode.sqlite.xz',
    steps: 20,
    first: ['host-work-in-step', 'launch-overhead'],
    says: /cuLibraryLoadData/,
    mended: 109.5 / 22.9,
  },
  {
    file: 'plans.json.xz',
    steps: 10,
    first: ['host-work-in-step'],
    says: /_cudnn_attention_forward: cuDNN builds a plan for every new length/,
  },
  // The same, and numpy samples on the CPU.
  {
    file: 'nsys-cpu-sampling.sqlite.xz',
    steps: 10,
    first: ['host-work-in-step', 'exposed-host-work'],
    says: /cuLibraryLoadData/,
  },
  // The same, and the loop sleeps 20 ms.
  { file: 'nsys-sleeping.sqlite.xz', steps: 15, first: ['host-work-in-step', 'exposed-host-work'] },
  { file: 'nsys-tokenizing.sqlite.xz', steps: 10, first: ['exposed-host-work'], says: /22\.9 ms before/ },
  {
    file: 'nsys-expert-loop.sqlite.xz',
    steps: 9,
    first: ['launch-overhead', 'blocking-in-layers'],
    says: /first remove the 64 waits/,
  },
  { file: 'offload.json.xz', steps: 0, first: ['pageable-copies'], mended: 57.7 / 7.95 },
  { file: 'offload-pinned.json.xz', steps: 0, first: ['link-bound'], says: /53\.0 GB\/s/ },
  { file: 'fp32.json.xz', steps: 5, first: ['fp32-gemm'], mended: 42.5 / 11.3 },
  // A prompt of fixed length, compiled and replayed: busy, and not decode.
  { file: 'compiled-graph.json.xz', steps: 19, first: ['fp8-available'] },
  { file: 'nsys-convolutions.sqlite.xz', steps: 12, first: [] },
  // Another process multiplies matrices on the same GPU: alone, a step takes 32 ms instead of 74.
  { file: 'nsys-shared-gpu.sqlite.xz', steps: 6, doubt: 'shared-gpu', first: ['fp8-available'] },
  { file: 'attention-in-parts.json.xz', steps: 5, first: ['unfused-attention'], mended: 145.8 / 33.1 },
  // Without a lookup or sampling, all layers alike: each is taken for a step.
  { file: 'growing-cache.json.xz', steps: 128, first: ['concatenation'], says: /KV cache that grows/ },
  { file: 'logits-to-cpu.json.xz', steps: 12, first: ['pageable-copies'], mended: 63.5 / 6.46 },
  {
    file: 'nsys-hidden-states.sqlite.xz',
    steps: 6,
    first: ['pageable-copies'],
    says: /12 per step, 16\.8 MB/,
  },
  // One graph for each of 48 layers.
  { file: 'nsys-graph-per-layer.sqlite.xz', steps: 19, first: ['exposed-host-work'] },
  // BERT looks up three things for each request, and waits for requests.
  {
    file: 'nsys-embedding-service.sqlite.xz',
    steps: 15,
    first: ['exposed-host-work', 'launch-overhead'],
    says: /clock_nanosleep: the launching thread sleeps/,
  },
  { file: 'sorting.json.xz', steps: 14, first: ['costly-sampling', 'launch-overhead'] },
  // Four decode steps and a prompt, in strict turn.
  { file: 'nsys-mixed.sqlite.xz', steps: 20, first: ['launch-overhead'] },
  // vLLM answers one request at a time: a prompt and two tokens, then nothing for 30 ms.
  {
    file: 'nsys-vllm-low-load.sqlite.xz',
    steps: 17,
    phase: 'decode',
    first: ['exposed-host-work'],
    says: /clock_nanosleep: the launching thread sleeps/,
  },
  // SGLang with --disable-overlap-schedule: 2.54 ms per step, with overlap 1.95.
  {
    file: 'nsys-sglang-no-overlap.sqlite.xz',
    steps: 13,
    phase: 'decode',
    first: ['exposed-host-work'],
    says: /SGLang|enable the overlap scheduler/,
    within: [1.2, 1.6],
  },
  // The same with a scheduler that computes for 4 ms: overlapping brings 6.49 to 5.92 ms only.
  {
    file: 'nsys-sglang-slow-host.sqlite.xz',
    steps: 14,
    phase: 'decode',
    first: ['exposed-host-work'],
    says: /shorten it: .*overlapping hides at most 98\d µs/,
    confidence: 'possible',
  },
  // Prompts in chunks of 2,048 tokens: nothing in the file says so.
  {
    file: 'nsys-sglang-prefill.sqlite.xz',
    steps: 10,
    first: ['launch-overhead'],
    says: /if these are decode steps: .* if they are prefill: /,
  },
  // TorchScript: eight layers alike, each taken for a step of nine kernels.
  { file: 'scripted.json.xz', steps: 118, first: ['launch-overhead'] },
  // llama.cpp, one sequence: 1.60 ms per step, of which the GPU works 1.46. 16 copies of inputs are waited for, too.
  {
    file: 'nsys-llama-cpp.sqlite.xz',
    steps: 15,
    phase: 'decode',
    first: ['exposed-host-work', 'blocking-in-layers'],
    says: /cudaGraphLaunch/,
    within: [1.05, 1.2],
  },
  // JAX: the layers are one compiled loop, a graph for each of them; 12 steps, the last of which holds the end.
  { file: 'nsys-jax-scan.sqlite.xz', steps: 11, first: ['exposed-host-work'] },
  // JAX: numpy samples in the main thread, and the thread that launches waits for it. Nothing shows what it does.
  {
    file: 'nsys-jax-numpy.sqlite.xz',
    steps: 10,
    first: ['exposed-host-work'],
    says: /waits for another thread or process, for work, an answer or a lock/,
    confidence: 'possible',
  },
  // transformers: prompt and tokens of two calls of generate(); the experts gather their weights in each layer.
  { file: 'nsys-gpt-oss.sqlite.xz', steps: 15, first: ['launch-overhead'] },
  // An engine in C++ that allocates and frees in each step: 3.63 ms, without that 2.36.
  {
    file: 'nsys-own-allocations.sqlite.xz',
    steps: 16,
    first: ['steady-allocations'],
    within: [1.15, 3.63 / 2.36],
  },
  // The same with a long cache, and nothing wrong but its attention kernel.
  { file: 'nsys-own-attention.sqlite.xz', steps: 16, first: [] },
  // Half of the layers of llama.cpp run on the CPU, in threads that call nothing: work of the model, not to be removed.
  {
    file: 'nsys-llama-half.sqlite.xz',
    steps: 16,
    phase: 'decode',
    first: ['exposed-host-work'],
    says: /may be work of the model itself: no gain is promised/,
    promises: false,
  },
  // Four of twelve layers are computed by threads of the CPU, which the launching thread joins.
  {
    file: 'nsys-cpu-layers.sqlite.xz',
    steps: 19,
    first: ['host-work-in-step', 'exposed-host-work'],
    says: /pthread_join: the launching thread waits for another thread/,
    promises: false,
  },
  // A function of the host (2 ms) in the middle of the stream: 2.53 ms, without it 0.42.
  {
    file: 'nsys-host-function.sqlite.xz',
    steps: 18,
    first: ['host-function'],
    says: /1 × cudaLaunchHostFunc per step/,
    promises: false,
  },
  // transformers' offloaded cache: keys and values over PCIe in both directions at once; a prompt among the tokens.
  { file: 'nsys-kv-offload.sqlite.xz', steps: 15, first: ['link-bound'], mended: 191.7 / 97.3 },
  // One core, which three other processes keep busy: 34.1 ms, alone 8.0.
  {
    file: 'starved.json.xz',
    steps: 5,
    first: ['held-up', 'launch-overhead'],
    says: /12 stalls, the longest 12\.2 ms, in 10 places .* that other steps pass quickly/,
    promises: false,
  },
  // The last product (128,000 words) runs on the CPU: 13.3 ms, on the GPU 5.3.
  {
    file: 'cpu-head.json.xz',
    steps: 5,
    first: ['exposed-host-work', 'launch-overhead'],
    says: /aten::linear → aten::mm: it computes on the CPU/,
    mended: 13.3 / 5.28,
  },
  // Stacks more than double the step (1.92 ms without): what of its host work is real, nobody can tell.
  { file: 'sglang-stacks.json.xz', steps: 12, phase: 'decode', doubt: 'exposed-host-work', first: [] },
];

for (const {
  file,
  steps,
  doubt,
  first,
  says,
  phase: expected = 'unknown',
  mended,
  within,
  confidence,
  promises,
} of programs)
  test(`${file}: the page leads with what is known to hold it up`, async () => {
    const profile = await openProfile([path.join(projectRoot, 'test/fixtures/own-programs', file)]);
    const analyzer = new Analyzer(profile);
    const all = analyzer.get(findings).findings;
    assert.ok(!doubt || all[0].id === doubt, `${all[0]?.id} leads`);
    for (const { id, costShare } of all) assert.ok((costShare ?? 0) <= 1, `${id}: ${costShare}`);
    // What costs much leads even where nobody can say what removing it brings.
    const found = all.filter(
      ({ id, gain, severity, costNs }) =>
        id !== doubt && (gain !== null || (severity !== 'low' && costNs !== null)),
    );
    assert.deepEqual(
      found.slice(0, Math.max(1, first.length)).map(({ id }) => id),
      first,
    );
    const rows = analyzer.get(iterations).rows.filter(row => row.selected);
    assert.equal(rows.length, steps);
    assert.ok(
      rows.every(({ phase }) => phase === expected),
      'nothing else in the file tells prefill from decode',
    );
    if (says)
      assert.match([...found[0].evidence, ...found[0].advice].map(({ text }) => text).join('\n'), says);
    const times = 1 + (found[0]?.gain?.throughput ?? 0);
    if (promises === false) assert.equal(found[0].gain, null);
    if (confidence) assert.equal(found[0].confidence, confidence);
    if (within) assert.ok(times >= within[0] && times <= within[1], `×${times} promised`);
    if (mended) assert.ok(times > 1.3 && times <= mended, `×${times} promised, ×${mended} measured`);
  });

test('ranges called after a phase are steps of that phase, numbered or not', async () => {
  const file = path.join(projectRoot, 'test/fixtures/own-programs/nsys-named-ranges.sqlite.xz');
  const analyzer = new Analyzer(await openProfile([file]));
  const { rows } = analyzer.get(iterations);
  // `Prefill batch` before every eighth `Decode token N`, which counts from 0 to 7 again and again.
  assert.equal(
    rows.map(({ phase }) => phase[0]).join(''),
    `${'d'.repeat(5)}p${'d'.repeat(8)}p${'d'.repeat(8)}pddd`,
  );
  assert.equal(analyzer.get(findings).findings.find(({ gain }) => gain)?.phase, 'decode');
});

test('a report that the profiler failed to process is not one of the client', async () => {
  const file = path.join(projectRoot, 'test/fixtures/own-programs/nsys-jax-failed.sqlite.xz');
  const [first] = new Analyzer(await openProfile([file])).get(findings).findings;
  assert.equal(first.id, 'gpu-work-lost');
  assert.match(first.claim, /^The profiler failed to process what it recorded/);
});

test('the time without the profiler lies in the interval: C++, JAX, llama.cpp', async () => {
  for (const [name, ns] of [
    ['nsys-own-allocations', 3.627e6],
    ['nsys-llama-cpp', 1.601e6],
    ['nsys-jax-scan', 2.328e6],
  ] as const) {
    const profile = await openProfile([
      path.join(projectRoot, `test/fixtures/own-programs/${name}.sqlite.xz`),
    ]);
    const [{ lowNs, highNs }] = new Analyzer(profile).get(undisturbedStep).rows;
    assert.ok(lowNs <= ns && ns <= highNs, `${name}: ${ns} in ${lowNs} to ${highNs}`);
  }
});
