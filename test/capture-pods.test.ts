/**
 * Servers that run in pods already, by name and by label, with a real kubectl and a stand-in for its cluster. The servers
 * are stand-ins built from the routes of the engines; what they write is a real PyTorch trace.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { waitForServer } from '../src/capture/run/server-calls.js';
import { findServer, readProcesses, wayInto } from '../src/capture/running-server.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';
import { addProcess, makeContainer, StandInCluster } from './stand-in-cluster.js';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-pods-'));
const had = { KUBECONFIG: process.env.KUBECONFIG, HOME: process.env.HOME };
const standIn = fileURLToPath(new URL('./standin-engine.js', import.meta.url));
const from = process.cwd();
let work = '';
const closing: (() => void)[] = [];

beforeEach(() => {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
  process.chdir(work);
});
after(() => {
  process.chdir(from);
  for (const close of closing) close();
  for (const [name, value] of Object.entries(had))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  fs.rmSync(scratch, { recursive: true, force: true });
});

/** A real trace where the page is looked at; elsewhere one that is quickly read. */
const TRACE = capturePath('agent-llama-graph', 'kineto.json.gz');
const SMALL = gzipSync(
  JSON.stringify({
    traceEvents: [1, 2, 3].map(n => ({
      ...{ ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: n * 10, dur: 5 },
      args: { device: 0, stream: 7, correlation: n },
    })),
  }),
);
/** The folder of each container must not be guessed from the name of the trace: several ranks are several names. */
const withCluster = { skip: lacks('kubectl', 'shell') || lacks('python') };

interface Posted {
  readonly path: string;
  readonly body: Record<string, unknown> | undefined;
}

/** An engine's routes. The trace is written when profiling stops: to the folder of the request, or to its own. */
async function engineServer(
  owner: string,
  ownFolder?: string,
  trace: Uint8Array = SMALL,
): Promise<{ port: number; posts: Posted[] }> {
  const posts: Posted[] = [];
  let folder = ownFolder;
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', chunk => void (text += String(chunk)));
    request.on('end', () => {
      const place = request.url ?? '';
      const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
      if (request.method === 'POST') posts.push({ path: place, body });
      if (place === '/start_profile' && typeof body?.output_dir === 'string') folder = body.output_dir;
      if (place === '/stop_profile' && folder !== undefined) {
        fs.mkdirSync(folder, { recursive: true });
        fs.writeFileSync(path.join(folder, `17${posts.length}-TP-0.trace.json.gz`), trace);
      }
      response.end(JSON.stringify(place === '/v1/models' ? { data: [{ id: 'm', owned_by: owner }] } : {}));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, posts };
}

async function clusterOf(pods: Parameters<typeof StandInCluster.start>[1]): Promise<StandInCluster> {
  const cluster = await StandInCluster.start('serving', pods);
  closing.push(() => cluster.stop());
  process.env.KUBECONFIG = cluster.config(work);
  process.env.HOME = work;
  return cluster;
}

const container = (name: string) => makeContainer(path.join(work, name));
const leftIn = (folder: string) => fs.readdirSync(path.join(folder, 'tmp'));

test(
  'a running SGLang in a pod: found, loaded through a tunnel, profiled, its trace copied back',
  withCluster,
  async () => {
    const { port, posts } = await engineServer('sglang', undefined, fs.readFileSync(TRACE));
    const folder = container('a');
    addProcess(
      folder,
      7,
      ['python3', '-m', 'sglang.launch_server', '--model-path', 'm', '--port', String(port)],
      {
        HF_TOKEN: 'hf_secret',
      },
    );
    const cluster = await clusterOf({ 'llm-0': { labels: { app: 'llm' }, folder } });
    const args = [
      '--attach',
      '--pod',
      'llm-0',
      '-n',
      'serving',
      '--requests',
      '2',
      '--iterations',
      '20-29',
      '-o',
      'out/run',
    ];
    const { status, err, out } = await runStepscope(['capture', ...args]);
    assert.equal(status, 8, err); // The trace is of another run: those iterations are not in it, and that is said.
    assert.deepEqual(
      posts.map(({ path: place }) => place),
      ['/start_profile', '/v1/completions', '/v1/completions', '/stop_profile'],
    );
    assert.deepEqual(
      { ...posts[0].body, output_dir: '' },
      { output_dir: '', activities: ['CPU', 'GPU'], start_step: 20, num_steps: 10 },
    );
    assert.deepEqual(fs.readFileSync('out/run.json.gz'), fs.readFileSync(TRACE));
    assert.match(err, /SGLang \(process 7\) at port \d+ of pod llm-0, profiled through its endpoints/);
    assert.match(out, /decode/);
    // Nothing of ours stays, and no variable of the process but those that decide anything was read.
    assert.deepEqual(leftIn(folder), []);
    assert.match(cluster.answered, /^P7$/m);
    assert.doesNotMatch(cluster.answered, /hf_secret/);
  },
);

test(
  'the script of the guide with two arguments does the same, and names a volume',
  withCluster,
  async () => {
    const { port } = await engineServer('sglang');
    const folder = container('a');
    addProcess(
      folder,
      7,
      ['python3', '-m', 'sglang.launch_server', '--model-path', 'm', '--port', String(port)],
      {},
    );
    await clusterOf({ 'sglang-llama-xxx': { labels: {}, folder } });
    const child = spawn(
      path.join(projectRoot, 'scripts/run-nsys-profile.sh'),
      ['sglang-llama-xxx', 'sglang_llama_profile'],
      {
        env: { ...process.env, NAMESPACE: 'serving', STORE: path.join(work, 'volume') },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let err = '';
    child.stderr.on('data', chunk => void (err += String(chunk)));
    child.stdout.resume();
    const status = await new Promise(resolve => child.once('close', resolve));
    assert.equal(status, 0, err);
    assert.ok(fs.existsSync('sglang_llama_profile.json.gz'));
    assert.deepEqual(fs.readdirSync('volume'), ['sglang_llama_profile.json.gz']);
  },
);

test('pods by label: each that runs, under its own name; others are left alone', withCluster, async () => {
  const { port } = await engineServer('vllm', path.join(work, 'vllm-traces'));
  const config = `{"profiler":"torch","torch_profiler_dir":"${path.join(work, 'vllm-traces')}"}`;
  const pods = Object.fromEntries(
    ['llm-0', 'llm-1', 'llm-2', 'other'].map(name => {
      const folder = container(name);
      const words = [
        '/usr/bin/python3',
        '/usr/local/bin/vllm',
        'serve',
        'm',
        '--port',
        String(port),
        '--profiler-config',
        config,
      ];
      addProcess(folder, 1, words, {});
      const phase = name === 'llm-2' ? 'Pending' : 'Running';
      return [name, { labels: { app: name === 'other' ? 'web' : 'llm' }, folder, phase }];
    }),
  );
  await clusterOf(pods);
  const first = await runStepscope(
    'capture --attach --selector app=llm -n serving --requests 1 -o run'.split(' '),
  );
  assert.equal(first.status, 0, first.err);
  assert.match(first.err, /2 pods with the labels app=llm: llm-0, llm-1/);
  assert.deepEqual(
    fs.readdirSync('.').filter(name => name.startsWith('run')),
    ['run-llm-0.json.gz', 'run-llm-1.json.gz'],
  );
  // The folder is the server's: what it wrote stays there.
  assert.equal(fs.readdirSync('vllm-traces').length, 2);
  const none = await runStepscope('capture --attach --selector app=nothing -n serving'.split(' '));
  assert.match(none.err, /No pod has the labels app=nothing in serving/);
});

test('the agent inside a server is asked by its file, and its trace is taken', withCluster, async () => {
  const { port } = await engineServer('tgi');
  const folder = container('a');
  const [trigger, base] = [path.join(work, 'trigger'), path.join(work, 'traces/run')];
  fs.mkdirSync(path.dirname(base));
  fs.writeFileSync(`${base}-rank-0.json.gz`, 'an older one');
  addProcess(folder, 3, ['text-generation-launcher', '--model-id', 'm', '--port', String(port)], {
    STEPSCOPE_TRIGGER: trigger,
    STEPSCOPE_TORCH_TRACE: base,
  });
  await clusterOf({ 'tgi-0': { labels: {}, folder } });
  // The agent, as far as it matters here: it writes a trace once it is asked.
  const agent = setInterval(() => {
    if (!fs.existsSync(trigger)) return;
    clearInterval(agent);
    fs.writeFileSync(`${base}-rank-0-window-2.json.gz`, SMALL);
  }, 50);
  const { status, err } = await runStepscope(
    'capture --attach --pod tgi-0 -n serving --requests 1 --iterations 100-119 -o run'.split(' '),
  );
  assert.match(err, /TGI \(process 3\) at port \d+ of pod tgi-0, profiled by the agent inside it/);
  assert.equal(fs.readFileSync(trigger, 'utf8'), '100-119');
  assert.deepEqual(fs.readFileSync('run.json.gz'), SMALL);
  assert.equal(status, 8);
});

/** Steps and batches as an engine has them, at a port of this machine. */
async function steppingServer(kind: string): Promise<string> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const port = String((probe.address() as AddressInfo).port);
  await new Promise(resolve => probe.close(resolve));
  const server = spawn(process.execPath, [standIn, kind, '--port', port], { stdio: 'ignore' });
  closing.push(() => void server.kill('SIGKILL'));
  const up = { signal: new AbortController().signal, lastLine: () => '' };
  await waitForServer(`http://127.0.0.1:${port}`, 20_000, up);
  return port;
}

test('--when in a pod: the agent is asked for the steps once the engine says so', withCluster, async () => {
  const cases = [
    { kind: 'vllm', when: 'running>=6', words: ['vllm', 'serve', 'm', '--port'], shows: false },
    // Its /metrics are empty: the agent's own file is read.
    { kind: 'trtllm', when: 'iteration>=40', words: ['trtllm-serve', 'm', '--port'], shows: true },
  ];
  for (const { kind, when, words, shows } of cases) {
    work = fs.mkdtempSync(path.join(scratch, 't-'));
    process.chdir(work);
    const port = await steppingServer(kind);
    const folder = container('a');
    const [trigger, base] = [path.join(work, 'trigger'), path.join(work, 'traces/run')];
    const progress = path.join(work, 'progress.json');
    fs.mkdirSync(path.dirname(base));
    addProcess(folder, 3, [...words, port], {
      ...{ STEPSCOPE_TRIGGER: trigger, STEPSCOPE_TORCH_TRACE: base },
      ...(shows ? { STEPSCOPE_PROGRESS: progress } : {}),
    });
    await clusterOf({ 'llm-0': { labels: {}, folder } });
    let [iteration, askedAt, running] = [0, -1, 0];
    const agent = setInterval(async () => {
      iteration += 5;
      if (shows) fs.writeFileSync(progress, JSON.stringify({ iteration, batch: 2 }));
      if (askedAt >= 0 || !fs.existsSync(trigger)) return;
      askedAt = iteration;
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      running = Number(/num_requests_running\{.*\} (\d+)/.exec(metrics)?.[1] ?? 0);
      fs.writeFileSync(`${base}-rank-0.json.gz`, SMALL);
    }, 100);
    const call = 'capture --attach --pod llm-0 -n serving -o run --steps 15 --when'.split(' ');
    const { err } = await runStepscope([...call, when]);
    clearInterval(agent);
    assert.equal(fs.existsSync(trigger) && fs.readFileSync(trigger, 'utf8'), '15', err);
    assert.deepEqual(fs.readFileSync('run.json.gz'), SMALL);
    if (shows) assert.ok(askedAt >= 40, String(askedAt));
    else assert.ok(running >= 6, String(running));
  }
});

test('an agent that only a signal reaches is not asked for steps', withCluster, async () => {
  const { port } = await engineServer('tgi');
  const folder = container('a');
  addProcess(folder, 3, ['text-generation-launcher', '--model-id', 'm', '--port', String(port)], {
    STEPSCOPE_TORCH_TRACE: path.join(work, 'run'),
  });
  await clusterOf({ 'tgi-0': { labels: {}, folder } });
  const { status, err } = await runStepscope('capture --attach --pod tgi-0 -n serving --steps 5'.split(' '));
  assert.notEqual(status, 0);
  assert.match(
    err,
    /can only be asked by a signal, .*--steps records\.\nStart the server with STEPSCOPE_TRIGGER/,
  );
});

test(
  'what cannot be profiled while it runs is refused with the reason and what to do',
  withCluster,
  async () => {
    for (const [words, env, reason] of [
      [['text-generation-launcher', '--model-id', 'm'], {}, /TGI has no endpoint that starts a profile/],
      [
        ['vllm', 'serve', 'm'],
        {},
        /vLLM offers \/start_profile only if a profiler was configured when it started/,
      ],
      [['vllm', 'serve', 'm'], { VLLM_TORCH_CUDA_PROFILE: '1' }, /only an nsys around the server records/],
      [['sleep', '1'], {}, /no server of a known engine runs there/],
    ] as const) {
      const folder = container(`p${Math.random()}`);
      addProcess(folder, 1, words, env);
      await clusterOf({ 'llm-0': { labels: {}, folder } });
      const { status, err } = await runStepscope('capture --attach --pod llm-0 -n serving'.split(' '));
      assert.equal(status, 12, err);
      assert.match(err, reason);
      assert.equal(err.trimEnd().split('\n').length, 2, err);
    }
  },
);

test('a plan for a pod has the paths of the pod, and asks nobody', async () => {
  process.env.KUBECONFIG = path.join(work, 'nowhere');
  const { status, out } = await runStepscope(
    'capture --dry-run --pod llm-0 -n serving --iterations 100-150 -o here/run -- trtllm-bench --model m throughput'.split(
      ' ',
    ),
  );
  assert.equal(status, 0);
  assert.match(out, /^In pod llm-0 \(namespace serving\):\n/);
  assert.match(out, /nsys profile \\\n/);
  assert.match(out, /-o \/tmp\/stepscope-XXXXXXXX\/out\/run\b/);
  assert.match(out, /copied to here\/run, with the endings of what was written/);
  assert.doesNotMatch(out, /nsys-missing|too-little/);
});

test('processes are read word by word, whatever is in them', () => {
  const text =
    'P12\nWpython3\nW-m\nWsglang.launch_server\nW--port\nW30001\nW\nWa b\nESTEPSCOPE_TRIGGER=/a=b\nP13\nWsh\n';
  const processes = readProcesses(text);
  assert.deepEqual(processes[0].words.slice(4), ['30001', '', 'a b']);
  assert.deepEqual(processes[0].env, { STEPSCOPE_TRIGGER: '/a=b' });
  const server = findServer(processes)!;
  assert.equal(server.port, 30001);
  assert.equal(findServer(processes, undefined, 30001)?.pid, 12);
  assert.equal(findServer(processes, undefined, 8000), undefined);
  // The agent records nothing, so the engine's own endpoints are used.
  assert.deepEqual(wayInto(server, processes), { by: 'endpoints' });
  const byStageOnly = { ...server, env: { SGLANG_PROFILE_V2: 'true' } };
  assert.equal(wayInto(byStageOnly, [byStageOnly]).by, 'nothing');
  const vllm = readProcesses(
    'P5\nWpython3\nW-u\nW/usr/bin/vllm\nWserve\nWm\nW--profiler-config.profiler\nWtorch\nW--profiler-config.torch_profiler_dir=traces\n',
  );
  assert.deepEqual(wayInto(findServer(vllm)!, vllm), { by: 'endpoints', folder: '/proc/5/cwd/traces' });
  const under = readProcesses(
    'P3\nW/opt/nvidia/bin/nsys\nWprofile\nW-o\nWrun\nWpython3\nWserve.py\nP4\nWpython3\nW/usr/bin/trtllm-serve\nWm\nESTEPSCOPE_TRIGGER=go\n',
  );
  assert.deepEqual(wayInto(findServer(under)!, under), {
    by: 'agent',
    pid: 4,
    trigger: '/proc/4/cwd/go',
    writes: '/proc/3/cwd/run',
  });
});
