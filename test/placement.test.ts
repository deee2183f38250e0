/** Placing experts: the published method gives its published example, and ours is never worse. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { betterPlacement } from '../src/moe/placement/better-placement.js';
import { eplb } from '../src/moe/placement/eplb.js';
import { gpuLoads } from '../src/moe/placement/placement.js';
import { externalFolder } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { imbalance, plainPlacement } from '../src/testing/placements.js';
import { randomNumbers } from '../src/testing/random-profile.js';

test('the worked example of the published method', () => {
  const weights = [
    [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
    [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
  ];
  const expected = [
    [5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1],
    [7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1],
  ];
  weights.forEach((tokens, layer) => {
    const { expertOf } = eplb(tokens, { places: 16, groups: 4, nodes: 2, gpus: 8 });
    assert.deepEqual([...expertOf], expected[layer]);
  });
});

/** Zipf loads, as real routers show them: few experts get most tokens. Shuffled, because hot experts lie anywhere. */
function zipf(experts: number, exponent: number, seed: number): Float64Array {
  const random = randomNumbers(seed);
  const loads = Float64Array.from({ length: experts }, (_, i) => 1e6 / (i + 1) ** exponent);
  for (let i = experts - 1; i > 0; i--) {
    const j = random(i + 1);
    [loads[i], loads[j]] = [loads[j], loads[i]];
  }
  return loads.map(load => Math.round(load * (0.8 + random(400) / 1000)));
}

test('ours is never worse, and on the median at least a fifth closer to perfect', () => {
  const closer: number[] = [];
  for (const exponent of [0.3, 0.6, 0.9, 1.2])
    for (const [experts, gpus, places] of [
      [256, 8, 256],
      [256, 16, 288],
      [128, 8, 144],
      [256, 32, 288],
      [64, 8, 72],
    ] as const)
      for (let seed = 1; seed <= 5; seed++) {
        const tokens = zipf(experts, exponent, seed);
        const shape = { gpus, nodes: 1, places };
        const theirs = imbalance(eplb(tokens, shape), tokens);
        const placement = betterPlacement(tokens, shape);
        const ours = imbalance(placement, tokens);
        assert.ok(ours <= theirs + 1e-9, `${experts} on ${gpus}: ${ours} against ${theirs}`);
        assert.equal(
          placement.replicas.reduce((a, b) => a + b),
          places,
        );
        assert.ok(
          placement.replicas.every(count => count >= 1),
          'every expert has a place',
        );
        if (theirs > 1.0001) closer.push((theirs - ours) / (theirs - 1));
      }
  closer.sort((a, b) => a - b);
  const median = closer[closer.length >> 1];
  assert.ok(median >= 0.2, `median ${(median * 100).toFixed(0)}% closer, of ${closer.length}`);
});

test('with groups and nodes, experts of a group stay on their node', () => {
  const tokens = zipf(64, 0.8, 3);
  const shape = { gpus: 8, nodes: 2, places: 72, groups: 8 };
  const placement = betterPlacement(tokens, shape);
  const nodesOfGroup = Array.from({ length: 8 }, () => new Set<number>());
  placement.expertOf.forEach((expert, place) => {
    nodesOfGroup[Math.floor(expert / 8)].add(Math.floor(place / 36));
  });
  for (const nodes of nodesOfGroup) assert.equal(nodes.size, 1);
  assert.ok(imbalance(placement, tokens) <= imbalance(eplb(tokens, shape), tokens) + 1e-9);
});

test('loads are shared by replicas, and sum to all tokens', () => {
  const tokens = [10, 20, 30, 40];
  const placement = eplb(tokens, { gpus: 2, nodes: 1, places: 6 });
  const loads = gpuLoads(placement, tokens);
  assert.ok(Math.abs(loads.reduce((a, b) => a + b) - 100) < 1e-9);
  assert.equal(imbalance(plainPlacement(4, 2), tokens), (70 * 2) / 100);
});

test('288 GPUs: no worse either', () => {
  const tokens = zipf(256, 0.8, 9);
  const placement = betterPlacement(tokens, { gpus: 288, nodes: 1, places: 576 });
  assert.ok(
    imbalance(placement, tokens) <
      imbalance(eplb(tokens, { gpus: 288, nodes: 1, places: 576 }), tokens) + 1e-9,
  );
});

test('what cannot be placed is said', () => {
  assert.throws(
    () => eplb([1, 2, 3, 4], { gpus: 8, nodes: 1, places: 4 }),
    /cannot be divided evenly among 8 GPUs/,
  );
  assert.throws(() => eplb([1, 2, 3, 4], { gpus: 2, nodes: 1, places: 2 }), /cannot hold 4 experts/);
  assert.throws(() => eplb([1, -2, 3, 4], { gpus: 2, nodes: 1, places: 4 }), /load of expert 1 is -2/);
  assert.throws(() => eplb([1, 2, 3, 4], { gpus: 2, nodes: 1, places: 5 }), /5 slots cannot be divided/);
});

const real = path.join(externalFolder, 'expert-load/sglang-deepseek-v3-logical-count.json.gz');

test('the same on real loads of DeepSeek-V3, layer by layer', {
  skip: lacks('external'),
}, () => {
  let layers = JSON.parse(gunzipSync(readFileSync(real)).toString('utf8'));
  if (!Array.isArray(layers)) layers = layers.logical_count;
  while (Array.isArray(layers[0][0])) layers = layers[0];
  const used = (layers as number[][]).filter(tokens => tokens.some(count => count > 0));
  assert.equal(used.length, 58);
  for (const [gpus, places] of [
    [8, 256],
    [32, 288],
  ] as const) {
    const closer = used.map(tokens => {
      const shape = { gpus, nodes: 1, places };
      const theirs = imbalance(eplb(tokens, shape), tokens);
      const ours = imbalance(betterPlacement(tokens, shape), tokens);
      assert.ok(ours <= theirs + 1e-9);
      return theirs > 1.0001 ? (theirs - ours) / (theirs - 1) : 0;
    });
    closer.sort((a, b) => a - b);
    assert.ok(closer[closer.length >> 1] >= 0.2, `${gpus} GPUs: ${closer[closer.length >> 1]}`);
  }
});
