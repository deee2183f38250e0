/** `capture --attach` of a running server with steps or a phase in its request: what is recorded, step by step. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { planAttach } from '../src/capture/plan-attach.js';
import { attachServer } from '../src/capture/run/run-server.js';
import { waitForServer } from '../src/capture/run/server-calls.js';
import { engines } from '../src/catalog/engines.js';
import { nobody } from '../src/cli/capture/run-attached.js';
import { runStepscope } from './run-stepscope.js';

const standIn = fileURLToPath(new URL('./standin-engine.js', import.meta.url));

interface Running {
  readonly url: string;
  readonly traces: string;
  readonly calls: () => string;
}

async function withEngine(
  kind: string,
  words: (traces: string) => readonly string[],
  use: (running: Running) => Promise<void>,
): Promise<void> {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-stages-'));
  const [traces, calls] = [path.join(work, 'traces'), path.join(work, 'calls')];
  const probe = http.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise(resolve => probe.close(resolve));
  const args = [standIn, kind, '--port', String(port), ...words(traces)];
  const env = { ...process.env, STANDIN_CALLS: calls, STANDIN_VERSION: '0.32.1' };
  const server = spawn(process.execPath, args, { env, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitForServer(url, 20_000, { signal: new AbortController().signal, lastLine: () => '' });
    await use({ url, traces, calls: () => (fs.existsSync(calls) ? fs.readFileSync(calls, 'utf8') : '') });
    assert.ok((await fetch(`${url}/health`)).ok, 'the server was ended');
  } finally {
    server.kill('SIGKILL');
    fs.rmSync(work, { recursive: true });
  }
}

function stepsIn(file: string): { name: string; iteration: number }[] {
  const { traceEvents } = JSON.parse(gunzipSync(fs.readFileSync(file)).toString()) as {
    traceEvents: { cat: string; name: string; args: { iteration: number } }[];
  };
  return traceEvents
    .filter(({ cat }) => cat === 'user_annotation')
    .map(({ name, args: { iteration } }) => ({ name, iteration }));
}

const attach = ({ url, traces }: Running, ...words: string[]) =>
  runStepscope(['capture', '--attach', '--server', url, '--torch-trace', traces, ...words]);

test('SGLang reports no phases: --phase decode begins when every request has its first token', async () => {
  await withEngine(
    'sglang',
    () => [],
    async running => {
      const { status, err } = await attach(running, '--phase', 'decode', '--steps', '30');
      assert.equal(status, 0, err);
      assert.match(
        running.calls(),
        /^\/start_profile \{"output_dir":"[^"]+","activities":\["CPU","GPU"\],"num_steps":30\}\n\/stop_profile \n$/,
      );
      const [file] = fs.readdirSync(running.traces);
      const names = stepsIn(path.join(running.traces, file)).map(({ name }) => name);
      assert.deepEqual([names.length, [...new Set(names)]], [30, ['step[DECODE bs=16]']]);
      assert.match(err, /30 steps, all decode, as requested/);
    },
  );
});

test('--phase with the requests of others: an engine that reports no phases ends with the reason', async () => {
  await withEngine(
    'sglang',
    () => [],
    async ({ url, calls }) => {
      for (const phase of ['decode', 'prefill'] as const) {
        const { steps } = planAttach({
          ...{ url, engine: engines.sglang },
          demand: { goal: { phase }, steps: 10, words: `--phase ${phase}` },
          shape: {
            users: 2,
            inputTokens: 8,
            outputTokens: 64,
            ...(phase === 'decode' ? { once: true } : {}),
          },
        });
        const attached = attachServer(steps, [], { url, load: nobody, patienceMs: 100 });
        await assert.rejects(attached, /alone cannot be checked: the engine reports no counters.*HTTP 404/);
      }
      assert.equal(calls(), '');
    },
  );
});

test('vLLM --attach --iterations: exactly these steps after the request', async () => {
  const config = (traces: string) => JSON.stringify({ profiler: 'torch', torch_profiler_dir: traces });
  for (const [asked, first, last] of [
    ['7-16', 7, 16],
    ['0-4', 0, 4],
  ] as const)
    await withEngine(
      'vllm',
      traces => ['--profiler-config', config(traces)],
      async running => {
        const { status, err } = await attach(running, '--iterations', asked);
        assert.equal(status, 0, err);
        const [file] = fs.readdirSync(running.traces).filter(name => name.endsWith('.json.gz'));
        const steps = stepsIn(path.join(running.traces, file)).map(({ iteration }) => iteration);
        assert.deepEqual([steps[0], steps.at(-1), steps.length], [first, last, last - first + 1]);
      },
    );
});
