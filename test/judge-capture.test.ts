/** Is a capture what was asked for? Judged on real captures against windows, ranks and sizes of all kinds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correct } from '../src/capture/correct-command.js';
import { type Asked, type CaptureCheck, judgeCapture } from '../src/capture/judge-capture.js';
import { openProfile } from '../src/import/open.js';
import { capturePath } from '../src/testing/captures.js';

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
  const { checks, corrected } = await judge('eager', { window: { first: 12, last: 16 }, estimateBytes: 2e6 });
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
  assert.equal(check(checks, 'size')?.state, 'poor');
});

test('a correction changes only the words of nsys', () => {
  const command = ['nsys', 'profile', '-o', 'p', '--x=1', 'run', '--x=2', '-o', 'q'];
  const fixed = correct({ command, nsysAt: 0, env: {} }, [{ option: ['--x', '3'] }]);
  assert.deepEqual(fixed.command, ['nsys', 'profile', '--x=3', '-o', 'p', 'run', '--x=2', '-o', 'q']);
});
