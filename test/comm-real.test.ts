/** Ranks of real runs: our waits beside those of scripts that know nothing of ours. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Analyzer } from '../src/analyze/analysis.js';
import { type CollectiveWaits, collectiveWaits } from '../src/analyze/comm/collective-waits.js';
import { collectives } from '../src/analyze/comm/collectives.js';
import { rankSkew } from '../src/analyze/comm/rank-skew.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { openProfile } from '../src/import/open.js';
import { expertLayers } from '../src/moe/cost/expert-layers.js';
import { timelineBalance } from '../src/moe/cost/timeline-balance.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';

const skip = lacks('external');

interface Kernel {
  readonly name: string;
  readonly arrival: number;
  readonly end: number;
}

/** GPU work of a trace, plainly: a stream works in order, so a kernel arrives when the one before it is done. */
function kernelsOf(file: string): Kernel[] {
  const { traceEvents } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    traceEvents: { cat?: string; name: string; ts: number; dur: number; pid: number; tid: number }[];
  };
  const busyUntil = new Map<string, number>();
  return traceEvents
    .filter(({ cat }) => cat === 'kernel' || cat === 'gpu_memcpy' || cat === 'gpu_memset')
    .map(event => ({ ...event, start: Math.round(event.ts * 1000), ns: Math.round(event.dur * 1000) }))
    .sort((a, b) => a.start - b.start)
    .map(({ name, start, ns, pid, tid }) => {
      const stream = `${pid}/${tid}`;
      const before = busyUntil.get(stream) ?? -Infinity;
      const end = start + ns;
      if (end <= before) return { name, arrival: start, end };
      busyUntil.set(stream, end);
      return { name, arrival: Math.max(start, before), end };
    });
}

/** Sums over ranks and collectives of one kernel: the n-th of every rank is one collective. */
function naiveSums(ranks: readonly (readonly Kernel[])[], pattern: RegExp) {
  const own = ranks.map(kernels => kernels.filter(({ name }) => pattern.test(name)));
  assert.ok(own.every(list => list.length === own[0].length));
  let waiting = 0;
  let duration = 0;
  const last = ranks.map(() => 0);
  own[0].forEach((_, i) => {
    const calls = own.map(list => list[i]);
    const latest = Math.max(...calls.map(({ arrival }) => arrival));
    last[calls.findIndex(({ arrival }) => arrival === latest)]++;
    for (const { arrival, end } of calls) {
      waiting += Math.min(latest, end) - arrival;
      duration += end - arrival;
    }
  });
  return { count: own[0].length, waiting, duration, last };
}

function ourSums({ calls, collectives: all, waitingNs, transferringNs }: CollectiveWaits, pattern: RegExp) {
  const last = calls.ranks.map(() => 0);
  let [count, waiting, duration] = [0, 0, 0];
  for (const { key, calls: own, lastRank } of all) {
    if (!pattern.test(calls.keys[key].name)) continue;
    count++;
    last[lastRank]++;
    for (const call of own) {
      waiting += waitingNs[call];
      duration += waitingNs[call] + transferringNs[call];
    }
  }
  return { count, waiting, duration, last };
}

const sets: readonly (readonly [
  name: string,
  files: (folder: string) => string[],
  kernels: readonly (readonly [script: RegExp, ours: RegExp])[],
])[] = [
  [
    'SGLang, eight B200, decode',
    folder =>
      Array.from({ length: 8 }, (_, r) =>
        path.join(
          folder,
          `sglang-gptoss120b-b200-tp8/bs-1-il-4096-1780800270.547418-TP-${r}-DECODE.trace.json.gz`,
        ),
      ),
    [
      [/allreduce_fusion_kernel/, /allreduce_fusion_kernel/],
      [/all_reduce_one_shot_push/, /all_reduce_one_shot_push/],
      [/ncclDevKernel_AllGather/, /ncclDevKernel_AllGather/],
    ],
  ],
  [
    'LightLLM, eight H200, expert parallel',
    folder =>
      Array.from({ length: 8 }, (_, r) =>
        path.join(folder, `lightllm-deepseek-h200-tp8/rank${r}.pt.trace.json.gz`),
      ),
    [
      [/internode_ll::dispatch/, /::dispatch/],
      [/internode_ll::combine/, /::combine/],
    ],
  ],
];

for (const [name, filesIn, kernels] of sets) {
  test(`${name}: waits equal those of a plain script`, { skip }, async () => {
    const files = filesIn(locate('external')!);
    const waits = new Analyzer(await openProfile(files)).get(collectiveWaits)!;
    assert.equal(waits.matched, waits.total);
    assert.equal(waits.alignment.status, 'agree');
    const plain = files.map(kernelsOf);
    for (const [script, ours] of kernels) {
      const expected = naiveSums(plain, script);
      const found = ourSums(waits, ours);
      assert.deepEqual(found.last, expected.last);
      assert.equal(found.count, expected.count);
      assert.equal(found.duration, expected.duration);
      assert.equal(found.waiting, expected.waiting);
    }
  });
}

test('prefill and decode files of two ranks are two ranks, with the steps of both windows', {
  skip,
}, async () => {
  const folder = path.join(locate('external')!, 'sglang-gptoss120b-b200-tp8');
  const files = ['EXTEND', 'DECODE'].flatMap(stage =>
    [0, 1].map(r => path.join(folder, `bs-1-il-4096-1780800270.547418-TP-${r}-${stage}.trace.json.gz`)),
  );
  const analyzer = new Analyzer(await openProfile(files));
  assert.deepEqual(
    analyzer.get(iterations).rows.map(({ phase, ranks }) => [phase, ranks]),
    [['prefill', 2], ...Array.from({ length: 5 }, () => ['decode', 2])],
  );
  // A window of each step on each of the two GPUs.
  assert.equal(analyzer.get(stepBudget).rows.length, 12);
  const { rows, waits } = analyzer.get(rankSkew);
  assert.deepEqual(
    rows.map(({ rank }) => rank),
    [0, 1],
  );
  assert.equal(waits!.alignment.status, 'agree');
  assert.equal(waits!.matched, 888);
});

test('expert parallel: per layer another rank is slowest, and totals hide it', { skip }, async () => {
  const files = sets[1][1](locate('external')!);
  const balance = timelineBalance(new Analyzer(await openProfile(files)).get(expertLayers))!;
  // The same from the files: grouped GEMMs of each rank between dispatch and combine.
  const layersOf = files.map(file => {
    const sums: number[] = [];
    let inside = false;
    for (const { name, arrival, end } of kernelsOf(file)) {
      if (/internode_ll::dispatch/.test(name)) {
        inside = true;
        sums.push(0);
      } else if (/internode_ll::combine/.test(name)) inside = false;
      // Those of experts are the ones with a group per expert: 32 in this model.
      else if (inside && /deep_gemm::fp8_gemm_kernel<\d+u, \d+u, \d+u, \d+u, \d+u, 32u/.test(name))
        sums[sums.length - 1] += end - arrival;
    }
    return sums;
  });
  const layers = layersOf[0].map((_, layer) => layersOf.map(own => own[layer]));
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const ratio = mean(layers.map(own => Math.max(...own) / mean(own)));
  const totals = layersOf.map(own => own.reduce((a, b) => a + b, 0));
  assert.equal(layers.length, 58);
  assert.ok(Math.abs(balance.maxOverMean - ratio) < 1e-9, `${balance.maxOverMean} and ${ratio}`);
  assert.ok(Math.abs(balance.lowNs - (Math.max(...totals) - mean(totals))) < 1);
  assert.ok(balance.lowNs < balance.savedNs && balance.savedNs < balance.highNs);
  assert.ok(new Set(balance.layers.map(({ slowestRank }) => slowestRank)).size >= 6);
});

test('four processes over gloo: the planted rank, and waits as the ranks themselves noted them', async () => {
  const folder = path.join(projectRoot, 'test/fixtures/ranks');
  const files = [0, 1, 2, 3].map(rank => path.join(folder, `gloo_rank${rank}.json.gz`));
  const analyzer = new Analyzer(await openProfile(files));
  const { ranks } = JSON.parse(readFileSync(path.join(folder, 'gloo_noted.json'), 'utf8')) as {
    ranks: number[][][];
  };
  const noted = ranks.map(own =>
    own.reduce((sum, [before], i) => sum + Math.max(...ranks.map(other => other[i][0])) - before, 0),
  );
  const { rows, straggler, waits } = analyzer.get(rankSkew);
  assert.equal(waits!.collectives.length, 48);
  assert.deepEqual([straggler!.rank, straggler!.kind, straggler!.share], [2, 'persistent', 1]);
  rows.forEach(({ rank, waitingNs, lastArrivals }) => {
    assert.equal(lastArrivals, rank === 2 ? 48 : 0);
    // The profiler's range begins in a thread of gloo, a little after the call.
    assert.ok(
      Math.abs(waitingNs! - noted[rank!]) <= 0.03 * Math.max(...noted),
      `${waitingNs} and ${noted[rank!]}`,
    );
  });
  assert.deepEqual(
    analyzer
      .get(collectives)
      .rows.map(({ kind, ranks: count, collectives: matched }) => [kind, count, matched]),
    [['all-reduce', 4, 48]],
  );
});

/** Processes on one H200 with vLLM's custom all-reduce (docs/evidence/ranks); rank by rank, what the GPU's clock showed before each. */
async function sharedGpu(name: string, world: number) {
  const folder = path.join(projectRoot, 'test/fixtures/ranks', name);
  const files = Array.from({ length: world }, (_, r) => path.join(folder, `shared_rank${r}.json.gz`));
  const noted = JSON.parse(readFileSync(path.join(folder, 'noted.json'), 'utf8')) as number[][];
  const own = new Analyzer(await openProfile(files, { workers: 0 }), {}).get(collectiveWaits)!;
  return { files, noted, own };
}

/** Trace time of the kernels that read the GPU's clock, minus what they read: the file's clock against one that all share. */
function aheadOfGpu(file: string, noted: readonly number[]): number {
  const { traceEvents } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    traceEvents: { cat?: string; name: string; ts: number }[];
  };
  const read = traceEvents.filter(({ cat, name }) => cat === 'kernel' && name.includes('note_time'));
  assert.equal(read.length, noted.length);
  // Microseconds: the whole number of nanoseconds since 1970 is beyond a double.
  const first = noted[0];
  const ahead = read.sort((a, b) => a.ts - b.ts).map(({ ts }, i) => ts - (noted[i] - first) / 1000);
  return ahead.sort((a, b) => a - b)[ahead.length >> 1] - first / 1000;
}

test('four processes that share a GPU: the rank with more work is last, and waits are the kernels’ own', async () => {
  const { files, noted, own } = await sharedGpu('shared-gpu-mps', 4);
  const ours = ourSums(own, /cross_device_reduce/);
  assert.deepEqual(ours, naiveSums(files.map(kernelsOf), /cross_device_reduce/));
  const latest = noted[0].map((_, i) => Math.max(...noted.map(rank => rank[i])));
  assert.deepEqual(
    noted.map(rank => rank.filter((time, i) => time === latest[i]).length),
    [0, 0, 48, 0],
  );
  assert.deepEqual(ours.last, [0, 0, 48, 0]);
  // Between the reading and the all-reduce lies a copy, and the late rank launches it late, too: that adds a little.
  const notedWaits = noted.flat().reduce((sum, time, i) => sum + latest[i % latest.length] - time, 0);
  assert.ok(ours.waiting >= notedWaits && ours.waiting < 1.15 * notedWaits, `${ours.waiting} ${notedWaits}`);
});

test('processes that take turns on a GPU do not end together, and their clocks are not blamed for it', async () => {
  for (const [name, world] of [
    ['shared-gpu', 2],
    ['shared-gpu-mps', 4],
  ] as const) {
    const { files, noted, own } = await sharedGpu(name, world);
    const ahead = files.map((file, r) => aheadOfGpu(file, noted[r]));
    assert.ok(Math.max(...ahead) - Math.min(...ahead) < 1, `the clocks agree within 1 µs: ${ahead}`);
    assert.equal(own.alignment.status, 'agree', name);
  }
});
