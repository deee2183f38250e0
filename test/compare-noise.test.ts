/** The interval of a difference holds the truth about as often as it claims to, and is the same every time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepDifference } from '../src/run/difference.js';
import type { MixPair } from '../src/run/pair-phases.js';
import type { CellFacts } from '../src/run/run.js';
import { studentQuantile } from '../src/stats/student.js';
import { randomNumbers } from '../src/testing/random-profile.js';

/** About normal, mean 0, deviation 1: twelve uniform numbers. */
function normals(seed: number): () => number {
  const random = randomNumbers(seed);
  return () => Array.from({ length: 12 }, () => random(1e6) / 1e6).reduce((sum, value) => sum + value, -6);
}

const cell = (stepNs: readonly number[]): CellFacts => ({
  phase: 'decode',
  mix: '',
  windows: stepNs.length,
  wallNs: stepNs.reduce((sum, ns) => sum + ns, 0),
  stepNs,
  stepWindows: stepNs.map(() => 1),
  graphLaunches: 0,
  contextTokens: 0,
  kvTokens: 0,
  tokens: 0,
  amounts: new Map(),
  sequence: [],
  layers: new Map(),
});

const pairOf = (from: readonly (readonly number[])[], to: readonly (readonly number[])[]): MixPair[] => [
  { mix: '', weight: 1, from: from.map(steps => [cell(steps)]), to: to.map(steps => [cell(steps)]) },
];

interface World {
  readonly steps: number;
  readonly runs: number;
  /** Standard deviations, of a mean of 1 ms: between runs, between steps. */
  readonly runNs: number;
  readonly stepNs: number;
  /** How alike a step is to the one before, 0 to 1. */
  readonly memory?: number;
}

const TRUE_CHANGE = 30_000;

/** How often the interval of a drawn pair holds the true change. */
function coverage({ steps, runs, runNs, stepNs, memory = 0 }: World, trials = 300): number {
  const normal = normals(11);
  const run = (mean: number) => {
    const own = mean + runNs * normal();
    let last = normal();
    return Array.from({ length: steps }, () => {
      last = memory * last + Math.sqrt(1 - memory ** 2) * normal();
      return Math.round(own + stepNs * last);
    });
  };
  const side = (mean: number) => Array.from({ length: runs }, () => run(mean));
  let held = 0;
  for (let trial = 0; trial < trials; trial++) {
    const { interval } = stepDifference(pairOf(side(1e6), side(1e6 + TRUE_CHANGE)));
    if (interval![0] <= TRUE_CHANGE && interval![1] >= TRUE_CHANGE) held++;
  }
  return held / trials;
}

test('with steps that vary by themselves the interval holds the truth about 95 times in 100', () => {
  for (const steps of [5, 20, 60]) {
    const held = coverage({ steps, runs: 1, runNs: 0, stepNs: 20_000 });
    assert.ok(held >= 0.92 && held <= 0.995, `${steps} steps: ${held}`);
  }
});

test('steps like the ones before them do not fool it much', () => {
  const held = coverage({ steps: 100, runs: 1, runNs: 0, stepNs: 20_000, memory: 0.5 });
  assert.ok(held >= 0.82, `${held}`);
});

test('what differs from run to run needs repeats: one run each misses it, four do not', () => {
  const world = { steps: 30, runNs: 20_000, stepNs: 10_000 };
  const once = coverage({ ...world, runs: 1 });
  const repeated = coverage({ ...world, runs: 4 });
  assert.ok(once < 0.5, `one run: ${once}`);
  assert.ok(repeated >= 0.9, `four runs: ${repeated}`);
});

test('the same steps give the same interval; other steps another', () => {
  const steps = [1000, 1020, 990, 1010, 1005];
  const later = [1100, 1090, 1120, 1105, 1110];
  const first = stepDifference(pairOf([steps], [later]));
  assert.deepEqual(stepDifference(pairOf([steps], [later])), first);
  assert.notDeepEqual(stepDifference(pairOf([steps], [[...later, 1300]])).interval, first.interval);
  assert.equal(first.noise.source, 'steps');
  assert.ok(first.interval![0] > 0, 'steps that lie apart are told apart');
  assert.equal(
    stepDifference(pairOf([[1000]], [later])).interval,
    undefined,
    'one step says nothing about noise',
  );
});

test('repeats that scatter make a difference of their means no difference', () => {
  const run = (mean: number) => Array.from({ length: 20 }, (_, i) => mean + (i % 3));
  const apart = stepDifference(pairOf([run(1000)], [run(1050)]));
  assert.ok(apart.interval![0] > 0);
  const scattered = stepDifference(pairOf([run(1000), run(1200)], [run(1050), run(1260)]));
  assert.ok(scattered.interval![0] < 0 && scattered.interval![1] > 0);
  assert.equal(scattered.noise.source, 'repeats');
  assert.ok(scattered.interval![1] - scattered.interval![0] > 200);
});

test('Student’s t as tabled', () => {
  const width = (degrees: number) => studentQuantile(0.975, degrees);
  assert.equal(width(1).toFixed(3), '12.706');
  assert.equal(width(4.9).toFixed(3), '2.776');
  assert.ok(Math.abs(width(60) - 2.0003) < 0.002);
  assert.ok(Math.abs(width(1e9) - 1.96) < 2e-3);
});
