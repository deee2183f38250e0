/** Is a capture what was asked for? Judged on real captures against windows, ranks and sizes of all kinds. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { stepsOf } from '../src/analyze/inference/steps.js';
import { profilerCost } from '../src/analyze/undisturbed/profiler-cost.js';
import { undisturbedStep } from '../src/analyze/undisturbed/undisturbed-step.js';
import { correct } from '../src/capture/correct-command.js';
import { type Asked, type CaptureCheck, judgeCapture } from '../src/capture/judge-capture.js';
import { openProfile } from '../src/import/open.js';
import { withQuietSteps } from '../src/import/quiet-step.js';
import { QuietSource } from '../src/model/schema.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

const asked: Asked = {
  command: [
    'nsys',
    'profile',
    '-t',
    'cuda,nvtx',
    '-c',
    'cudaProfilerApi',
    '-o',
    'a b',
    'trtllm-bench',
    '--cuda-graph-trace',
    'x',
  ],
  nsysAt: 0,
  env: { TLLM_PROFILE_START_STOP: '12-16' },
};
const judge = async (name: string, more: Partial<Asked> = {}) =>
  judgeCapture(await openProfile([capturePath(name)], { workers: 0 }), { ...asked, ...more });
const check = (checks: readonly CaptureCheck[], id: CaptureCheck['id']) => checks.find(one => one.id === id);

test('a capture as asked for is good in every point', async () => {
  const { checks, corrected } = await judge('gc', { window: { first: 12, last: 15 }, estimateBytes: 2e6 });
  assert.deepEqual(
    checks.map(({ id, state }) => `${id} ${state}`),
    ['gpu-work good', 'markers good', 'iterations good', 'graphs good', 'size good'],
  );
  assert.equal(corrected, undefined);
});

test('a profile of the client is bad, and the engine in a child process is the first thing to try', async () => {
  const { checks, corrected } = await judge('client', { window: { first: 12, last: 16 } });
  assert.equal(check(checks, 'gpu-work')?.state, 'bad');
  assert.equal(check(checks, 'iterations')?.state, 'bad');
  assert.deepEqual(corrected?.command.slice(0, 3), ['nsys', 'profile', '--trace-fork-before-exec=true']);
  const again = await judge('client', { command: corrected!.command });
  assert.equal(again.corrected, undefined);
  assert.match(check(again.checks, 'gpu-work')!.fix!, /did not reach the window/);
});

test('graphs as blocks are asked for as nodes', async () => {
  const { checks, corrected } = await judge('graphmode', {
    command: [
      'mpirun',
      '-n',
      '2',
      'nsys',
      'profile',
      '--cuda-graph-trace',
      'graph',
      '-o',
      'x',
      'engine',
      '--cuda-graph-trace=graph',
    ],
    nsysAt: 3,
  });
  assert.equal(check(checks, 'graphs')?.state, 'poor');
  // The option of nsys is replaced, the program's own of the same name is not.
  assert.deepEqual(corrected?.command, [
    'mpirun',
    '-n',
    '2',
    'nsys',
    'profile',
    '--cuda-graph-trace=node',
    '-o',
    'x',
    'engine',
    '--cuda-graph-trace=graph',
  ]);
});

test('a range that stopped before its end gets an end one higher', async () => {
  const { checks, corrected } = await judge('eager', { window: { first: 12, last: 17 } });
  assert.match(
    check(checks, 'iterations')!.text,
    /iterations 12-16 of 12-17: this TensorRT-LLM version excludes the end/,
  );
  assert.equal(corrected?.env.TLLM_PROFILE_START_STOP, '12-18');
  // Without the variable it is a run that ended, not a range that did.
  const windows = [
    { first: 12, last: 13 },
    { first: 15, last: 16 },
  ];
  const two = await judge('eager', { window: { first: 12, last: 16 }, windows });
  assert.equal(two.checks.find(({ id }) => id === 'iterations')!.text, 'iterations 12-16, as requested');
  const late = { first: 30, last: 31 };
  const short = await judge('eager', { window: { first: 12, last: 31 }, windows: [...windows, late] });
  const missing = short.checks.find(({ id }) => id === 'iterations')!;
  assert.deepEqual([missing.state, missing.text], ['poor', 'iterations 12-16 of 12-13, 15-16, 30-31']);
  const other = await judge('eager', { window: { first: 12, last: 17 }, env: {} });
  assert.equal(other.corrected, undefined);
  assert.match(check(other.checks, 'iterations')!.fix!, /ended inside the window/);
});

for (const [window, state, words] of [
  [{ first: 12, last: 40 }, 'poor', /ended inside the window/],
  [{ first: 14, last: 15 }, 'poor', /a different step than requested/],
  [{ first: 100, last: 150 }, 'bad', /shift the requested range/],
] as const)
  test(`steps 12-16 against ${window.first}-${window.last}`, async () => {
    const { checks } = await judge('eager', { window });
    assert.equal(check(checks, 'iterations')?.state, state);
    assert.match(check(checks, 'iterations')!.fix!, words);
  });

test('missing ranks and sizes far beyond the estimate are named', async () => {
  const { checks } = await judge('eager', { ranks: 4, estimateBytes: 1000 });
  assert.match(check(checks, 'ranks')!.text, /^1 of 4 ranks/);
  assert.equal(check(checks, 'size')?.state, 'good', 'a small file, however little was expected');
  const profile = await openProfile([capturePath('eager')], { workers: 0 });
  const large = { ...profile, capture: { ...profile.capture, sizeBytes: 3e8 } };
  assert.equal(check(judgeCapture(large, { ...asked, estimateBytes: 2e6 }).checks, 'size')?.state, 'poor');
});

test('steps without numbers are counted, not compared with the numbers requested', async () => {
  const file = path.join(projectRoot, 'test/fixtures/engines/sglang-llama8b-eager-b8-nsys-nodes.sqlite.gz');
  const profile = await openProfile([file], { workers: 0 });
  const found = new Analyzer(profile, {}).get(stepsOf)!;
  assert.equal(found.numbered, false);
  const count = found.steps.length;
  const judgedFor = (steps: number) =>
    check(
      judgeCapture(profile, { ...asked, window: { first: 300, last: 299 + steps } }).checks,
      'iterations',
    );
  assert.equal(judgedFor(count)?.state, 'good');
  assert.match(judgedFor(count)!.text, /as requested; the capture does not number its steps/);
  assert.equal(judgedFor(count + 5)?.state, 'poor');
  assert.match(judgedFor(count + 5)!.text, new RegExp(`instead of ${count + 5}`));
});

test('a correction changes only the words of nsys', () => {
  const command = ['nsys', 'profile', '-o', 'p', '--x=1', 'run', '--x=2', '-o', 'q'];
  const fixed = correct({ command, nsysAt: 0, env: {} }, [{ option: ['--x', '3'] }]);
  assert.deepEqual(fixed.command, ['nsys', 'profile', '--x=3', '-o', 'p', 'run', '--x=2', '-o', 'q']);
});

const profilerIn = async (file: string) => {
  const { checks } = judgeCapture(await openProfile([file], { workers: 0 }), asked);
  const { text = '', fix, otherFixes = [] } = check(checks, 'profiler-cost') ?? {};
  return { text, fixes: [...(fix === undefined ? [] : [fix]), ...otherFixes] };
};

test('a profiler that adds more than a tenth is named, with what would save most first', async () => {
  const graph = await profilerIn(capturePath('graph'));
  assert.match(
    graph.text,
    /^the profiler adds \d+ µs to a decode step of 3\.74 ms \(1\d\.\d%; estimated, \d+ µs to 1\.\d+ ms\)$/,
  );
  assert.match(graph.fixes[0], /^--graph-trace graph records .* saves about \d+ µs per step \(estimated, /);
  assert.equal(graph.fixes.at(-1), '--agent --calibrate measures it in a second run');

  const ranges = await profilerIn(capturePath('eager-decode'));
  assert.match(ranges.fixes[0], /fewer NVTX ranges \(no --nvtx-debug\)/);
  const osCalls = await profilerIn(capturePath('stress'));
  assert.match(osCalls.fixes[1], /without --osrt \(804 calls\); what this saves is not known/);
  const torch = await profilerIn(capturePath('eager', 'kineto.json.gz'));
  assert.match(torch.fixes[0], /record with Nsight Systems instead/);
});

test('a profiler that adds little is not worth a word', async () => {
  for (const name of ['gc', 'graphmode', 'run-ahead'])
    assert.deepEqual(await profilerIn(capturePath(name)), { text: '', fixes: [] });
});

test('what is saved is never more than the profiler adds, and each way alone less than the whole', async () => {
  for (const name of ['graph', 'membound', 'stress', 'eager-decode']) {
    const profile = await openProfile([capturePath(name)], { workers: 0 });
    const { row, savings } = new Analyzer(profile, {}).get(profilerCost)!;
    assert.ok(savings.length > 0 && row.profilerShare <= 1, name);
    const known = savings.flatMap(({ savedNs }) => savedNs ?? []);
    assert.ok(
      known.every(ns => ns > 0 && ns <= row.profilerNs),
      name,
    );
    assert.deepEqual(
      known,
      [...known].sort((a, b) => b - a),
      name,
    );
  }
});

test('what was measured is said as measured, whatever the estimate is', async () => {
  const profile = await openProfile([capturePath('graph')], { workers: 0 });
  const steps = Array.from({ length: 20 }, (_, i) => ({
    ...{ process: 0, source: QuietSource.beforeWindow, iteration: i, phase: 'decode', periodNs: 3e6 },
    ...{ contextRequests: 0, contextTokens: 0, generationRequests: 8, generationTokens: 8 },
  }));
  const { checks } = judgeCapture(withQuietSteps(profile, steps), asked);
  const { text, fix, otherFixes } = check(checks, 'profiler-cost')!;
  assert.match(
    text,
    /^the profiler adds 73\d µs to a decode step of 3\.74 ms \(19\.\d%; measured by the agent outside its window, 20 steps\)$/,
  );
  assert.match(fix!, /--graph-trace graph/);
  assert.deepEqual(otherFixes, []);
});

const vllm = (name: string) => path.join(projectRoot, '../shared/captures', name, 'profile.sqlite.gz');
const pairs: [name: string, nodes: string, blocks: string, skip: string | false][] = [
  ['our engine', capturePath('graph'), capturePath('graphmode'), false],
  ['vLLM', vllm('vllm-graphs'), vllm('vllm-blocks'), lacks('captures')],
];
for (const [name, nodes, blocks, skip] of pairs)
  test(`${name}: what blocks save is within the bounds given from nodes alone`, { skip }, async () => {
    const stepOf = async (file: string) => {
      const analyzer = new Analyzer(await openProfile([file], { workers: 0 }), {});
      return { analyzer, ns: analyzer.get(undisturbedStep).rows[0].profiledNs };
    };
    const [before, after] = [await stepOf(nodes), await stepOf(blocks)];
    const [saving] = before.analyzer.get(profilerCost)!.savings;
    assert.match(saving.text, /--graph-trace graph/);
    const savedNs = before.ns - after.ns;
    assert.ok(savedNs > 0 && saving.lowNs <= savedNs && savedNs <= saving.highNs, `${savedNs} ns`);
  });

test('vLLM without graphs: CUDA calls are what costs, and no flag leaves them out', {
  skip: lacks('captures'),
}, async () => {
  const { text, fixes } = await profilerIn(vllm('vllm-eager'));
  assert.match(text, /^the profiler adds \d\.\d+ ms to a decode step of 31\.8 ms/);
  assert.deepEqual(fixes, ['--agent --calibrate measures it in a second run']);
});
