/** What is a step and what is not: the ways in which a profile misleads, each drawn, and real files that showed them. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { layers } from '../src/analyze/inference/layers.js';
import { stepPattern } from '../src/analyze/inference/pattern-layers.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';
import { type Drawn, drawSteps } from '../src/testing/drawn-steps.js';
import { lacks, locate } from '../src/testing/needs.js';

const stepsOf = (drawn: Drawn) => new Analyzer(drawSteps(drawn)).get(iterations);
const states = (drawn: Drawn) => stepsOf(drawn).rows.map(row => row.state);
const mark = (n: number, gen = 8, ctx = 0) =>
  `[Executor] _forward_step ${n}: ${ctx} ctx reqs, ${gen} gen reqs`;
type Work = Drawn['work'][number];

/** A forward pass: blocks of five kernels, each name once, and others between two passes whose names blocks have too. */
function forwards(passes: number, blocks: number, between: readonly string[]): Work[] {
  const block = ['norm', 'qkv', 'attention', 'out', 'mlp'];
  const pass = [...Array.from({ length: blocks }, () => block).flat(), ...between];
  return Array.from({ length: passes }, () => pass)
    .flat()
    .map((name, i) => [0, i * 10, i * 10 + 2, i * 10 + 4, i * 10 + 9, name] as const);
}

test('layers are not steps: what comes once between runs of blocks separates the passes', () => {
  const { rows } = stepsOf({ marks: [], work: forwards(5, 8, ['norm', 'qkv', 'out']) });
  assert.deepEqual(
    rows.map(row => row.kernels),
    Array.from({ length: 5 }, () => 8 * 5 + 3),
  );
});

test('layers are not steps: neither where only a wait of the host separates the passes', () => {
  const work = forwards(4, 6, []);
  const waits = [1, 2, 3].map(pass => [0, pass * 300 - 1, pass * 300] as const);
  assert.equal(stepsOf({ marks: [], work, waits }).rows.length, 4);
  // Without anything between them nobody can tell, and it stays a guess.
  assert.equal(stepsOf({ marks: [], work }).rows[0].confidence, 'guess');
});

test('ranges of the user that count are steps; those that count layers are not', () => {
  const ranges = (name: (i: number) => string, count: number, length: number) =>
    Array.from({ length: count }, (_, i) => [0, name(i), i * length, (i + 1) * length - 1] as const);
  const work = forwards(6, 4, []);
  const tokens = stepsOf({ marks: ranges(i => `token_${i + 17}_processing`, 6, 200), work });
  assert.deepEqual(
    tokens.rows.map(row => [row.iteration, row.foundBy, row.confidence, row.kernels]),
    [17, 18, 19, 20, 21, 22].map(number => [number, 'marker', 'likely', 20]),
  );
  for (const name of [(i: number) => `layer_${i}`, (i: number) => `request ${(i * 7) % 5}`])
    assert.notEqual(stepsOf({ marks: ranges(name, 24, 50), work }).rows[0]?.foundBy, 'marker');
});

test('ranges of the user that name steps are steps; calls of many tokens and parts are not', () => {
  const work = forwards(6, 4, []);
  const named = (names: readonly string[], length: number) =>
    names.map((name, i) => [0, name, i * length, (i + 1) * length - 1] as const);
  const turns = ['Prefill batch', 'decode', 'decode', 'Prefill batch', 'decode', 'decode'];
  const { rows } = stepsOf({ marks: named(turns, 200), work });
  assert.deepEqual(
    rows.map(row => [row.phase, row.foundBy, row.confidence, row.kernels]),
    turns.map(name => [name === 'decode' ? 'decode' : 'prefill', 'marker', 'likely', 20]),
  );
  // Of ranges inside ranges those that still hold nearly everything: a call for tokens holds several steps.
  const calls = named(['generate tokens', 'generate tokens', 'generate tokens'], 400);
  const inside = named(Array<string>(6).fill('decode_step'), 200).map(
    ([lane, name, start, end]) => [lane, name, start + 0.2, end - 0.2] as const,
  );
  assert.equal(stepsOf({ marks: [...calls, ...inside], work }).rows.length, 6);
  for (const name of ['sampling step', 'decoder layer', 'load prompt', 'attention'])
    assert.notEqual(
      stepsOf({ marks: named(Array<string>(6).fill(name), 200), work }).rows[0]?.foundBy,
      'marker',
    );
});

test('work that was launched before the capture belongs to no step', () => {
  const before = [1, 2, 3].map(i => [0, Number.NaN, Number.NaN, i * 10, i * 10 + 9, 'old'] as const);
  const own = [0, 1, 2, 3, 4].map(i => [0, 20 + i * 100, 22 + i * 100, 50 + i * 100, 90 + i * 100] as const);
  const { rows, summary } = stepsOf({
    marks: [0, 1, 2, 3, 4].map(i => [0, mark(i), 5 + i * 100, 95 + i * 100] as const),
    work: [...before, ...own],
  });
  assert.deepEqual(
    rows.map(row => row.kernels),
    [1, 1, 1, 1, 1],
  );
  assert.equal(summary!.launchedEarlier, 3);
  // Nor is the time it took: the first step begins on the device when that is done.
  assert.equal(rows[0].wallNs, rows[1].wallNs - (39 - 5));
});

test('work that was launched and is not in the file is lost, not idle time', () => {
  const marks = [0, 1, 2, 3].map(i => [0, mark(i), i * 100, i * 100 + 95] as const);
  const whole = [0, 1, 2, 3].flatMap(i =>
    [10, 20, 30, 40].map(
      (at): Work => [0, i * 100 + at, i * 100 + at + 2, i * 100 + at + 3, i * 100 + at + 9],
    ),
  );
  // A kernel without times never arrived; its launch did.
  const cut = whole.map((one, k): Work => (k < 13 ? one : [one[0], one[1], one[2], Number.NaN, Number.NaN]));
  assert.deepEqual(states({ marks, work: whole }), Array(4).fill('steady'));
  assert.deepEqual(states({ marks, work: cut }), ['steady', 'steady', 'steady', 'incomplete']);
});

test('a last step is left out where the recording ends before the host is done with it', () => {
  // After each forward pass the host works for as long again; the recording ends with the last pass.
  const marks = [0, 1, 2, 3, 4].map(i => [0, mark(i), i * 100, i * 100 + 50] as const);
  const work = [0, 1, 2, 3, 4].map((i): Work => [0, i * 100 + 5, i * 100 + 6, i * 100 + 8, i * 100 + 48]);
  assert.deepEqual(states({ marks, work }), [...Array(4).fill('steady'), 'incomplete']);
  // A GPU that still works then shows the whole step.
  const long = [0, 1, 2, 3, 4].map((i): Work => [0, i * 100 + 5, i * 100 + 6, i * 100 + 8, i * 100 + 107]);
  assert.deepEqual(states({ marks, work: long }), Array(5).fill('steady'));
});

test('no step is busier than it is long, and an early copy of the next one does not cut it short', () => {
  // The host is one step ahead; a small kernel of the next step runs on a second stream while this one works.
  const count = 12;
  const marks = Array.from({ length: count }, (_, i) => [0, mark(i), i * 100, i * 100 + 40] as const);
  const work = Array.from({ length: count }, (_, i): Work[] => [
    [0, i * 100 + 5, i * 100 + 6, i * 100 + 60, i * 100 + 63, 'early', 2],
    [0, i * 100 + 10, i * 100 + 12, i * 100 + 110, i * 100 + 208, 'forward', 1],
  ]).flat();
  const { rows } = stepsOf({ marks, work: work.sort((a, b) => a[3] - b[3]) });
  for (const row of rows)
    assert.ok(row.gpuBusyNs <= row.wallNs, `${row.iteration}: ${row.gpuBusyNs} of ${row.wallNs}`);
  assert.deepEqual(
    rows.slice(1, -1).map(row => row.wallNs),
    rows.slice(1, -1).map(() => 100),
  );
});

/** Steps of these lengths, one kernel each, batch 8. */
const lasting = (...times: number[]): Drawn => {
  const starts = times.map((_, i) => times.slice(0, i).reduce((sum, time) => sum + time, 0));
  return {
    marks: times.map((time, i) => [0, mark(i), starts[i], starts[i] + time - 1] as const),
    work: times.map(
      (time, i) => [0, starts[i] + 5, starts[i] + 6, starts[i] + 10, starts[i] + time - 10] as const,
    ),
  };
};

test('the first steps, in which the profiler starts, and a last one that holds its end are not steady', () => {
  const usual = [510, 520, 505, 515, 500, 530, 512, 508, 522, 517];
  assert.deepEqual(states(lasting(930, 680, 630, ...usual)), [
    ...Array(3).fill('warm-up'),
    ...Array(10).fill('steady'),
  ]);
  assert.equal(states(lasting(...usual, 960)).at(-1), 'incomplete');
  // Steps that differ as much among themselves are as the engine is.
  const uneven = [600, 510, 640, 505, 590, 500, 650, 512, 610, 522, 517, 630];
  assert.ok(states(lasting(...uneven)).every(state => state === 'steady'));
  // Too few to tell.
  assert.ok(states(lasting(600, 510, 505, 500)).every(state => state === 'steady'));
});

const withBatches = (...steps: (readonly [ctx: number, gen: number])[]): Drawn => ({
  marks: steps.map(([ctx, gen], i) => [0, mark(i, gen, ctx), i * 100, i * 100 + 90] as const),
  work: steps.map((_, i) => [0, i * 100 + 10, i * 100 + 12, i * 100 + 20, i * 100 + 40] as const),
});

test('in a server requests end and others join: that is its load, not its end', () => {
  const served = withBatches(...Array(12).fill([0, 16]), [0, 9], [0, 9], [0, 9], [2, 9], [4, 11]);
  assert.ok(states(served).every(state => state === 'steady'));
  const joined = withBatches(
    [8, 0],
    ...Array(3).fill([0, 8]),
    [3, 8],
    ...Array(4).fill([0, 11]),
    [3, 11],
    [0, 14],
    [0, 14],
  );
  assert.ok(states(joined).every(state => state === 'steady'));
  // A batch that begins with one request and grows, and one that ends with one and has shrunk, are beginning and end.
  const offline = withBatches([0, 1], [0, 5], ...Array(6).fill([0, 16]), [0, 12], [0, 7], [0, 2]);
  assert.deepEqual(states(offline), ['ramp', 'ramp', ...Array(6).fill('steady'), 'drain', 'drain', 'drain']);
});

test('layers are counted by what each runs once, though first and last have other neighbours', () => {
  const ids = (text: string) => Int32Array.from(text.replaceAll(' ', ''), letter => letter.charCodeAt(0));
  const first = 'eNabCd';
  const middle = 'nabcd'.repeat(6);
  const found = stepPattern(ids(`${first}${middle}nabcDh`))!;
  assert.deepEqual([found.period, found.times], [5, 8]);
  assert.equal(found.bounds.length, 9);
  // Two kinds of attention in turn: what repeats is a pair.
  const pair = stepPattern(ids(`xy${'nqSomgd nqFomgd '.repeat(6)}zw`))!;
  assert.deepEqual([pair.period, pair.times, pair.bounds.length - 1], [14, 6, 12]);
  // Nothing that each of them runs once: what repeats to the letter is all that is known.
  assert.equal(stepPattern(ids(`xy${'abcde'.repeat(6)}zw`))!.times, 6);
});

test('an image encoder is neither prefill nor decode', () => {
  const names = [
    'cudnn::winograd_nonfused::winogradForwardFilter4x4',
    'flash_fwd_splitkv_kernel',
    'ampere_sgemm_128x64_tn',
  ];
  const work = [0, 1, 2, 3].flatMap(i =>
    names.map(
      (name, k): Work => [
        0,
        i * 1000,
        i * 1000 + 50,
        i * 1000 + 60 + k * 200,
        i * 1000 + 250 + k * 200,
        name,
      ],
    ),
  );
  const { rows } = stepsOf({ marks: [], call: 'cudaGraphLaunch', work });
  assert.ok(rows.every(row => row.phase === 'unknown'));
});

const external = (name: string) => path.join(locate('external') ?? '', name);

test('a language model of 32 layers without markers: four passes, not 128', {
  skip: lacks('external'),
}, async () => {
  const analyzer = new Analyzer(await openProfile([external('nsys/a100-lm27b-nvtx-3.16.sqlite.gz')]));
  assert.deepEqual(
    analyzer.get(iterations).rows.map(row => row.kernels),
    [1832, 1832, 1832, 1802],
  );
});

test('a trace that begins inside a step: the file’s own annotation says 1,029 kernels in 34.9 ms', {
  skip: lacks('external-2'),
}, async () => {
  const file = path.join(locate('external-2')!, 'tracelens/hf-qwen-h100-metadata-first.json.gz');
  const [row] = new Analyzer(await openProfile([file])).get(iterations).rows;
  assert.equal(row.kernels, 1029);
  assert.ok(Math.abs((row.gpuEndNs! - row.gpuStartNs!) / 34.9e6 - 1) < 0.01);
  assert.ok(row.wallNs < 36e6);
});

const capture = (name: string) => path.join(locate('captures') ?? '', name, 'profile.sqlite.gz');

test('real engines: as many layers as the model has, eager or from graphs', {
  skip: lacks('captures'),
}, async () => {
  for (const [name, count] of [
    ['vllm-eager', 32],
    ['vllm-graphs', 32],
    ['vllm-agent', 32],
    ['sglang-graphs', 32],
    ['vllm-moe', 48],
  ] as const) {
    const { summary } = new Analyzer(await openProfile([capture(name)])).get(layers);
    assert.equal(summary!.layers, count, name);
  }
});

test('SGLang with overlap scheduling: no step busier than long, the edges left out', {
  skip: lacks('captures'),
}, async () => {
  const { rows } = new Analyzer(await openProfile([capture('sglang-graphs')])).get(iterations);
  for (const row of rows) assert.ok(row.gpuBusyNs <= row.wallNs);
  const steady = rows.filter(row => row.state === 'steady').map(row => row.wallNs / 1e6);
  // Without a profiler the scheduler's own clock says 4.95 ms.
  assert.ok(steady.length >= 9 && steady.every(ms => ms > 4.9 && ms < 5.2), `${steady}`);
});

test('a window that ends inside a step has no step of its first kernels', async () => {
  // SGLang, 20 steps asked for; recording went on into the 21st, up to the kernels in front of its graph.
  const file = path.join(projectRoot, 'test/fixtures/engines/sglang-llama8b-decode-window.sqlite.xz');
  const { rows } = new Analyzer(await openProfile([file], { workers: 0 }), {}).get(iterations);
  assert.deepEqual(
    rows.map(({ phase }) => phase),
    Array.from({ length: 20 }, () => 'decode'),
  );
});
