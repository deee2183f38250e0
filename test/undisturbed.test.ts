/** The step without the profiler: measured and estimated, held against steps that were measured on a real engine. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { totalsByPhase } from '../src/analyze/inference/budget-totals.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { describePageAnswer } from '../src/analyze/page.js';
import { measuredSteps } from '../src/analyze/undisturbed/measured-step.js';
import { undisturbedBudget, undisturbedStep } from '../src/analyze/undisturbed/undisturbed-step.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, projectRoot, unlikeCaptures } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const engineFile = (name: string) => path.join(projectRoot, 'test/fixtures/engines', name);
const open = async (...files: string[]) => new Analyzer(await openProfile(files), {});
const MS = 1e6;

test('the agent measures the undisturbed step within 3% of what clients saw', async () => {
  const analyzer = await open(engineFile('vllm-served.agent.json'));
  const measured = analyzer.get(measuredSteps).get('decode')!;
  const bench = JSON.parse(readFileSync(engineFile('vllm-served.bench.json'), 'utf8'));
  assert.equal(measured.source, 'agent');
  assert.ok(measured.steps >= 400, `${measured.steps}`);
  const error = measured.ns / (bench.median_tpot_ms * MS) - 1;
  assert.ok(Math.abs(error) < 0.03, `${error}`);
});

// Steps of the same process before the window, from the answer keys of the captures. docs/evidence/undisturbed has all.
const known: readonly (readonly [capture: string, undisturbedMs: number])[] = [
  ['vllm-graphs', 6.4496],
  ['vllm-blocks', 6.9157],
  ['sglang-graphs', 4.95],
];

for (const [capture, undisturbedMs] of known)
  test(`${capture}: estimated within 10%, and inside the interval`, { skip: lacks('captures') }, async () => {
    const analyzer = await open(path.join(locate('captures')!, capture, 'profile.sqlite.gz'));
    const row = analyzer.get(undisturbedStep).rows.find(({ phase }) => phase === 'decode')!;
    assert.equal(row.source, 'estimate');
    const error = row.undisturbedNs / (undisturbedMs * MS) - 1;
    assert.ok(Math.abs(error) <= 0.1, `${error}`);
    assert.ok(row.lowNs <= undisturbedMs * MS && row.highNs >= undisturbedMs * MS, JSON.stringify(row));
  });

test('vllm-moe misses 10%, and its interval says so', { skip: lacks('captures') }, async () => {
  const analyzer = await open(path.join(locate('captures')!, 'vllm-moe/profile.sqlite.gz'));
  const [row] = analyzer.get(undisturbedStep).rows;
  assert.ok(row.lowNs <= 13.986 * MS, JSON.stringify(row));
});

test('gains are those of the undisturbed step', { skip: lacks('captures') }, async () => {
  // Without the profiler, all idle time of the step is worth +36% and +17%; as profiled, +55% and +49% were promised.
  // The second is estimated 14% too long, so its gain is too high still.
  for (const [capture, most] of [
    ['vllm-graphs', 0.36],
    ['vllm-moe', 0.3],
  ] as const) {
    const analyzer = await open(path.join(locate('captures')!, capture, 'profile.sqlite.gz'));
    const found = analyzer.get(findings).findings.find(({ id }) => id === 'exposed-host-work')!;
    assert.ok(found.gain!.throughput > 0.05 && found.gain!.throughput <= most, `${found.gain!.throughput}`);
    assert.match(
      describePageAnswer(analyzer).answer.lines.join('\n'),
      /ms per step as profiled, [\d.]+ ms without the profiler \(estimated [\d.]+ ms to [\d.]+ ms\)/,
    );
  }
});

test('the profiler’s part adds up, and never exceeds what it inflates', async () => {
  let rows = 0;
  for (const capture of unlikeCaptures) {
    if (!existsSync(capturePath(capture))) continue;
    const analyzer = await open(capturePath(capture));
    if (analyzer.run(undisturbedStep).status !== 'ok') continue;
    const totals = totalsByPhase(analyzer.get(stepBudget).rows);
    for (const row of analyzer.get(undisturbedStep).rows) {
      rows++;
      const total = totals.find(({ phase }) => phase === row.phase)!;
      const parts = Object.entries(row.profilerByCause);
      const sum = parts.reduce((all, [, ns]) => all + ns, 0);
      assert.ok(Math.abs(sum - row.profilerNs) < 1, `${capture}: ${sum} ${row.profilerNs}`);
      for (const [cause, ns] of parts)
        assert.ok(ns <= total.idleByCause[cause] / total.windows + 1e-3, `${capture} ${cause}`);
      assert.ok(row.profilerShare >= 0 && row.profilerShare < 1);
      assert.ok(row.lowNs <= row.undisturbedNs && row.undisturbedNs <= row.highNs + 1e-3, capture);
      const without = undisturbedBudget(total, row);
      const { computeNs, communicationExposedNs, copyExposedNs, idleNs, wallNs } = without;
      const whole = computeNs + communicationExposedNs + copyExposedNs + idleNs;
      assert.ok(Math.abs(whole - wallNs) < 1e-3 * wallNs, `${capture}: ${whole} ${wallNs}`);
    }
  }
  assert.ok(rows >= 15, `${rows}`);
});

test('steps with prompts between graph replays are steps of their own', async () => {
  const analyzer = await open(engineFile('vllm-llama8b-graphs-b8-mixed-nsys-nodes.sqlite.gz'));
  const { rows } = analyzer.get(iterations);
  // What the engine's own clock saw, in milliseconds, the first and last step aside.
  const clock = [8.42, 8.34, 8.25, 49.63, 33.77, 8.6, 8.46, 8.39, 32.69, 8.92, 9.1, 9.46, 8.6, 9.13];
  assert.equal(rows.length, clock.length + 2);
  clock.forEach((ms, i) => {
    assert.ok(Math.abs(rows[i + 1].wallNs / (ms * MS) - 1) < 0.03, `${i + 1}: ${rows[i + 1].wallNs}`);
  });
  assert.deepEqual(
    rows.flatMap((row, i) => (row.graphLaunches === 0 ? [i] : [])),
    [4, 5, 9],
  );
});

test('a kernel that only every fourth step has does not make one step of four', async () => {
  const analyzer = await open(engineFile('sglang-llama8b-eager-b8-nsys-nodes.sqlite.gz'));
  const { rows } = analyzer.get(iterations);
  assert.equal(rows.length, 14);
  assert.ok(rows.every(({ kernels }) => kernels! >= 465 && kernels! <= 475));
});
