/** Traces of a real engine (vLLM 0.32, on a CPU): steps as our agent found them in its worker, and as it marks them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { openProfile } from '../src/import/open.js';
import { projectRoot } from '../src/testing/captures.js';

const file = (name: string) => path.join(projectRoot, 'test/fixtures/agent/vllm-0.32', name);
const sidecar = (name: string) => JSON.parse(readFileSync(file(`${name}.agent.json`), 'utf8'));

async function stepsIn(name: string) {
  const profile = await openProfile([file(name)]);
  const { rows, summary } = new Analyzer(profile).get(iterations);
  const steps = rows.map(row => [
    row.iteration,
    row.phase,
    row.contextRequests,
    row.contextTokens,
    row.generationRequests,
  ]);
  return { profile, steps, engine: summary?.engine };
}

const namesIn = ({ strings, tables }: Awaited<ReturnType<typeof openProfile>>) =>
  [...(tables.ranges!.name as unknown as Int32Array)].map(id => strings.text(id));

test('a window of vLLM: prompts of 20, 30 and 40 tokens, and the steps between', async () => {
  const { profile, steps, engine } = await stepsIn('trace.json.gz');
  assert.equal(engine, 'stepscope agent');
  assert.deepEqual(steps, [
    [5, 'decode', 0, 0, 3],
    [6, 'decode', 0, 0, 3],
    [7, 'decode', 0, 0, 3],
    [8, 'decode', 0, 0, 2],
    [9, 'prefill', 3, 90, 0],
    [10, 'decode', 0, 0, 3],
  ]);
  const { stepsFrom, versions, iterations: rows } = sidecar('trace');
  assert.deepEqual([stepsFrom, versions.vllm], ['GPUModelRunner.execute_model', '0.32.0']);
  // The step after the prefill attends to the prompts and one token each.
  assert.equal(rows[5].generationKvTokens, 20 + 30 + 40 + 3);
  const names = namesIn(profile);
  for (const layer of [0, 1]) assert.equal(names.filter(name => name === `model.layers.${layer}`).length, 6);
  assert.equal(names.filter(name => name === 'sampling').length, 6);
});

test('a signal to the worker of a running server: the next six steps, prefill and decode in one of them', async () => {
  const { steps } = await stepsIn('live.json.gz');
  assert.deepEqual(
    steps.map(([number, phase]) => [number, phase]),
    [
      [1119, 'decode'],
      [1120, 'mixed'],
      [1121, 'mixed'],
      [1122, 'decode'],
      [1123, 'decode'],
      [1124, 'decode'],
    ],
  );
});

test('vLLM’s own profiler, started and stopped by capture --server: 21 steps as asked for, told by its own markers', async () => {
  const { steps, engine } = await stepsIn('own.json.gz');
  assert.equal(engine, 'vLLM');
  assert.deepEqual(
    steps.map(([number]) => number),
    Array.from({ length: 21 }, (_, i) => i),
  );
  assert.deepEqual(
    [steps[0], steps[1], steps[17]],
    [
      [0, 'prefill', 1, 17, 0],
      [1, 'decode', 0, 0, 1],
      [17, 'prefill', 1, 17, 0],
    ],
  );
});
