/** `capture --attach --iterations`: the steps go with the request where the engine takes them, as its sources read them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { runStepscope } from './run-stepscope.js';

interface Posted {
  readonly path: string;
  readonly body: unknown;
}

/** The routes of an engine. Asked for a number of steps, it ends profiling itself and answers a later stop with 500. */
async function attached(
  owner: string | undefined,
  args: readonly string[],
  stopStatus = 200,
  version?: string,
): Promise<{ posts: Posted[]; status: number; err: string; out: string }> {
  const posts: Posted[] = [];
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', chunk => void (text += String(chunk)));
    request.on('end', () => {
      const place = request.url ?? '';
      if (request.method === 'POST')
        posts.push({ path: place, body: text === '' ? undefined : JSON.parse(text) });
      if (place === '/stop_profile') response.statusCode = stopStatus;
      if (place === '/version') response.end(JSON.stringify({ version }));
      else
        response.end(JSON.stringify(place === '/v1/models' ? { data: [{ id: 'm', owned_by: owner }] } : {}));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const words = ['capture', '--attach', '--server', url, '--requests', '1', ...args];
    return { posts: posts, ...(await runStepscope(words)) };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const profiling = (posts: readonly Posted[]) => posts.filter(({ path }) => path.endsWith('_profile'));

test('SGLang: start_step and num_steps, and a stop that comes too late is no error', async () => {
  const { posts, status, err } = await attached('sglang', ['--iterations', '20-29', '--torch-stack'], 500);
  assert.equal(status, 0, err);
  assert.deepEqual(profiling(posts), [
    {
      path: '/start_profile',
      body: { activities: ['CPU', 'GPU'], with_stack: true, start_step: 20, num_steps: 10 },
    },
    { path: '/stop_profile', body: undefined },
  ]);
  assert.match(err, /the server is no longer recording: the requested steps are done, or were not reached/);
});

test('TensorRT-LLM: the same fields; zero is its default', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-attach-'));
  const traces = path.join(folder, 'traces');
  const { posts, status, err } = await attached('tensorrt_llm', [
    '--iterations',
    '0-49',
    '--torch-trace',
    traces,
  ]);
  assert.equal(status, 0, err);
  assert.deepEqual(profiling(posts)[0], {
    path: '/start_profile',
    body: { output_dir: traces, activities: ['CPU', 'GPU'], num_steps: 50 },
  });
  rmSync(folder, { recursive: true });
});

test('vLLM takes no steps: the capture is rejected before profiling starts, unless --anyway', async () => {
  const refused = await attached('vllm', ['--iterations', '20-29']);
  assert.equal(refused.status, 2);
  assert.deepEqual(refused.posts, []);
  assert.match(
    refused.err,
    /^stepscope: vLLM takes steps with \/start_profile from 0\.32 on, and this version is not known: .*\nStart the server with --profiler-config .*"delay_iterations":21,"max_iterations":10/,
  );
  // It is asked: from 0.32 on the steps go with the request.
  const newer = await attached('vllm', ['--iterations', '20-29'], 200, '0.32.1');
  assert.equal(newer.status, 0, newer.err);
  assert.deepEqual(profiling(newer.posts)[0]?.body, { delay_iterations: 21, max_iterations: 10 });
  const anyway = await attached('vllm', ['--iterations', '20-29', '--anyway'], 200, '0.31.0');
  assert.deepEqual(profiling(anyway.posts), [
    { path: '/start_profile', body: undefined },
    { path: '/stop_profile', body: undefined },
  ]);
});

test('a server that does not name its engine: --preset decides', async () => {
  const unknown = await attached(undefined, ['--iterations', '20-29']);
  assert.deepEqual([unknown.status, unknown.posts], [2, []]);
  assert.match(unknown.err, /does not name its engine[^\n]*\n[^\n]*--preset sglang/);
  const named = await attached(undefined, ['--iterations', '20-29', '--preset', 'trtllm-serve']);
  assert.deepEqual(profiling(named.posts)[0]?.body, {
    activities: ['CPU', 'GPU'],
    start_step: 20,
    num_steps: 10,
  });
  // Without steps nothing depends on the engine.
  const whole = await attached(undefined, []);
  assert.deepEqual(profiling(whole.posts)[0]?.body, undefined);
});

test('a stop that fails is an error where no steps were counted', async () => {
  const { status, err } = await attached('sglang', [], 500);
  assert.notEqual(status, 0);
  assert.match(err, /stop_profile returned HTTP 500/);
});

test('the plan shows the request and what its steps are counted from', async () => {
  const plan = async (...args: string[]) =>
    (await attached('sglang', ['--dry-run', '--iterations', '20-29', ...args])).out;
  assert.match(await plan('--preset', 'sglang'), /"start_step":20,"num_steps":10/);
  assert.match(await plan('--preset', 'sglang'), /counts forward passes from server start/);
  assert.match(await plan('--preset', 'trtllm-serve'), /counts iterations from \/start_profile/);
  assert.match(await plan('--preset', 'vllm'), /error: vLLM takes steps with \/start_profile from 0\.32 on/);
  assert.match(await plan(), /The server is asked for its engine first/);
});
