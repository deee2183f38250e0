/** What was captured on a real GPU with a planned command and the agent: the steps asked for, and the size foreseen. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { layers } from '../src/analyze/inference/layers.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';

const evidence = (name: string) =>
  readFileSync(path.join(projectRoot, 'docs/evidence/capture', name), 'utf8');

for (const [name, first, last] of [
  ['agent', 12, 20],
  ['agent-graph', 10, 15],
  ['agent-gpt-oss', 10, 15],
] as const)
  test(`${name}: the steps asked for, all of them, and no other`, async () => {
    const { rows, summary } = new Analyzer(await openProfile([capturePath(name)])).get(iterations);
    assert.equal(summary?.engine, 'stepscope agent');
    assert.deepEqual(
      rows.map(row => row.iteration),
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    );
    for (const row of rows) {
      assert.deepEqual([row.phase, row.generationRequests, row.generationTokens], ['decode', 8, 8]);
      assert.ok(row.kernels! > 300, `${row.kernels} kernels`);
    }
  });

test('agent-gpt-oss: layers are named by the agent', async () => {
  const { summary } = new Analyzer(await openProfile([capturePath('agent-gpt-oss')])).get(layers);
  assert.deepEqual([summary?.layers, summary?.methods], [4, ['ranges']]);
});

test('the size of the capture was foreseen within a factor of two', () => {
  const plan = planCapture(
    {
      command: ['python3', 'docs/evidence/capture/engine.py'],
      preset: 'python',
      agent: 'agent',
      iterations: [{ first: 12, last: 20 }],
      layers: 22,
      output: 'trace',
      traceFork: true,
    },
    { nsysVersion: { numbers: [2025, 3, 1], suffix: '' } },
  );
  // As the log says, in the words of ls.
  const measured = (file: string) =>
    Number(new RegExp(`(\\d+) Nov .* ${file}$`, 'm').exec(evidence('capture.log'))![1]);
  const near = (estimate: number, real: number) => estimate < 2 * real && real < 2 * estimate;
  const { reportBytes, sqliteBytes } = plan.estimate!;
  assert.ok(near(reportBytes, measured('trace.nsys-rep')), `${reportBytes}`);
  assert.ok(near(sqliteBytes, measured('trace.sqlite')), `${sqliteBytes}`);
});
