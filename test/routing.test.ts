/** Routing maths: the methods as they are defined, and logits that make every method choose evenly. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { balanceOf } from '../src/moe/balance.js';
import { projectRoot } from '../src/testing/captures.js';
import { assertSameText } from '../src/testing/golden.js';
import { randomNumbers } from '../src/testing/random-profile.js';
import { balancedExperts, type PlanShape } from '../src/testing/routing/balanced-experts.js';
import {
  perfectLogits,
  publishedExperts,
  publishedLogits2025,
  publishedLogits2026,
} from '../src/testing/routing/perfect-logits.js';
import { publishedGroupExperts, publishedGroupLogits } from '../src/testing/routing/published-groups.js';
import {
  type RoutingMethod,
  route,
  routingMethodOf,
  routingMethods,
} from '../src/testing/routing/routing-methods.js';

const rows = (plan: ArrayLike<number>, k: number) =>
  Array.from({ length: plan.length / k }, (_, t) => Array.from({ length: k }, (_, i) => plan[t * k + i]));

function countsOf(plan: ArrayLike<number>, places: number, of = (expert: number) => expert): Int32Array {
  const counts = new Int32Array(places);
  for (let i = 0; i < plan.length; i++) counts[of(plan[i])]++;
  return counts;
}

const spread = (counts: Int32Array) => Math.max(...counts) - Math.min(...counts);
function close(a: ArrayLike<number>, b: readonly number[]): void {
  for (const [i, value] of b.entries()) assert.ok(Math.abs(a[i] - value) < 1e-6, `${a[i]} is not ${value}`);
}

test('each method, by hand', () => {
  const logits = [1, 3, 2, 0];
  const e = Math.exp;
  const shape = { experts: 4, topK: 2 };
  const all = e(1) + e(3) + e(2) + e(0);
  const sig = (x: number) => 1 / (1 + e(-x));
  const expected: [RoutingMethod, number[]][] = [
    ['default', [e(3) / all, e(2) / all]],
    ['renormalize', [e(3) / (e(3) + e(2)), e(2) / (e(3) + e(2))]],
    ['renormalize-naive', [e(3) / (e(3) + e(2)), e(2) / (e(3) + e(2))]],
    ['sigmoid-renorm', [sig(3) / (sig(3) + sig(2)), sig(2) / (sig(3) + sig(2))]],
    ['llama4', [sig(3), sig(2)]],
    ['minimax', [sig(3) / (sig(3) + sig(2)), sig(2) / (sig(3) + sig(2))]],
    ['deepseek-v3', [sig(3) / (sig(3) + sig(2)), sig(2) / (sig(3) + sig(2))]],
  ];
  for (const [method, weights] of expected) {
    const routed = route(method, logits, shape);
    assert.deepEqual([...routed.experts], [1, 2], method);
    close(routed.weights, weights);
  }
  // The bias chooses, and does not weigh.
  const biased = route('minimax', logits, { ...shape, bias: [5, 0, 0, 0] });
  assert.deepEqual([...biased.experts], [0, 1]);
  close(biased.weights, [sig(1) / (sig(1) + sig(3)), sig(3) / (sig(1) + sig(3))]);
  // Groups {0,1} and {2,3}: the best single expert is in the group whose best two are worse together.
  const grouped = route('deepseek-v3', [3, -9, 2, 2], {
    experts: 4,
    topK: 2,
    groups: 2,
    topGroups: 1,
    scale: 2.5,
  });
  assert.deepEqual([...grouped.experts], [2, 3]);
  close(grouped.weights, [1.25, 1.25]);
  assert.deepEqual([...route('load-balanced', new Array(12).fill(0), shape).experts], [0, 1, 2, 3, 0, 1]);
});

test('names, not numbers', () => {
  assert.equal(routingMethodOf('RenormalizeMoeRoutingMethod'), 'renormalize');
  assert.equal(routingMethodOf('DeepSeekV3'), 'deepseek-v3');
  assert.equal(routingMethodOf('minimax2'), 'minimax');
  assert.throws(() => routingMethodOf('2'), /Unknown routing method/);
});

test('what cannot be routed is said in two lines', () => {
  const shape = { experts: 4, topK: 2 };
  assert.throws(() => route('default', [1, Number.NaN, 0, 0], shape), /token 0 and expert 1 is not a number/);
  assert.throws(() => route('default', [1, 2, 3], shape), /do not form rows of 4 experts/);
  assert.throws(() => route('default', [1, 2, 3, 4], { experts: 4, topK: 5 }), /cannot be chosen/);
  assert.throws(() => route('deepseek-v3', [], { experts: 6, topK: 2, groups: 4, topGroups: 1 }), /groups/);
  assert.throws(() => balancedExperts({ tokens: 4, experts: 6, topK: 2, gpus: 4 }), /evenly over 4 GPUs/);
  assert.throws(
    () => balancedExperts({ tokens: 4, experts: 8, topK: 2, gpus: 4, rank: 4 }),
    /Rank 4 does not exist/,
  );
});

test('the published vectors', () => {
  const shape: PlanShape = { tokens: 3, experts: 8, topK: 2, gpus: 4 };
  assert.deepEqual(rows(publishedExperts(shape, false), 2), [
    [0, 2],
    [4, 6],
    [1, 3],
  ]);
  const row = publishedLogits2025(shape).subarray(0, 8);
  assert.deepEqual(
    Array.from(row, value => value.toFixed(6)),
    ['0.498636', '0.000455', '0.498636', '0.000455', '0.000455', '0.000455', '0.000455', '0.000455'],
  );
  const turned = { ...shape, tokens: 4, rank: 1 };
  assert.deepEqual(rows(publishedExperts(turned, true), 2), [
    [2, 4],
    [6, 1],
    [3, 5],
    [7, 0],
  ]);
  assert.deepEqual([...publishedLogits2026(turned).subarray(0, 8)], [-10, -10, 10, -10, 10, -10, -10, -10]);
});

const flat: RoutingMethod[] = ['default', 'renormalize', 'renormalize-naive', 'minimax', 'sigmoid-renorm'];
const sizes = [...Array.from({ length: 70 }, (_, i) => i + 1), 127, 128, 255, 256, 257, 1000];

test('our plan: every method, every rank, any number of tokens: counts differ by at most one', () => {
  for (const [experts, topK] of [
    [8, 2],
    [32, 4],
    [128, 8],
    [16, 1],
    [60, 4],
  ] as const)
    for (const gpus of [1, 2, 4, 8].filter(count => experts % count === 0))
      for (const tokens of sizes.filter(count => count * experts < 40_000)) {
        const together = new Int32Array(experts);
        for (let rank = 0; rank < gpus; rank++) {
          const shape: PlanShape = { tokens, experts, topK, gpus, rank };
          const plan = balancedExperts(shape);
          const where = JSON.stringify(shape);
          assert.ok(spread(countsOf(plan, experts)) <= 1, `experts of ${where}`);
          assert.ok(
            spread(countsOf(plan, gpus, expert => Math.floor(expert / (experts / gpus)))) <= 1,
            `GPUs of ${where}`,
          );
          for (const expert of plan) together[expert]++;
          if (tokens > 40) continue;
          const logits = perfectLogits(shape);
          for (const method of topK === 1 ? [...flat, 'llama4' as const] : flat) {
            const routed = route(method, logits, { experts, topK });
            assert.deepEqual(sorted(routed.experts, topK), sorted(plan, topK), `${method} of ${where}`);
            for (const weight of method === 'default' || method === 'llama4' ? [] : routed.weights)
              assert.ok(Math.abs(weight - 1 / topK) < 1e-4);
          }
        }
        assert.ok(
          spread(together) <= 1,
          `all ranks together, ${tokens} tokens, ${experts} experts on ${gpus}`,
        );
      }
});

const sorted = (plan: ArrayLike<number>, k: number) => rows(plan, k).map(row => row.sort((a, b) => a - b));

test('our plan with groups: DeepSeek-V3 and others choose exactly the planned experts', () => {
  for (const [experts, topK, groups, topGroups] of [
    [256, 8, 8, 4],
    [64, 6, 1, 1],
    [160, 4, 8, 4],
    [64, 4, 8, 4],
    [32, 8, 4, 2],
    [128, 8, 4, 4],
  ] as const)
    for (const gpus of [1, 2, 4, 8, 16].filter(count => experts % count === 0)) {
      const reach =
        groups === 1 ? gpus : gpus > groups ? (topGroups * gpus) / groups : Math.min(gpus, topGroups);
      const possible = Math.min(topK, gpus) <= reach;
      for (const tokens of sizes.filter(count => count * experts < 40_000)) {
        for (const rank of [0, gpus - 1]) {
          const shape: PlanShape = { tokens, experts, topK, gpus, rank, groups, topGroups };
          const plan = balancedExperts(shape);
          const where = JSON.stringify(shape);
          assert.ok(spread(countsOf(plan, experts)) <= 1, `experts of ${where}`);
          const onGpus = spread(countsOf(plan, gpus, expert => Math.floor(expert / (experts / gpus))));
          // A single token that may use fewer GPUs than it has experts must use some twice: nobody can do better.
          const whole = tokens % (gpus / reach) === 0 || (gpus === groups && tokens >= gpus / (reach - 1));
          const most = possible || whole ? 1 : Math.ceil(topK / reach);
          assert.ok(onGpus <= most, `GPUs of ${where}: ${onGpus}`);
          if (tokens > 33) continue;
          const routed = route('deepseek-v3', perfectLogits(shape), { experts, topK, groups, topGroups });
          assert.deepEqual(sorted(routed.experts, topK), sorted(plan, topK), where);
        }
      }
    }
});

test('the published plan for groups keeps what it promises', () => {
  for (const gpus of [2, 4]) {
    const shape: PlanShape = { tokens: 64, experts: 256, topK: 8, gpus, groups: 8, topGroups: 4, rank: 1 };
    const plan = publishedGroupExperts(shape);
    const onGpus = countsOf(plan, gpus, expert => Math.floor(expert / (256 / gpus)));
    assert.ok(spread(onGpus) <= 1, `fewer GPUs than groups: balanced (${[...onGpus]})`);
    for (const row of rows(plan, 8)) {
      assert.equal(new Set(row).size, 8, 'no expert twice');
      assert.ok(new Set(row.map(expert => Math.floor(expert / 32))).size <= 4, 'no more groups than allowed');
    }
    const routed = route('deepseek-v3', publishedGroupLogits(shape), {
      experts: 256,
      topK: 8,
      groups: 8,
      topGroups: 4,
    });
    assert.deepEqual(sorted(routed.experts, 8), sorted(plan, 8));
  }
});

test('balance in numbers', () => {
  const even = balanceOf([5, 5, 5, 5]);
  assert.deepEqual(
    [even.maxOverMean, even.variation, even.gini, even.entropy, even.idleShare],
    [1, 0, 0, 1, 0],
  );
  const one = balanceOf([0, 0, 0, 8]);
  assert.deepEqual([one.maxOverMean, one.gini, one.entropy, one.idleShare], [4, 0.75, 0, 0.75]);
  const some = balanceOf([1, 2, 3, 4]);
  assert.ok(Math.abs(some.gini - 0.25) < 1e-12 && Math.abs(some.variation - Math.sqrt(1.25) / 2.5) < 1e-12);
  assert.ok(Number.isNaN(balanceOf([0, 0]).maxOverMean), 'nothing is neither even nor uneven');
});

test('vectors for other languages are what this code gives', () => {
  const random = randomNumbers(11);
  const methods = routingMethods.map(({ id }) => id);
  const routes = methods.flatMap(method =>
    [
      { experts: 8, topK: 2 },
      { experts: 16, topK: 4, groups: 4, topGroups: 2 },
    ].map(shape => {
      const usedShape = method === 'deepseek-v3' ? shape : { experts: shape.experts, topK: shape.topK };
      const bias =
        method === 'minimax' || method === 'deepseek-v3'
          ? Array.from({ length: shape.experts }, () => random(100) / 1000)
          : undefined;
      const logits = Array.from({ length: 3 * shape.experts }, () => (random(4000) - 2000) / 500);
      const scale = method === 'deepseek-v3' ? 2.5 : 1;
      const routed = route(method, logits, { ...usedShape, bias, scale });
      return {
        method,
        ...usedShape,
        ...(bias ? { bias } : {}),
        scale,
        logits,
        chosen: [...routed.experts],
        weights: Array.from(routed.weights, weight => Number(weight.toFixed(9))),
      };
    }),
  );
  const shapes: PlanShape[] = [
    { tokens: 5, experts: 8, topK: 2 },
    { tokens: 5, experts: 8, topK: 2, gpus: 4, rank: 3 },
    { tokens: 7, experts: 32, topK: 4, gpus: 2, rank: 1 },
    { tokens: 6, experts: 256, topK: 8, gpus: 8, rank: 2, groups: 8, topGroups: 4 },
    { tokens: 6, experts: 64, topK: 4, gpus: 4, rank: 1, groups: 8, topGroups: 4 },
    { tokens: 7, experts: 256, topK: 8, gpus: 8, rank: 1, groups: 8, topGroups: 4 },
    { tokens: 1, experts: 256, topK: 8, gpus: 8, rank: 3, groups: 8, topGroups: 4 },
    { tokens: 4, experts: 16, topK: 1, gpus: 8, rank: 5 },
  ];
  const plans = shapes.map(shape => ({ ...shape, experts_of_tokens: [...balancedExperts(shape)] }));
  const document = {
    about: 'routing maths checked in TypeScript and Python: see src/moe and agent',
    routes,
    plans,
  };
  assertSameText(
    path.join(projectRoot, 'test/fixtures/routing/vectors.json'),
    `${JSON.stringify(document, null, 1).replace(/\[\n\s+([^[\]{}]*?)\n\s+\]/g, (_, list: string) => `[${list.replace(/\n\s+/g, ' ')}]`)}\n`,
  );
});
