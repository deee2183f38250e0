/** Conditions on an engine's counters, and the counters as engines write them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import type { CaptureOptions } from '../src/capture/capture-plan.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { EngineWatch, textIn } from '../src/capture/run/engine-watch.js';
import { servingSteps } from '../src/capture/serving-steps.js';
import { parseVersion } from '../src/capture/versions.js';
import { holds, readCondition, requestsNeeded } from '../src/capture/window-condition.js';
import { requestShape } from '../src/capture/window-goal.js';
import { countersInLine, countersInMetrics } from '../src/catalog/engine-counters.js';
import { runStepscope } from './run-stepscope.js';

test('conditions: one spelling, and binds tighter than or, what is not reported does not hold', () => {
  const condition = readCondition('batch >= 32, waiting=0 OR kv>80%');
  assert.equal(condition.text, 'batch>=32 and waiting==0 or kv>80%');
  assert.ok(holds(condition, { batch: 40, waiting: 0 }));
  assert.ok(!holds(condition, { batch: 40, waiting: 1, kv: 80 }));
  assert.ok(holds(condition, { batch: 1, waiting: 1, kv: 80.5 }));
  assert.ok(!holds(condition, { batch: 40 }));
  assert.ok(holds(readCondition('tokens!=0 && iteration<10'), { tokens: 1.5, iteration: 9 }));
});

test('conditions that cannot be read name what is wrong', () => {
  const wrong = (text: string) => {
    try {
      readCondition(text);
    } catch (error) {
      assert.ok(error instanceof UserError);
      return error.message;
    }
    throw new Error(`${text} was read`);
  };
  assert.match(wrong('latency>3'), /names "latency", which is not one of batch, running/);
  assert.match(wrong('batch>=32 and'), /has an empty part/);
  assert.match(wrong('batch>=many'), /contains "batch>=many"/);
  assert.match(wrong('kv>=120%'), /above 100%/);
  assert.match(wrong('batch>=50%'), /percentage of batch/);
});

test('a load has enough requests for the condition, with a reserve where more do no harm', () => {
  assert.equal(requestsNeeded(readCondition('batch>=32')), 40);
  assert.equal(requestsNeeded(readCondition('batch==32')), 32);
  assert.equal(requestsNeeded(readCondition('running>7 and waiting>=4')), 10 + 5);
  assert.equal(requestsNeeded(readCondition('batch>=64 or kv>50%')), 0);
  const shape = (options: Partial<CaptureOptions>) => requestShape({ command: [], ...options });
  assert.deepEqual(shape({}), { users: 16, inputTokens: 128, outputTokens: 128 });
  assert.equal(shape({ when: readCondition('batch>=64') }).users, 80);
  assert.equal(shape({ when: readCondition('batch>=64'), load: { users: 70 } }).users, 70);
  assert.equal(shape({ phase: 'prefill', load: { outputTokens: 99 } }).outputTokens, 1);
  const decode = shape({ phase: 'decode', steps: 300 });
  assert.ok(decode.once && decode.outputTokens > 2 * 300);
});

test('the iteration log of TensorRT-LLM in its shapes', () => {
  const old =
    "iter = 98, global_rank = 0, rank = 0, currank_total_requests = 0/8, elapsed_time = 0.01s, timestamp = 2025-01-01 00:00:00, num_scheduled_requests: 8, states = {'num_ctx_requests': 2, 'num_ctx_tokens': 40, 'num_generation_tokens': 6}";
  assert.deepEqual(countersInLine(old), { iteration: 98, batch: 8, tokens: 46, prefill: true });
  const recent =
    "[_torch][RANK 0] iter = 101, global_rank = 0, rank = 0, num_scheduled_requests = 9, adp_dummy_ctx_tokens = 0, kv_cache_util = 0.25, currank_total_requests = 0/8, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 9}";
  assert.deepEqual(countersInLine(recent), { iteration: 101, batch: 9, tokens: 9, kv: 25, prefill: false });
  assert.equal(countersInLine(recent.replace('global_rank = 0', 'global_rank = 1')), undefined);
  assert.deepEqual(countersInLine('[I] Profiling started at iteration 500.'), { iteration: 500 });
});

test('log lines of SGLang and vLLM', () => {
  const decode =
    '[2025-10-31 03:45:20 TP0] Decode batch [51341], #running-req: 317, #token: 1094261, token usage: 0.67, cuda graph: True, gen throughput (token/s): 14806.57, #queue-req: 2,';
  assert.deepEqual(countersInLine(decode), {
    ...{ iteration: 51341, running: 317, batch: 317, waiting: 2, kv: 67, prefill: false },
  });
  assert.equal(countersInLine(decode.replace('TP0', 'DP1 TP1 EP1')), undefined);
  const prefill =
    '[2026-05-19 00:32:50 DP0 TP0] Prefill batch, #new-seq: 3, #new-token: 64, #cached-token: 0, token usage: 0.10, #running-req: 5, #queue-req: 0, cuda graph: False';
  assert.deepEqual(countersInLine(prefill), { batch: 3, waiting: 0, tokens: 64, kv: 10, prefill: true });
  const vllm =
    'INFO 09-02 13:08:10 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 610.1 tokens/s, Running: 8 reqs, Waiting: 1 reqs, GPU KV cache usage: 1.2%, Prefix cache hit rate: 0.0%';
  assert.deepEqual(countersInLine(vllm), { running: 8, batch: 8, waiting: 1, kv: 1.2 });
});

test('/metrics of the engines; anything else is not one', () => {
  const vllm = `# HELP vllm:num_requests_running Number of requests
vllm:num_requests_running{engine="0",model_name="a b {c}"} 12.0
vllm:num_requests_running{engine="1",model_name="a b {c}"} 10.0
vllm:num_requests_waiting{engine="0",model_name="m"} 3.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5
vllm:iteration_tokens_total_bucket{engine="0",le="1.0",model_name="m"} 5.0
vllm:iteration_tokens_total_count{engine="0",model_name="m"} 601.0
vllm:iteration_tokens_total_count{engine="1",model_name="m"} 590.0
vllm:iteration_tokens_total_sum{engine="0",model_name="m"} 1.7732e+04
vllm:prompt_tokens_total{engine="0",model_name="m"} 8256.0
`;
  assert.deepEqual(countersInMetrics(vllm), {
    ...{
      iteration: 590,
      batch: 10,
      running: 22,
      waiting: 3,
      kv: 50,
      totalTokens: 17732,
      totalPromptTokens: 8256,
    },
  });
  const trtllm =
    '[{"iter":153,"numActiveRequests":1},{"gpuMemUsage":76665782272,"iter":154,"iterLatencyMS":7.0,"kvCacheStats":{"maxNumBlocks":200,"usedNumBlocks":3},"numActiveRequests":2,"numQueuedRequests":0,"inflightBatchingStats":{"numContextRequests":1,"numScheduledRequests":2}}]';
  assert.deepEqual(countersInMetrics(trtllm), {
    ...{ iteration: 154, batch: 2, running: 2, waiting: 0, kv: 1.5, prefill: true },
  });
  for (const text of [
    '',
    '[]',
    '[null]',
    '[{"iter":"x"}]',
    '[1',
    '<html>',
    '{"detail":"Not Found"}',
    'go_gc 1\n',
  ])
    assert.equal(countersInMetrics(text), undefined, text);
  assert.equal(countersInMetrics('vllm:num_requests_running NaN\n'), undefined);
});

test('where a window cannot be opened on request, the plan says so before anything starts', () => {
  const errors = (command: string, version: string | undefined, options: Partial<CaptureOptions> = {}) =>
    planCapture(
      { command: command.split(' '), steps: 30, ...options },
      version === undefined ? {} : { engineVersion: parseVersion(version)! },
    )
      .warnings.filter(({ severity }) => severity === 'error')
      .map(({ code }) => code);
  assert.deepEqual(errors('trtllm-serve M', '1.2.0'), ['window-by-number']);
  assert.deepEqual(errors('trtllm-serve M --backend tensorrt', '1.3.0'), ['window-by-number']);
  assert.deepEqual(errors('trtllm-serve M', '1.3.0'), []);
  const unsure = planCapture({ command: ['trtllm-serve', 'M'], steps: 30 }).warnings;
  assert.ok(unsure.some(({ code, severity }) => code === 'needs-start-profile' && severity === 'warning'));
  assert.deepEqual(errors('trtllm-bench --model M throughput', '1.3.0'), ['window-by-request']);
  assert.deepEqual(errors('vllm serve M', '0.16.0'), []);
  assert.deepEqual(errors('vllm serve M', '0.10.0'), ['never-opens-range']);
  assert.deepEqual(errors('vllm bench latency', '0.16.0'), ['window-by-request']);
  assert.deepEqual(errors('python -m sglang.launch_server --model M', '0.5.0'), []);
  assert.deepEqual(errors('text-generation-launcher --model-id M', undefined), ['window-by-request']);
  assert.deepEqual(errors('python serve.py', undefined), ['window-by-request']);
});

test('what cannot be combined is rejected with the reason', async () => {
  const refused = async (...words: string[]) =>
    (await runStepscope(['capture', '--dry-run', '--when', 'batch>=8', ...words, '--', 'vllm', 'serve', 'M']))
      .err;
  assert.match(await refused('--iterations', '1-9'), /--iterations already says which steps/);
  assert.match(await refused('--duration', '9s'), /--delay and --duration already say/);
  assert.match(await refused('--requests', '9'), /--requests ends the load before the window may/);
  assert.match(await refused('--levels', 'sustained:4/s'), /--levels concurrent:N/);
  assert.match(
    await refused('--pod', 'p'),
    /with --pod and a command, requests are not sent from here\.\n.*--attach/,
  );
  assert.match(await refused('--steps', '0'), /--steps|steps/);
});

test('with the agent in a server: its count, and a file that opens the window', () => {
  const plan = (options: Partial<CaptureOptions>) =>
    planCapture({ command: ['vllm', 'serve', 'M'], preset: 'python', agent: '/agent', ...options });
  const numbered = plan({ iterations: [{ first: 100, last: 119 }] });
  assert.equal(numbered.env.STEPSCOPE_PROGRESS, 'trace.progress.json');
  assert.deepEqual(
    numbered.steps.map(step => (step.do === 'load' ? step.until : step.do)),
    ['start', 'wait-http', { iteration: 119 }, 'wait-reports', 'stop'],
  );
  const asked = plan({ phase: 'decode', steps: 30 });
  assert.equal(asked.env.STEPSCOPE_PROFILE_START_STOP, undefined);
  assert.deepEqual(
    asked.steps.filter(step => step.do === 'load' || step.do === 'trigger').map(step => step.do),
    ['load', 'trigger', 'load'],
  );
  assert.deepEqual(
    asked.steps.find(step => step.do === 'trigger'),
    { do: 'trigger', file: 'trace.trigger', steps: 30, why: 'opens the window' },
  );
  // A program that ends by itself is not watched; one that serves where we are told is.
  const script = ['python', 'serve.py'];
  assert.equal(plan({ command: script, steps: 30 }).warnings[0].code, 'window-by-request');
  const served = { command: script, steps: 30, serverUrl: 'http://localhost:9000' };
  assert.ok(plan(served).warnings.every(({ severity }) => severity !== 'error'));
  const options = { preset: 'python', agent: '/agent', ...served } as const;
  assert.deepEqual(
    servingSteps('http://localhost:9000', options, plan(served).env).map(step => step.do),
    ['start', 'wait-http', 'load', 'trigger', 'load', 'stop'],
  );
});

test('the count of the agent goes before others, and the newest gauge counts', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-watch-'));
  const file = path.join(folder, 'progress.json');
  const server = http.createServer((_, response) =>
    response.end('vllm:iteration_tokens_total_count 900\nvllm:num_requests_waiting 3\n'),
  );
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const ending = new AbortController();
  const watch = new EngineWatch();
  try {
    writeFileSync(file, '{"iteration":41,"batch":8,"tokens":8,"prefill":false}');
    const { port } = server.address() as AddressInfo;
    const following = watch.follow(`http://127.0.0.1:${port}`, ending.signal, () => textIn(file));
    while (watch.heard < 2) await new Promise(resolve => setTimeout(resolve, 10));
    assert.deepEqual(watch.counters(), { iteration: 41, batch: 8, tokens: 8, prefill: false, waiting: 3 });
    // Between two readings of a server that reports no single step.
    watch.hear('Engine 000: Running: 5 reqs, Waiting: 9 reqs, GPU KV cache usage: 1.2%');
    assert.equal(watch.counters().waiting, 9);
    ending.abort();
    await following;
  } finally {
    ending.abort();
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  }
});
