/** Commands as users paste them: variables in front, nsys around the program, flags of nsys among ours. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { readPasted } from '../src/capture/pasted-command.js';
import { pastedWords, shellCommands } from '../src/capture/shell-words.js';
import { lacks } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-pasted-'));
after(() => fs.rmSync(work, { recursive: true }));

const versions = ['--nsys-version', '2025.3.1', '--engine-version', '1.2.0'];
const planOf = async (...args: string[]) => {
  const { status, out, err } = await runStepscope(['capture', '--json', ...versions, ...args]);
  assert.equal(status, 0, err);
  return answerIn(out) as {
    command: string[];
    nsysAt: number;
    env: Record<string, string>;
    server: boolean;
    warnings: { code: string; severity: string; text: string }[];
  };
};
const codesOf = ({ warnings }: { warnings: { code: string }[] }) => warnings.map(({ code }) => code);

/** The guides' own line. */
const GUIDE = `TLLM_PROFILE_START_STOP=100-150 nsys profile \\
  -o trace -f true \\
  -t 'cuda,nvtx,python-gil' -c cudaProfilerApi \\
  --cuda-graph-trace node \\
  -e TLLM_PROFILE_RECORD_GC=1,TLLM_LLMAPI_ENABLE_NVTX=1,TLLM_TORCH_PROFILE_TRACE=trace.json \\
  --trace-fork-before-exec=true \\
  trtllm-bench --model M throughput --dataset 'my data.txt' --warmup 0 > run.log 2>&1 &`;

test('a line is split as a shell splits it', () => {
  assert.deepEqual(shellCommands(`a 'b c' "d \\"e\\"" f\\ g # no`), [['a', 'b c', 'd "e"', 'f g']]);
  assert.deepEqual(shellCommands('a b > log 2>&1 && c | d; e &'), [['a', 'b'], ['c'], ['d'], ['e']]);
  assert.deepEqual(shellCommands('a \\\n  b\nc ""'), [
    ['a', 'b'],
    ['c', ''],
  ]);
  assert.deepEqual(pastedWords('cd /x && export A=1 B=2; nsys profile x', 'nsys'), [
    ...['A=1', 'B=2', 'nsys', 'profile', 'x'],
  ]);
  assert.throws(() => shellCommands("a 'b"), /is not closed/);
});

test('the line of the guide: nsys once, its flags kept, the range no longer ends the program', async () => {
  const plan = await planOf('--', ...pastedWords(GUIDE, 'nsys'));
  assert.equal(plan.command.filter(word => word === 'nsys').length, 1);
  assert.deepEqual(plan.command.slice(-8), [
    ...['trtllm-bench', '--model', 'M', 'throughput', '--dataset', 'my data.txt', '--warmup', '0'],
  ]);
  assert.deepEqual(plan.env, {
    TLLM_PROFILE_START_STOP: '100-150',
    TLLM_PROFILE_RECORD_GC: '1',
    TLLM_LLMAPI_ENABLE_NVTX: '1',
    TLLM_TORCH_PROFILE_TRACE: 'trace.json',
  });
  const own = plan.command.slice(plan.nsysAt).join(' ');
  for (const words of ['-o trace', '-f true', '-t cuda,nvtx,python-gil', '-c cudaProfilerApi'])
    assert.ok(own.includes(words), words);
  assert.ok(own.includes('--capture-range-end=stop') && own.includes('--cuda-graph-trace=node'));
  const codes = codesOf(plan);
  assert.ok(codes.includes('range-ends-program'));
  assert.ok(!codes.includes('graphs-hidden') && !codes.includes('whole-run'));
});

test('short forms, joined forms and values after a space are the same', () => {
  const forms = [
    'nsys profile -t cuda,osrt -y 5 -d 10 -s process-tree -o x --cuda-memory-usage true prog -t 1',
    'nsys profile -tcuda,osrt --delay=5 --duration 10 --sample=process-tree --output=x --cuda-memory-usage=true prog -t 1',
    'nsys profile --trace=cuda,osrt -y=5 -d10 -s=process-tree -ox --cuda-memory-usage=true prog -t 1',
  ].map(line => readPasted(line.split(' ')));
  for (const { command, options } of forms) {
    assert.deepEqual(command, ['prog', '-t', '1']);
    assert.deepEqual(options, {
      ...{ osrt: true, delayS: 5, durationS: 10, sample: true, output: 'x', cudaMemory: true },
    });
  }
});

/** What a command lacks, and that the flawless one lacks nothing of it. */
const flaws: readonly (readonly [code: string, command: string, without: string])[] = [
  [
    'graphs-hidden',
    'nsys profile -t cuda,nvtx trtllm-serve M',
    'nsys profile --cuda-graph-trace=node trtllm-serve M',
  ],
  [
    'range-ends-program',
    'nsys profile -c cudaProfilerApi prog',
    'nsys profile -c cudaProfilerApi --capture-range-end=stop prog',
  ],
  [
    'client-profiled',
    'nsys profile curl http://localhost:8000/v1/completions',
    'nsys profile trtllm-serve M',
  ],
  ['client-profiled', 'nsys profile vllm bench serve --model M', 'nsys profile vllm serve M'],
  [
    'option-without-effect',
    'nsys profile --gpu-metrics-frequency=20000 prog',
    'nsys profile --gpu-metrics-frequency=20000 --gpu-metrics-devices=all prog',
  ],
  [
    'option-without-effect',
    'nsys profile -t cuda --osrt-threshold=80 prog',
    'nsys profile -t osrt --osrt-threshold=80 prog',
  ],
  ['no-counters', 'nsys profile prog', 'nsys profile --gpu-metrics-devices=all prog'],
  [
    'whole-run',
    'nsys profile trtllm-serve M',
    'TLLM_PROFILE_START_STOP=5-9 nsys profile -c cudaProfilerApi trtllm-serve M',
  ],
  [
    'never-opens-range',
    'nsys profile -c cudaProfilerApi trtllm-serve M',
    'TLLM_PROFILE_START_STOP=5-9 nsys profile -c cudaProfilerApi trtllm-serve M',
  ],
  ['nvtx-not-traced', 'nsys profile -t cuda prog', 'nsys profile -t cuda,nvtx prog'],
  ['fork-not-set', 'nsys profile prog', 'nsys profile --trace-fork-before-exec=true prog'],
  ['outside-launcher', 'nsys profile mpirun -n 2 prog', 'mpirun -n 2 nsys profile prog'],
  [
    'env-split',
    'nsys profile -e TLLM_PROFILE_START_STOP=5-9,20-29 trtllm-serve M',
    'nsys profile -e A=1,B=2 trtllm-serve M',
  ],
];

for (const [code, wrong, right] of flaws)
  test(`${wrong}: ${code}`, async () => {
    assert.ok(codesOf(await planOf('--', ...wrong.split(' '))).includes(code));
    assert.ok(!codesOf(await planOf('--', ...right.split(' '))).includes(code), right);
  });

test('variables in front are the environment, not the program', async () => {
  const plan = await planOf('--', 'A=1', 'B=x=y', 'trtllm-serve', 'M');
  assert.deepEqual([plan.env.A, plan.env.B, plan.server], ['1', 'x=y', true]);
  assert.deepEqual(plan.command.slice(-2), ['trtllm-serve', 'M']);
  assert.deepEqual((await planOf('--', 'env', 'A=1', 'trtllm-serve', 'M')).env, { A: '1' });
});

test('under a launcher nsys stays between launcher and program, and -e reaches the ranks', async () => {
  const plan = await planOf(
    ...[
      '--',
      'mpirun',
      '-n',
      '2',
      'nsys',
      'profile',
      '-o',
      'r.%q{OMPI_COMM_WORLD_RANK}',
      '-e',
      'A=1',
      'prog',
    ],
  );
  assert.deepEqual(plan.command.slice(0, 8), ['mpirun', '-x', 'A', '-n', '2', 'nsys', 'profile', '-o']);
  assert.equal(plan.command[8], 'r.%q{OMPI_COMM_WORLD_RANK}');
});

test('options of nsys among ours: understood, the rest handed on, ours of the same name replaced', async () => {
  const plan = await planOf(
    ...['--gc', '-t', 'cuda,nvtx,ucx', '-e', 'A=1', '--cuda-memory-usage=true', '--force-overwrite=true'],
    ...['--cuda-graph-trace=graph', '--nsys-args', '--cpuctxsw=process-tree --stats=true', '--', 'prog'],
  );
  const own = plan.command.join(' ');
  for (const words of ['-t cuda,nvtx,ucx', '-f true', '--cuda-graph-trace=graph', '--cuda-memory-usage=true'])
    assert.ok(own.includes(words), `${words} in ${own}`);
  assert.ok(own.includes('--cpuctxsw=process-tree') && own.includes('--stats=true'));
  assert.ok(!own.includes('--cpuctxsw=none'), own);
  assert.equal(plan.env.A, '1');
  // As a switch, without its value.
  assert.ok(
    (await planOf('--cuda-memory-usage', '--gc', '--', 'prog')).command.includes('--cuda-memory-usage=true'),
  );
  // What both have is ours: a name, not a value of nsys.
  assert.ok(
    (await planOf('-o', 'mine', '--', 'nsys', 'profile', '-o', 'theirs', 'prog')).command.includes('mine'),
  );
});

test('a range that repeats writes one report each', async () => {
  const plan = async (end: string) =>
    (await planOf(
      '--',
      'nsys',
      'profile',
      '-c',
      'cudaProfilerApi',
      `--capture-range-end=${end}`,
      'prog',
    )) as unknown as {
      outputs: { pattern: string; count?: number }[];
    };
  const [three] = (await plan('repeat:3')).outputs;
  assert.deepEqual([three.pattern, three.count], ['trace.*.nsys-rep', 3]);
  const [endless] = (await plan('repeat')).outputs;
  assert.deepEqual([endless.pattern, endless.count], ['trace.*.nsys-rep', undefined]);
});

test('--explain judges and prints the corrected command', async () => {
  const { status, out } = await runStepscope(['capture', '--explain', GUIDE, ...versions]);
  assert.equal(status, 0);
  assert.match(out, /^Found\n/);
  assert.match(out, /\(range-ends-program\)/);
  assert.match(out, /Corrected\n(.|\n)*nsys profile \\\n(.|\n)*--capture-range-end=stop/);
  const [, corrected] = out.split('Corrected\n');
  const again = await runStepscope(['capture', '--explain', corrected, ...versions]);
  // Corrected once is correct: only hints about what else could be recorded are left.
  assert.doesNotMatch(again.out, /error:|range-ends-program|graphs-hidden|fork-not-set|samples-by-default/);
  assert.equal(again.out.split('Corrected\n')[1], corrected);
});

test('what cannot be taken over is told in two lines', async () => {
  for (const args of [
    ['--', 'nsys', 'launch', 'prog'],
    ['--', 'nsys', 'profile', '-o', 'x'],
    ['--', 'nsys', 'profile', '-d', 'soon', 'prog'],
    ['--explain', "nsys profile 'prog"],
    ['--explain', 'nsys profile prog', '--', 'prog'],
    ['--explain', ''],
  ]) {
    const { status, err } = await runStepscope(['capture', ...versions, ...args]);
    assert.equal(status, 2, args.join(' '));
    assert.equal(err.trimEnd().split('\n').length, 2, err);
  }
});

test('the real nsys runs the corrected command, with its variables', { skip: lacks('nsys') }, async () => {
  const report = path.join(work, 'pasted');
  const said = path.join(work, 'said');
  const { err } = await runStepscope([
    ...['capture', '--', 'GREETING=hello', 'nsys', 'profile', '-o', report, '-f', 'true', '-t', 'nvtx'],
    ...['-e', 'MORE=two', 'sh', '-c', `echo "$GREETING $MORE" > ${said}; sleep 0.1`],
  ]);
  assert.ok(fs.existsSync(`${report}.nsys-rep`), err);
  assert.equal(fs.readFileSync(said, 'utf8'), 'hello two\n');
  assert.match(err, /--trace has no cuda/);
  const recipe = JSON.parse(fs.readFileSync(`${report}.recipe.json`, 'utf8')) as { command: string[] };
  assert.equal(recipe.command.filter(word => /(^|\/)nsys$/.test(word)).length, 1);
});
