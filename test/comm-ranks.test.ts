/** Eight drawn ranks: collectives matched, clocks aligned, waiting and transferring as they were drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { collectiveWaits } from '../src/analyze/comm/collective-waits.js';
import { rankSkew } from '../src/analyze/comm/rank-skew.js';
import { rankSteps } from '../src/analyze/comm/rank-steps.js';
import { rankWaits } from '../src/analyze/comm/rank-waits.js';
import { findings } from '../src/analyze/findings/findings.js';
import { windowBudgets } from '../src/analyze/inference/step-budget.js';
import { NoteCounter } from '../src/base/notes.js';
import { withProcessRanks } from '../src/import/process-ranks.js';
import { mergeProfiles } from '../src/model/merge.js';
import { answerFromLoads, answerFromProfile } from '../src/moe/answer.js';
import { expertLayers } from '../src/moe/cost/expert-layers.js';
import { expertWork } from '../src/moe/cost/expert-work.js';
import { timelineBalance } from '../src/moe/cost/timeline-balance.js';
import { answerLines } from '../src/moe/describe/moe-words.js';
import { LoadCollector } from '../src/moe/loads/load-collector.js';
import type { LoadSummary } from '../src/moe/loads/load-summary.js';
import { randomStream } from '../src/stats/random.js';
import { type DrawnRun, drawRanks } from '../src/testing/drawn-ranks.js';
import { drawSteps } from '../src/testing/drawn-steps.js';

const ALL_REDUCE = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL';
const STRAGGLER = 5;
const TRANSFER_NS = 12_000;

/** Rank 5 computes 9 µs longer in every layer, everyone up to 1.5 µs at random. */
function eight(more: Partial<DrawnRun> = {}): DrawnRun {
  const random = randomStream(21, 'drawn ranks');
  const jitter = Array.from({ length: 8 * 16 * 12 * 2 }, () => Math.floor(random() * 1_500));
  return {
    ...{ ranks: 8, steps: 16, layers: 12 },
    collectives: [
      { name: ALL_REDUCE, ns: TRANSFER_NS },
      { name: ALL_REDUCE, ns: TRANSFER_NS },
    ],
    compute: (rank, step, layer) =>
      [0, 1].map(index => [
        { name: 'nvjet_tst_64x8', ns: 20_000 + jitter[((rank * 16 + step) * 12 + layer) * 2 + index] },
        {
          name: index === 0 ? 'fmha_decode' : 'grouped_gemm',
          ns: 11_000 + (rank === STRAGGLER && index === 1 ? 9_000 : 0),
        },
      ]),
    ...more,
  };
}

const analyzed = (run: DrawnRun) => {
  const { profiles, collectives } = drawRanks(run);
  const profile = mergeProfiles(profiles);
  const waits = new Analyzer(profile).get(collectiveWaits);
  return { profile, waits: waits!, collectives };
};

/** Largest distance between what was drawn and what was found, over all calls. */
function worst({ waits, collectives }: ReturnType<typeof analyzed>) {
  let waiting = 0;
  let transferring = 0;
  assert.equal(waits.collectives.length, collectives.length);
  waits.collectives.forEach((found, i) => {
    const drawn = collectives[i];
    for (const call of found.calls) {
      const rank = waits.calls.rank[call];
      waiting = Math.max(waiting, Math.abs(waits.waitingNs[call] - drawn.waitingNs[rank]));
      transferring = Math.max(transferring, Math.abs(waits.transferringNs[call] - TRANSFER_NS));
    }
  });
  return { waiting, transferring };
}

test('on one clock waiting and transferring are exact to the nanosecond', () => {
  const found = analyzed(eight());
  assert.equal(found.waits.matched, 8 * 16 * 12 * 2);
  assert.equal(found.waits.alignment.status, 'agree');
  assert.deepEqual(worst(found), { waiting: 0, transferring: 0 });
  const last = found.waits.collectives.filter(({ lastRank }) => lastRank === STRAGGLER).length;
  const drawn = found.collectives.filter(({ lastRank }) => lastRank[0] === STRAGGLER).length;
  assert.equal(last, drawn);
  assert.ok(last > 16 * 12);
});

test('offset and drift of each clock are recovered, and the waits with them', () => {
  const clock = (rank: number) => ({
    offsetNs: rank === 0 ? 0 : rank * 137_000 - 400_000,
    drift: rank * 4e-6,
  });
  const found = analyzed(eight({ clock }));
  const { alignment } = found.waits;
  assert.equal(alignment.status, 'aligned');
  assert.equal(found.waits.matched, 8 * 16 * 12 * 2);
  for (const { clock: file, offsetNs, drift, at, uncertaintyNs, corrected } of alignment.clocks.slice(1)) {
    const drawn = clock(file);
    assert.ok(corrected);
    // A nanosecond in the half of 20 ms.
    assert.ok(Math.abs(drift - drawn.drift) < 1e-7, `drift of ${file}: ${drift}`);
    assert.ok(
      Math.abs(offsetNs - (drawn.offsetNs + drawn.drift * at)) <= 1,
      `offset of ${file}: ${offsetNs}`,
    );
    assert.ok(uncertaintyNs <= 1);
  }
  // Clocks show whole nanoseconds, and drifting ones of unequal length.
  const { waiting, transferring } = worst(found);
  assert.ok(waiting <= 3 && transferring <= 3, `${waiting} ns and ${transferring} ns`);
});

test('files that begin steps apart are matched by what must hold', () => {
  const found = analyzed(
    eight({ recordedFrom: rank => rank % 3, clock: rank => ({ offsetNs: rank * 900, drift: 0 }) }),
  );
  const wrong = found.waits.collectives.filter(({ calls }) => {
    const ends = calls.map(call => found.waits.calls.end[call] - 900 * found.waits.calls.rank[call]);
    return Math.max(...ends) - Math.min(...ends) > 0;
  });
  assert.equal(wrong.length, 0);
  assert.equal(found.waits.collectives.filter(({ calls }) => calls.length === 8).length, 14 * 12 * 2);
});

test('ranks that talk in two groups are two groups', () => {
  // The second group computes at another pace: it never ends with the first.
  const run = eight({ groupOf: rank => rank >> 2 });
  const slower: DrawnRun = {
    ...run,
    compute: (rank, step, layer) =>
      run
        .compute(rank, step, layer)
        .map(list =>
          list.map(({ name, ns }) => ({ name, ns: ns + (rank >= 4 ? 4_000 + 531 * (step % 5) : 0) })),
        ),
  };
  const { waits } = analyzed(slower);
  assert.deepEqual(
    waits.groups.map(({ ranks }) => ranks),
    [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ],
  );
});

test('copies of a server with the same pace are not one group', () => {
  for (let seed = 0; seed < 20; seed++) {
    const random = randomStream(seed, 'replicas');
    const noise = Array.from({ length: 2 * 16 * 12 * 2 }, () => Math.floor(random() * 3_000));
    const replicas = eight({
      ranks: 2,
      groupOf: rank => rank,
      compute: (rank, step, layer) =>
        [0, 1].map(index => [
          { name: 'nvjet_tst_64x8', ns: 30_000 + noise[((rank * 16 + step) * 12 + layer) * 2 + index] },
        ]),
    });
    const analyzer = new Analyzer(mergeProfiles(drawRanks(replicas).profiles));
    assert.equal(analyzer.get(collectiveWaits), undefined, `seed ${seed}`);
  }
});

test('separate clocks are aligned by collectives alone; too few of them are not', () => {
  const clock = (rank: number) => ({ offsetNs: rank * 7_000_000, drift: 0 });
  const found = analyzed(eight({ clock, sessionClock: true }));
  assert.equal(found.waits.alignment.status, 'aligned');
  assert.deepEqual(worst(found), { waiting: 0, transferring: 0 });
  const few = drawRanks(eight({ clock, sessionClock: true, steps: 1, layers: 3 }));
  const analyzer = new Analyzer(mergeProfiles(few.profiles));
  assert.equal(analyzer.get(collectiveWaits), undefined);
  assert.throws(() => analyzer.get(rankSteps), /a common clock of the ranks/);
  assert.match(rankSkew.headline!.text(analyzer.get(rankSkew), null)!, /separate clocks, and fewer than 8/);
});

test('budgets split exposed communication into waiting and transferring', () => {
  const { profile, collectives, waits } = analyzed(eight());
  const budgets = new Analyzer(profile, { whole: true }).get(windowBudgets);
  const sum = (of: (budget: (typeof budgets)[number]['budget']) => number) =>
    budgets.reduce((total, { budget }) => total + of(budget), 0);
  const drawn = collectives.reduce((total, { waitingNs }) => total + waitingNs.reduce((a, b) => a + b), 0);
  assert.equal(
    sum(budget => budget.communicationWaitingNs!),
    drawn,
  );
  assert.equal(
    sum(budget => budget.communicationUnmatchedNs!),
    0,
  );
  assert.equal(
    sum(budget => budget.communicationExposedNs),
    drawn + waits.calls.length * TRANSFER_NS,
  );
});

const found = (run: DrawnRun) => {
  const analyzer = new Analyzer(mergeProfiles(drawRanks(run).profiles));
  return {
    analyzer,
    waiting: analyzer.get(findings).findings.find(({ id }) => id === 'waiting-for-slowest-rank'),
  };
};

test('the finding names the straggler, its kernel and what it alone would bring', () => {
  const run = eight();
  const { analyzer, waiting } = found(run);
  assert.match(
    waiting!.claim,
    /^Ranks wait .* per step for the last one to arrive; rank 5 causes [6-9]\d\.\d% of it$/,
  );
  assert.ok(waiting!.evidence.some(({ text }) => /longer kernels, most of all grouped_gemm/.test(text)));
  assert.equal(waiting!.confidence, 'likely');
  assert.ok(waiting!.advice.length > 0);
  // Had rank 5 come with the rank before it, as drawn.
  const { collectives } = drawRanks(run);
  const alone = collectives.reduce((sum, { arrival, lastRank }) => {
    if (lastRank[0] !== STRAGGLER) return sum;
    return sum + arrival[STRAGGLER] - Math.max(...arrival.filter((_, rank) => rank !== STRAGGLER));
  }, 0);
  const [steady] = [analyzer.get(rankSkew).perSteps];
  assert.ok(Math.abs(waiting!.gain!.nsPerStep - alone / steady) < 0.05 * (alone / steady));
  const even = eight({ compute: () => [0, 1].map(() => [{ name: 'nvjet_tst_64x8', ns: 20_000 }]) });
  assert.equal(found(even).waiting, undefined, 'ranks that arrive together');
});

test('rows of ranks, steps and causes: who, why, where', () => {
  const { analyzer } = found(eight());
  const ranks = analyzer.get(rankSkew);
  assert.deepEqual(ranks.straggler && [ranks.straggler.rank, ranks.straggler.kind], [
    STRAGGLER,
    'persistent',
  ]);
  const late = ranks.rows.find(({ rank }) => rank === STRAGGLER)!;
  assert.deepEqual([late.why, late.lateKernel], ['longer kernels', 'grouped_gemm']);
  assert.ok(ranks.rows.every(({ rank, waitingNs }) => rank === STRAGGLER || waitingNs! > late.waitingNs!));
  const steps = analyzer.get(rankSteps).rows;
  assert.ok(steps.every(({ slowestRank, collectives: count }) => slowestRank === STRAGGLER && count === 24));
  const waits = analyzer.get(rankWaits).rows;
  assert.equal(waits[0].kernel, 'grouped_gemm');
  const share = waits.reduce((sum, row) => sum + row.share, 0);
  assert.ok(Math.abs(share - 1) < 1e-9);
});

test('a host that launches late is the cause, not its kernels', () => {
  const late = 2;
  const run = eight({
    compute: () => [0, 1].map(() => [{ name: 'nvjet_tst_64x8', ns: 20_000 }]),
    hostDelayNs: rank => (rank === late ? 400_000 : 0),
  });
  const { analyzer, waiting } = found(run);
  const row = analyzer.get(rankSkew).rows.find(({ rank }) => rank === late)!;
  assert.match(row.why!, /^host stall/);
  assert.equal(row.lateKernel, null);
  assert.match(waiting!.claim, /rank 2 causes/);
});

test('a GPU that runs every kernel slower is told by its pace', () => {
  const names = ['nvjet_a', 'nvjet_b', 'fmha_decode', 'rms_norm', 'rope_kernel', 'silu_kernel'];
  const run = eight({
    compute: rank =>
      [0, 1].map(() =>
        names.map((name, i) => ({ name, ns: Math.round((9_000 + 700 * i) * (rank === 3 ? 1.12 : 1)) })),
      ),
  });
  const { analyzer, waiting } = found(run);
  const pace = analyzer.get(rankSkew).rows.map(row => row.pace!.toFixed(2));
  assert.deepEqual(pace, ['1.00', '1.00', '1.00', '1.12', '1.00', '1.00', '1.00', '1.00']);
  assert.ok(waiting!.evidence.some(({ text }) => /all of its kernels take 1[12]\.\d% longer/.test(text)));
});

test('ranks of two runs that were recorded at the same time do not match, and it is said', () => {
  const other = eight({
    compute: (rank, step, layer) =>
      [0, 1].map(index => [
        { name: 'nvjet_tst_64x8', ns: 15_000 + 977 * ((7 * rank + 3 * step + layer + index) % 11) },
      ]),
  });
  const mixed = [drawRanks(eight()).profiles[0], drawRanks(other).profiles[1]];
  const analyzer = new Analyzer(mergeProfiles(mixed));
  assert.equal(analyzer.get(collectiveWaits), undefined);
  assert.throws(() => analyzer.get(rankWaits), /collectives of several ranks that match/);
});

/** A layer is dispatch, experts, combine; in every layer another rank has most of the tokens. */
const experts = (extraNs: (rank: number, layer: number) => number): DrawnRun => ({
  ...{ ranks: 8, steps: 8, layers: 16 },
  collectives: [
    { name: 'deep_ep::internode_ll::dispatch', ns: 9_000 },
    { name: 'deep_ep::internode_ll::combine', ns: 9_000 },
  ],
  compute: (rank, _, layer) => [
    [{ name: 'fmha_decode', ns: 30_000 }],
    [{ name: 'fused_moe_kernel', ns: 20_000 + extraNs(rank, layer) }],
  ],
});

test('experts by layer: what balance would bring, where totals over a step say nothing', () => {
  const extra = (rank: number, layer: number) => (rank === layer % 8 ? 24_000 : 0);
  const analyzer = new Analyzer(mergeProfiles(drawRanks(experts(extra)).profiles));
  const balance = timelineBalance(analyzer.get(expertLayers))!;
  assert.deepEqual([balance.ranks, balance.steps, balance.layers.length], [8, balance.steps, 16]);
  // 44 µs against a mean of 23 µs, in each of 16 layers; each rank is the slow one twice.
  assert.ok(Math.abs(balance.maxOverMean - 44 / 23) < 1e-9);
  assert.equal(balance.savedNs, 16 * 21_000);
  assert.equal(balance.highNs, 16 * 21_000);
  assert.equal(balance.lowNs, 0);
  for (const { layer, slowestRank, slowestShare } of balance.layers)
    assert.deepEqual([slowestRank, slowestShare], [layer % 8, 1]);
});

test('moe answers by layers; without matching it says that totals are a lower bound', () => {
  const answered = (balanced?: true) => {
    const analyzer = new Analyzer(
      mergeProfiles(
        drawRanks(experts((rank, layer) => (!balanced && rank === layer % 8 ? 24_000 : 0))).profiles,
      ),
    );
    const balance = timelineBalance(analyzer.get(expertLayers));
    return answerFromProfile(analyzer.get(expertWork), { balance })!;
  };
  const uneven = answered();
  assert.equal(uneven.verdict, 'yes');
  assert.match(answerLines(uneven)[0], /^Yes \(from the timelines of the ranks\)/);
  assert.match(answerLines(uneven)[1], /1\.91× the mean time .* summed over a step it is only 1\.00×/);
  assert.equal(answered(true).verdict, 'no');
  const rows = new Analyzer(mergeProfiles(drawRanks(experts(rank => 2_000 * rank)).profiles)).get(expertWork);
  const summed = answerFromProfile(rows, {})!;
  assert.equal(summed.timeline, null);
  assert.match(summed.notes[0].text, /lower bounds/);
});

/** One expert per GPU; the tokens that the drawn times stand for, or others. */
function counted(tokens: (expert: number, layer: number) => number): LoadSummary {
  const layers = Array.from({ length: 16 }, (_, layer) => layer);
  const collector = new LoadCollector(
    { source: { file: 'drawn', format: 'npy' }, shape: { layers, experts: 8 }, notes: new NoteCounter() },
    {},
  );
  const counts = Float64Array.from({ length: 16 * 8 }, (_, i) => tokens(i % 8, i >> 3));
  for (let iteration = 0; iteration < 8; iteration++) collector.add({ iteration, counts });
  return collector.finish();
}

test('with counts both verdicts are given, and whether they agree', () => {
  const extra = (rank: number, layer: number) => (rank === layer % 8 ? 24_000 : 0);
  const analyzer = new Analyzer(mergeProfiles(drawRanks(experts(extra)).profiles));
  const question = {
    profile: analyzer.get(expertWork),
    balance: timelineBalance(analyzer.get(expertLayers)),
    gpus: 8,
  };
  const same = answerFromLoads(
    counted((expert, layer) => (expert === layer % 8 ? 44 : 20)),
    question,
  );
  assert.equal(same.timeline!.agrees, true);
  assert.ok(Math.abs(same.ceiling.stepGain! - same.timeline!.stepGain) < 1e-9);
  assert.ok(Math.abs(same.lostNs! - 16 * 21_000) < 1e-6);
  assert.ok(answerLines(same).some(line => line.startsWith('Counts and timeline agree')));
  const other = answerFromLoads(
    counted(() => 20),
    { ...question, balance: { ...question.balance!, lowNs: 100_000 } },
  );
  assert.equal(other.timeline!.agrees, false);
  assert.ok(answerLines(other).some(line => line.startsWith('Counts and timeline disagree')));
});

test('processes of one report share its clock: nothing is aligned, and waits are exact', () => {
  const work = Array.from({ length: 30 }, (_, i) => 1_000_000 + 100_000 * i).flatMap(at =>
    [0, 1].flatMap(process => {
      const arrives = at + 40_000 + (process === 1 ? 7_000 : 0);
      return [
        [process, at - 9_000, at - 8_000, at, arrives, 'nvjet_tst'],
        [process, at - 7_000, at - 6_000, arrives, at + 60_000, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'],
      ] as const;
    }),
  );
  const profile = withProcessRanks(drawSteps({ marks: [], work }));
  const waits = new Analyzer(profile).get(collectiveWaits)!;
  assert.equal(waits.alignment.status, 'one-clock');
  assert.equal(waits.collectives.length, 30);
  const sum = waits.waitingNs.reduce((total, ns) => total + ns, 0);
  assert.equal(sum, 30 * 7_000);
});
