/** What the host did while the GPU waited, by name: drawn, and held against the budgets of real captures. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { type CallNode, callTree, invertedTree } from '../src/analyze/host-code/call-tree.js';
import { hostBlockers } from '../src/analyze/host-code/host-blockers.js';
import { hotPaths, labelOf } from '../src/analyze/host-code/hot-paths.js';
import { hostCauses } from '../src/analyze/host-code/idle-code.js';
import { idleGaps } from '../src/analyze/inference/idle-gaps.js';
import { windowBudgets } from '../src/analyze/inference/step-budget.js';
import { adviceOnCode } from '../src/catalog/host-code-advice.js';
import { nameOfFrame, nameOfOsCall, nameOfRange } from '../src/catalog/host-names.js';
import { openProfile } from '../src/import/open.js';
import type { Profile } from '../src/model/profile.js';
import { FrameKind } from '../src/model/schema.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { drawProfile } from '../src/testing/drawn-profile.js';
import { assertGolden } from '../src/testing/golden.js';
import { locate } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';

const COLUMN_US = 50;
const fixture = (name: string) => path.join(projectRoot, 'test/fixtures', name);

/** Idle time by label in columns of the drawing, without what is shorter than half a column. */
function blockers(drawing: string, columnUs = COLUMN_US): Record<string, number> {
  const analyzer = new Analyzer(drawProfile(drawing, columnUs * 1000), { whole: true });
  const { paths, windows, sums } = analyzer.get(hostBlockers);
  const columns = new Map<string, number>();
  for (const phase of windows.keys())
    sums(phase, 'all')?.selfNs.forEach((ns, node) => {
      const label = node === 0 ? '' : labelOf(paths, node);
      columns.set(label, (columns.get(label) ?? 0) + ns / 1000 / columnUs);
    });
  return Object.fromEntries([...columns].map(([l, n]) => [l, Math.round(n)]).filter(([, n]) => n !== 0));
}

test('the innermost thing on the launching thread has the moment, with who called it', () => {
  assert.deepEqual(
    blockers(`
      M = nn.Module: LlamaAttention_3
      C = torch/nn/modules/module.py(1783): _call_impl
      F = transformers/models/llama/modeling_llama.py(243): forward
      L = aten::linear
      m = cudaMalloc
      py   .MMMMMMMMMMMMMMM...
      py   .CCCCCCCCCCCCCC....
      py   ...FFFFFFFFFFFF....
      op   ....LLLLLLLL.......
      cpu  a....mmm..........b
      gpu  .a.................b
    `),
    {
      // The module's call, what passes it on and its forward are one.
      'LlamaAttention.forward': 6,
      'LlamaAttention.forward → aten::linear': 5,
      'LlamaAttention.forward → aten::linear → cudaMalloc': 3,
      'before the launch of b': 2,
      cudaLaunchKernel: 1,
    },
  );
});

test('time in which nothing is recorded is placed before what comes next, past calls that only ask', () => {
  assert.deepEqual(
    blockers(`
      q = cudaEventQuery
      cpu  a....q...b
      gpu  .a........b
    `),
    { 'before the launch of b': 6, cudaEventQuery: 1, cudaLaunchKernel: 1 },
  );
});

test('a gap is labelled with the code that has most of it', () => {
  const drawing = `
    L = aten::linear
    op   ...LLLLL....
    cpu  a..........b
    gpu  .a..........b
  `;
  const analyzer = new Analyzer(drawProfile(drawing, COLUMN_US * 1000), { whole: true });
  const [gap] = analyzer.get(idleGaps).rows;
  assert.deepEqual([gap.code, gap.cause], ['aten::linear', 'host-code']);
});

test('a step marker is around everything and names nothing', () => {
  assert.deepEqual(
    blockers(`
      S = stepscope.step 12 ctx=0/0 gen=8/8
      L = layer.12.attn
      nvtx SSSSSSSSSSSS
      nvtx ...LLLLL....
      cpu  a.........b.
      gpu  .a.........b
    `),
    { 'before layer.*.attn': 1, 'layer.*.attn': 5, 'before the launch of b': 2, cudaLaunchKernel: 2 },
  );
});

test('a wait for the GIL names its holder and what that did', () => {
  assert.deepEqual(
    blockers(`
      W = Waiting for GIL
      H = Holding GIL
      D = detokenize 5
      nvtx  ..WWWWWWWW...
      nvtx2 ..HHHHHHHH...
      nvtx2 ...DDDD......
      cpu   a...........b
      gpu   .a...........b
    `),
    {
      'before the launch of b → Waiting for GIL → GIL held by thread 2': 4,
      'before the launch of b → Waiting for GIL → GIL held by thread 2: detokenize *': 4,
      'before the launch of b': 2,
      cudaLaunchKernel: 1,
    },
  );
});

test('a wait in the system names the thread that ran meanwhile; one that waits too did not', () => {
  assert.deepEqual(
    blockers(`
      P = pthread_cond_wait
      T = tokenize
      os    ..PPPPPPPP...
      os3   .PPPPPPPPPP..
      nvtx2 ...TTTT......
      cpu   a...........b
      gpu   .a...........b
    `),
    {
      pthread_cond_wait: 4,
      'pthread_cond_wait → meanwhile thread 2: tokenize': 4,
      'before the launch of b': 2,
      cudaLaunchKernel: 1,
    },
  );
});

test('where nothing is recorded the nearest sample names the code, no further than samples usually lie apart', () => {
  assert.deepEqual(
    blockers(`
      T = tokenize
      F = aten::linear
      op    ...............FFF.
      smp   ......T...T...T....
      cpu   a.................b
      gpu   .a.................b
    `),
    // Each sample stands for two columns on either side, the first and the last of them for three outwards.
    { 'before aten::linear': 2, tokenize: 12, 'aten::linear': 3, cudaLaunchKernel: 1 },
  );
});

test('a wait in which all wait names the thread whose own wait ended last, until it did', () => {
  assert.deepEqual(
    blockers(`
      P = sem_wait
      N = clock_nanosleep
      os    ..PPPPPPPP...
      os2   NNNNNNN.NNNNN
      cpu   a...........b
      gpu   .a...........b
    `),
    {
      sem_wait: 3,
      'sem_wait → meanwhile thread 2: clock_nanosleep': 5,
      'before the launch of b': 2,
      cudaLaunchKernel: 1,
    },
  );
});

test('timed waits that end at Python’s switch interval are waits for the GIL, others are not', () => {
  const drawing = `
      P = pthread_cond_timedwait
      os    ..P.P.P.P.P.P..
      cpu   a.............b
      gpu   .a.............b
    `;
  const waits = (columnUs: number) =>
    Object.keys(blockers(drawing, columnUs)).filter(label => label.startsWith('pthread'));
  assert.deepEqual(waits(5100), ['pthread_cond_timedwait (the GIL)']);
  assert.deepEqual(waits(7000), ['pthread_cond_timedwait']);
});

test('a lock that threads pass back and forth is the GIL; a queue that one fills for the other is not', () => {
  const turns = (own: string) => own.repeat(120);
  const waits = (first: string, second: string) =>
    Object.keys(
      blockers(
        `
      P = pthread_cond_timedwait
      S = pthread_cond_signal
      os    ${turns(first)}
      os2   ${turns(second)}
      cpu   a${'.'.repeat(4 * 120)}b
      gpu   .a${'.'.repeat(4 * 120)}b
    `,
        30,
      ),
    ).filter(label => label.startsWith('pthread_cond_timedwait'));
  assert.deepEqual(waits('.PS.', 'S.P.'), ['pthread_cond_timedwait (the GIL)']);
  assert.deepEqual(waits('.P..', 'S...'), ['pthread_cond_timedwait']);
});

test('who sleeps waits for no other thread', () => {
  const found = blockers(`
      N = clock_nanosleep
      P = epoll_wait
      os    ..NNNNNNNN...
      os2   PPPPPPPP.PPPP
      cpu   a...........b
      gpu   .a...........b
    `);
  assert.equal(found.clock_nanosleep, 8);
});

test('Python stacks of calls name their callers, and the time between two calls by what both have in common', () => {
  const drawn = drawProfile(
    `
      x = step
      y = tokenize
      z = run.py
      nvtx ...............xyz
      cpu  aaa.......b
      gpu  .a.........b
    `,
    COLUMN_US * 1000,
  );
  const [step, tokenize, file] = ['step', 'tokenize', 'run.py'].map(
    text => drawn.strings.find(text) as number,
  );
  // Both are called by `step`, the second through `tokenize`.
  const stackFrames = {
    length: 2,
    parent: Int32Array.from([-1, 0]),
    name: Int32Array.from([step, tokenize]),
    module: Int32Array.from([file, file]),
    kind: new Uint8Array(2).fill(FrameKind.python),
    line: Int32Array.from([7, 3]),
  };
  const apiCalls = { ...drawn.tables.apiCalls!, pythonStack: Int32Array.from([0, 1]) };
  const tables = { ...drawn.tables, apiCalls, stackFrames, ranges: undefined };
  const profile = { ...drawn, tables } as unknown as Profile;
  const { paths, sums } = new Analyzer(profile, { whole: true }).get(hostBlockers);
  const labels = [...sums(null, 'all')!.selfNs].flatMap((ns, node) => (ns > 0 ? [labelOf(paths, node)] : []));
  assert.deepEqual(labels.sort(), [
    'step (run.py:7) → before the launch of b',
    'step (run.py:7) → cudaLaunchKernel',
    'tokenize (run.py:3) → cudaLaunchKernel',
  ]);
});

test('a thread that could run and has no CPU names who has it', () => {
  assert.deepEqual(
    blockers(`
      L = layer.2.mlp
      p = poll
      nvtx  ..LLLLLLLLLL...
      os    .............p.
      run   3333....3333333
      run2  ....3333.......
      cpu   a.............b
      gpu   .a.............b
    `),
    {
      'layer.*.mlp': 6,
      'layer.*.mlp → runnable, its CPU runs thread 2': 4,
      'before the launch of b': 1,
      poll: 1,
      cudaLaunchKernel: 1,
    },
  );
});

test('a lock that another thread sleeps with is named first, and stacks of calls name their operators', async () => {
  const analyzer = new Analyzer(await openProfile([fixture('stacks/lock-held.sqlite.gz')]));
  const { paths, windows, sums } = analyzer.get(hostBlockers);
  const [phase] = windows.keys();
  const labels = (causes: 'host-work' | 'launch-bound') =>
    hotPaths(paths, sums(phase, causes)!).map(({ label }) => label);
  assert.match(
    labels('host-work')[0],
    /^PyThread_acquire_lock_timed → sem_wait → meanwhile thread python3 \(\d+\): clock_nanosleep$/,
  );
  assert.match(labels('launch-bound')[0], /^aten::matmul → aten::mm → .*cuLaunchKernel$/);
});

test('names are those of many instances: numbers, addresses and folders go', () => {
  const text = (name: ReturnType<typeof nameOfFrame>) => name?.text;
  assert.equal(text(nameOfFrame('nn.Module: Qwen2MLP_12')), 'Qwen2MLP.forward');
  assert.equal(
    text(nameOfFrame('/opt/sglang/srt/managers/scheduler.py(3197): run_batch')),
    'run_batch (scheduler.py:3197)',
  );
  assert.equal(text(nameOfFrame('json/__init__.py(183): dumps')), 'dumps (json/__init__.py:183)');
  assert.equal(text(nameOfFrame('<built-in method item of Tensor object at 0x7f12>')), 'Tensor.item');
  assert.equal(text(nameOfFrame('<built-in function isinstance>')), undefined);
  assert.equal(nameOfFrame('threading.py(637): wait')?.waits, 'other');
  assert.equal(nameOfFrame('queue.py(154): get')?.waits, 'other');
  assert.equal(text(nameOfRange('model.layers.3.mlp')), 'model.layers.*.mlp');
  assert.equal(text(nameOfRange('cast to bf16')), 'cast to bf16');
  assert.deepEqual(nameOfRange('aten::mul, op_id = 12'), { text: 'aten::mul', kind: 'operator' });
  assert.equal(text(nameOfRange('Python GC generation 2')), 'Python GC generation 2');
  assert.equal(nameOfRange('Holding GIL'), undefined);
  assert.equal(nameOfOsCall('epoll_wait').waits, 'other');
  assert.equal(nameOfOsCall('munmap').waits, undefined);
});

test('stepscope host prints the tree, and says where there is none', async () => {
  const eager = await runStepscope(['host', capturePath('eager', 'kineto.json.gz'), '--depth', '2']);
  assertGolden('host-eager.txt', eager.out);
  const hidden = await runStepscope(['host', capturePath('agent-router-learned')]);
  assert.match(hidden.out, /The GPU does not wait for the host in the selected steps\./);
  const client = await runStepscope(['host', capturePath('client')]);
  assert.match(client.err, /Not recorded: GPU work\.\nTo record it: /);
});

test('a stack as deep as no program is costs no more than its events', () => {
  const deep = 20_000;
  const profile = drawProfile(
    `
    cpu  a.........b
    gpu  .a.........b
  `,
    COLUMN_US * 1000,
  );
  const [start, end] = [0, 10 * COLUMN_US * 1000];
  const strings = profile.strings;
  const frames = {
    length: deep,
    start: Float64Array.from({ length: deep }, (_, i) => start + i),
    end: Float64Array.from({ length: deep }, (_, i) => end - i),
    thread: new Int32Array(deep),
    name: new Int32Array(deep).fill(strings.find('cudaLaunchKernel_v7000') as number),
  } as unknown as Profile['tables']['frames'];
  const analyzer = new Analyzer({ ...profile, tables: { ...profile.tables, frames } }, { whole: true });
  const { paths, sums } = analyzer.get(hostBlockers);
  const all = sums(null, 'all')!;
  assertAddsUp(callTree(paths, all));
  assertAddsUp(invertedTree(paths, all));
  assert.ok(hotPaths(paths, all).length > 0);
  assert.ok(paths.size < 2000, `${paths.size} nodes`);
});

test('advice follows the name of the code', () => {
  const cases: readonly (readonly [name: string, what: string | undefined])[] = [
    ['Tensor.item', 'reading a value back'],
    ['aten::_local_scalar_dense', 'reading a value back'],
    ['detokenize_incrementally (detokenizer_utils.py:89)', 'detokenization and tokenization'],
    ['_ignore_causal_mask_sdpa (modeling_attn_mask_utils.py:243)', 'guided decoding and masks'],
    ['Sampler.forward', 'sampling'],
    ['emit (logging/__init__.py:1120)', 'logging and statistics'],
    ['llm_engine step: record_stats', 'logging and statistics'],
    ['dumps (json/__init__.py:183)', 'JSON'],
    ['send_pyobj (socket.py:901)', 'messages between processes'],
    ['Python GC generation 2', 'garbage collection'],
    ['cudaMalloc', 'memory allocation'],
    ['asm_exc_page_fault', 'page faults'],
    ['munmap', 'returning memory to the system'],
    ['executor_utils::Nvrtc::CompileProgram', 'compiling, tuning or loading code'],
    ['init_forward_metadata (aiter_backend.py:661)', 'preparing inputs'],
    ['enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'loading data'],
    ['write', 'files and terminals'],
    ['meanwhile thread metrics', 'waiting for another thread or process'],
    ['runnable, its CPU runs thread stress', 'no CPU'],
    ['LlamaMLP.forward', undefined],
    ['aten::linear', undefined],
    ['catalog (catalog.py:3)', undefined],
    ['cudaLaunchKernel', undefined],
  ];
  for (const [name, what] of cases) assert.equal(adviceOnCode([name])?.what, what, name);
});

/** Files with each kind of information: operators, frames, ranges, OS calls, samples, the GIL, collections. */
const real = [
  fixture('stacks/lock-held.sqlite.gz'),
  capturePath('eager', 'kineto.json.gz'),
  capturePath('gil'),
  capturePath('gc'),
  capturePath('agent-llama-graph', 'kineto.json.gz'),
  capturePath('two-processes'),
  ...(locate('external')
    ? [
        'sglang-gptoss120b-eagle3/bs-1-il-4096-1780800503.2446792-TP-0-DECODE.trace.json.gz',
        'nsys/h100-2gpu-nccl-3.25.sqlite.gz',
      ].map(name => path.join(locate('external')!, name))
    : []),
];

test('names, call tree and inverted tree sum to the host-caused idle time of the budget, to the nanosecond', async () => {
  for (const file of real) {
    const analyzer = new Analyzer(await openProfile([file]));
    const { paths, windows, sums } = analyzer.get(hostBlockers);
    const budget: Record<string, number> = {};
    for (const { budget: own } of analyzer.get(windowBudgets))
      for (const [cause, ns] of Object.entries(own.idleByCause)) budget[cause] = (budget[cause] ?? 0) + ns;
    for (const cause of hostCauses) {
      const named = [...windows.keys()].flatMap(phase => [...(sums(phase, cause)?.selfNs ?? [])]);
      assert.equal(
        named.reduce((sum, ns) => sum + ns, 0),
        budget[cause] ?? 0,
        `${file}: ${cause}`,
      );
    }
    for (const phase of windows.keys()) {
      const all = sums(phase, 'all');
      if (!all) continue;
      const ns = all.selfNs.reduce((sum, own) => sum + (own ?? 0), 0);
      for (const tree of [callTree, invertedTree])
        for (const limits of [undefined, { leastShare: 0.05, depth: 4 }]) {
          const root = tree(paths, all, limits);
          assert.equal(root.totalNs, ns);
          assertAddsUp(root);
        }
    }
  }
});

function assertAddsUp(node: CallNode): void {
  const below = node.children.reduce((sum, child) => sum + child.totalNs, 0);
  assert.equal(node.selfNs + below, node.totalNs, node.name);
  node.children.forEach(assertAddsUp);
}
