/** What servers and AIPerf measured beside a client: times in the engine, its state, and the energy of the GPUs. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { benchMetrics } from '../src/catalog/bench-metrics.js';
import { openBenchRuns, readBenchText } from '../src/import/bench/open-bench.js';
import type { LoadDocument } from '../src/load/load-document.js';
import type { BenchRun } from '../src/model/bench-run.js';
import { projectRoot } from '../src/testing/captures.js';
import { runStepscope } from './run-stepscope.js';

const real = path.join(projectRoot, 'test/fixtures/bench-real/aiperf-0.13');
const read = (name: string) => openBenchRuns([path.join(real, name)]).then(([run]) => run);
const figure = (id: string, run: BenchRun) => benchMetrics.find(metric => metric.id === id)!.of(run);
const near = (a: number | undefined, b: number, share = 1e-9) =>
  assert.ok(a !== undefined && Math.abs(a - b) <= share * Math.abs(b), `${a} is not ${b}`);

test('AIPerf: its summary has the energy, and joules per token and request are its own', async () => {
  const run = await read('profile_export_aiperf.json');
  const summary = JSON.parse(readFileSync(path.join(real, 'profile_export_aiperf.json'), 'utf8'));
  near(run.energy?.totalJoules, summary.nvidia_total_gpu_energy.avg);
  near(figure('joulesPerOutputToken', run), summary.nvidia_energy_per_output_token.avg / 1000);
  near(figure('joulesPerRequest', run), summary.nvidia_energy_per_request.avg);
  near(run.energy?.outputTokensPerSecondPerWatt, summary.nvidia_output_tps_per_watt.avg);
});

test('AIPerf: lines of requests agree with its summary, to the nanosecond', async () => {
  const run = await read('profile_export.jsonl');
  const summary = JSON.parse(readFileSync(path.join(real, 'profile_export_aiperf.json'), 'utf8'));
  assert.equal(run.requests?.length, 24);
  assert.ok(run.notes.some(({ code, count }) => code === 'warm-up' && count === 2));
  near(run.latency.e2e?.meanNs, summary.request_latency.avg * 1e6);
  near(run.latency.ttft?.meanNs, summary.time_to_first_token.avg * 1e6);
  // The server counted 16 tokens each; AIPerf's tokenizer made fewer of the text.
  assert.ok(
    run.requests?.every(({ outputTokens, inputTokens }) => outputTokens === 16 && inputTokens === 32),
  );
  const lines = readFileSync(path.join(real, 'profile_export.jsonl'), 'utf8').split('\n');
  const counted = lines.filter(line => /"profiling"/.test(line)).map(line => JSON.parse(line));
  assert.deepEqual(
    run.requests?.map(({ tpotNs }) => tpotNs !== undefined),
    counted.map(({ metrics }) => metrics.output_sequence_length.value === 16),
  );
  const starts = lines.flatMap(line =>
    /"profiling"/.test(line) ? BigInt(/request_start_ns":(\d+)/.exec(line)![1]) : [],
  );
  assert.deepEqual(
    run.requests!.map(({ startNs }) => BigInt(startNs!) + BigInt(run.clock!.utcNs!)),
    starts,
  );
});

test('AIPerf: what the server showed is the state of the engine', async () => {
  const run = await read('server_metrics_export.jsonl');
  assert.equal(run.engineStates?.length, 14);
  const last = run.engineStates!.at(-1)!;
  assert.equal(last.iteration, 113);
  assert.equal(Math.max(...run.engineStates!.map(({ running = 0 }) => running)), 4);
  assert.ok(run.engineStates!.some(({ waiting = 0 }) => waiting > 0));
  assert.ok(run.engineStates!.every(({ kvShare = 0 }) => kvShare < 0.001));
});

test('AIPerf: telemetry is the growth of all GPUs’ counters; a counter that falls is none', async () => {
  const run = await read('gpu_telemetry_export.jsonl');
  assert.equal(run.load.gpus, 2);
  assert.equal(run.gpu, 'NVIDIA H200');
  // Two GPUs of 300 and 320 W.
  near(run.energy?.gpuPowerWatts, 620, 0.01);
  near(run.energy!.totalJoules, (run.energy!.gpuPowerWatts! * run.durationNs!) / 1e9, 1e-6);
  const lines = readFileSync(path.join(real, 'gpu_telemetry_export.jsonl'), 'utf8').trim().split('\n');
  const reset = lines.at(-1)!.replace(/("nvidia_energy_consumption":)[\d.]+/, '$10.001');
  const [broken] = readBenchText('t.jsonl', [...lines.slice(0, -1), reset].join('\n'));
  assert.equal(broken.energy, undefined);
  assert.ok(broken.notes.some(({ code }) => code === 'no-energy'));
});

test('AIPerf: a folder is one benchmark, with requests and states on one clock', async () => {
  const runs = await openBenchRuns([real]);
  assert.equal(runs.length, 1);
  const [run] = runs;
  assert.equal(run.requests?.length, 24);
  assert.equal(run.energy?.gpuPowerWatts, 620);
  const [states, records] = [await read('server_metrics_export.jsonl'), await read('profile_export.jsonl')];
  const utc = (each: BenchRun) => BigInt(each.clock!.utcNs!) + BigInt(each.engineStates![0].atNs!);
  assert.equal(utc(run), utc(states));
  assert.equal(run.clock!.utcNs, records.clock!.utcNs);
});

/** As `get_perf_metrics` writes them. */
const served = (id: number, arrival: number) => ({
  request_id: id,
  perf_metrics: {
    first_iter: 10 * id,
    last_iter: 10 * id + 7,
    timing_metrics: {
      server_arrival_time: arrival,
      arrival_time: arrival + 0.002,
      first_scheduled_time: arrival + 0.012,
      first_token_time: arrival + 0.05,
      server_first_token_time: arrival + 0.2,
      last_token_time: arrival + 0.2,
    },
    kv_cache_metrics: {
      ...{ num_total_allocated_blocks: 1, num_new_allocated_blocks: 1 },
      ...{ num_reused_blocks: 0, num_missed_blocks: 1 },
    },
  },
});

test('/perf_metrics: the times of each request in the engine, on the steady clock', () => {
  const [run] = readBenchText('p.json', JSON.stringify([served(1, 100), served(2, 100.1)]));
  assert.deepEqual(run.requests?.[0], {
    ...{ id: 1, startNs: 100e9, ttftNs: 50e6, e2eNs: 200e6, queueNs: 10e6, prefillNs: 38e6 },
    ...{ firstIteration: 10, lastIteration: 17 },
  });
  assert.equal(figure('queueMeanNs', run), 10e6);
  assert.deepEqual(run.clock, { monotonicNs: '0' });
  // The lines of newer servers; one that did not complete.
  const lines = [served(1, 100), { ...served(2, 101), status: 'cancelled' }].map(row => JSON.stringify(row));
  const [newer] = readBenchText('p.jsonl', lines.join('\n'));
  assert.deepEqual([newer.counts.completed, newer.counts.errors], [1, 1]);
  // A moment that did not come is 0 or null.
  const half = served(3, 100);
  Object.assign(half.perf_metrics.timing_metrics, { first_token_time: 0, last_token_time: null });
  const [cut] = readBenchText('p.json', JSON.stringify([half]));
  assert.deepEqual(Object.keys(cut.requests![0]).sort(), [
    'firstIteration',
    'id',
    'lastIteration',
    'queueNs',
    'startNs',
  ]);
});

test('/perf_metrics of a disaggregated deployment: first token of one server, last of the other', () => {
  const generation = served(9, 100.06);
  Object.assign(generation.perf_metrics.timing_metrics, {
    ...{ kv_cache_size: 4096, kv_cache_transfer_start: 100.06, kv_cache_transfer_end: 100.063 },
  });
  const row = {
    ...{ ctx_server: 'a:1', gen_server: 'b:2', disagg_server_arrival_time: 99.999 },
    disagg_server_first_token_time: 100.06,
    ctx_perf_metrics: { ...served(4, 100), ctx_request_id: 77 },
    gen_perf_metrics: { ...generation, ctx_request_id: 77 },
  };
  const [run] = readBenchText('p.json', JSON.stringify([row]));
  assert.deepEqual(run.requests, [
    {
      id: 77,
      startNs: 99.999e9,
      ttftNs: 51e6,
      e2eNs: 261e6,
      queueNs: 10e6,
      prefillNs: 38e6,
      kvTransferNs: 3e6,
    },
  ]);
});

test('time events: every step once, and its time where a request was in the next one too', () => {
  const step = (counter: number, start: number, gpu: number, context: number, generation: number) => ({
    ...{
      forward_start_time: start,
      forward_end_time: start + 0.001,
      gpu_forward_time: gpu,
      gpu_sample_time: 0.1,
    },
    ...{ token_time: start + 0.009, iter_counter: counter, iter_batch_size: context + generation },
    ...{ num_ctx_requests: context, num_gen_requests: generation, generation_token_number: generation },
    context_token_number: 32 * context,
  });
  const event = (id: number, rank: number, chunks: object[], steps: object[]) =>
    JSON.stringify({
      ...{ request_id: id, rank, ctx_request_id: null },
      time_breakdown_metrics: { ctx_chunk_metrics: chunks, step_metrics: steps },
    });
  const text = [
    event(1, 0, [step(5, 50, 4, 1, 0)], [step(6, 50.01, 3, 1, 1), step(7, 50.02, 0, 0, 2)]),
    event(2, 0, [step(6, 50.01, 3, 1, 1)], [step(7, 50.02, 0, 0, 2), step(9, 60, 3, 0, 1)]),
    event(1, 1, [step(5, 50, 4, 1, 0)], []),
  ].join('\n');
  const [first, second, ...more] = readBenchText('time_events_rank0_pid1.jsonl', text);
  assert.equal(more.length, 0);
  assert.deepEqual([first.label, second.label], ['rank 0', 'rank 1']);
  assert.deepEqual(
    first.iterations?.map(({ iteration, hostStepNs, gpuForwardNs }) => [iteration, hostStepNs, gpuForwardNs]),
    [
      [5, 10e6, 4e6],
      [6, 10e6, 3e6],
      // No time of the GPU was read; and step 9 is not the next one: the engine may have waited.
      [7, undefined, undefined],
      [9, undefined, 3e6],
    ],
  );
  assert.equal(first.requests?.[0].prefillNs, 9e6);
  assert.deepEqual(first.iterations?.[1].contextTokens, 32);
});

test('/energy_metrics counts from the start of the server: two answers are a run, one is none', () => {
  const answer = (joules: number, at: number) => JSON.stringify({ total_energy_j: joules, query_time: at });
  const [run] = readBenchText('e.jsonl', `${answer(5000, 10)}\n${answer(8000, 15)}`);
  assert.deepEqual(run.energy, { totalJoules: 3000, gpuPowerWatts: 600 });
  assert.equal(run.durationNs, 5e9);
  for (const text of [answer(5000, 10), `${answer(5000, 10)}\n${answer(100, 15)}`])
    assert.throws(
      () => readBenchText('e.jsonl', text),
      (error: unknown) => error instanceof UserError && error.code === 'not-recorded',
    );
});

test('trtllm-bench --report_json: energy of the run', () => {
  const [run] = readBenchText(
    'r.json',
    JSON.stringify({
      ...{ engine: { version: '1.3.0' }, request_info: { num_requests: 10 }, world_info: {} },
      performance: { total_latency_ms: 2000, system_output_throughput_tok_s: 50 },
      energy: { total_energy_j: 400, output_tps_per_w: 0.25, average_gpu_power: 200 },
    }),
  );
  assert.deepEqual(run.energy, { totalJoules: 400, outputTokensPerSecondPerWatt: 0.25 });
  assert.equal(figure('joulesPerOutputToken', run), 4);
  assert.equal(figure('joulesPerRequest', run), 40);
});

test('load asks the server for its own times and energy, of the counted requests alone', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-report-'));
  let requests = 0;
  let noted: object[] = [];
  const server = http.createServer((request, response) => {
    const json = (value: unknown) => response.end(JSON.stringify(value));
    if (request.url === '/v1/models') json({ data: [{ id: 'm', owned_by: 'tensorrt_llm' }] });
    else if (request.url === '/energy_metrics')
      json({ total_energy_j: 100 * requests, query_time: 7 + requests });
    else if (request.url === '/perf_metrics') {
      json(noted);
      noted = [];
    } else if (request.url === '/v1/completions') {
      request.resume();
      requests++;
      const own = served(requests, 1000 + requests);
      // As the server does: after the answer.
      setTimeout(() => noted.push(own), 30);
      response.write('data: {"choices":[{"text":"a"}]}\n\n');
      response.end(
        'data: {"choices":[{"text":"b","finish_reason":"length"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n',
      );
    } else response.writeHead(404).end('{}');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    const file = path.join(folder, 'load.json');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const words = ['--levels', 'concurrent:2', '--requests', '6', '--warmup', '3', '--output-tokens', '2'];
    const { out, err } = await runStepscope(['load', url, '-o', file, ...words]);
    const [level] = (JSON.parse(readFileSync(file, 'utf8')) as LoadDocument).levels;
    assert.equal(level.energy?.totalJoules, 600, `${out}${err}`);
    near(level.energy?.outputTokensPerSecondPerWatt, 12 / 600);
    assert.equal(level.engineLatency?.queue?.meanNs, 10e6);
    assert.match(out, /600\.0 J .*50\.00 J per output token .*100\.0 J per request/);
    const [run] = await openBenchRuns([file]);
    assert.equal(figure('joulesPerRequest', run), 100);
    assert.equal(figure('queueMeanNs', run), 10e6);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
