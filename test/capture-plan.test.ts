/** Plans of captures: by engine, version and launcher, beside the guides people follow, and as a shell reads them. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AgentFacts, CaptureOptions, CapturePlan } from '../src/capture/capture-plan.js';
import { capturePlanSchema } from '../src/capture/capture-schema.js';
import { endRule, readIterations, startStopValue } from '../src/capture/iterations.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { planDocument } from '../src/capture/plan-json.js';
import { globOf, planScript } from '../src/capture/plan-script.js';
import { commandText, planText } from '../src/capture/plan-text.js';
import { programOf, pythonInScript } from '../src/capture/python-of.js';
import { canImport } from '../src/capture/run/ask-python.js';
import { localTransport } from '../src/capture/run/transport.js';
import { shellCommand, shellQuote } from '../src/capture/shell-quote.js';
import { parseVersion } from '../src/capture/versions.js';
import { runCommand } from '../src/cli/main.js';
import type { Output } from '../src/cli/output.js';
import { projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { lacks, locate } from '../src/testing/needs.js';
import { captureCases } from './capture-cases.js';
import { answerIn } from './run-stepscope.js';

const withShell = { skip: lacks('shell') };

const caseOf = (name: string): CapturePlan => {
  const found = captureCases.find(known => known.name === name)!;
  return planCapture(found.options, found.facts);
};
const codes = (plan: CapturePlan) => plan.warnings.map(({ code }) => code);
const planOf = (command: string, options: Partial<CaptureOptions> = {}) =>
  planCapture({ command: command.split(' '), ...options });

for (const { name, options, facts } of captureCases)
  test(`golden: ${name}`, () => assertGolden(`capture-${name}.txt`, planText(planCapture(options, facts))));

test('samples include those of Python where nsys takes them', () => {
  const command = (version: string) =>
    commandText(planCapture({ command: ['x'], sample: true }, { nsysVersion: parseVersion(version) }));
  assert.match(command('2025.3.1'), /-s process-tree[\s\S]*--python-sampling=true/);
  assert.doesNotMatch(command('2022.4.2'), /python-sampling/);
});

test('a variable that ends an engine without nvtx is set only where nvtx is known to be there', async () => {
  const name = 'VLLM_NVTX_SCOPES_FOR_PROFILING';
  const plan = (nvtxModule?: boolean) =>
    planCapture({ command: ['vllm', 'serve', 'M'] }, { nvtxModule, engineVersion: parseVersion('0.16.0') });
  assert.equal(plan(true).env[name], '1');
  for (const known of [false, undefined]) {
    assert.equal(plan(known).env[name], undefined);
    assert.ok(codes(plan(known)).includes('no-nvtx'));
  }
  assert.ok(!codes(plan(true)).includes('no-nvtx'));
  // Known to be missing: a script for this machine need not ask.
  assert.equal(plan(false).optionalEnv, undefined);
  assert.deepEqual(plan().optionalEnv, [{ name, value: '1', module: 'nvtx' }]);
});

test('a script asks Python itself before it sets such a variable', withShell, () => {
  const plan = planCapture({ command: ['vllm', 'serve', 'M'] }, { engineVersion: parseVersion('0.16.0') });
  const script = planScript(plan, { force: false });
  assert.doesNotMatch(script, /could not be checked/);
  const asked = /^if python3 -c .+\n.+\nfi$/m.exec(script)?.[0] ?? '';
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-nvtx-'));
  try {
    for (const [status, expected] of [
      [0, '1'],
      [1, 'unset'],
    ] as const) {
      const python = `#!/bin/sh\n[ "$*" = "-c import nvtx" ] && exit ${status}\nexit 9\n`;
      fs.writeFileSync(path.join(folder, 'python3'), python, { mode: 0o755 });
      const text = `${asked}\necho "\${VLLM_NVTX_SCOPES_FOR_PROFILING:-unset}"`;
      const { stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', text], {
        encoding: 'utf8',
        env: { PATH: `${folder}:${process.env.PATH}` },
      });
      assert.equal(stdout.trim(), expected, stderr);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test('whether a module is there, the Python of the command is asked', { skip: lacks('python') }, async () => {
  const python = locate('python')!;
  const has = (module: string, ...command: string[]) => canImport(localTransport, command, module);
  assert.equal(await has('json', python, 'serve.py'), true);
  assert.equal(await has('no_such_module', python, 'serve.py'), false);
  // The script of an environment names its own Python.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-asked-'));
  try {
    const program = path.join(folder, 'vllm');
    fs.writeFileSync(program, `#!${python}\nimport vllm\n`, { mode: 0o755 });
    assert.equal(await has('no_such_module', program, 'serve', 'M'), false);
    fs.writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    assert.equal(await has('json', program, 'serve', 'M'), undefined);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  assert.equal(await has('json', 'no-such-program'), undefined);
});

test('every word nsys is given has a reason, and so has every variable', () => {
  for (const { name } of captureCases) {
    const plan = caseOf(name);
    if (plan.nsysAt < 0) continue;
    const given = plan.command.slice(plan.nsysAt + 2, plan.programAt).join(' ');
    const nsysReasons = plan.why.slice(0, plan.why.length).map(({ what }) => what);
    assert.ok(nsysReasons.join(' ').startsWith(given), name);
    for (const [key, value] of Object.entries(plan.env))
      assert.ok(nsysReasons.includes(`${key}=${value}`), `${name}: ${key}`);
  }
});

test('plans as JSON follow the schema', () => {
  const validate = new Ajv2020({ allowUnionTypes: true }).compile(capturePlanSchema);
  for (const { name } of captureCases) {
    const document = JSON.parse(JSON.stringify(planDocument(caseOf(name))));
    assert.ok(validate(document), `${name}: ${JSON.stringify(validate.errors)}`);
  }
});

/**
 * The command of TensorRT-LLM's performance guide (1.2.0rc7), option by option. What differs is named here with the
 * reason; everything else must be equal.
 */
test('TensorRT-LLM’s own guide', () => {
  const plan = caseOf('trtllm-bench-1.2');
  const given = plan.command.slice(plan.nsysAt, plan.programAt).join(' ');
  const guide = [
    '-o trace',
    '-f true',
    '-t cuda,nvtx,python-gil',
    '-c cudaProfilerApi',
    '--trace-fork-before-exec=true',
  ];
  for (const option of guide) assert.ok(given.includes(option), option);
  // Written with an equals sign, as nsys documents long options.
  assert.ok(given.includes('--cuda-graph-trace=node'));
  // In the environment instead of -e: nsys splits -e at commas and refuses A=10-20,30-40 ("Illegal --env-var argument").
  assert.deepEqual(plan.env, {
    TLLM_PROFILE_START_STOP: '100-150',
    TLLM_PROFILE_RECORD_GC: '1',
    TLLM_LLMAPI_ENABLE_NVTX: '1',
    TLLM_TORCH_PROFILE_TRACE: 'trace.json',
  });
  // Not in the guide: without the first, nsys ends the benchmark with the range (exit status 143 on an H200) and no
  // result is printed; without the others it samples the CPU and threads, and its raw stream grows from 2 MB to 2 GB.
  const added = ['--capture-range-end=stop', '-s none', '--cpuctxsw=none'];
  const rest = [...guide, '--cuda-graph-trace=node', ...added].reduce(
    (text, option) => text.replace(` ${option}`, ''),
    given,
  );
  assert.equal(rest, 'nsys profile');
  assert.equal(plan.command.slice(plan.programAt).join(' '), captureCases[0].options.command.join(' '));
});

test('guides that are wrong: graphs hidden in a server, a client instead of the server', () => {
  // The serve example of one guide leaves out --cuda-graph-trace: decode would be blocks.
  assert.ok(caseOf('trtllm-serve').command.includes('--cuda-graph-trace=node'));
  // Another wraps curl; its reports of 60 kB hold no GPU work.
  const client = caseOf('client');
  assert.equal(client.warnings[0].code, 'client-profiled');
  assert.equal(client.warnings[0].severity, 'error');
  // The practice log records the whole run.
  assert.ok(codes(caseOf('trtllm-bench-engine')).includes('whole-run'));
});

test('clients are told from engines', () => {
  const clients = [
    'vllm bench serve --model m',
    'python benchmarks/benchmark_serving.py --model m',
    'python3 -m sglang.bench_serving --backend sglang',
    'python -m tensorrt_llm.serve.scripts.benchmark_serving',
    'genai-perf profile -m m',
    'aiperf profile -m m',
    'env A=1 wget http://x',
  ];
  for (const command of clients) assert.ok(codes(planOf(command)).includes('client-profiled'), command);
  const engines = [
    'vllm bench latency --model m',
    'trtllm-bench --model m throughput',
    'python serve.py',
    'vllm serve m',
  ];
  for (const command of engines) assert.ok(!codes(planOf(command)).includes('client-profiled'), command);
});

test('presets are told from the command', () => {
  const table: [string, string, boolean][] = [
    ['trtllm-bench --model m throughput', 'trtllm-bench', false],
    ['numactl -N 0 trtllm-serve m', 'trtllm-serve', true],
    ['mpirun -x A=1 -mca btl tcp -n 2 trtllm-llmapi-launch trtllm-serve m', 'trtllm-serve', true],
    ['srun -N1 -n 4 /usr/bin/python3 -m vllm.entrypoints.openai.api_server --model m', 'vllm', true],
    ['vllm bench throughput --model m', 'vllm', false],
    ['python -m sglang.launch_server --model-path m', 'sglang', true],
    ['python -m sglang.bench_one_batch --model-path m', 'sglang', false],
    ['text-generation-launcher --model-id m', 'tgi', true],
    ['docker run --gpus all nvcr.io/nim/meta/llama3-8b-instruct:1.0.0', 'nim', true],
    ['torchrun --nproc_per_node=2 -m my.engine', 'python', false],
  ];
  for (const [command, preset, server] of table) {
    const plan = planOf(command);
    assert.deepEqual([plan.preset, plan.server], [preset, server], command);
  }
  assert.ok(codes(planOf('docker run nvcr.io/nim/x')).includes('container-not-followed'));
});

test('both ends of --iterations belong to it, whatever the version makes of its variable', () => {
  const rule = (version: string | undefined, cpp = false) =>
    endRule(version === undefined ? undefined : parseVersion(version), cpp);
  assert.deepEqual(
    ['0.17.0', '1.0.0', '1.2.0rc7', '1.2.1', '1.3.0rc4', '1.3.0', '1.3.0.post1', '1.4.0rc1', '2.0'].map(v =>
      rule(v),
    ),
    [
      'included',
      'included',
      'included',
      'included',
      'unknown',
      'left-out',
      'left-out',
      'left-out',
      'left-out',
    ],
  );
  assert.equal(rule(undefined), 'unknown');
  assert.equal(rule('1.4.0', true), 'included');
  const value = (text: string, of: Parameters<typeof startStopValue>[1]) =>
    startStopValue(readIterations(text), of);
  assert.equal(value('100-150', 'included'), '100-150');
  assert.equal(value('100-150', 'left-out'), '100-151');
  assert.equal(value('120', 'included'), '120-120');
  assert.equal(value('120', 'left-out'), '120-121');
  assert.equal(value('120', 'unknown'), '120-121');
  assert.equal(value('20,21,30-40', 'unknown'), '20-21,30-40');
});

/** What the executor of each era records, from the order of its tests; undefined where its assertion ends the loop. */
function recorded(value: string, era: 'included' | 'left-out'): number[] | undefined {
  const spans = value.split(',').map(span => span.split('-').map(Number));
  const starts = new Set(spans.map(([a]) => a));
  const stops = new Set(spans.map(([, b]) => b));
  const steps: number[] = [];
  let on = false;
  for (let pass = 0; pass < 400; pass++) {
    if (stops.has(era === 'included' ? pass - 1 : pass)) {
      if (!on) return undefined;
      on = false;
    }
    if (starts.has(pass)) {
      if (on) return undefined;
      on = true;
    }
    if (on) steps.push(pass);
  }
  return steps;
}

test('TensorRT-LLM records exactly what was asked for, in both eras', () => {
  for (const text of ['5-9', '7', '3-4,6-9', '10-20,21-30', '1,3,5', '0-0']) {
    const wanted = readIterations(text).flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    );
    for (const era of ['included', 'left-out'] as const) {
      assert.deepEqual(recorded(startStopValue(readIterations(text), era), era), wanted, `${text} ${era}`);
      const unknown = recorded(startStopValue(readIterations(text), 'unknown'), era);
      assert.ok(unknown, `${text}: the loop dies in era ${era}`);
      const off = Math.abs(unknown.length - wanted.length);
      assert.ok(off <= readIterations(text).length, `${text} ${era}: ${unknown}`);
    }
  }
});

test('ranges that are none are refused in two lines', () => {
  for (const text of ['', '5-', '-5', '9-3', '1-2-3', 'a', '1-5,4-9'])
    assert.throws(() => readIterations(text), { name: 'UserError' }, text);
});

test('variables reach the ranks', () => {
  const mpirun = caseOf('mpirun').command;
  for (const name of Object.keys(caseOf('mpirun').env))
    assert.equal(mpirun[mpirun.indexOf(name) - 1], '-x', name);
  const given = planOf('mpirun -x TLLM_PROFILE_RECORD_GC=1 -n 2 trtllm-llmapi-launch trtllm-serve m', {
    gc: true,
  });
  assert.equal(given.command.filter(word => word === '-x').length, 1);
  assert.ok(
    !planOf('mpiexec.hydra -n 2 trtllm-llmapi-launch trtllm-serve m', { gc: true }).command.includes('-x'),
  );
  assert.ok(planOf('mpiexec.hydra -n 2 trtllm-serve m').command.join(' ').includes('%q{PMI_RANK}'));
  assert.ok(
    codes(planOf('srun --export=PATH -n 2 trtllm-llmapi-launch trtllm-serve m')).includes('srun-export'),
  );
  assert.ok(codes(planOf('mpirun -n 2 trtllm-serve m')).includes('llmapi-launch'));
});

test('which Python a command runs in', () => {
  const program = (command: string) => programOf(command.split(' '));
  assert.equal(program('numactl -N 0 env A=b /opt/venv/bin/python3.12 serve.py'), '/opt/venv/bin/python3.12');
  assert.equal(program('torchrun --nproc-per-node 2 serve.py'), 'python3');
  assert.equal(program('srun -n 2 vllm serve M'), 'vllm');
  assert.equal(program('uv run python serve.py'), undefined);
  for (const [head, python] of [
    ['#!/opt/venv/bin/python\nimport sys', '/opt/venv/bin/python'],
    ['#! /usr/bin/env -S python3 -u', 'python3'],
    [`#!/bin/sh\n'''exec' /a/long/python3.11 "$0" "$@"\n`, '/a/long/python3.11'],
    [`#!/bin/sh\n'''exec' "/with space/python" "$0" "$@"\n`, '/with space/python'],
    ['#!/bin/bash\nexec python3 -m x', undefined],
    ['ELF', undefined],
  ] as const)
    assert.equal(pythonInScript(head), python, head);
});

test('an installed agent is used only if it is of our version', () => {
  const asked = { command: ['python3', 'serve.py'], agent: '/ours', iterations: readIterations('20-60') };
  const brought = (agent?: AgentFacts) => planCapture(asked, { agent }).env.PYTHONPATH;
  assert.equal(brought(), '/ours');
  assert.equal(brought({ ours: '1.2.3' }), '/ours');
  assert.equal(brought({ ours: '1.2.3', installed: '1.2.3' }), undefined);
  assert.equal(brought({ ours: '1.2.3', installed: '1.2.30' }), '/ours');
  const warned = (installed: string) => codes(planCapture(asked, { agent: { ours: '1.2.3', installed } }));
  assert.ok(warned('1.2.2').includes('other-agent'));
  assert.ok(!warned('1.2.3').includes('other-agent'));
});

test('traps of each option', () => {
  const has = (code: string, command: string, options: Partial<CaptureOptions> = {}, facts = {}) =>
    assert.ok(codes(planCapture({ command: command.split(' '), ...options }, facts)).includes(code), code);
  const bench = 'trtllm-bench --model m throughput --dataset d';
  const iterations = readIterations('100-150');
  has('warm-up-counts', bench, { iterations });
  has('warm-up-inside', bench, { iterations: readIterations('2-30') });
  has('too-few-steps', bench, { iterations: readIterations('100-105') });
  has('too-many-steps', bench, { iterations: readIterations('100-1500') });
  has('graphs-as-blocks', bench, { iterations, graphTrace: 'graph' });
  has('fork-not-followed', bench, { iterations, traceFork: false });
  has('torch-needs-range', bench, { torchTrace: 't.json' });
  has('torch-one-range', bench, { torchTrace: 't.json', iterations: readIterations('10-20,30-40') });
  has(
    'torch-one-file',
    bench,
    { torchTrace: 't.json', iterations, ranks: 2 },
    { engineVersion: parseVersion('1.0') },
  );
  has('never-opens-range', 'text-generation-launcher', { iterations });
  has('never-opens-range', 'vllm serve m', { iterations }, { engineVersion: parseVersion('0.9.0') });
  has('never-opens-range', 'python -m sglang.bench_one_batch', { iterations });
  has('must-open-range', 'python3 engine.py', { iterations });
  has('several-metric-users', 'mpirun -n 8 trtllm-llmapi-launch trtllm-serve m', { gpuMetrics: true });
  has('no-gpu-counters', bench, { gpuMetrics: true }, { adminOnlyCounters: true });
  has('no-cpu-sampling', bench, { sample: true }, { perfEventParanoid: 4 });
  has('too-little-disk', bench, { iterations }, { freeBytes: 1e6 });
  has(
    'too-little-temporary',
    bench,
    { iterations, sample: true },
    { freeBytes: 1e12, temporaryFreeBytes: 1e9 },
  );
  has('two-windows', bench, { iterations, durationS: 5 });
  has('osrt-symbols', bench, { iterations, osrt: true });
  const asRoot = planCapture(
    { command: ['x'], gpuMetrics: true, sample: true },
    { root: true, adminOnlyCounters: true, perfEventParanoid: 4 },
  );
  assert.ok(!codes(asRoot).some(code => /^no-/.test(code)));
});

test('every warning is in the documentation', () => {
  const folder = path.join(projectRoot, 'src/capture');
  const names = fs.readdirSync(folder).filter(name => name.endsWith('.ts'));
  const sources = names.map(file => fs.readFileSync(path.join(folder, file), 'utf8'));
  const used = sources.flatMap(text =>
    [
      ...text.matchAll(
        /\b(?:error|warning|note|part\.warn)\(\s*(?:[^,()']*'(?:error|warning|note)',\s*|[^,()]*\? 'warning' : 'note',\s*)?'([a-z-]+)'/g,
      ),
    ].map(m => m[1]),
  );
  const docs = fs.readFileSync(path.join(projectRoot, 'docs/capture.md'), 'utf8');
  assert.ok(used.length > 40, String(used.length));
  assert.deepEqual(
    used.filter(code => !docs.includes(`\`${code}\``)),
    [],
  );
});

test('a range that an engine never opens is never waited for', () => {
  for (const command of ['text-generation-launcher', '/opt/nim/start_server.sh', 'vllm serve m']) {
    const plan = planCapture(
      { command: command.split(' '), iterations: readIterations('5-9') },
      { engineVersion: parseVersion('0.9.0') },
    );
    assert.ok(!plan.command.includes('cudaProfilerApi'), command);
  }
});

test('SGLang is asked for these steps, vLLM for as many after it is asked', () => {
  const body = (name: string) =>
    caseOf(name).steps.flatMap(step => (step.do === 'http' ? [step.body] : []))[0];
  assert.deepEqual(body('sglang'), { activities: ['CUDA_PROFILER'], start_step: 100, num_steps: 51 });
  assert.deepEqual(body('sglang-open'), { activities: ['CUDA_PROFILER'] });
  const config = caseOf('vllm-0.16').command.at(-1)!;
  assert.deepEqual(JSON.parse(config), { profiler: 'cuda', delay_iterations: 101, max_iterations: 51 });
  assert.equal(caseOf('vllm-0.12').env.VLLM_PROFILER_MAX_ITERS, '51');
  assert.ok(codes(caseOf('vllm-torch')).includes('torch-everything'));
  assert.equal(caseOf('vllm-torch').nsysAt, -1);
});

test('an old nsys is given only what it knows', () => {
  const help = (name: string) => caseOf(name).command.join(' ');
  assert.match(help('nsys-2022'), /--gpu-metrics-device=0/);
  assert.doesNotMatch(help('nsys-2022'), /python-gil|python-backtrace|gpu-metrics-devices/);
  assert.match(help('nsys-2021'), /--stop-on-range-end=true/);
  assert.doesNotMatch(help('nsys-2021'), /capture-range-end|cuda-graph-trace/);
});

/** Options by the help texts of these versions. */
const optionsOf: Readonly<Record<string, string>> = {
  '2022.4.2':
    '--backtrace --capture-range --capture-range-end --command-file --cpu-core-events --cpuctxsw --cuda-flush-interval --cuda-graph-trace --cuda-memory-usage --cuda-um-cpu-page-faults --cuda-um-gpu-page-faults --cudabacktrace --delay --duration --duration-frames --env-var --event-sample --event-sampling-frequency --export --force-overwrite --ftrace --ftrace-keep-user-config --gpu-metrics-device --gpu-metrics-frequency --gpu-metrics-set --gpuctxsw --help --hotkey-capture --inherit-environment --kill --mpi-impl --nic-metrics --nvtx-capture --nvtx-domain- --opengl-gpu-workload --os-events --osrt-backtrace-stack-size --osrt-backtrace-threshold --osrt-threshold --output --resolve-symbols --run-as --sample --samples-per-backtrace --sampling-period --session-new --show-output --start-frame-index --stats --stop-on-exit --trace --trace-fork-before-exec --vulkan-gpu-workload --wait -b -c -d -e -f -h -n -o -p -s -t -w -x -y',
  '2025.3.1':
    '--backtrace --capture-range --capture-range-end --command-file --cpu-core-events --cpuctxsw --cuda-event-trace --cuda-flush-interval --cuda-graph-trace --cuda-memory-usage --cuda-trace-all-apis --cuda-um-cpu-page-faults --cuda-um-gpu-page-faults --cudabacktrace --dask --debug-symbols --delay --duration --duration-frames --env-var --event-sample --event-sampling-interval --export --flush-on-cudaprofilerstop --force-overwrite --ftrace --ftrace-keep-user-config --gpu-metrics-devices --gpu-metrics-frequency --gpu-metrics-set --gpu-video-device --gpuctxsw --help --hotkey-capture --ib-net-info-devices --ib-net-info-files --ib-net-info-output --inherit-environment --kill --mpi-impl --nic-metrics --nvtx-capture --nvtx-domain- --opengl-gpu-workload --os-events --osrt-backtrace-stack-size --osrt-backtrace-threshold --osrt-threshold --output --python-backtrace --python-functions-trace --python-sampling --python-sampling-frequency --pytorch --resolve-symbols --run-as --sample --samples-per-backtrace --sampling-period --session-new --show-output --start-frame-index --start-later --stats --stop-on-exit --trace --trace-fork-before-exec --vulkan-gpu-workload --wait -Y -b -c -d -e -f -h -n -o -p -s -t -w -x -y',
};
const tracesOf: Readonly<Record<string, readonly string[]>> = {
  '2022.4.2': ['cuda', 'nvtx', 'osrt', 'cublas', 'cudnn'],
  '2025.3.1': ['cuda', 'nvtx', 'osrt', 'cublas', 'cudnn', 'python-gil'],
};

test('nsys knows every option it is given', () => {
  const everything: Partial<CaptureOptions> = {
    force: true,
    gil: true,
    osrt: true,
    cublas: true,
    cudaMemory: true,
    backtrace: true,
    gpuMetrics: true,
    delayS: 1,
    durationS: 2,
  };
  for (const [version, known] of Object.entries(optionsOf)) {
    const facts = { nsysVersion: parseVersion(version) };
    for (const options of [everything, { iterations: readIterations('10-20,30-40') }]) {
      const plan = planCapture({ command: ['trtllm-bench', 'x'], ...options }, facts);
      const words = plan.command.slice(plan.nsysAt + 2, plan.programAt);
      for (const word of words.filter(word => word.startsWith('-')))
        assert.ok(known.split(' ').includes(word.split('=')[0]), `nsys ${version} has no ${word}`);
      for (const trace of words[words.indexOf('-t') + 1].split(','))
        assert.ok(tracesOf[version].includes(trace), trace);
    }
  }
});

const hostile = [
  '',
  ' ',
  "'",
  "''",
  '"',
  '\\',
  '\\\\',
  '$HOME',
  '$(touch /tmp/never)',
  '`id`',
  'a\nb',
  'a\tb',
  '*',
  '?',
  '[a]',
  '~',
  '~root',
  '#x',
  '!!',
  '-n',
  '--',
  'a;b',
  'a&b',
  'a|b',
  '>x',
  '{a,b}',
  'A=b',
  'é✓',
  '%q{RANK}',
  'it\'s $5 "now"',
  '\r',
  '\u0001',
  '--x={"a": [1, 2]}',
  ' lead',
  'trail ',
  "$'x'",
  'a\\\nb',
];

function readBack(words: readonly string[], via: (text: string) => string[]): string[] {
  const out = execFileSync('bash', via(`printf '%s\\0' ${words.map(shellQuote).join(' ')}`), {
    encoding: 'utf8',
  });
  return out.split('\0').slice(0, -1);
}

test('bash reads back every word as it was', withShell, () => {
  assert.deepEqual(
    readBack(hostile, text => ['-c', text]),
    hostile,
  );
  let state = 7;
  const random = (n: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % n;
  const alphabet = ' \'"\\$`!*?[]{}()<>|&;#~=%\n\t-aZ0é';
  const words = Array.from({ length: 400 }, () =>
    Array.from({ length: random(12) }, () => alphabet[random(alphabet.length)]).join(''),
  );
  assert.deepEqual(
    readBack(words, text => ['-c', text]),
    words,
  );
});

test('a command that looks like an assignment is still run', withShell, () => {
  const { stderr } = spawnSync('bash', ['-c', shellCommand(['A=b', 'c'])], { encoding: 'utf8' });
  assert.match(stderr, /A=b: command not found/);
});

/** A folder with an nsys that writes down how it was called, makes a report, and exports it. */
function standIn(): {
  folder: string;
  run(script: string): { status: number | null; stderr: string };
  calls(): string[][];
} {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-capture-'));
  const bin = path.join(folder, 'bin');
  fs.mkdirSync(bin);
  const nsys = `#!/usr/bin/env bash
{ printf '%s\\0' "$@"; env -0 | grep -z '^\\(TLLM\\|VLLM\\|SGLANG\\|ENABLE\\|STEPSCOPE\\|PYTHONPATH\\)' | sort -z; printf '\\0'; } >> "${folder}/calls"
if [[ $1 == profile ]]; then : > "$(sed 's/%q{[^}]*}/0/' <<< "$3").nsys-rep"; fi
if [[ $1 == export ]]; then while [[ $1 != -o ]]; do shift; done; : > "$2"; fi
`;
  // Launchers run what follows their options.
  const launcher = '#!/usr/bin/env bash\nwhile [[ $1 != nsys ]]; do shift; done\nexec "$@"\n';
  for (const [name, text] of [
    ['nsys', nsys],
    ['mpirun', launcher],
    ['srun', launcher],
    ['torchrun', launcher],
  ])
    fs.writeFileSync(path.join(bin, name), text, { mode: 0o755 });
  return {
    folder,
    run(script) {
      const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder };
      return spawnSync('bash', [script], { cwd: folder, env, encoding: 'utf8' });
    },
    calls: () =>
      fs
        .readFileSync(path.join(folder, 'calls'), 'utf8')
        .split('\0\0')
        .map(call => call.split('\0'))
        .slice(0, -1),
  };
}

test('the script runs exactly what was planned, finds the report and exports it', withShell, () => {
  for (const { name } of captureCases) {
    const plan = caseOf(name);
    const { folder, run, calls } = standIn();
    const script = path.join(folder, 'capture.sh');
    fs.writeFileSync(script, planScript(plan, { force: false }));
    execFileSync('bash', ['-n', script]);
    if (
      plan.nsysAt >= 0 &&
      (plan.outputs[0].count ?? 1) >= 1 &&
      !plan.outputs[0].pattern.includes('*') &&
      name !== 'trtllm-bench-engine'
    ) {
      const { status, stderr } = run(script);
      assert.equal(status, 0, `${name}: ${stderr}`);
      const [profile, exported] = calls();
      const env = Object.entries(plan.env)
        .map(([key, value]) => `${key}=${value}`)
        .sort();
      assert.deepEqual(profile, [...plan.command.slice(plan.nsysAt + 1), ...env], name);
      assert.equal(exported[0], 'export', name);
      assert.ok(
        fs.readdirSync(folder).some(file => file.endsWith('.sqlite')),
        name,
      );
      // A second run would overwrite it.
      const again = run(script);
      assert.equal(again.status, 1, name);
      assert.match(again.stderr, /already exists/);
    }
    fs.rmSync(folder, { recursive: true });
  }
});

test('the script and the printed command survive any argument', withShell, () => {
  const words = hostile.filter(word => word !== '');
  const plan = planCapture({
    command: ['python3', ...words],
    iterations: readIterations('10-40'),
    output: "it's here/$x",
  });
  const { folder, run, calls } = standIn();
  fs.mkdirSync(path.join(folder, "it's here"));
  const script = path.join(folder, 'capture.sh');
  fs.writeFileSync(script, planScript(plan, { force: false }));
  assert.equal(run(script).status, 0);
  assert.deepEqual(calls()[0].slice(0, -1), plan.command.slice(1));
  fs.rmSync(path.join(folder, 'calls'));
  const pasted = path.join(folder, 'pasted.sh');
  fs.writeFileSync(pasted, commandText(plan));
  assert.equal(run(pasted).status, 0);
  assert.deepEqual(calls()[0].slice(0, -1), plan.command.slice(1));
  assert.ok(!fs.existsSync('/tmp/never'));
  fs.rmSync(folder, { recursive: true });
});

test('without nsys, and without a report, the script says so', withShell, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-capture-'));
  const script = path.join(folder, 'capture.sh');
  fs.writeFileSync(
    script,
    planScript(planCapture({ command: ['x'] }, { nsys: 'no-nsys-here' }), { force: false }),
  );
  const missing = spawnSync('bash', [script], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([missing.status, /not found/.test(missing.stderr)], [127, true]);
  fs.writeFileSync(script, planScript(planCapture({ command: ['x'] }, { nsys: 'true' }), { force: false }));
  const empty = spawnSync('bash', [script], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([empty.status, /No report was written/.test(empty.stderr)], [1, true]);
  fs.writeFileSync(path.join(folder, 'trace.qdstrm'), '');
  assert.match(
    spawnSync('bash', [script], { cwd: folder, encoding: 'utf8' }).stderr,
    /did not convert trace.qdstrm/,
  );
  fs.rmSync(folder, { recursive: true });
});

test('a program that nsys ended after its duration has not failed', withShell, () => {
  const { folder, run } = standIn();
  const nsys = path.join(folder, 'bin/nsys');
  fs.appendFileSync(nsys, 'if [[ $1 == profile ]]; then exit 143; fi\n');
  const script = path.join(folder, 'capture.sh');
  for (const [options, status] of [
    [{ durationS: 5 }, 0],
    [{}, 143],
  ] as const) {
    fs.writeFileSync(script, planScript(planCapture({ command: ['x'], ...options }), { force: true }));
    assert.equal(run(script).status, status);
  }
  fs.rmSync(folder, { recursive: true });
});

test('what nsys fills in becomes a star', () => {
  assert.equal(globOf('a b.rank%q{RANK}.nsys-rep'), "'a b.rank'*.nsys-rep");
  assert.equal(globOf('t.*.nsys-rep'), 't.*.nsys-rep');
});

test('layers come from the model the command names, and bytes grow with the window', () => {
  const plan = (iterations: string, options: Partial<CaptureOptions> = {}) =>
    planOf('trtllm-bench --model meta-llama/Llama-3.3-70B-Instruct throughput', {
      iterations: readIterations(iterations),
      ...options,
    }).estimate;
  assert.match(plan('100-150').how[0], /80 layers \(llama-3.3-70b\) × 14/);
  assert.ok(plan('100-300').bytes > 3 * plan('100-150').bytes);
  assert.ok(plan('100-150', { graphTrace: 'graph' }).bytes < plan('100-150').bytes);
  assert.ok(plan('100-150', { graphTrace: 'graph' }).overheadShare < plan('100-150').overheadShare);
  assert.ok(plan('100-150', { gil: true, osrt: true }).overheadShare > plan('100-150').overheadShare);
});

function collect(): Output & { text: { out: string; err: string } } {
  const text = { out: '', err: '' };
  return {
    text,
    out: added => void (text.out += added),
    err: added => void (text.err += added),
    width: Infinity,
    color: false,
    progress() {},
    clearProgress() {},
  };
}

test('the command prints the plan, writes the script once, and gives JSON', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-capture-'));
  const script = path.join(folder, 'capture.sh');
  const versions = ['--nsys-version', '2025.3.1', '--engine-version', '1.2.0'];
  const run = async (...args: string[]) => {
    const output = collect();
    return { status: await runCommand(['capture', ...args], output), ...output.text };
  };
  // What follows -- is the other program's, its --help and -o too.
  const command = ['--', 'trtllm-bench', '--help', '-o', 'x'];
  const printed = await run('--dry-run', '--iterations', '100-150', ...versions, ...command);
  assert.equal(printed.status, 0, printed.err);
  assert.match(printed.out, /^TLLM_PROFILE_START_STOP=100-150 \\\nnsys profile \\\n {2}-o trace /);
  assert.match(printed.out, /trtllm-bench --help -o x\n/);
  assert.equal((await run(...versions, '--script', script, ...command)).status, 0);
  assert.match(fs.readFileSync(script, 'utf8'), /^#!\/usr\/bin\/env bash\n/);
  assert.equal((await run(...versions, '--script', script, ...command)).status, 2);
  const json = answerIn((await run(...versions, '--json', ...command)).out) as { schema: string };
  assert.equal(json.schema, 'stepscope-capture-plan/1');
  assert.match((await run('--help')).out, /stepscope capture \[options\] -- COMMAND/);
  fs.rmSync(folder, { recursive: true });
});

test('mistakes are two lines', async () => {
  const wrong: string[][] = [
    [],
    ['trtllm-bench'],
    ['--preset', 'nope', '--', 'x'],
    ['--graph-trace', 'some', '--', 'x'],
    ['--iterations', '9-3', '--', 'x'],
    ['--duration', 'soon', '--', 'x'],
    ['--ranks', '1.5', '--', 'x'],
    ['--model', 'nope', '--', 'x'],
    ['--engine-version', 'new', '--', 'x'],
    ['--', 'mpirun', '-n', '8'],
  ];
  for (const args of wrong) {
    const output = collect();
    assert.equal(
      await runCommand(['capture', '--nsys-version', '2025.3', ...args], output),
      2,
      args.join(' '),
    );
    assert.equal(output.text.err.split('\n').length, 3, output.text.err);
  }
});

test('of several ranks only those asked for run under nsys', withShell, () => {
  const command = ['srun', '-n', '4', 'printf', '<%s>', 'a b', 'c'];
  const asked = { command, onlyRanks: [{ first: 1, last: 2 }] };
  const plan = planCapture(asked, { nsys: 'echo' });
  assert.equal(plan.outputs[0].count, 2);
  // What srun starts on each rank; echo shows the words that nsys would get.
  const [program, ...words] = plan.command.slice(3);
  for (const [rank, expected] of [
    ['0', '<a b><c>'],
    ['1', 'profile -o '],
    ['2', 'profile -o '],
    ['12', '<a b><c>'],
  ]) {
    const { stdout } = spawnSync(program, words, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, SLURM_PROCID: rank },
    });
    assert.ok(stdout.startsWith(expected), `rank ${rank}: ${stdout}`);
  }
  assert.throws(() => planCapture({ ...asked, onlyRanks: [{ first: 4, last: 4 }] }), /Rank 4 does not exist/);
  assert.throws(
    () => planCapture({ ...asked, command: ['python3', 'x.py'] }),
    /--only-ranks needs a launcher/,
  );
});
