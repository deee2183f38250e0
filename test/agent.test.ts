/**
 * The agent in real processes: Python with a real torch runs small models (agent/tests), the variables are set as a user
 * would set them, and what comes out is opened with our own importers.
 */
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { matchMarker } from '../src/catalog/engine-markers.js';
import { activityOf } from '../src/catalog/host-activities.js';
import { layerOf } from '../src/catalog/layer-names.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const python = locate('torch') ?? locate('python') ?? '';
const agent = path.join(projectRoot, 'agent');
const programs = path.join(agent, 'tests');

const skip = lacks('torch');

const home = mkdtempSync(path.join(tmpdir(), 'stepscope-agent-'));
after(() => rmSync(home, { recursive: true, force: true }));

type Variables = Record<string, string>;

interface Ran {
  readonly folder: string;
  readonly status: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly stdout: string;
  /** What the program printed. */
  // biome-ignore lint/suspicious/noExplicitAny: each program says something else.
  readonly said: any;
}

const clean = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(STEPSCOPE|TLLM)_|^PYTHON|^RANK$|^(ENABLE_PERFECT_ROUTER)$/.test(name),
  ),
);

function run(args: readonly string[], variables: Variables = {}, more: { path?: string } = {}): Ran {
  const folder = mkdtempSync(path.join(home, 'run-'));
  const result: SpawnSyncReturns<string> = spawnSync(python, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...clean, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: more.path ?? agent, ...variables },
  });
  const { status, signal, stderr, stdout } = result;
  const lines = stdout.trim().split('\n');
  const last = lines[lines.length - 1];
  return { folder, status, signal, stderr, stdout, said: last.startsWith('{') ? JSON.parse(last) : {} };
}

/** Has torch's libraries linked when a scenario starts: that took half of the time of each. */
const starter = path.join(programs, 'preforked.py');
const socket = path.join(home, 'socket');
const server = skip ? undefined : spawn(python, [starter, 'serve', socket], { stdio: 'ignore', env: clean });
after(async () => {
  if (!server) return;
  const ended = once(server, 'exit');
  server.kill();
  await ended;
});

const scenario = (name: string, variables: Variables = {}, more: { path?: string } = {}): Ran =>
  run(['-IS', starter, 'run', socket, path.join(programs, 'scenarios.py'), name], variables, more);

function mustRun(ran: Ran): Ran {
  assert.equal(ran.status, 0, `${ran.stdout}\n${ran.stderr}`);
  return ran;
}

async function iterationsIn(file: string) {
  return new Analyzer(await openProfile([file]), {}).get(iterations).rows;
}

const numbersIn = async (file: string) => (await iterationsIn(file)).map(row => row.iteration);

// biome-ignore lint/suspicious/noExplicitAny: the format is checked where it is read.
const json = (ran: Ran, name: string): any => JSON.parse(readFileSync(path.join(ran.folder, name), 'utf8'));

const sidecarName = (ran: Ran) => readdirSync(ran.folder).find(name => /agent.*\.json$/.test(name));

async function namesIn(file: string): Promise<string[]> {
  const { strings, tables } = await openProfile([file]);
  const names = [...((tables.ranges?.name ?? []) as unknown as Int32Array)];
  const ops = [...((tables.ops?.name ?? []) as unknown as Int32Array)];
  return [...names, ...ops].map(id => strings.text(id));
}

test('windows: exactly the iterations asked for, ends inclusive, one trace per window', {
  skip,
}, async () => {
  const ran = mustRun(
    scenario('plain', { STEPSCOPE_PROFILE_START_STOP: '3-5, 9,12-13', STEPSCOPE_TORCH_TRACE: 'trace' }),
  );
  const traces = ['trace-rank-0.json.gz', 'trace-rank-0-window-2.json.gz', 'trace-rank-0-window-3.json.gz'];
  const found = await Promise.all(traces.map(name => numbersIn(path.join(ran.folder, name))));
  assert.deepEqual(found, [[3, 4, 5], [9], [12, 13]]);
  const sidecar = json(ran, 'trace-rank-0.agent.json');
  assert.deepEqual(sidecar.torchTraces, traces);
  assert.deepEqual(
    sidecar.iterations.map((row: { iteration: number }) => row.iteration),
    [3, 4, 5, 9, 12, 13],
  );
});

test('steps outside windows: those before and after each, with batch and start, also of a killed process', {
  skip,
}, () => {
  type Segment = { window: number; side: string; steps: number[][] };
  const quiet = (ran: Ran) =>
    json(ran, sidecarName(ran)!).quietSteps.map(({ window, side, steps }: Segment) => [
      window,
      side,
      steps.map(row => row[0]),
    ]);
  const windows = mustRun(scenario('plain', { STEPSCOPE_PROFILE_START_STOP: '3-5,9,12-13' }));
  assert.deepEqual(quiet(windows), [
    [1, 'before', [0, 1, 2]],
    [1, 'after', [6, 7, 8]],
    [2, 'after', [10, 11]],
    [3, 'after', [14, 15, 16, 17, 18, 19, 20]],
  ]);
  const [before] = json(windows, sidecarName(windows)!).quietSteps as Segment[];
  // A prefill of 2 rows with 5 tokens each, then decode.
  assert.deepEqual(
    before.steps.map(row => row.slice(4)),
    [
      [2, 10, 0, 0],
      [0, 0, 2, 2],
      [0, 0, 2, 2],
    ],
  );
  for (const [i, [, start, duration]] of before.steps.slice(0, -1).entries()) {
    assert.ok(duration > 0 && start + duration <= before.steps[i + 1][1]);
  }
  const live = mustRun(
    scenario('live_signal', { STEPSCOPE_LIVE_STEPS: '3', STEPSCOPE_SIDECAR: 'seen.agent.json' }),
  );
  assert.deepEqual(quiet(live), [
    [1, 'before', [0, 1, 2, 3, 4, 5, 6]],
    [1, 'after', [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]],
  ]);
  const worker = mustRun(scenario('works_in_child', { STEPSCOPE_PROFILE_START_STOP: '2-8' }));
  assert.deepEqual(quiet(worker), [
    [1, 'before', [0, 1]],
    [1, 'after', [9, 10]],
  ]);
  const killed = scenario('terminated_inside', { STEPSCOPE_PROFILE_START_STOP: '1-3' });
  assert.equal(killed.signal, 'SIGTERM');
  assert.deepEqual(quiet(killed), [
    [1, 'before', [0]],
    [1, 'after', [4, 5]],
  ]);
});

test('the file of the agent: one per rank, none of a process without steps, where it was asked for', {
  skip,
}, () => {
  const seen = { STEPSCOPE_SIDECAR: 'seen.agent.json' };
  const rank = mustRun(scenario('plain', { ...seen, RANK: '1', WORLD_SIZE: '2' }));
  assert.deepEqual(readdirSync(rank.folder), ['seen-rank-1.agent.json']);
  assert.equal(json(rank, 'seen-rank-1.agent.json').iterations.length, 21);
  assert.deepEqual(readdirSync(mustRun(run(['-c', 'import torch'], seen)).folder), []);
  // A program may go elsewhere before anything is written.
  const elsewhere = `import os, runpy, sys; os.mkdir("x"); os.chdir("x"); sys.argv = ["", "plain"]; runpy.run_path(${JSON.stringify(path.join(programs, 'scenarios.py'))}, run_name="__main__")`;
  assert.deepEqual(readdirSync(mustRun(run(['-c', elsewhere], seen)).folder).sort(), [
    'seen.agent.json',
    'x',
  ]);
});

test('phases, batch and tokens come from the inputs, in our marker grammar', { skip }, async () => {
  const ran = mustRun(
    scenario('plain', { STEPSCOPE_PROFILE_START_STOP: '0-2', STEPSCOPE_TORCH_TRACE: 'out/trace.json' }),
  );
  const rows = await iterationsIn(path.join(ran.folder, 'out/trace-rank-0.json'));
  assert.deepEqual(
    rows.map(row => [row.phase, row.contextRequests, row.contextTokens, row.generationRequests]),
    [
      ['prefill', 2, 10, 0],
      ['decode', 0, 0, 2],
      ['decode', 0, 0, 2],
    ],
  );
  const cached = mustRun(scenario('kv_cache', { STEPSCOPE_SIDECAR: 'seen.json', STEPSCOPE_MARKERS: 'step' }));
  assert.deepEqual(
    json(cached, 'seen.json').iterations.map((row: Record<string, unknown>) => [
      row.phase,
      row.generationKvTokens,
    ]),
    [
      ['prefill', undefined],
      ['decode', 24],
      ['decode', 27],
    ],
  );
});

test('the rank is in the name, from any launcher', { skip }, () => {
  for (const name of ['RANK', 'OMPI_COMM_WORLD_RANK', 'SLURM_PROCID']) {
    const ran = mustRun(
      scenario('plain', { STEPSCOPE_PROFILE_START_STOP: '2', STEPSCOPE_TORCH_TRACE: 'trace', [name]: '3' }),
    );
    assert.ok(existsSync(path.join(ran.folder, 'trace-rank-3.json.gz')), name);
  }
});

test('the CUDA profiler is on for exactly the window, and what was launched is waited for', { skip }, () => {
  const { said } = mustRun(scenario('counted_cuda', { TLLM_PROFILE_START_STOP: '10-15' }));
  assert.deepEqual(said.calls, [
    ['start', 10],
    ['synchronize', 16],
    ['stop', 16],
  ]);
});

test('markers: steps, phases, layers to a depth, attention, MLP, router and experts', { skip }, async () => {
  const trace = {
    STEPSCOPE_PROFILE_START_STOP: '4',
    STEPSCOPE_TORCH_TRACE: 'trace',
    SCENARIO_MODEL: 'gpt-oss',
  };
  const names = async (markers: string, depth = '0') => {
    const ran = mustRun(
      scenario('plain', { ...trace, STEPSCOPE_MARKERS: markers, STEPSCOPE_MARKER_DEPTH: depth }),
    );
    const all = await namesIn(path.join(ran.folder, 'trace-rank-0.json.gz'));
    return [...new Set(all.filter(name => /^(model|stepscope)\b/.test(name)))].sort();
  };
  const everything = await names('all');
  assert.deepEqual(everything, [
    'model.layers.0',
    'model.layers.0.mlp',
    'model.layers.0.mlp.experts',
    'model.layers.0.mlp.router',
    'model.layers.0.self_attn',
    'model.layers.1',
    'model.layers.1.mlp',
    'model.layers.1.mlp.experts',
    'model.layers.1.mlp.router',
    'model.layers.1.self_attn',
    'stepscope.decode',
    'stepscope.step 4 ctx=0/0 gen=2/2',
  ]);
  assert.deepEqual(layerOf(everything[3]), { layer: 0, part: 'mlp.router' });
  assert.equal(matchMarker(everything[11])?.grammar.engine, 'stepscope agent');
  assert.deepEqual((await names('layers', '1')).slice(0, 4), [
    'model.layers.0',
    'model.layers.0.input_layernorm',
    'model.layers.0.mlp',
    'model.layers.0.self_attn',
  ]);
  assert.deepEqual(await names('none'), []);
});

test('garbage collections: ranges in the trace, pauses in the sidecar', { skip }, async () => {
  const ran = mustRun(
    scenario('collect', { STEPSCOPE_PROFILE_START_STOP: '3-4', STEPSCOPE_TORCH_TRACE: 'trace' }),
  );
  const names = await namesIn(path.join(ran.folder, 'trace-rank-0.json.gz'));
  const collections = names.filter(name => name === 'stepscope.gc gen2');
  assert.ok(collections.length >= 2);
  assert.equal(activityOf(collections[0]), 'garbage-collection');
  const { gcPauses, iterations: rows } = json(ran, 'trace-rank-0.agent.json');
  const inside = gcPauses.filter(
    (pause: { startMonotonicNs: number; durationNs: number }) =>
      pause.startMonotonicNs >= rows[0].startMonotonicNs &&
      pause.startMonotonicNs + pause.durationNs <= rows[0].startMonotonicNs + rows[0].durationNs,
  );
  assert.ok(inside.length >= 1 && inside[0].generation === 2 && inside[0].durationNs > 0);
});

test('a live process: SIGUSR2 and a trigger file open windows', { skip }, async () => {
  const live = { STEPSCOPE_TORCH_TRACE: 'trace', STEPSCOPE_LIVE_STEPS: '3' };
  const signalled = mustRun(scenario('live_signal', live));
  assert.deepEqual(await numbersIn(path.join(signalled.folder, 'trace-rank-0.json.gz')), [7, 8, 9]);
  for (const [text, expected] of [
    ['', [5, 6, 7]],
    ['4', [5, 6, 7, 8]],
    ['10-12', [10, 11, 12]],
  ] as const) {
    const ran = mustRun(
      scenario('live_file', { ...live, STEPSCOPE_TRIGGER: 'go', SCENARIO_TRIGGER_TEXT: text }),
    );
    assert.deepEqual(await numbersIn(path.join(ran.folder, 'trace-rank-0.json.gz')), expected, text);
    assert.match(ran.stderr, /stepscope: the trigger file is invalid: 'nonsense'/);
  }
});

test('steps said by the program: the outermost counts, its words are kept, the window ends with the step', {
  skip,
}, async () => {
  const ran = mustRun(
    scenario('explicit', { STEPSCOPE_PROFILE_START_STOP: '3-4', STEPSCOPE_TORCH_TRACE: 'trace' }),
  );
  assert.equal(ran.said.iteration, 7);
  const names = (await namesIn(path.join(ran.folder, 'trace-rank-0.json.gz'))).filter(name =>
    name.startsWith('stepscope.step'),
  );
  assert.deepEqual(names, [
    'stepscope.step 3 ctx=1/16 gen=4/4 kv=103',
    'stepscope.step 4 ctx=0/0 gen=4/4 kv=104',
  ]);
});

test('engines: vLLM, SGLang, TensorRT-LLM and generate say what they schedule', { skip }, () => {
  const seen = { STEPSCOPE_SIDECAR: 'seen.json', STEPSCOPE_MARKERS: 'step' };
  const facts = (ran: Ran) =>
    json(mustRun(ran), 'seen.json').iterations.map((row: Record<string, unknown>) => [
      row.iteration,
      row.phase,
      row.contextRequests,
      row.contextTokens,
      row.generationRequests,
      row.generationTokens,
      row.generationKvTokens ?? null,
    ]);
  assert.deepEqual(facts(scenario('vllm', seen)), [
    [0, 'prefill', 1, 12, 0, 0, null],
    [1, 'mixed', 1, 7, 1, 1, 13],
    [2, 'mixed', 1, 5, 1, 1, 14],
    [3, 'decode', 0, 0, 2, 2, 28],
    [4, 'speculative', 0, 0, 2, 6, 34],
  ]);
  const sglang = scenario('sglang', seen);
  assert.deepEqual(facts(sglang), [
    [0, 'decode', 0, 0, 1, 1, 4],
    [0, 'prefill', 2, 30, 0, 0, null],
    [1, 'decode', 0, 0, 2, 2, 34],
    [2, 'mixed', 1, 10, 2, 2, null],
    [3, 'speculative', 0, 0, 2, 8, 60],
    [4, 'speculative', 0, 0, 2, 6, 66],
    [5, 'unknown', 0, 0, 0, 0, null],
    [6, 'unknown', 0, 0, 0, 0, null],
  ]);
  assert.deepEqual(
    facts(scenario('tensorrt_llm', seen)).map((row: unknown[]) => row.slice(0, 5)),
    [
      [40, 'prefill', 1, 64, 0],
      [41, 'decode', 0, 0, 1],
      [42, 'decode', 0, 0, 2],
      [43, 'decode', 0, 0, 3],
      [44, 'decode', 0, 0, 4],
      [45, 'decode', 0, 0, 5],
    ],
  );
});

test('generate: every forward is a step, and the window closes when it returns', { skip }, async () => {
  const ran = mustRun(
    scenario('generates', { STEPSCOPE_PROFILE_START_STOP: '0-7', STEPSCOPE_TORCH_TRACE: 'trace' }),
  );
  assert.deepEqual(ran.said, { shape: [2, 14], written: true });
});

test('TensorRT-LLM acts on its own variable: the agent leaves the window to it', { skip }, () => {
  const ran = mustRun(scenario('tensorrt_llm', { TLLM_PROFILE_START_STOP: '41-42' }));
  assert.deepEqual(readdirSync(ran.folder), []);
  const own = mustRun(scenario('tensorrt_llm', { STEPSCOPE_PROFILE_START_STOP: '41-42' }));
  assert.deepEqual(
    json(own, sidecarName(own)!).iterations.map((row: { iteration: number }) => row.iteration),
    [41, 42],
  );
});

test('warm-up forwards of an engine are no iterations, and use up no window', { skip }, () => {
  const ran = mustRun(scenario('warms_up', { STEPSCOPE_PROFILE_START_STOP: '1-2' }));
  const { iterations: rows, stepsFrom } = json(ran, sidecarName(ran)!);
  assert.equal(stepsFrom, 'GPUModelRunner.execute_model');
  assert.deepEqual(
    rows.map((row: { iteration: number; generationKvTokens: number }) => [
      row.iteration,
      row.generationKvTokens,
    ]),
    [
      [1, 14],
      [2, 15],
    ],
  );
});

const graphs = (name: string, markers: string) =>
  run(
    [path.join(programs, 'graphs.py'), name],
    { STEPSCOPE_SIDECAR: 'seen.json', STEPSCOPE_MARKERS: markers },
    { path: '' },
  );

test('CUDA graphs: capturing a forward is no step, each replay is one of the batch it was captured with', {
  skip,
}, () => {
  const ran = mustRun(graphs('replays', 'step,layers'));
  assert.equal(ran.said.iteration, 3);
  assert.deepEqual(
    json(ran, 'seen.json').iterations.map((row: Record<string, unknown>) => [
      row.phase,
      row.generationRequests,
    ]),
    [
      ['prefill', 0],
      ['decode', 4],
      ['decode', 4],
      ['decode', 4],
    ],
  );
});

test('CUDA graphs: nodes are counted where parts of the model begin and end', { skip }, () => {
  const { graphs: found, graphsLeftOut } = json(mustRun(graphs('parts', 'step,layers,mlp')), 'seen.json');
  assert.equal(graphsLeftOut, 0);
  assert.deepEqual(
    found.map((graph: Record<string, unknown>) => [
      graph.captured,
      graph.nodes,
      graph.kernels,
      graph.isChain,
    ]),
    [
      [2, 9, 9, true],
      [1, 10, 9, true],
      [1, 10, 10, false],
    ],
  );
  const places = (graph: { parts: Record<string, unknown>[] }) =>
    graph.parts.map(part => [part.name, part.firstNode, part.endNode, part.firstKernel, part.endKernel]);
  assert.deepEqual(places(found[0]), [
    ['model.layers.0', 0, 4, 0, 4],
    ['model.layers.0.mlp', 2, 4, 2, 4],
    ['model.layers.1', 4, 8, 4, 8],
    ['model.layers.1.mlp', 6, 8, 6, 8],
  ]);
  // A memset in front moves the nodes, not the kernels.
  assert.deepEqual(places(found[1])[1], ['model.layers.0.mlp', 3, 5, 2, 4]);
});

test('CUDA graphs: without markers of layers, or a driver that answers, nothing is counted', { skip }, () => {
  assert.deepEqual(json(mustRun(graphs('parts', 'step')), 'seen.json').graphs, []);
  const failed = mustRun(graphs('fails', 'step,layers'));
  assert.match(failed.stderr, /^stepscope: layers inside CUDA graphs are not identified: .*error 1$/m);
  const { graphs: none, iterations: rows } = json(failed, 'seen.json');
  assert.deepEqual([none, rows.length], [[], 2]);
});

test('a step named by the user', { skip }, () => {
  const seen = { STEPSCOPE_SIDECAR: 'seen.json', STEPSCOPE_STEP: 'models:Layer.forward' };
  const { stepsFrom, iterations: rows } = json(mustRun(scenario('named_only', seen)), 'seen.json');
  assert.equal(stepsFrom, 'Layer.forward');
  assert.equal(rows.length, 6);
  const wrong = mustRun(scenario('named_only', { ...seen, STEPSCOPE_STEP: 'models:Layer.backward' }));
  assert.match(wrong.stderr, /stepscope: models is not patched: AttributeError/);
});

test('trouble of the model passes through, and the window lives on', { skip }, async () => {
  const ran = scenario('raises', { STEPSCOPE_PROFILE_START_STOP: '2-20', STEPSCOPE_TORCH_TRACE: 'trace' });
  assert.equal(ran.status, 1);
  assert.match(ran.stderr, /ValueError: the model's own trouble/);
  assert.doesNotMatch(ran.stderr, /agent is off/);
  const { iterations: rows } = json(ran, 'trace-rank-0.agent.json');
  assert.deepEqual(
    rows.map((row: { iteration: number; failed?: true }) => [row.iteration, row.failed ?? false]),
    [2, 3, 4, 5, 6, 7, 8].map(number => [number, number === 4 || number === 8]),
  );
  assert.deepEqual(await numbersIn(path.join(ran.folder, 'trace-rank-0.json.gz')), [2, 3, 4, 5, 6, 7, 8]);
});

test('leaving inside a window, by exit or by SIGTERM, keeps what was recorded', { skip }, async () => {
  const window = { STEPSCOPE_PROFILE_START_STOP: '4-50', STEPSCOPE_TORCH_TRACE: 'trace' };
  const left = scenario('exits_inside', window);
  assert.equal(left.status, 3);
  assert.deepEqual(await numbersIn(path.join(left.folder, 'trace-rank-0.json.gz')), [4, 5]);
  const ended = scenario('terminated_inside', window);
  assert.equal(ended.signal, 'SIGTERM');
  assert.deepEqual(await numbersIn(path.join(ended.folder, 'trace-rank-0.json.gz')), [4, 5]);
});

test('forks: a helper forked later is left alone, a worker forked first does the work', {
  skip,
}, async () => {
  const window = { STEPSCOPE_PROFILE_START_STOP: '3-6', STEPSCOPE_TORCH_TRACE: 'trace' };
  const helper = mustRun(scenario('forks', window));
  assert.deepEqual(await numbersIn(path.join(helper.folder, 'trace-rank-0.json.gz')), [3, 4, 5, 6]);
  assert.equal(json(helper, 'trace-rank-0.agent.json').pid, helper.said.pid);
  const worker = mustRun(scenario('works_in_child', { ...window, STEPSCOPE_PROFILE_START_STOP: '3-60' }));
  assert.equal(worker.said.status, 0);
  assert.equal(json(worker, 'trace-rank-0.agent.json').pid, worker.said.pid);
  assert.deepEqual(
    await numbersIn(path.join(worker.folder, 'trace-rank-0.json.gz')),
    [3, 4, 5, 6, 7, 8, 9, 10],
  );
});

test('threads: every step has a number of its own, nested ones have none', { skip }, () => {
  const ran = mustRun(scenario('threads', { STEPSCOPE_SIDECAR: 'seen.json', STEPSCOPE_MARKERS: 'step' }));
  const rows: { iteration: number; generationRequests: number }[] = json(ran, 'seen.json').iterations;
  assert.deepEqual(
    rows.map(row => row.iteration).sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, i) => i),
  );
  assert.ok(rows.every(row => row.generationRequests === 1));
});

test('a broken cudart and a place that cannot be written to cost a line, not the program', { skip }, () => {
  const plain = mustRun(scenario('plain'));
  const broken = mustRun(scenario('broken_cuda', { STEPSCOPE_PROFILE_START_STOP: '3-5' }));
  assert.match(
    broken.stderr,
    /^stepscope: the CUDA profiler was not started: OSError: libcudart is broken$/m,
  );
  assert.equal(broken.said.digest, plain.said.digest);
  const nowhere = mustRun(
    scenario('plain', {
      STEPSCOPE_PROFILE_START_STOP: '3-5',
      STEPSCOPE_TORCH_TRACE: '/proc/nowhere/trace',
      STEPSCOPE_SIDECAR: '/proc/nowhere/seen.json',
      STEPSCOPE_EXPERT_LOAD: '/proc/nowhere/experts.json',
      SCENARIO_MODEL: 'mixtral',
    }),
  );
  assert.match(nowhere.stderr, /stepscope: the torch trace was lost/);
  assert.match(nowhere.stderr, /stepscope: the sidecar was not written/);
  assert.match(nowhere.stderr, /stepscope: expert counts were not written/);
  const nonsense = mustRun(scenario('plain', { STEPSCOPE_PROFILE_START_STOP: '5-' }));
  assert.match(nonsense.stderr, /stepscope: no window will be recorded: '5-' is not a range of iterations/);
  assert.equal(nonsense.said.digest, plain.said.digest);
});

test('what the model says does not change: to the bit, with everything on but the perfect router', {
  skip,
}, () => {
  for (const SCENARIO_MODEL of ['dense', 'gpt-oss', 'llama4', 'deepseek-v3', 'qwen3-linear-gate']) {
    const without = mustRun(scenario('plain', { SCENARIO_MODEL }, { path: '' }));
    const under = mustRun(
      scenario('plain', {
        SCENARIO_MODEL,
        STEPSCOPE_PROFILE_START_STOP: '2-6,9',
        STEPSCOPE_TORCH_TRACE: 'trace',
        STEPSCOPE_MARKERS: 'all',
        STEPSCOPE_EXPERT_LOAD: 'experts.json',
        ENABLE_PERFECT_ROUTER: 'true',
      }),
    );
    assert.equal(under.said.digest, without.said.digest, SCENARIO_MODEL);
  }
});

test('experts are counted per layer and iteration, small as JSON, else as numbers for NumPy', {
  skip,
}, () => {
  const counted = { STEPSCOPE_PROFILE_START_STOP: '0-2,5' };
  for (const SCENARIO_MODEL of ['gpt-oss', 'llama4', 'deepseek-v3', 'glm4', 'qwen3-linear-gate']) {
    const ran = mustRun(
      scenario('plain', { ...counted, SCENARIO_MODEL, STEPSCOPE_EXPERT_LOAD: 'experts.json' }),
    );
    const load = json(ran, 'experts-rank-0.json');
    assert.deepEqual(load.iterations, [0, 1, 2, 5], SCENARIO_MODEL);
    assert.deepEqual(
      load.layers.map((layer: { index: number; experts: number }) => [layer.index, layer.experts]),
      [
        [0, 16],
        [1, 16],
      ],
    );
    const topK = SCENARIO_MODEL === 'llama4' ? 1 : 4;
    const sums = load.counts.map((step: number[][]) =>
      step.map(layer => layer.reduce((sum, count) => sum + count, 0)),
    );
    assert.deepEqual(
      sums,
      [10, 2, 2, 2].map(tokens => [tokens * topK, tokens * topK]),
      SCENARIO_MODEL,
    );
    assert.equal(json(ran, sidecarName(ran)!).expertLoad, 'experts-rank-0.json');
  }
  const binary = mustRun(
    scenario('plain', { ...counted, SCENARIO_MODEL: 'mixtral', STEPSCOPE_EXPERT_LOAD: 'experts.npy' }),
  );
  const bytes = readFileSync(path.join(binary.folder, 'experts-rank-0.npy'));
  assert.equal(bytes.subarray(1, 6).toString(), 'NUMPY');
  const start = 10 + bytes.readUInt16LE(8);
  assert.equal(start % 64, 0);
  assert.match(bytes.subarray(10, start).toString(), /'descr': '<i4'.*'shape': \(4, 2, 16\)/);
  assert.equal(bytes.length - start, 4 * 4 * 2 * 16);
  assert.equal(json(binary, 'experts-rank-0.json').countsFile, 'experts-rank-0.npy');
});

for (const gpus of [1, 2, 4, 8]) {
  test(`perfect router on ${gpus} GPUs: experts differ by one at most, for 1 to 257 tokens and every method`, {
    skip,
  }, () => {
    const vectors = path.join(projectRoot, 'test/fixtures/routing/vectors.json');
    const { said, stderr } = mustRun(run([path.join(programs, 'balance.py'), vectors, String(gpus)]));
    assert.equal(said.measured.length, 8);
    for (const { kind, expert, gpu, gpuOfOne, duplicates } of said.measured) {
      assert.equal(duplicates, 0, kind);
      assert.ok(expert <= 1, `${kind}: experts differ by ${expert}`);
      assert.ok(gpu <= 1, `${kind}: GPUs differ by ${gpu}`);
      // A single token of DeepSeek-V3 reaches 4 of 8 groups: on 8 GPUs it must use half of them twice.
      assert.ok(gpuOfOne <= (kind === 'deepseek-v3 in full' && gpus === 8 ? 2 : 1), `${kind}: ${gpuOfOne}`);
    }
    assert.deepEqual(said.wrong, []);
    assert.deepEqual(said.published, {
      chosen2025: [
        [0, 2],
        [4, 6],
        [1, 3],
      ],
      row2025: [0.498636, 0.000455],
      chosen2026: [
        [2, 4],
        [1, 6],
        [3, 5],
        [0, 7],
      ],
      row2026: [-10, -10, 10, -10, 10, -10, -10, -10],
    });
    assert.equal(stderr.match(/THE MODEL'S ANSWERS ARE WRONG/g)?.length, 1);
  });
}

test('perfect router: on for exactly 1, on routers of transformers as they are imported', { skip }, () => {
  const on = mustRun(scenario('unheard_modules', { ENABLE_PERFECT_ROUTER: '1' }));
  assert.deepEqual(on.said, { counts: Array(8).fill(3), weights: [0.5] });
  const off = mustRun(scenario('unheard_modules', { ENABLE_PERFECT_ROUTER: '0' }));
  assert.notDeepEqual(off.said.counts, Array(8).fill(3));
  assert.doesNotMatch(off.stderr, /stepscope/);
});

test('unset, the agent is not there: nothing imported, nothing patched, no output', { skip }, () => {
  const times = run(['-X', 'importtime', '-c', 'pass']);
  assert.doesNotMatch(times.stderr, /stepscope_agent|torch|ctypes|json/);
  const { said, stderr, folder } = mustRun(scenario('patched_names'));
  assert.deepEqual(said, { wrapped: false, agent: [], finders: said.finders, callbacks: 0 });
  assert.ok(!said.finders.some((name: string) => name.startsWith('stepscope')));
  assert.equal(stderr, '');
  assert.deepEqual(readdirSync(folder), []);
});

test('another sitecustomize on the path still runs, with the agent on or off', {
  skip: lacks('python'),
}, () => {
  const other = mkdtempSync(path.join(home, 'other-'));
  writeFileSync(path.join(other, 'sitecustomize.py'), 'import sys\nsys.was_here = __file__\n');
  for (const variables of [{}, { STEPSCOPE_MARKERS: 'step' }] as Variables[]) {
    const ran = run(['-c', 'import sys; print(sys.was_here)'], variables, {
      path: `${agent}${path.delimiter}${other}`,
    });
    assert.equal(ran.stdout.trim(), path.join(other, 'sitecustomize.py'), ran.stderr);
  }
});

test('every Python from 3.9 on that is here runs it, without torch too', { skip: lacks('python') }, () => {
  const versions = ['3.9', '3.10', '3.11', '3.12', '3.13'].map(version => `python${version}`);
  const found = [locate('python')!, ...versions.filter(name => spawnSync(name, ['-c', '']).status === 0)];
  for (const name of found) {
    const folder = mkdtempSync(path.join(home, 'python-'));
    const ran = spawnSync(name, [path.join(programs, 'scenarios.py'), 'vllm'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...clean, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: agent, STEPSCOPE_SIDECAR: 'seen.json' },
    });
    assert.equal(ran.status, 0, `${name}: ${ran.stderr}`);
    assert.equal(JSON.parse(readFileSync(path.join(folder, 'seen.json'), 'utf8')).iterations.length, 5, name);
  }
});

test('the sources are Python 3.9', { skip: lacks('python') }, () => {
  const check =
    'import ast, pathlib, sys\n' +
    'for file in pathlib.Path(sys.argv[1]).rglob("*.py"):\n' +
    '    ast.parse(file.read_text(), str(file), feature_version=(3, 9))\n';
  const ran = run(['-c', check, agent]);
  assert.equal(ran.status, 0, ran.stderr);
});
