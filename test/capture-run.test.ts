/**
 * Captures run here: around stand-in engines, and around a program with real NVTX ranges under the real nsys where it
 * is installed. Every test looks for what was left behind.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { UserError } from '../src/base/user-error.js';
import { recipeSchema } from '../src/capture/capture-schema.js';
import { planAttach } from '../src/capture/plan-attach.js';
import { MOST_RECIPE_BYTES, parseRecipe } from '../src/capture/recipe.js';
import { markedProcesses, sleep } from '../src/capture/run/marked-processes.js';
import { type RunOptions, runFailure, runPlan, type StopRequests } from '../src/capture/run/run-plan.js';
import { attachServer, runServer } from '../src/capture/run/run-server.js';
import type { Runnable } from '../src/capture/run/runnable.js';
import { warmUp } from '../src/capture/run/server-calls.js';
import { recipeBeside, recipePath, writeRecipe } from '../src/capture/run/write-recipe.js';
import { captureLines } from '../src/cli/capture/capture-lines.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const withShell = { skip: lacks('shell') };

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-run-'));
let work = '';
let marks: string[] = [];
beforeEach(() => {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
  process.env.STEPSCOPE_CACHE = path.join(work, 'cache');
  marks = [];
});
afterEach(() => {
  for (const mark of marks) assert.deepEqual(markedProcesses(mark), [], 'a process was left');
});
after(() => fs.rmSync(scratch, { recursive: true, force: true }));

const realNsys = locate('nsys') ?? '';

function program(name: string, text: string): string {
  const file = path.join(work, name);
  fs.writeFileSync(file, text, { mode: 0o755 });
  return file;
}
const node = (text: string): string[] => [process.execPath, program('engine.mjs', text)];
const plain = (command: readonly string[], output = 'trace.json'): Runnable => ({
  command,
  nsysAt: -1,
  env: {},
  outputs: [{ kind: 'torch-trace', pattern: path.join(work, output) }],
});
const never: StopRequests = { listen: () => () => {} };
/** Stops after so many milliseconds, each. */
const stopAfter = (...times: number[]): StopRequests => ({
  listen(onRequest) {
    const timers = times.map(ms => setTimeout(onRequest, ms));
    return () => timers.forEach(clearTimeout);
  },
});
const run = (plan: Runnable, options: RunOptions = {}) =>
  runPlan(plan, { stop: never, ...options, onStarted: ({ mark }) => marks.push(mark) });
const refused = async (doing: Promise<unknown>): Promise<UserError> => {
  const error = await doing.then(
    () => assert.fail('it should have failed'),
    reason => reason,
  );
  assert.ok(error instanceof UserError, String(error));
  return error;
};

const SHAPES = [
  "iter = 98, global_rank = 0, rank = 0, currank_total_requests = 0/8, elapsed_time = 0.01s, timestamp = 2025-01-01 00:00:00, states = {'num_ctx_requests': 0}",
  "0: [11/02/2025-10:11:12] [TRT-LLM] [I] iter = 99, global_rank = 0, rank = 0, currank_total_requests = 0/8, host_step_time = 1.2ms, prev_device_step_time = N/A, timestamp = 2025-01-01 00:00:00, num_scheduled_requests: 8, states = {'num_ctx_requests': 0}",
  '\u001b[32m[I]\u001b[0m iter = 100, global_rank = 0, rank = 0, num_scheduled_requests = 8, kv_cache_util = 0.1, currank_total_requests = 0/8, host_step_time = 1ms, prev_device_step_time = 1ms, timestamp = x, states = {}',
  '[_torch][RANK 0] iter = 101, global_rank = 0, rank = 0, num_scheduled_requests = 8, adp_dummy_ctx_tokens = 0, adp_dummy_gen_tokens = 0, kv_cache_util = N/A, currank_total_requests = 0/8, host_step_time = 1ms, prev_device_step_time = 1ms, timestamp = x, states = {}',
];

test('progress comes from the four shapes of the iteration log', async () => {
  const command = node(
    `import fs from 'node:fs'; for (const line of ${JSON.stringify(SHAPES)}) console.log(line); console.log('iter = x'); fs.writeFileSync(process.argv[2], '{}');`,
  );
  const seen: number[] = [];
  const result = await run(plain([...command, path.join(work, 'trace.json')]), {
    onIteration: i => seen.push(i),
  });
  assert.deepEqual(seen, [98, 99, 100, 101]);
  assert.deepEqual(result.iterations, { first: 98, last: 101 });
  assert.deepEqual(
    result.files.map(({ path: file }) => path.basename(file)),
    ['trace.json'],
  );

  const status: string[] = [];
  let text = '';
  const output = {
    out() {},
    err: (part: string) => void (text += part),
    width: 80,
    color: false,
    progress() {},
    clearProgress() {},
    status: (line: string) => void status.push(line),
  };
  const lines = captureLines(output, { first: 100, last: 150 });
  for (const [i, line] of SHAPES.entries()) {
    lines.onLine(line);
    lines.onIteration(98 + i);
  }
  assert.deepEqual(status, [
    'iteration 98 of 100-150',
    'iteration 99 of 100-150',
    'iteration 100 of 100-150',
    'iteration 101 of 100-150',
  ]);
  assert.equal(text.match(/window started/g)?.length, 1);
});

test(
  'what is there is not overwritten, and with force an old file is not taken for a new one',
  withShell,
  async () => {
    fs.writeFileSync(path.join(work, 'trace.json'), 'old');
    const command = ['true'];
    const error = await refused(run(plain(command)));
    assert.match(error.message, /trace\.json already exists/);
    const result = await run(plain(command), { force: true });
    assert.deepEqual(result.files, []);
    assert.match(runFailure(result)!.message, /No report was written: the command exited with status 0/);
    assert.equal(fs.readFileSync(path.join(work, 'trace.json'), 'utf8'), 'old');
  },
);

test('a missing folder is made, since nsys would wait for it forever', withShell, async () => {
  const file = path.join(work, 'new/folder/trace.json');
  const result = await run({
    ...plain(['cp', '/etc/hostname', file]),
    outputs: [{ kind: 'torch-trace', pattern: file }],
  });
  assert.equal(result.files.length, 1);
});

test('a failing command says its status and its own last words', async () => {
  const result = await run(plain(['sh', '-c', 'echo loading; echo "CUDA error: out of memory" >&2; exit 7']));
  assert.equal(result.status, 7);
  assert.match(runFailure(result)!.message, /exited with status 7: CUDA error: out of memory/);
  assert.match(
    (await refused(run(plain(['no-such-engine'])))).message,
    /no-such-engine is not installed, or not on PATH/,
  );
});

test('whatever detaches itself is ended', withShell, async () => {
  const file = path.join(work, 'trace.json');
  const lines =
    'setsid sh -c "trap \'\' TERM; while :; do sleep 0.2; done" >/dev/null 2>&1 & sleep 0.3; echo "{}" > "$1"';
  const result = await run(plain(['sh', '-c', lines, 'sh', file]));
  assert.equal(result.files.length, 1);
  assert.ok(result.ended.length >= 1, 'the detached one was not seen');
});

/** Interrupts once the program says it is ready, again after each wait: machines under load start slowly. */
function interrupting(...waits: number[]): Pick<RunOptions, 'stop' | 'onLine'> {
  let request = () => {};
  let at = 0;
  return {
    stop: {
      listen(onRequest) {
        request = onRequest;
        return () => {};
      },
    },
    onLine(line) {
      if (line === 'ready') for (const wait of [0, ...waits]) setTimeout(() => request(), (at += wait));
    },
  };
}

test('a process that clears its environment, its session and its parent is ended', withShell, async () => {
  const pids = path.join(work, 'pids');
  // The double fork of a daemon: by the time the capture ends, nothing about it points here.
  const daemon = program(
    'daemon.sh',
    `#!/bin/sh\n(env -i setsid sh -c 'sleep 300 & echo $! > ${pids}; sleep 1' &)\nsleep 1.5\n`,
  );
  await run(plain([daemon]));
  const pid = Number(fs.readFileSync(pids, 'utf8'));
  assert.ok(pid > 1);
  assert.ok(!isRunning(pid));
});

/** One that ended counts as gone where nobody waits for it, as in a container without an init. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** A capture in a process of its own, which signals and lost pipes reach as they do from a terminal. */
async function captureAlone(
  end: (child: ChildProcess) => void,
): Promise<{ status: number | null; kept: boolean }> {
  const trace = path.join(work, 'trace.json');
  const engine = program(
    'slow.mjs',
    `import fs from 'node:fs';
     process.on('SIGINT', () => { fs.writeFileSync(${JSON.stringify(trace)}, '{"traceEvents": []}'); process.exit(0); });
     fs.writeFileSync(${JSON.stringify(path.join(work, 'pid'))}, String(process.pid));
     setInterval(() => console.log('working'), 20);`,
  );
  const at = (file: string) => JSON.stringify(`file://${projectRoot}/dist/src/${file}`);
  const script = program(
    'alone.mjs',
    `import { runPlan } from ${at('capture/run/run-plan.js')};
     import { watchOutput } from ${at('base/lost-output.js')};
     watchOutput(error => { throw error; });
     const plan = { command: [process.execPath, ${JSON.stringify(engine)}], nsysAt: -1, env: {},
       outputs: [{ kind: 'torch-trace', pattern: ${JSON.stringify(trace)} }] };
     const { files } = await runPlan(plan, { onLine: line => console.log(line) });
     process.exitCode = files.length === 1 ? 0 : 9;`,
  );
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>(resolve => child.stdout!.once('data', () => resolve()));
  const status = new Promise<number | null>(resolve => child.once('exit', resolve));
  end(child);
  const result = { status: await status, kept: fs.existsSync(trace) };
  const pid = Number(fs.readFileSync(path.join(work, 'pid'), 'utf8'));
  assert.ok(!isRunning(pid), 'the engine was stopped');
  fs.rmSync(trace, { force: true });
  return result;
}

test('a closed terminal, Ctrl-\\ and a reader that left stop the engine and keep the trace', async () => {
  for (const end of [
    (child: ChildProcess) => child.kill('SIGHUP'),
    (child: ChildProcess) => child.kill('SIGQUIT'),
    (child: ChildProcess) => child.stdout!.destroy(),
    (child: ChildProcess) => {
      child.stdout!.destroy();
      child.kill('SIGHUP');
    },
  ])
    assert.deepEqual(await captureAlone(end), { status: 0, kept: true }, String(end));
});

test('the first interrupt asks, the second ends everything', async () => {
  const file = path.join(work, 'trace.json');
  const text = `import fs from 'node:fs'; process.on('SIGINT', () => { fs.writeFileSync(process.argv[2], '{}'); process.exit(0); }); setInterval(() => {}, 1000); console.log('ready');`;
  const asked = await run(plain([...node(text), file]), interrupting());
  assert.deepEqual([asked.stoppedBy, asked.files.length], ['interrupt', 1]);
  fs.rmSync(file);
  const deaf = `process.on('SIGINT', () => {}); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready');`;
  const killed = await run(plain([...node(deaf), file]), interrupting(300));
  assert.deepEqual([killed.stoppedBy, killed.signal], ['kill', 'SIGKILL']);
  assert.match(runFailure(killed)!.message, /Stopped before a report was written/);
});

test('time runs out: asked first, ended when it does not listen', async () => {
  const notices: string[] = [];
  const deaf = plain(['sh', '-c', 'trap "" INT; while :; do sleep 1; done']);
  const result = await run(deaf, { timeoutMs: 1500, graceMs: 400, onNotice: text => notices.push(text) });
  assert.deepEqual([result.stoppedBy, result.signal], ['timeout', 'SIGKILL']);
  assert.deepEqual(
    notices.map(text => text.split(':')[0]),
    ['timeout reached', 'the command does not stop'],
  );
});

test('a full disk is refused before, and stops the capture while it runs', withShell, async () => {
  const error = await refused(
    run({ ...plain(['true']), estimate: { bytes: 5e9 } }, { freeBytes: () => 1e9 }),
  );
  assert.equal(error.code, 'no-space');
  let looks = 0;
  const result = await run(plain(['sleep', '30']), { freeBytes: () => (looks++ < 2 ? 1e12 : 1e6) });
  assert.equal(result.stoppedBy, 'disk');
  const said = await run(plain(['sh', '-c', 'cp /etc/hostname /dev/full']));
  assert.equal(runFailure(said)!.code, 'no-space');
});

test('a recipe holds what we set, nothing of the user, and belongs to one content', async () => {
  const file = path.join(work, 'trace.json');
  const plan = {
    ...plain(['sh', '-c', 'echo "{}" > "$1"', 'sh', file]),
    env: { TLLM_PROFILE_START_STOP: '100-150' },
  };
  const env = { ...process.env, MY_SECRET_TOKEN: 'hf_planted_secret_value' };
  const result = await run(plan, { env });
  const written = await writeRecipe(plan, result, {
    versions: { stepscope: '0' },
    where: 'here',
    window: { first: 100, last: 150 },
  });
  assert.equal(written, recipePath(file));
  const text = fs.readFileSync(written!, 'utf8');
  for (const [name, value] of Object.entries(env))
    if (
      name.includes('SECRET') ||
      (value &&
        value.length > 12 &&
        name !== 'PWD' &&
        !file.startsWith(value) &&
        !plan.command.includes(value))
    )
      assert.ok(!text.includes(value!), `the value of ${name} is in the recipe`);
  const ajv = new Ajv2020({ allowUnionTypes: true });
  assert.ok(ajv.validate(recipeSchema, JSON.parse(text)), JSON.stringify(ajv.errors));

  assert.deepEqual((await recipeBeside(file))?.environment, { TLLM_PROFILE_START_STOP: '100-150' });
  fs.writeFileSync(file, '[]\n');
  assert.equal(await recipeBeside(file), undefined, 'same size, other content');
  fs.writeFileSync(file, '{}\n');
  fs.writeFileSync(written!, text + ' '.repeat(MOST_RECIPE_BYTES));
  assert.equal(await recipeBeside(file), undefined, 'too large');
  assert.equal(parseRecipe(text.replace('"name": "trace.json"', '"name": "../../etc/passwd"')), undefined);
});

const SERVER = `import http from 'node:http'; import fs from 'node:fs';
const [port, calls, report] = process.argv.slice(2);
setTimeout(() => http.createServer((q, r) => { fs.appendFileSync(calls, q.method + ' ' + q.url + '\\n'); q.resume(); r.statusCode = /missing/.test(q.url) ? 404 : 200; r.end(q.url === '/v1/models' ? '{"data":[{"id":"m"}]}' : '{}'); }).listen(Number(port), '127.0.0.1'), 300);
console.log('loading weights');
process.on('SIGINT', () => { fs.writeFileSync(report, '{}'); process.exit(0); });`;
const freePort = () => 20000 + Math.floor(Math.random() * 20000);
const callsOf = () => fs.readFileSync(path.join(work, 'calls'), 'utf8').trim().split('\n');

function served(port: number, place = '/health') {
  const report = path.join(work, 'trace.json');
  const url = `http://127.0.0.1:${port}`;
  return {
    ...plain([...node(SERVER), String(port), path.join(work, 'calls'), report]),
    steps: [
      { do: 'start' as const },
      { do: 'wait-http' as const, url: `${url}${place}`, timeoutS: 20 },
      { do: 'load' as const, why: 'requests' },
      { do: 'stop' as const, signal: 'SIGINT' as const, why: 'done' },
    ],
  };
}
const serverOptions = (port: number) => ({
  url: `http://127.0.0.1:${port}`,
  load: warmUp(3),
  stop: never,
  onStarted: ({ mark }: { mark: string }) => void marks.push(mark),
});

test('a server is waited for, sent requests and stopped', async () => {
  const port = freePort();
  const result = await runServer(served(port), serverOptions(port));
  assert.deepEqual([result.files.length, result.stoppedBy], [1, undefined]);
  assert.equal(callsOf().filter(call => call === 'POST /v1/completions').length, 3);
});

test('a server that never comes up is ended, and its last line told', withShell, async () => {
  const port = freePort();
  const silent = { ...served(port), command: ['sh', '-c', 'echo loading shard 3; sleep 60'] };
  const late = await refused(
    runServer(silent, { ...serverOptions(port), healthTimeoutMs: 700, graceMs: 500 }),
  );
  assert.match(late.message, /did not respond at .* within 1 s; its last output: loading shard 3/);
});

test('a server that dies while it is waited for says why', async () => {
  const port = freePort();
  const dying = {
    ...served(port),
    command: ['sh', '-c', 'sleep 0.2; echo "ValueError: no such model" >&2; exit 3'],
  };
  const error = await refused(runServer(dying, serverOptions(port)));
  assert.match(error.message, /exited with status 3: ValueError: no such model/);
});

test('a server that is kept goes on after its report, printing into a file', async () => {
  const port = freePort();
  const plan = served(port);
  const logFile = path.join(work, 'server.log');
  let pid = 0;
  const result = await runServer(
    { ...plan, steps: plan.steps.filter(step => step.do !== 'stop') },
    { ...serverOptions(port), keepServer: true, logFile, onStarted: started => void (pid = started.pid) },
  );
  assert.equal(result.status, null);
  assert.ok((await fetch(`http://127.0.0.1:${port}/health`)).ok, 'it was ended');
  assert.match(fs.readFileSync(logFile, 'utf8'), /loading weights/);
  process.kill(pid, 'SIGKILL');
});

test('attached, profiling is stopped whatever the load does', async () => {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  let attached: Promise<unknown> | undefined;
  const failing = { run: async () => Promise.reject(new UserError('usage', 'the load broke', '')) };
  await runServer(served(port), {
    ...serverOptions(port),
    load: {
      async run() {
        attached = attachServer(planAttach({ url }).steps, [], { url, load: failing, stop: never });
        await attached.catch(() => {});
      },
    },
  });
  assert.match((await refused(attached!)).message, /the load broke/);
  assert.deepEqual(
    callsOf().filter(call => call.startsWith('POST')),
    ['POST /start_profile', 'POST /stop_profile'],
  );
});

const ENGINE = `#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int n, char **v) { char b[99]; for (int i = 0; i < atoi(v[1]); i++) {
  sprintf(b, "[Executor] _forward_step %d: 0 ctx reqs, 8 gen reqs", i); nvtxRangePushA(b); usleep(1000); nvtxRangePop();
  printf("iter = %d, global_rank = 0, rank = 0, currank_total_requests = 0/8, states = {}\\n", i); fflush(stdout); } return 0; }`;

/** The program, and the plan around it. */
function underNsys(steps: number): Runnable {
  const include = path.join(path.dirname(fs.realpathSync(realNsys)), 'nvtx/include');
  fs.writeFileSync(path.join(work, 'engine.c'), ENGINE);
  const engine = path.join(work, 'engine-nvtx');
  const built = spawnSync('cc', [
    '-I',
    include,
    '-o',
    engine,
    path.join(work, 'engine.c'),
    '-ldl',
    '-lpthread',
  ]);
  assert.equal(built.status, 0, String(built.stderr));
  const output = path.join(work, 'with space; true');
  const flags = ['-t', 'nvtx', '-s', 'none', '--cpuctxsw=none', '-o', output];
  return {
    command: [realNsys, 'profile', ...flags, engine, String(steps)],
    nsysAt: 0,
    env: {},
    outputs: [{ kind: 'nsys-report', pattern: `${output}.nsys-rep` }],
  };
}

const withNsys = { skip: lacks('nsys', 'compiler') };

test('the file of the agent alone is no report', async () => {
  const output = path.join(work, 'alone');
  const write = `require('fs').writeFileSync(${JSON.stringify(`${output}-rank-1.agent.json`)}, '{}')`;
  const result = await run({
    command: [process.execPath, '-e', write],
    nsysAt: -1,
    env: {},
    outputs: [
      { kind: 'nsys-report', pattern: `${output}.nsys-rep` },
      { kind: 'agent-sidecar', pattern: `${output}.agent.json` },
    ],
  });
  assert.deepEqual(
    result.files.map(({ kind, bytes }) => [kind, bytes]),
    [['agent-sidecar', 2]],
  );
  assert.match(runFailure(result)!.message, /No report was written/);
});

test('the real nsys around real ranges: a report that opens', withNsys, async () => {
  const plan = underNsys(30);
  const result = await run(plan);
  assert.deepEqual([result.status, result.iterations], [0, { first: 0, last: 29 }]);
  const profile = await openProfile([result.files[0].path], { workers: 0 });
  const names = [...(profile.tables.ranges!.name as unknown as Int32Array)].map(id =>
    profile.strings.text(id),
  );
  assert.equal(names.filter(name => name.startsWith('[Executor] _forward_step')).length, 30);
});

test('the real nsys interrupted in the middle: what there is, and nobody left', withNsys, async () => {
  const plan = underNsys(1_000_000);
  const result = await run(plan, { stop: stopAfter(3000) });
  assert.equal(result.stoppedBy, 'interrupt');
  const profile = await openProfile([result.files[0].path], { workers: 0 });
  assert.ok(profile.tables.ranges!.length > 10);
  // Killed while it collects: no report, a clear message, and the program under nsys is gone too (afterEach looks).
  const killed = await run({ ...plan, outputs: plan.outputs }, { stop: stopAfter(2500, 2550), force: true });
  assert.equal(killed.stoppedBy, 'kill');
  await sleep(200);
});
