/** Other people's profiles, where that folder is beside the project: engines, ranks and markers we did not make. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { rankSkew } from '../src/analyze/comm/rank-skew.js';
import { graphCoverage } from '../src/analyze/gpu/graph-coverage.js';
import { kernelFamilies } from '../src/analyze/gpu/kernel-families.js';
import { analyses } from '../src/analyze/index.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { openProfile } from '../src/import/open.js';
import { externalFiles, externalFolder } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

const skip = lacks('external');
const open = async (...files: string[]) =>
  new Analyzer(await openProfile(files.map(file => path.join(externalFolder, file))), {});

const b200 = 'sglang-gptoss120b-b200-tp8';
const rank = (r: number, stage: string) =>
  `${b200}/bs-1-il-4096-1780800270.547418-TP-${r}-${stage}.trace.json.gz`;

test('SGLang: decode, prefill and speculative steps with their batch sizes', { skip }, async () => {
  const decode = (await open(rank(0, 'DECODE'))).get(iterations);
  assert.equal(decode.summary!.engine, 'SGLang');
  assert.equal(decode.rows.length, 5);
  for (const row of decode.rows) {
    assert.equal(row.phase, 'decode');
    assert.equal(row.generationRequests, 1);
    assert.equal(row.graphLaunches, 1);
    assert.ok(row.kernels! >= 595 && row.kernels! <= 599, `${row.kernels}`);
  }
  const large = (await open(`${b200}/bs-64-il-4096-1780800287.885589-TP-0-DECODE.trace.json.gz`)).get(
    iterations,
  );
  assert.deepEqual(
    large.rows.map(row => [row.phase, row.generationRequests]),
    Array.from({ length: 5 }, () => ['decode', 64]),
  );
  const prefill = (await open(rank(0, 'EXTEND'))).get(iterations);
  assert.deepEqual(
    prefill.rows.map(row => [row.phase, row.contextRequests, row.contextTokens, row.generationRequests]),
    [['prefill', 1, 4096, 0]],
  );
  const eagle = 'sglang-gptoss120b-eagle3/bs-1-il-4096-1780800503.2446792-TP-0-DECODE.trace.json.gz';
  const speculative = (await open(eagle)).get(iterations);
  assert.equal(speculative.rows.length, 5);
  for (const row of speculative.rows) {
    assert.equal(row.phase, 'speculative');
    assert.equal(row.generationRequests, 1);
  }
});

test('vLLM: a decode step and a mixed one, with requests and tokens', { skip }, async () => {
  const [decode] = (await open('tracelens/vllm-mi300x-decode.json.gz')).get(iterations).rows;
  assert.equal(decode.phase, 'decode');
  assert.equal(decode.generationRequests, 32);
  const [mixed] = (await open('tracelens/vllm-mi300x-prefilldecode.json.gz')).get(iterations).rows;
  assert.deepEqual(
    [
      mixed.phase,
      mixed.contextRequests,
      mixed.contextTokens,
      mixed.generationRequests,
      mixed.generationTokens,
    ],
    ['mixed', 9, 8155, 37, 37],
  );
});

test('nested markers of two grammars are one step that knows what both say', { skip }, async () => {
  const { rows } = (await open('tracelens/sglang-mi300x-prefilldecode.json.gz')).get(iterations);
  assert.equal(rows.length, 1);
  assert.deepEqual([rows[0].phase, rows[0].contextRequests, rows[0].contextTokens], ['prefill', 15, 15360]);
});

test('eight ranks are one table of steps, with the skew between them', { skip }, async () => {
  const analyzer = await open(...Array.from({ length: 8 }, (_, r) => rank(r, 'DECODE')));
  const { rows } = analyzer.get(iterations);
  assert.equal(rows.length, 5);
  for (const row of rows) {
    assert.equal(row.ranks, 8);
    assert.deepEqual(
      row.runs.map(run => run.rank),
      [0, 1, 2, 3, 4, 5, 6, 7],
    );
    // Collectives keep the GPUs together, however far ahead each host is.
    assert.ok(row.startSkewNs! > 0 && row.startSkewNs! < 1e6, `${row.startSkewNs}`);
    assert.ok(row.endSkewNs! < 100e3, `${row.endSkewNs}`);
  }
  assert.equal(analyzer.get(stepBudget).rows.length, 40);
  const skew = analyzer.get(rankSkew);
  assert.equal(skew.rows.length, 8);
  assert.equal(
    skew.rows.reduce((sum, row) => sum + row.lastToStart, 0),
    5,
    'each step has one last rank',
  );
});

test('LightLLM without any marker is one decode step in one graph launch', { skip }, async () => {
  const analyzer = await open('lightllm-deepseek-h200-tp8/rank0.pt.trace.json.gz');
  const { rows } = analyzer.get(iterations);
  assert.equal(rows.length, 1);
  assert.deepEqual([rows[0].phase, rows[0].graphLaunches, rows[0].kernels], ['decode', 1, 2178]);
  // The copy that begins it was launched 101 ms before it ran: behind work from before the capture, not of this step.
  assert.ok(rows[0].wallNs < 1.05 * rows[0].gpuBusyNs, `${rows[0].wallNs} of ${rows[0].gpuBusyNs}`);
  assert.equal(rows[0].foundBy, 'graph-launches');
  assert.equal(rows[0].confidence, 'likely');
  assert.ok(analyzer.get(graphCoverage).rows[0].kernelShare! > 0.98);
  const all = await open(
    ...Array.from({ length: 8 }, (_, r) => `lightllm-deepseek-h200-tp8/rank${r}.pt.trace.json.gz`),
  );
  assert.deepEqual(
    all.get(iterations).rows.map(row => row.ranks),
    [8],
  );
});

const inference = /sglang|lightllm|tracelens|ep-moe|b200-moe-gate|lm27b/;
for (const file of externalFiles(/\.(json|sqlite)\.gz$/).filter(
  name => !/serving|expert-load|trtllm-bench/.test(name),
)) {
  test(`${path.basename(file)}: every analysis answers or says what is missing, and budgets add up`, async () => {
    const analyzer = new Analyzer(await openProfile([file]), {});
    for (const analysis of analyses) {
      const outcome = analyzer.run(analysis);
      assert.notEqual(outcome.status, 'failed', `${analysis.id}: ${JSON.stringify(outcome)}`);
    }
    const outcome = analyzer.run(stepBudget);
    if (outcome.status === 'ok') {
      for (const row of analyzer.get(stepBudget).rows) {
        const { wallNs, computeNs, communicationExposedNs, copyExposedNs, idleNs } = row;
        assert.equal(computeNs + communicationExposedNs + copyExposedNs + idleNs, wallNs, row.key);
      }
    }
    if (inference.test(file)) {
      const { summary } = analyzer.get(kernelFamilies);
      assert.ok((summary!.unclassifiedShare as number) <= 0.03, `${summary!.unclassifiedShare}`);
    }
  });
}
