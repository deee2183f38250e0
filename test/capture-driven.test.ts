/**
 * Captures that drive a server to its window: stand-ins with the routes of the engines, real processes, real requests.
 * What was recorded is compared with what was asked for, step by step; every test looks for what was left running.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { UserError } from '../src/base/user-error.js';
import type { CaptureOptions } from '../src/capture/capture-plan.js';
import { planAttach } from '../src/capture/plan-attach.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { markedProcesses } from '../src/capture/run/marked-processes.js';
import { runFailure, type StopRequests } from '../src/capture/run/run-plan.js';
import { attachServer, runServer } from '../src/capture/run/run-server.js';
import { type LoadLevels, waitForServer } from '../src/capture/run/server-calls.js';
import { parseVersion } from '../src/capture/versions.js';
import { readCondition } from '../src/capture/window-condition.js';
import { loadFor } from '../src/cli/capture/capture-load.js';
import type { LoadDocument } from '../src/load/load-document.js';
import { lacks } from '../src/testing/needs.js';
import { keptOutput, runStepscope } from './run-stepscope.js';
import { recordedIn } from './standin-engine.js';
import { timed } from './timed.js';

const withShell = { skip: lacks('shell') };
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-driven-'));
const standIn = fileURLToPath(new URL('./standin-engine.js', import.meta.url));
const saved = { ...process.env };
const folder = process.cwd();
let work = '';
let marks: string[] = [];

beforeEach(() => {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
  for (const [name, role] of [
    ['nsys', 'nsys'],
    ['trtllm-serve', 'trtllm'],
    ['vllm', 'vllm'],
    ['sglang', 'sglang'],
  ]) {
    const script = `#!/bin/sh\nexec '${process.execPath}' '${standIn}' ${role} "$@"\n`;
    fs.writeFileSync(path.join(work, name), script, { mode: 0o755 });
  }
  process.env.PATH = `${work}:${saved.PATH}`;
  process.env.NSYS = path.join(work, 'nsys');
  process.env.STEPSCOPE_CACHE = path.join(work, 'cache');
  process.env.STANDIN_CALLS = path.join(work, 'calls');
  process.chdir(work);
  marks = [];
});
afterEach(() => {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (name.startsWith('STANDIN_')) delete process.env[name];
  for (const mark of marks) assert.deepEqual(markedProcesses(mark), [], 'a process was left');
});
after(() => {
  Object.assign(process.env, saved);
  fs.rmSync(scratch, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}
const callsMade = () =>
  fs.existsSync(path.join(work, 'calls')) ? fs.readFileSync(path.join(work, 'calls'), 'utf8') : '';
const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);
const recorded = () => recordedIn(path.join(work, 'trace.nsys-rep'));
const iterationsRecorded = () => recorded().map(({ iteration }) => iteration);

/** The lies of the engine, and how the capture ends. */
interface Case {
  readonly lies?: string;
  readonly options?: Partial<CaptureOptions>;
  readonly version?: string;
  readonly engine?: string[];
  readonly stop?: StopRequests;
  readonly dataset?: string;
}

const never: StopRequests = { listen: () => () => {} };

async function drive({
  lies,
  options,
  version = '1.2.0',
  engine = ['trtllm-serve', 'M'],
  stop = never,
  dataset,
}: Case) {
  if (lies !== undefined) process.env.STANDIN_LIES = lies;
  const command = engine.includes('--port') ? engine : [...engine, '--port', String(await freePort())];
  const facts = { engineVersion: parseVersion(version)!, runsHere: true, nsys: path.join(work, 'nsys') };
  const plan = planCapture({ command, output: path.join(work, 'trace'), ...options }, facts);
  const { output, written } = keptOutput();
  const notices: string[] = [];
  const progress: string[] = [];
  const sent: LoadDocument[] = [];
  const load = loadFor({ dataset }, output, document => sent.push(document as LoadDocument));
  const url = plan.steps.find(step => step.do === 'wait-http')!.url.replace('/health', '');
  const ended = await runServer(plan, {
    ...{ url, load, stop, patienceMs: 700, graceMs: 3000, reportTimeoutMs: 1500 },
    onNotice: text => notices.push(text),
    onProgress: text => progress.push(text),
    onStarted: ({ mark }) => marks.push(mark),
  }).catch(error => {
    assert.ok(error instanceof UserError, String(error.stack));
    return error;
  });
  const error = ended instanceof UserError ? ended : ended.incomplete;
  return { error, ended, notices, progress, plan, written, sent };
}

const window = (first: number, last: number): Partial<CaptureOptions> => ({ iterations: [{ first, last }] });

test(
  'TensorRT-LLM by number: requests go on until the window has passed, to the page',
  withShell,
  async () => {
    const port = String(await freePort());
    const words = [
      '--iterations',
      '300-319',
      '--engine-version',
      '1.2.0',
      '--',
      'trtllm-serve',
      'M',
      '--port',
      port,
    ];
    const { status, err, out } = await runStepscope(['capture', ...words]);
    assert.equal(status, 0, err);
    assert.deepEqual(iterationsRecorded(), numbers(300, 319));
    // Sixteen users, of whom some are between two requests: more of them where others use the cores too.
    const requests = recorded().map(({ context, generation }) => context + generation);
    assert.ok(Math.min(...requests) > 0, String(requests));
    assert.ok(requests.reduce((sum, count) => sum + count, 0) > 8 * requests.length, String(requests));
    assert.match(err, /sending requests, 16 at a time/);
    assert.match(err, /iterations 300-319, as requested/);
    assert.match(out, /steps 30\d–31\d/);
    assert.equal(fs.readFileSync(path.join(work, 'trace.engine.yaml'), 'utf8'), 'print_iter_log: true\n');
  },
);

test('progress counts in the engine’s own numbers', withShell, async () => {
  process.env.STANDIN_STEP_MS = '4';
  const { progress, error } = await drive({ options: window(200, 220) });
  assert.equal(error, undefined);
  const seen = progress.flatMap(text => /^iteration (\d+) of 220/.exec(text)?.[1] ?? []).map(Number);
  assert.ok(seen.length > 2 && seen.every((number, i) => number >= (seen[i - 1] ?? 0)), progress.join('\n'));
  assert.ok(progress.some(text => /about \d+ s left$/.test(text)));
});

test('without an iteration log the report itself ends the load', withShell, async () => {
  const { error, plan, ended } = await drive({ version: '0.19.0', options: window(100, 119) });
  assert.equal(error, undefined, String(error));
  assert.ok(plan.warnings.some(({ code }) => code === 'no-iteration-log'));
  assert.equal(plan.files, undefined);
  assert.deepEqual(iterationsRecorded(), numbers(100, 119));
  assert.equal((ended as { status: number }).status, 0);
});

test('--when: vLLM opens the window at the batch, and not before, to the page', withShell, async () => {
  const port = String(await freePort());
  const { status, err, out } = await runStepscope([
    ...['capture', '--when', 'batch >= 32 and waiting = 0', '--steps', '30', '--torch-trace', 'traces'],
    ...['--engine-version', '0.16.0', '--', 'vllm', 'serve', 'M', '--port', port],
  ]);
  assert.equal(status, 0, err);
  assert.match(err, /30 steps, as requested/);
  assert.match(out, /steps 0–2\d/);
  const [trace] = fs.readdirSync(path.join(work, 'traces')).filter(name => name.endsWith('.json.gz'));
  const text = gunzipSync(fs.readFileSync(path.join(work, 'traces', trace))).toString();
  const batches = [...text.matchAll(/execute_context_(\d+)\(\d+\)_generation_(\d+)/g)];
  const sizes = batches.map(([, context, generation]) => Number(context) + Number(generation));
  assert.equal(sizes.length, 30);
  // A client that is late with its next request leaves a place empty for a step, several where others use the cores;
  // before the window there are far fewer.
  assert.ok(Math.max(...sizes) >= 32 && Math.min(...sizes) >= 24, String(sizes));
  assert.match(callsMade(), /^\/start_profile \n\/stop_profile \n$/);
});

test('--when: a counter that the engine does not report is named', withShell, async () => {
  // The iteration log does not report the cache, and /metrics is off.
  const { error } = await drive({
    version: '1.3.0',
    options: { when: readCondition('kv>=40%'), steps: 10 },
  });
  assert.match(
    error!.message,
    /^The engine does not report kv, which kv>=40% needs\. It reports iteration, batch, tokens/,
  );
});

test('--when on TensorRT-LLM 1.3, by its statistics: the load grows until it holds', withShell, async () => {
  process.env.STANDIN_ITER_STATS = '1';
  const { error, notices } = await drive({
    version: '1.3.0',
    options: { when: readCondition('kv>=40%'), steps: 10 },
  });
  assert.equal(error, undefined, String(error));
  // One of a hundred blocks per request: sixteen are not enough, and the condition does not say how many are.
  assert.match(notices.join('\n'), /sending more requests: 64 at a time/);
  assert.equal(recorded().length, 10);
  assert.ok(recorded().every(({ context, generation }) => context + generation > 32));
  assert.equal(callsMade(), '/start_profile {"activities":["CUDA_PROFILER"],"num_steps":10}\n');
});

test('--phase decode: no prompt in the window; --phase prefill: nothing else', withShell, async () => {
  const decode = await drive({ version: '1.3.0', options: { phase: 'decode', steps: 40 } });
  assert.equal(decode.error, undefined, String(decode.error));
  assert.deepEqual([...new Set(recorded().map(step => `${step.context}+${step.generation}`))], ['0+16']);
  assert.equal(recorded().length, 40);
  const other = { output: path.join(work, 'prefill'), phase: 'prefill', steps: 20 } as const;
  const prefill = await drive({ version: '1.3.0', options: other });
  assert.equal(prefill.error, undefined, String(prefill.error));
  const steps = recordedIn(path.join(work, 'prefill.nsys-rep'));
  assert.equal(steps.length, 20);
  assert.ok(steps.every(({ context, generation }) => context > 0 && generation === 0));
});

test('--dataset: its prompts are sent, with answers as long as the phase needs', withShell, async () => {
  const dataset = path.join(work, 'prompts.jsonl');
  fs.writeFileSync(dataset, '{"task_id": 0, "prompt": "one two three four", "output_tokens": 1}\n');
  const decode = await drive({ version: '1.3.0', dataset, options: { phase: 'decode', steps: 40 } });
  assert.equal(decode.error, undefined, String(decode.error));
  assert.deepEqual([...new Set(recorded().map(step => `${step.context}+${step.generation}`))], ['0+16']);
  const output = path.join(work, 'numbered');
  const numbered = await drive({ dataset, options: { output, ...window(20, 25) } });
  assert.equal(numbered.error, undefined, String(numbered.error));
  const [{ settings, levels }] = numbered.sent;
  assert.equal(settings.prompts, 'prompts.jsonl');
  assert.deepEqual([levels[0].load.inputTokens, levels[0].load.outputTokens], [4, 1]);
  assert.throws(() => loadFor({ dataset: path.join(work, 'none') }, keptOutput().output), UserError);
});

test('SGLang: steps from a full batch on, as many as the engine takes', withShell, async () => {
  process.env.STANDIN_MOST_BATCH = '8';
  const { error } = await drive({
    version: '0.5.10',
    engine: ['sglang', 'serve', 'M'],
    options: { steps: 25 },
  });
  assert.equal(error, undefined, String(error));
  assert.equal(recorded().length, 25);
  assert.ok(recorded().every(({ context, generation }) => context + generation === 8));
  assert.match(callsMade(), /"activities":\["CUDA_PROFILER"\],"num_steps":25/);
});

test('a condition that the engine cannot reach ends with what it reports', withShell, async () => {
  process.env.STANDIN_MOST_BATCH = '4';
  const { error } = await drive({
    version: '1.3.0',
    options: { when: readCondition('batch>=8'), steps: 10 },
  });
  assert.match(error!.message, /^batch>=8 was not reached in 1 s with \d+ requests at a time: .*batch 4/);
  assert.equal(callsMade(), '');
});

// --- servers that lie, fail and die ------------------------------------------------------------------------------

test('a counter that stands still is not believed, and the window is reached', withShell, async () => {
  const { error, notices } = await drive({ lies: 'frozen:50', options: window(900, 909) });
  assert.equal(error, undefined, String(error));
  assert.match(
    notices.join('\n'),
    /the engine's counter stands at 50 while requests complete\. It is no longer used/,
  );
  assert.deepEqual(iterationsRecorded(), numbers(900, 909));
});

test('a counter that goes back is not believed', withShell, async () => {
  const { error, notices } = await drive({ lies: 'back:100', options: window(500, 509) });
  assert.equal(error, undefined, String(error));
  assert.match(notices.join('\n'), /the engine's counter went back from 99 to 0/);
  assert.deepEqual(iterationsRecorded(), numbers(500, 509));
});

test('a page of HTML as /metrics: said where counters are needed', withShell, async () => {
  const { error } = await drive({
    ...{ lies: 'html', version: '0.16.0', engine: ['vllm', 'serve', 'M'] },
    options: { when: readCondition('batch>=8'), steps: 10 },
  });
  assert.match(
    error!.message,
    /cannot be checked: the engine reports no counters\. \/metrics is not in the format of an inference engine/,
  );
});

test('an engine that never opens the window: the requests end, with the reason', withShell, async () => {
  const counted = await drive({ lies: 'no-window', options: window(20, 30) });
  assert.match(
    counted.error!.message,
    /^No report was written within 2 s, although the engine is at iteration \d+, past the window/,
  );
  const silent = await drive({
    lies: 'no-window',
    version: '0.19.0',
    options: { ...window(20, 30), output: path.join(work, 'silent') },
  });
  assert.match(
    silent.error!.message,
    /^No report was written, although \d+ requests completed, which takes more steps/,
  );
  assert.match(silent.error!.message, /\/metrics reports no iterations/);
});

test('answers that end early do not keep the window from being reached', withShell, async () => {
  const { error } = await drive({ lies: 'early', options: window(100, 119) });
  assert.equal(error, undefined, String(error));
  assert.deepEqual(iterationsRecorded(), numbers(100, 119));
});

test('HTTP 500 from some step on: nothing happens, and what fails is said', withShell, async () => {
  const atOnce = await drive({ lies: 'errors:0', options: window(100, 119) });
  assert.match(atOnce.error!.message, /HTTP 500|nothing happened/);
  const later = await drive({
    lies: 'errors:40',
    options: { ...window(400, 419), output: path.join(work, 'later') },
  });
  assert.match(
    later.error!.message,
    /^Iteration \d+ of 419: nothing happened for 1 s\. No request completed, \d+ failed: .*HTTP 500.*out of KV cache blocks/,
  );
});

test(
  'an engine that hangs in the window: what was recorded is kept, with the reason',
  withShell,
  async () => {
    const { error, ended } = await drive({ lies: 'hangs:110', options: window(100, 149) });
    assert.match(error!.message, /^Iteration 109 of 149: nothing happened for 1 s/);
    assert.ok(!(ended instanceof UserError), 'the report is kept');
    assert.deepEqual(iterationsRecorded(), numbers(100, 109));
  },
);

test('an engine that dies in the window leaves its last words and its report', withShell, async () => {
  const { ended } = await drive({ lies: 'dies:110', options: window(100, 149) });
  assert.ok(!(ended instanceof UserError));
  assert.equal(ended.status, 1);
  assert.match(ended.reason, /illegal memory access/);
  assert.deepEqual(iterationsRecorded(), numbers(100, 109));
  const before = await drive({
    lies: 'dies:50',
    options: { ...window(100, 149), output: path.join(work, 'before') },
  });
  assert.ok(!(before.ended instanceof UserError));
  assert.match(runFailure(before.ended)!.message, /exited with status 1: RuntimeError: CUDA error/);
});

test(
  'Ctrl-C in the window keeps it; a PyTorch trace is written before the engine is stopped',
  withShell,
  async () => {
    process.env.STANDIN_STEP_MS = '5';
    let stop = () => {};
    const pressed: StopRequests = {
      listen(onRequest) {
        stop = onRequest;
        return () => {};
      },
    };
    setTimeout(function look() {
      if (callsMade() === '') setTimeout(look, 50);
      else setTimeout(() => stop(), 200);
    }, 50);
    const { ended } = await drive({
      ...{ version: '0.16.0', engine: ['vllm', 'serve', 'M'], stop: pressed },
      options: { torchTrace: path.join(work, 'traces'), iterations: [{ first: 0, last: 4999 }] },
    });
    assert.ok(!(ended instanceof UserError), String(ended));
    assert.equal(ended.stoppedBy, 'interrupt');
    assert.equal(callsMade(), '/start_profile \n/stop_profile \n');
    assert.equal(fs.readdirSync(path.join(work, 'traces')).length, 1);
  },
);

test('a server that runs already at the address is not taken for the one to start', withShell, async () => {
  const port = await freePort();
  const other = http.createServer((_, response) => response.end()).listen(port, '127.0.0.1');
  try {
    const { error } = await drive({
      engine: ['trtllm-serve', 'M', '--port', String(port)],
      options: window(1, 9),
    });
    assert.match(error!.message, /already responds before the command is started: another server runs there/);
    assert.equal(fs.existsSync(path.join(work, 'trace.engine.yaml')), false, 'nothing was started');
  } finally {
    other.close();
  }
});

timed(
  'moe experiment with a server: the same requests to both routers, in turns, to the verdict',
  withShell,
  async () => {
    // Three repeats of steps far longer than what other programs on the cores take from them: of two, or of short
    // ones, the interval is sometimes too wide for a verdict, as it should be.
    process.env.STANDIN_STEP_MS = '16';
    const port = String(await freePort());
    const words = ['--repeats', '3', '--levels', 'concurrent:4', '--requests', '8', '--output-tokens', '30'];
    const pair = fs.mkdtempSync(path.join(work, 'pair-'));
    const call = ['moe', 'experiment', ...words, '-o', pair, '--', 'trtllm-serve', 'M', '--port', port];
    const { status, out, err } = await runStepscope(call);
    assert.equal(status, 0, err);
    assert.deepEqual(
      err.split('\n').flatMap(line => /^((?:learned|perfect)-\d): /.exec(line)?.[1] ?? []),
      ['learned-1', 'perfect-1', 'perfect-2', 'learned-2', 'learned-3', 'perfect-3'],
    );
    assert.match(out, /Faster with the perfect router \(\+\d+\.\d% throughput/);
    assert.match(out, /the engine log reports the perfect router in 3 of 3 logs/);
    const asked = (name: string) => {
      const { settings, levels } = JSON.parse(fs.readFileSync(path.join(pair, `${name}.json`), 'utf8'));
      return JSON.stringify([
        settings,
        levels.map(({ requests }: { requests: { hash?: string }[] }) => requests.length),
      ]);
    };
    for (const repeat of [1, 2, 3]) assert.equal(asked(`learned-${repeat}`), asked(`perfect-${repeat}`));

    const dry = await runStepscope([...call.slice(0, 2), '--dry-run', ...call.slice(2)]);
    assert.match(
      dry.out,
      /ENABLE_PERFECT_ROUTER=1 trtllm-serve M .*perfect-1\.log 2>&1 & server=\$!\nuntil curl -sf/,
    );
    assert.match(
      dry.out,
      /stepscope load http:\/\/localhost:\d+ --levels concurrent:4 --seed 1 --requests 8 --prefix seeded/,
    );
  },
);

test('moe experiment: a server that dies is named, with its last words', withShell, async () => {
  process.env.STANDIN_LIES = 'dies:3';
  const call = ['moe', 'experiment', '--levels', 'concurrent:2', '-o', 'pair', '--', 'trtllm-serve', 'M'];
  const { status, err } = await runStepscope([...call, '--port', String(await freePort())]);
  assert.notEqual(status, 0);
  assert.match(
    err,
    /learned-1: The command exited with status 1: RuntimeError: CUDA error.*\nSee pair\/learned-1\.log/,
  );
});

test(
  '--attach --when: a running server, its own load or that of others, and it runs on',
  withShell,
  async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const config = JSON.stringify({ profiler: 'torch', torch_profiler_dir: path.join(work, 'traces') });
    const server = spawn(
      process.execPath,
      [standIn, 'vllm', '--port', String(port), '--profiler-config', config],
      {
        env: { ...process.env, STANDIN_STEP_MS: '4' },
        stdio: 'ignore',
      },
    );
    try {
      await waitForServer(url, 20_000, { signal: new AbortController().signal, lastLine: () => '' });
      const call = ['capture', '--attach', '--server', url, '--torch-trace', 'traces', '--steps', '15'];
      const own = await runStepscope([...call, '--when', 'batch>=6']);
      assert.equal(own.status, 0, own.err);
      assert.match(own.err, /15 steps, as requested/);
      assert.equal(callsMade(), '/start_profile {"max_iterations":15}\n/stop_profile \n');
      assert.ok((await fetch(`${url}/health`)).ok, 'it was ended');

      // Nothing is sent: nothing runs, nothing is opened, and that is no reason to give up.
      const stopAfter: StopRequests = {
        listen(onRequest) {
          const timer = setTimeout(onRequest, 300);
          return () => clearTimeout(timer);
        },
      };
      for (const ending of [{ stop: stopAfter }, { stop: never, timeoutMs: 300 }]) {
        const ended = await attachServer(planAttach({ url, ...idle }).steps, [], {
          ...{ url, load: { run: async () => {}, drive: waiting, isOthers: true as const }, patienceMs: 100 },
          ...ending,
        }).catch(error => error);
        assert.match(ended.message, /Stopped before the window opened: nothing was recorded/);
      }
      assert.equal(callsMade().match(/start_profile/g)?.length, 1);
    } finally {
      server.kill('SIGKILL');
    }
  },
);

const idle = {
  demand: { goal: { when: 'batch>=6' }, steps: 15, words: "--when 'batch>=6'" },
  shape: { users: 8, inputTokens: 8, outputTokens: 8 },
};
const waiting: NonNullable<LoadLevels['drive']> = (_, __, { signal }) =>
  new Promise(resolve => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
