/** Files the tools themselves wrote: what they say is what is read, and text and JSON of one run agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { openBenchRuns } from '../src/import/bench/open-bench.js';
import type { BenchRun } from '../src/model/bench-run.js';
import { projectRoot } from '../src/testing/captures.js';

const file = (name: string) => path.join(projectRoot, 'test/fixtures/bench-real', name);
// biome-ignore lint/suspicious/noExplicitAny: files of other tools.
const json = (name: string): any => JSON.parse(readFileSync(file(name), 'utf8'));

async function only(name: string): Promise<BenchRun> {
  const runs = await openBenchRuns([file(name)]);
  assert.equal(runs.length, 1, name);
  assert.deepEqual(
    runs[0].notes.filter(({ severity }) => severity !== 'info'),
    [],
    name,
  );
  return runs[0];
}

/** Milliseconds as nanoseconds, but for what the last digit of a double leaves. */
const near = (ns: number | undefined, ms: number) =>
  assert.ok(Math.abs(ns! - ms * 1e6) <= 1, `${ns} ns, ${ms} ms`);

test('vllm bench serve 0.32: JSON', async () => {
  const run = await only('vllm-0.32-serve.json');
  const said = json('vllm-0.32-serve.json');
  assert.equal(run.source.format, 'vllm-serving-json');
  assert.deepEqual([run.model, run.load.maxConcurrency, run.load.requestRate], ['tiny', 4, 'unlimited']);
  assert.deepEqual(
    [run.throughput.requests, run.throughput.outputTokens, run.throughput.totalTokens],
    [said.request_throughput, said.output_throughput, said.total_token_throughput],
  );
  for (const [name, key] of [
    ['ttft', 'ttft'],
    ['tpot', 'tpot'],
    ['itl', 'itl'],
    ['e2e', 'e2el'],
  ] as const) {
    near(run.latency[name]?.meanNs, said[`mean_${key}_ms`]);
    near(run.latency[name]?.percentilesNs[50], said[`median_${key}_ms`]);
    near(run.latency[name]?.percentilesNs[99], said[`p99_${key}_ms`]);
  }
  assert.deepEqual([run.counts.completed, run.counts.errors], [40, 0]);
});

test('vllm bench serve 0.32: what it prints is what it writes, to the digits printed', async () => {
  const [text, written] = [await only('vllm-0.32-serve.log'), await only('vllm-0.32-serve.json')];
  assert.equal(text.source.format, 'serving-text');
  for (const name of ['ttft', 'tpot', 'itl', 'e2e'] as const) {
    const [printed, kept] = [text.latency[name]!, written.latency[name]!];
    const figures = (of: typeof printed) => [of.meanNs!, of.percentilesNs[50], of.percentilesNs[99]];
    for (const [i, ns] of figures(printed).entries())
      assert.ok(Math.abs(ns - figures(kept)[i]) <= 5000, `${name} ${i}`);
  }
  assert.equal(text.counts.outputTokens, written.counts.outputTokens);
  assert.ok(Math.abs(text.throughput.outputTokens! - written.throughput.outputTokens!) < 0.005);
});

test('vllm bench throughput and latency 0.32', async () => {
  const throughput = await only('vllm-0.32-throughput.json');
  const said = json('vllm-0.32-throughput.json');
  assert.deepEqual(
    [
      throughput.model,
      throughput.load.requests,
      throughput.throughput.requests,
      throughput.throughput.totalTokens,
    ],
    ['tiny', 40, said.requests_per_second, said.tokens_per_second],
  );
  const latency = await only('vllm-0.32-latency.json');
  const { avg_latency: mean, percentiles } = json('vllm-0.32-latency.json');
  assert.equal(latency.model, 'big');
  near(latency.latency.e2e?.meanNs, mean * 1e3);
  near(latency.latency.e2e?.percentilesNs[99], percentiles['99'] * 1e3);
});

test('AIPerf 0.13', async () => {
  const run = await only('aiperf-0.13.json');
  const said = json('aiperf-0.13.json');
  assert.deepEqual(
    [run.tool, run.model, run.load.maxConcurrency, run.load.requests],
    ['AIPerf 0.13.0', 'tiny', 4, 40],
  );
  assert.equal(run.throughput.outputTokens, said.output_token_throughput.avg);
  near(run.latency.ttft?.percentilesNs[50], said.time_to_first_token.p50);
  near(run.latency.tpot?.meanNs, said.inter_token_latency.avg);
  near(run.latency.itl?.percentilesNs[99], said.inter_chunk_latency.p99);
  near(run.latency.e2e?.maxNs, said.request_latency.max);
});
