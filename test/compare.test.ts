/** Comparisons add up, are the same in both directions, match kernels under other names, and know what is noise. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { Analyzer, NotRecorded, type Settings, tablesReadBy } from '../src/analyze/analysis.js';
import { totalsByPhase } from '../src/analyze/inference/budget-totals.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { stepsOf } from '../src/analyze/inference/steps.js';
import { UserError } from '../src/base/user-error.js';
import { canonicalKernelName } from '../src/catalog/kernels/canonical-name.js';
import { parseFunctionName } from '../src/catalog/kernels/function-name.js';
import { alignSequences, type Token } from '../src/compare/align-sequences.js';
import { effectOf } from '../src/compare/comparability.js';
import {
  type Comparison,
  compareConfigurations,
  type PhaseComparison,
} from '../src/compare/compare-configurations.js';
import { comparisonBlocks } from '../src/compare/describe-comparison.js';
import { changedKernels } from '../src/compare/describe-kernels.js';
import { compareSteps } from '../src/compare/step-difference.js';
import { shownTerms } from '../src/compare/waterfall-terms.js';
import { openProfile } from '../src/import/open.js';
import type { Profile } from '../src/model/profile.js';
import { text } from '../src/report/text.js';
import { apportion, splitByWeight } from '../src/run/apportion.js';
import { comparedRun, comparedSources } from '../src/run/collect.js';
import type { Configuration, KernelFacts, ProfiledRun } from '../src/run/run.js';
import { capturePath, unlikeCaptures } from '../src/testing/captures.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { drawProfile } from '../src/testing/drawn-profile.js';
import { drawSteps } from '../src/testing/drawn-steps.js';
import { randomNumbers, randomProfile } from '../src/testing/random-profile.js';

const options = { threshold: 0.01 };
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const factsOf = (profile: Profile, settings: Settings = {}): ProfiledRun =>
  comparedRun(new Analyzer(profile, settings));
const configuration = (name: string, ...runs: ProfiledRun[]): Configuration => ({ name, runs });
const compareFacts = (from: ProfiledRun, to: ProfiledRun): Comparison =>
  compareConfigurations(configuration('a', from), configuration('b', to), options);

const opened = new Map<string, Promise<ProfiledRun>>();
/** As the command does it: reading no more than it needs, and keeping the facts alone. */
function capture(name: string, file = 'profile.sqlite.gz'): Promise<ProfiledRun> {
  const path = capturePath(name, file);
  let facts = opened.get(path);
  if (!facts)
    opened.set(
      path,
      (facts = openProfile([path], { tables: tablesReadBy(comparedSources) }).then(profile =>
        factsOf(profile),
      )),
    );
  return facts;
}

function assertSums(phase: PhaseComparison, where: string): void {
  const { terms, from, to, changeNs } = phase;
  assert.equal(to.wallNs - from.wallNs, changeNs, where);
  assert.equal(sum(terms.map(term => term.fromNs)), from.wallNs, `${where}: before`);
  assert.equal(sum(terms.map(term => term.toNs)), to.wallNs, `${where}: after`);
  assert.equal(sum(terms.map(term => term.changeNs)), changeNs, `${where}: change`);
  assert.equal(new Set(terms.map(term => term.key)).size, terms.length, `${where}: keys`);
  assert.equal(sum(shownTerms(phase).map(term => term.changeNs)), changeNs, `${where}: shown`);
  for (const term of terms) {
    const at = `${where} ${term.key}`;
    assert.ok(Number.isInteger(term.fromNs) && Number.isInteger(term.toNs), at);
    assert.ok(term.fromNs >= 0 && term.toNs >= 0, at);
    if (term.rows.length === 0) continue;
    assert.equal(sum(term.rows.map(row => row.changeNs)), term.changeNs, `${at}: rows`);
    assert.equal(sum(term.rows.map(row => row.from?.ns ?? 0)), term.fromNs, `${at}: rows before`);
    const counted = sum(term.rows.map(row => row.to?.count ?? 0));
    assert.ok(Math.abs(counted - term.toCount!) < 1e-6, `${at}: counts`);
  }
}

const mirrored: Record<string, string> = { removed: 'added', added: 'removed' };

function assertMirrored(there: Comparison, back: Comparison, where: string): void {
  assert.equal(there.phases.length, back.phases.length, where);
  there.phases.forEach((phase, i) => {
    const other = back.phases[i];
    const key = (of: string, kind: string, own: string) => (kind in mirrored ? `${of}/${kind}` : own);
    const changes = new Map(phase.terms.map(term => [key(term.of, term.kind, term.key), term.changeNs]));
    const reverse = new Map(
      other.terms.map(term => [
        key(term.of, mirrored[term.kind] ?? term.kind, term.key),
        -term.changeNs || 0,
      ]),
    );
    assert.deepEqual(
      [...changes].filter(([, ns]) => ns !== 0).sort(),
      [...reverse].filter(([, ns]) => ns !== 0).sort(),
      where,
    );
    assert.equal(other.changeNs, -phase.changeNs || 0, where);
    if (phase.interval) {
      assert.ok(Math.abs(phase.interval[0] + other.interval![1]) < 1e-3, `${where}: interval`);
      assert.ok(phase.interval[0] <= phase.changeNs + 1 && phase.interval[1] >= phase.changeNs - 1, where);
    }
  });
}

const withSteps = unlikeCaptures.flatMap(name =>
  ['profile.sqlite.gz', 'kineto.json.gz']
    .filter(file => existsSync(capturePath(name, file)))
    .map(file => [name, file] as const),
);

test('between captures the terms sum to the change, and the other direction is its mirror', async () => {
  const runs: [string, ProfiledRun][] = [];
  for (const [name, file] of withSteps) runs.push([`${name}/${file}`, await capture(name, file)]);
  let compared = 0;
  // Itself, its neighbor, and some that have little in common with it.
  for (const [i, [a, from]] of runs.entries())
    for (const [b, to] of [0, 1, 7].map(ahead => runs[(i + ahead) % runs.length])) {
      if (from.profile.cells.length === 0 || to.profile.cells.length === 0) continue;
      const where = `${a} → ${b}`;
      if (!from.profile.cells.some(cell => to.profile.cells.some(other => other.phase === cell.phase))) {
        assert.throws(() => compareFacts(from, to), /no phase in common/, where);
        continue;
      }
      const there = compareFacts(from, to);
      for (const phase of there.phases) assertSums(phase, where);
      assertMirrored(there, compareFacts(to, from), where);
      assert.ok(text.render(comparisonBlocks(there), { width: 100, color: false }).length > 0);
      compared++;
    }
  assert.ok(compared > 40, `${compared}`);
});

for (const [name, file] of [
  ['eager', 'profile.sqlite.gz'],
  ['run-ahead', 'profile.sqlite.gz'],
  ['graph', 'kineto.json.gz'],
]) {
  test(`the means of ${name}/${file} are those of the step budget, and against itself all is 0`, async () => {
    const profile = await openProfile([capturePath(name, file)]);
    const facts = factsOf(profile);
    const itself = compareFacts(facts, factsOf(profile));
    const totals = totalsByPhase(new Analyzer(profile).get(stepBudget).rows);
    assert.equal(itself.phases.length, totals.length);
    for (const phase of itself.phases) {
      const total = totals.find(known => known.phase === phase.phase)!;
      assert.equal(phase.from.wallNs, Math.round(total.wallNs / total.windows));
      const idle = sum(phase.terms.filter(term => term.kind === 'idle').map(term => term.fromNs));
      assert.ok(Math.abs(idle - total.idleNs / total.windows) <= Object.keys(total.idleByCause).length);
      assert.equal(phase.verdict, 'identical');
      assert.ok(phase.terms.every(term => term.changeNs === 0 && term.rows.every(row => row.changeNs === 0)));
      assert.ok(phase.terms.every(term => ['same', 'communication', 'copies', 'idle'].includes(term.kind)));
    }
    const page = text.render(comparisonBlocks(itself), { width: 100, color: false });
    assert.match(page, /The two runs are identical in/);
  });
}

test('on 4,000 random pairs the terms sum to the change, and the other direction is its mirror', () => {
  const runs = Array.from({ length: 400 }, (_, i) => {
    try {
      return factsOf(randomProfile(i + 1), { whole: i % 7 === 0 });
    } catch (error) {
      if (error instanceof NotRecorded) return undefined;
      throw error;
    }
  }).filter(facts => facts !== undefined);
  const random = randomNumbers(1);
  let compared = 0;
  let terms = 0;
  const kinds = new Set<string>();
  for (let pair = 0; pair < 4000; pair++) {
    const from = runs[random(runs.length)];
    const to = runs[random(runs.length)];
    const where = `${from.files} → ${to.files}`;
    let there: Comparison;
    try {
      there = compareFacts(from, to);
    } catch (error) {
      if (error instanceof UserError) continue;
      throw error;
    }
    for (const phase of there.phases) {
      assertSums(phase, where);
      terms += phase.terms.length;
      for (const term of phase.terms) kinds.add(term.kind);
    }
    if (pair % 4 === 0) assertMirrored(there, compareFacts(to, from), where);
    compared++;
  }
  assert.ok(compared > 1900 && terms > 10_000, `${compared} pairs, ${terms} terms`);
  for (const kind of [
    'same',
    'replaced',
    'regrouped',
    'removed',
    'added',
    'hidden',
    'communication',
    'copies',
    'idle',
  ])
    assert.ok(kinds.has(kind), `${kind} was never seen`);
});

test('steps chosen on the page are compared exactly', async () => {
  const profiles = [await openProfile([capturePath('eager')]), await openProfile([capturePath('graph')])];
  const [from, to] = profiles.map(profile => new Analyzer(profile));
  for (const step of [0, 3]) {
    const at = { first: step, last: step };
    const side = (analyzer: Analyzer, name: string) => ({
      name,
      analyzer: analyzer.lookingAt({ steps: at }),
    });
    const [answer, fall] = compareSteps(side(from, 'eager'), side(to, 'graph'));
    assert.ok(answer.kind === 'statement' && fall.kind === 'waterfall');
    assert.match(fall.from.label, new RegExp(`step ${from.get(stepsOf)!.steps[step].iteration}, decode`));
    assert.equal(sum(fall.terms.map(term => term.changeNs)), fall.to.ns - fall.from.ns);
    const rows = from.lookingAt({ steps: at }).get(stepBudget).rows;
    assert.equal(fall.from.ns, rows[0].wallNs);
  }
});

test('apportioning keeps the sum and moves nothing by a whole nanosecond', () => {
  const random = randomNumbers(3);
  for (let round = 0; round < 2000; round++) {
    const parts = new Map(
      Array.from({ length: 1 + random(20) }, (_, i) => [`p${i}`, random(1e6) / (1 + random(7))]),
    );
    const total = Math.round(sum([...parts.values()]));
    const whole = apportion(parts, total);
    assert.equal(sum([...whole.values()]), total);
    for (const [key, value] of parts) assert.ok(Math.abs(whole.get(key)! - value) < 1, key);
  }
  assert.deepEqual(splitByWeight(10, [1, 1, 1]), [4, 3, 3]);
  assert.deepEqual(splitByWeight(5, [0, 0]), [3, 2]);
  assert.throws(() => apportion(new Map([['a', 1]]), 5), /do not sum/);
});

test('both spellings of a kernel are one name, and instances stay apart', async () => {
  const pairs = [
    [
      'void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<at::native::<unnamed>::silu_kernel(at::TensorIteratorBase &)::[lambda() (instance 1)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)',
      'void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda(c10::BFloat16)#1} const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::X>(A&)::{lambda(int)#1})',
    ],
    [
      'void cublasLt::splitKreduce_kernel<(int)32, float, (bool)0, (bool)1>(cublasLt::cublasSplitKParams<T6>, const T4 *)',
      'void cublasLt::splitKreduce_kernel<32, float, false, true>(cublasLt::cublasSplitKParams<float>, float const*)',
    ],
    ['nvjet_sm90_tst_64x8', 'nvjet_sm90_tst_64x8'],
  ];
  for (const [nsys, kineto] of pairs) assert.equal(canonicalKernelName(nsys), canonicalKernelName(kineto));
  assert.notEqual(
    canonicalKernelName('void f<(int)4, X>(int)'),
    canonicalKernelName('void f<(int)8, X>(int)'),
  );
  assert.equal(canonicalKernelName('((((('), '');
  for (const name of ['eager', 'graph', 'moe-learned', 'moe-perfect']) {
    const [nsys, kineto] = [await capture(name), await capture(name, 'kineto.json.gz')];
    // Where PyTorch could not demangle a symbol, the function is all both have.
    const mangled = [...kineto.profile.kernels.values()].filter(kernel => kernel.name.startsWith('_Z'));
    const isKnown = ([key, { name: own }]: [string, KernelFacts]) =>
      kineto.profile.kernels.has(key) || mangled.some(other => functionOf(other.name) === functionOf(own));
    assert.deepEqual(
      [...nsys.profile.kernels].filter(entry => !isKnown(entry)).map(([key]) => key),
      [],
      name,
    );
  }
});

const functionOf = (name: string) => parseFunctionName(name).qualified;

const token = (part: string, family = part[0]): Token => ({
  part,
  shortName: part,
  family,
  variant: '',
  place: '',
});

test('sequences align in order, in both directions, however long they are', () => {
  const names = (list: string) => list.split(' ').map(part => token(part));
  const a = names('n1 g1 m1 m2 a1 n1 g1 m1 m2 a1');
  const b = names('n1 g2 f1 a1 n1 g2 f1 a1');
  const pairs = alignSequences(a, b);
  const matched = pairs.map(([i, j]) => `${a[i].part}-${b[j].part}`);
  assert.deepEqual(matched, ['n1-n1', 'g1-g2', 'a1-a1', 'n1-n1', 'g1-g2', 'a1-a1']);
  assert.deepEqual(
    alignSequences(b, a).map(([i, j]) => [j, i]),
    pairs,
  );
  const random = randomNumbers(5);
  const long = Array.from({ length: 20_000 }, () => token(`k${random(9)}`));
  const longer = [token('x'), ...long.slice(0, 9000), ...long.slice(9100), token('y')];
  const begun = performance.now();
  const found = alignSequences(long, longer);
  assert.ok(found.length > 19_000, `${found.length}`);
  assert.ok(performance.now() - begun < 5000, 'cost is bounded');
  for (let i = 1; i < found.length; i++)
    assert.ok(found[i][0] > found[i - 1][0] && found[i][1] > found[i - 1][1]);
});

test('where kernels overlap, the one that started first keeps the moment; the rest is exposed once', () => {
  const profile = drawProfile(`
    cpu   abcd............
    gpu   ..aaaa..........
    gpu2  ....bbbb........
    gpu3  ......cccc......
    copy  .......dddd.....
    nvtx  SSSSSSSSSSSSSSSS
    a = ${gemm}
    b = ${attention}
    c = ncclDevKernel_AllReduce_Sum_bf16_RING_LL
    S = [Executor] _forward_step 1: 0 ctx reqs, 8 gen reqs
  `);
  const [{ terms }] = compareFacts(factsOf(profile), factsOf(profile)).phases;
  const busy = terms.filter(({ kind }) => kind !== 'idle').map(({ key, fromNs }) => [key, fromNs]);
  assert.deepEqual(busy, [
    ['compute/attention/same', 20],
    ['compute/gemm/same', 40],
    ['communication', 20],
    ['copies', 10],
  ]);
});

test('the mean is over steps and devices, and ranks of one step count as one for noise', () => {
  const facts = factsOf(drawEngine({ secondRankLateNs: 200e3, steps: 12 }));
  const [cell] = facts.profile.cells;
  assert.equal(cell.windows, 24);
  assert.equal(cell.stepNs.length, 12);
  const [phase] = compareFacts(facts, factsOf(drawEngine({ steps: 12 }))).phases;
  assertSums(phase, 'ranks');
  assert.equal(phase.from.steps, 12);
});

const gemm = 'nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT';
const otherGemm = 'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas';
const norm = 'void rmsnorm_kernel<float>(float*)';
const attention = 'flash_fwd_kernel';
const muls = ['mul', 'add', 'sub', 'div', 'sigmoid'].map(
  op =>
    `void at::native::vectorized_elementwise_kernel<4, at::native::${op}_kernel_cuda(A&)::{lambda()#1}, X>(int)`,
);
const fused =
  'void at::native::vectorized_elementwise_kernel<4, at::native::fused_kernel_cuda(A&)::{lambda()#1}, X>(int)';
const drawn = (kernels: readonly string[], layers: number) =>
  factsOf(drawEngine({ kernels, eager: kernels.length * layers, steps: 12 }));

test('a GEMM that another took the place of is one row', () => {
  const before = drawn([norm, gemm, attention, gemm], 10);
  const after = drawn([norm, otherGemm, attention, gemm], 10);
  const { phases } = compareFacts(before, after);
  const replaced = phases[0].terms.filter(({ kind }) => kind === 'replaced');
  assert.equal(replaced.length, 1);
  assert.equal(replaced[0].of, 'gemm');
  assert.deepEqual(
    replaced[0].rows.map(row => [row.from!.name, row.to!.name, row.from!.count, row.to!.count]),
    [[gemm, otherGemm, 10, 10]],
  );
  // The other GEMM of the layer ran again: half of the launches, half of the time.
  const same = phases[0].terms.find(({ kind, of }) => kind === 'same' && of === 'gemm')!;
  assert.deepEqual(
    same.rows.map(row => [row.from!.name, row.from!.count, row.to!.count]),
    [[gemm, 10, 10]],
  );
  assert.ok(!phases[0].terms.some(({ kind }) => ['removed', 'added', 'regrouped'].includes(kind)));
  const slower = compareFacts(
    before,
    factsOf(
      drawEngine({ kernels: [norm, otherGemm, attention, gemm], eager: 40, steps: 12, stepNs: () => 12e6 }),
    ),
  );
  const [table] = changedKernels(slower.phases[0]);
  const became = table.columns[1].values as (string | null)[];
  assert.equal(table.columns[1].header, 'Became');
  assert.equal(became.filter(name => name?.startsWith('sm90_xmma_gemm')).length, 1);
});

test('five kernels that became one are said to have', () => {
  const before = drawn([norm, gemm, ...muls, attention], 6);
  const after = drawn([norm, gemm, fused, attention], 6);
  const there = compareFacts(before, after);
  const [group] = there.phases[0].terms.filter(({ kind }) => kind === 'regrouped');
  assert.equal(group.label, 'elementwise: 5 kernels became 1, 6 times');
  assert.equal(group.fromCount, 30);
  assert.equal(group.toCount, 6);
  assert.equal(group.rows.filter(row => row.from).length, 5);
  assert.deepEqual(
    group.rows.filter(row => row.to).map(row => row.to!.name),
    [fused],
  );
  const back = compareFacts(after, before);
  assert.match(
    back.phases[0].terms.find(({ kind }) => kind === 'regrouped')!.label,
    /1 kernel became 5, 6 times/,
  );
  assertMirrored(there, back, 'fusion');
});

test('attention holds layers together where no kernel has kept its name', () => {
  const others = ['void layernorm_fwd<half>(half*)', otherGemm, 'fmha_v2_flash_attention_bf16', fused];
  const { phases } = compareFacts(drawn([norm, gemm, attention, ...muls.slice(0, 3)], 12), drawn(others, 12));
  const rows = (kind: string, of: string) =>
    phases[0].terms.filter(term => term.kind === kind && term.of === of).flatMap(term => term.rows);
  assert.deepEqual(
    rows('replaced', 'attention').map(row => [row.from!.name, row.to!.name, row.from!.count]),
    [[attention, others[2], 12]],
  );
  assert.equal(rows('replaced', 'gemm').length, 1);
  // Three elementwise kernels and the norm after them became one and another.
  assert.ok(phases[0].terms.some(({ label }) => /4 kernels became 2, 11 times/.test(label)));
});

test('kernels that only one side has were removed or added', () => {
  const { phases } = compareFacts(drawn([norm, gemm, muls[0]], 8), drawn([norm, gemm], 8));
  const removed = phases[0].terms.filter(({ kind }) => kind === 'removed');
  assert.deepEqual(
    removed.map(term => [term.of, term.fromCount, term.toNs]),
    [['elementwise', 8, 0]],
  );
});

test('eager against graph: launch-bound idle is gone, the same kernels ran, and the gain is named', async () => {
  const { phases, comparable } = compareFacts(await capture('eager'), await capture('graph'));
  assert.equal(comparable, 'yes');
  const [{ verdict, terms }] = phases;
  assert.equal(verdict, 'faster');
  const launch = terms.find(({ key }) => key === 'idle/launch-bound')!;
  assert.ok(launch.toNs < 0.1 * launch.fromNs && launch.changeNs < -15e6);
  const same = sum(terms.filter(({ kind }) => kind === 'same').map(term => term.fromCount!));
  assert.equal(same, 1016);
});

test('moe-learned against moe-perfect: balanced experts make the grouped GEMM faster', async () => {
  const { phases } = compareFacts(await capture('moe-learned'), await capture('moe-perfect'));
  const gemms = phases[0].terms.find(({ key }) => key === 'compute/gemm/same')!;
  assert.ok(gemms.changeNs < -20e3, `${gemms.changeNs}`);
  assert.match(gemms.rows[0].from!.kernel, /grouped GEMM/);
});

test('nsys and Kineto of one workload are comparable, and equal within noise', async () => {
  for (const name of ['eager', 'graph', 'moe-learned', 'moe-perfect']) {
    const there = compareFacts(await capture(name), await capture(name, 'kineto.json.gz'));
    assert.equal(there.comparable, 'yes', name);
    assert.equal(there.phases[0].verdict, 'not-measurable', name);
    assert.ok(there.phases[0].tracingFloorNs! > 0);
    const other = there.phases[0].terms.filter(({ kind }) => !['same', 'copies', 'idle'].includes(kind));
    assert.deepEqual(
      other.map(({ key }) => key),
      [],
      `${name}: every kernel is found again`,
    );
  }
});

test('so they are on six workloads that had no part in choosing what tracing costs', async () => {
  for (const model of ['llama', 'gpt-oss', 'deepseek-v3'])
    for (const mode of ['eager', 'graph']) {
      const name = `agent-${model}-${mode}`;
      const there = compareFacts(await capture(name), await capture(name, 'kineto.json.gz'));
      assert.equal(there.comparable, 'yes', name);
      const decode = there.phases.find(({ phase }) => phase === 'decode')!;
      assert.equal(decode.verdict, 'not-measurable', name);
      // What tracing may cost explains the difference by itself, however far the steps vary.
      assert.ok(Math.abs(decode.changeNs) < decode.tracingFloorNs!, `${name}: ${decode.changeNs}`);
      const busy = (side: 'fromNs' | 'toNs') =>
        sum(decode.terms.filter(({ kind }) => kind !== 'idle').map(term => term[side]));
      assert.ok(
        Math.abs(busy('toNs') / busy('fromNs') - 1) < 0.01,
        `${name}: ${busy('fromNs')}, ${busy('toNs')}`,
      );
      // PyTorch's profiler sees copies inside graphs as kernels.
      const other = decode.terms.filter(({ kind }) => !['same', 'copies', 'idle'].includes(kind));
      assert.deepEqual(
        new Set(other.map(({ of }) => of)),
        new Set(mode === 'graph' && other.length > 0 ? ['copy'] : []),
        name,
      );
    }
});

test('graph replays as blocks on one side are no new kernels, and a reservation', async () => {
  const { comparable, phases, checks } = compareFacts(await capture('graph'), await capture('graphmode'));
  assert.equal(comparable, 'with-reservations');
  assert.ok(phases[0].terms.some(({ kind }) => kind === 'hidden'));
  assert.ok(!phases[0].terms.some(({ kind }) => kind === 'removed' || kind === 'added'));
  assert.equal(effectOf(checks.find(({ id }) => id === 'graphs')!), 'weakens');
  // Nothing is said about kernels that one side did not see.
  assert.deepEqual([phases[0].families, phases[0].layers], [[], []]);
  assert.equal(phases[0].figures.find(({ id }) => id === 'kernels')!.to, null);
  const both = compareFacts(await capture('graphmode'), await capture('stressblock'));
  assert.doesNotMatch(text.render(comparisonBlocks(both), { width: 100, color: false }), /kernels? ran/);
});

test('batches: like with like, weights are shared, and what one side lacks is said', () => {
  const engine = (batch: (step: number) => number, ns: (batch: number) => number, steps = 40) =>
    factsOf(
      drawEngine({
        steps,
        marker: step => `[Executor] _forward_step ${step}: 0 ctx reqs, ${batch(step)} gen reqs`,
        stepNs: step => ns(batch(step)),
      }),
    );
  const time = (batch: number) => 1e6 * batch;
  // The same speed at every batch, only more of the small ones: no change.
  const mostlyLarge = engine(step => (step % 4 === 0 ? 15 : 16), time);
  const mostlySmall = engine(step => (step % 4 === 0 ? 16 : 15), time);
  const [even] = compareFacts(mostlyLarge, mostlySmall).phases;
  assert.equal(even.changeNs, 0);
  assert.deepEqual(
    even.mixes.map(({ weight }) => weight),
    [0.5, 0.5],
  );
  const some = compareFacts(
    engine(() => 16, time),
    mostlyLarge,
  );
  assert.deepEqual(some.phases[0].onlyTo, ['15 decoding']);
  assert.equal(effectOf(some.checks.find(({ id }) => id === 'mixes')!), 'explains');
  const page = text.render(comparisonBlocks(some), { width: 100, color: false });
  assert.match(page, /On one side only\n +only b +decode: 15 decoding/);
  const other = compareFacts(
    engine(() => 16, time),
    engine(() => 8, time),
  );
  assert.equal(effectOf(other.checks.find(({ id }) => id === 'mixes')!), 'weakens');
  assert.equal(other.checks.find(({ id }) => id === 'batch')?.status, 'differs');
  assert.equal(other.comparable, 'with-reservations');
});

test('what differs between captures is found, with what follows from it', () => {
  const base = drawEngine({ steps: 12 });
  const effects = (profile: Profile, others: Profile[] = []) => {
    const to = configuration('b', factsOf(profile), ...others.map(one => factsOf(one)));
    const { checks } = compareConfigurations(configuration('a', factsOf(base)), to, options);
    return Object.fromEntries(
      checks.filter(({ status }) => status === 'differs').map(({ id, effect }) => [id, effect]),
    );
  };
  const captured = (capture: Partial<Profile['capture']>): Profile => ({
    ...base,
    capture: { ...base.capture, ...capture },
  });
  assert.deepEqual(effects(base), {});
  assert.deepEqual(effects(drawEngine({ steps: 12, gpu: 'NVIDIA H100' })), { gpu: 'weakens' });
  // One repeat on another machine is enough.
  assert.deepEqual(effects(base, [drawEngine({ steps: 12, gpu: 'NVIDIA H100' })]), { gpu: 'weakens' });
  assert.deepEqual(effects(drawEngine({ steps: 5 })), { steadyState: 'explains' });
  assert.deepEqual(effects(captured({ profiler: 'kineto' })), { profiler: 'explains' });
  assert.deepEqual(effects(drawEngine({ steps: 12, loss: 'cut-off' })), { files: 'weakens' });
  const fp8 = 'sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x64_cublas';
  const bf16 = 'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas';
  const [wide, narrow] = [bf16, fp8].map(name => factsOf(drawEngine({ steps: 12, kernels: [name] })));
  const precision = compareFacts(wide, narrow).checks.find(({ id }) => id === 'precision')!;
  assert.deepEqual([precision.status, precision.effect], ['differs', 'explains'], JSON.stringify(precision));
  const clocked = (hertz: number) =>
    factsOf(drawEngine({ steps: 12, metrics: { 'GPC Clock Frequency [MHz]': hertz } }));
  const clock = (a: number, b: number) =>
    effectOf(compareFacts(clocked(a), clocked(b)).checks.find(({ id }) => id === 'clock')!);
  assert.deepEqual([clock(1.98e9, 1.97e9), clock(1.98e9, 1.4e9)], ['none', 'weakens']);
  const versions = (a: string, b: string) => {
    const facts = [a, b].map(driver => factsOf(captured({ versions: { 'CUDA driver': driver } })));
    return compareFacts(facts[0], facts[1]).checks.find(({ id }) => id === 'cuda')!.status;
  };
  assert.deepEqual([versions('13000', '13.0'), versions('12080', '13000')], ['same', 'differs']);
});

test('what cannot be compared is refused in two lines with status 2', async () => {
  const refused = (from: ProfiledRun, to: ProfiledRun, what: RegExp, strict = false) =>
    assert.throws(
      () =>
        compareConfigurations(configuration('a', from), configuration('b', to), {
          ...options,
          onlyComparable: strict,
        }),
      (error: unknown) =>
        error instanceof UserError && error.exitCode === 2 && what.test(error.message) && error.hint !== '',
    );
  refused(await capture('eager'), await capture('client'), /no GPU work/);
  refused(await capture('eager'), await capture('unified'), /no phase in common: decode vs no steps/);
  refused(await capture('graph'), await capture('graphmode'), /CUDA graphs/, true);
  const prefill = drawEngine({ marker: step => `[Executor] _forward_step ${step}: 4 ctx reqs, 0 gen reqs` });
  refused(factsOf(prefill), factsOf(drawEngine()), /prefill vs decode/);
  const speculative = factsOf(drawEngine({ marker: () => 'step[TARGET_VERIFY bs=8]' }));
  assert.deepEqual(
    speculative.profile.cells.map(({ phase }) => phase),
    ['speculative'],
  );
  assert.throws(
    () => compareFacts(factsOf(drawEngine()), speculative),
    (error: unknown) => error instanceof UserError && /time per token/.test(error.hint),
  );
});

test('steps that may be layers are not held against steps that are known', () => {
  const block = ['norm', 'qkv', 'paged_attention_v1_kernel', 'out', 'mlp'];
  const drawn = (passes: number, blocks: number, marked: boolean) => {
    const names = Array.from({ length: passes * blocks }, () => block).flat();
    const work = names.map((name, i) => [0, i * 10, i * 10 + 2, i * 10 + 4, i * 10 + 9, name] as const);
    const length = blocks * block.length * 10;
    const mark = (i: number) =>
      [0, `[Executor] _forward_step ${i}: 0 ctx reqs, 1 gen reqs`, i * length, (i + 1) * length - 1] as const;
    return factsOf(
      drawSteps({ marks: marked ? Array.from({ length: passes }, (_, i) => mark(i)) : [], work }),
    );
  };
  const guessed = drawn(6, 8, false);
  const known = drawn(6, 8, true);
  for (const [a, b] of [
    [guessed, known],
    [known, guessed],
  ])
    assert.throws(
      () => compareFacts(a, b),
      (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, /not comparable: the steps of [ab] were inferred .* may be layers/);
        return true;
      },
    );
  // Guessed alike, or as large as those that are known, they may be compared.
  compareFacts(guessed, guessed);
  compareFacts(drawn(40, 1, false), drawn(40, 1, true));
});
