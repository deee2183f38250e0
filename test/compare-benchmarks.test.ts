/** Benchmarks and kernel tables compared: what people have when they have no profile. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { kernelFamilies } from '../src/analyze/gpu/kernel-families.js';
import { familiesOfTable } from '../src/compare/kernel-table-families.js';
import { readKernelTables } from '../src/import/kernel-table/read-kernel-tables.js';
import { openProfile } from '../src/import/open.js';
import type { Profile } from '../src/model/profile.js';
import { captureNames, capturePath, capturesFolder, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-benchmarks-'));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string) => path.join(folder, name);
const seed = path.join(projectRoot, '../shared/seeds/004-practice-log.txt');
const skip = lacks('seeds');
const serving = path.join(projectRoot, 'test/fixtures/bench/vllm-serve.json');

const stepscope = (...args: string[]) => runStepscope(args, 120);

/** The result with every figure that names one of these times a factor. */
function scaled(name: string, pattern: RegExp, factor: number): string {
  const result = JSON.parse(readFileSync(serving, 'utf8'));
  for (const key of Object.keys(result))
    if (pattern.test(key) && typeof result[key] === 'number') result[key] *= factor;
  writeFileSync(at(name), JSON.stringify(result));
  return at(name);
}

test('one run each: noise unknown, repeats do', async () => {
  const faster = scaled('faster.json', /throughput/, 1.1);
  const single = await stepscope('compare', serving, faster);
  assert.match(single.out, /Req\/s \+10\.0% .*one run each: noise unknown/);
  const repeats = (name: string, base: number) =>
    `${name}=${[0.99, 1, 1.01].map((noise, i) => scaled(`${name}${i}.json`, /throughput/, base * noise)).join(',')}`;
  const measured = await stepscope('compare', repeats('old', 1), repeats('new', 1.1));
  assert.match(measured.out, /new: Req\/s \+10\.0% .*measurable, noise ±2\.\d%/);
  const same = await stepscope('compare', repeats('a', 1), repeats('b', 1.005));
  assert.match(same.out, /no measurable difference/);
  const json = answerIn((await stepscope('compare', serving, faster, '--json')).out);
  assert.ok(Math.abs(json.comparisons[0].metrics[0].change - 0.1) < 1e-9);
});

test('benchmarks and profiles are not mixed', async () => {
  const { status, err } = await stepscope('compare', serving, capturePath('eager'));
  assert.notEqual(status, 0);
  assert.match(err, /^stepscope: The inputs mix benchmark results and profiles\.\n.+\n$/);
});

test('a benchmark result may accompany the profile of its run', async () => {
  const eager = capturePath('eager');
  const alone = await stepscope('compare', `a=${eager}`, `b=${eager}`);
  const together = await stepscope('compare', `a=${eager},${serving}`, `b=${serving},${eager}`);
  assert.equal(together.status, 0, together.err);
  // One run each, as without it: the result is no repeat.
  assert.equal(together.out, alone.out);
  const unclear = await stepscope('compare', `a=${eager},${eager},${serving}`, `b=${eager}`);
  assert.match(unclear.err, /^stepscope: a has 2 profiles; it is unknown which of them .+ belongs to\.\n/);
});

test('the pair of the perfect router, from profiles and from benchmarks', async () => {
  const profiles = await stepscope(
    'compare',
    '--perfect-router',
    capturePath('moe-learned'),
    capturePath('moe-perfect'),
  );
  assert.match(profiles.out, /THE OUTPUT OF THE PERFECT RUN IS WRONG/);
  const better = await stepscope(
    'compare',
    '--perfect-router',
    serving,
    scaled('perfect.json', /throughput/, 1.3),
  );
  assert.match(better.out, /30\.0%/);
  const similar = await stepscope(
    'compare',
    '--perfect-router',
    serving,
    scaled('alike.json', /throughput/, 1.02),
  );
  assert.match(similar.out, /[Ss]imilar/);
});

test('the two reports and the two kernel tables of the practice log', { skip }, async () => {
  const bench = await stepscope('bench', seed);
  assert.match(bench.out, /disabled\s+143\.7\s+\+1\.7%/);
  assert.match(bench.out, /With one run per side, noise is unknown/);
  const [auto, disabled] = readKernelTables(readFileSync(seed, 'utf8'), 'seed');
  assert.deepEqual([auto.title, disabled.title], ['auto', 'disable']);
  const gemm = (table: typeof auto) => familiesOfTable(table).find(({ family }) => family === 'gemm')!;
  assert.deepEqual([gemm(auto).instances, gemm(disabled).instances], [7938 + 6146, 8954 + 17908]);
  assert.deepEqual([gemm(auto).totalNs, gemm(disabled).totalNs], [9.974e9, 11.773e9]);
  assert.equal(familiesOfTable(auto).find(({ family }) => family === 'attention')!.instances, 6028);
  const view = await stepscope('families', seed);
  assert.match(view.out, /auto → disable/);
  assert.match(view.out, /GEMM +14,084 +26,862/);
  assert.match(view.out, /lists 12\.7 s of about 19\.1 s/);
});

for (const name of captureNames.filter(one =>
  existsSync(path.join(capturesFolder, one, 'nsys-stats/cuda_gpu_kern_sum.csv')),
))
  test(`${name}: families of NVIDIA's kernel summary are those of the profile`, async () => {
    const file = path.join(capturesFolder, name, 'nsys-stats/cuda_gpu_kern_sum.csv');
    const csv = readFileSync(file, 'utf8');
    const profile = await openProfile([capturePath(name)]);
    const outcome = new Analyzer(profile, { whole: true }).run(kernelFamilies);
    if (!csv.includes('\n') || outcome.status !== 'ok') return;
    const expected = Object.fromEntries(
      (outcome.result.rows as readonly { family: string; totalNs: number }[])
        .filter(({ family }) => family !== 'copy' && family !== 'memset')
        .map(({ family, totalNs }) => [family, totalNs]),
    );
    const [table] = readKernelTables(csv, name);
    const found = Object.fromEntries(
      familiesOfTable(table)
        .filter(({ family }) => family !== 'copy' && family !== 'memset')
        .map(({ family, totalNs }) => [family, totalNs]),
    );
    // NVIDIA adds whole kernels up. Where one starts before the one ahead of it on its stream has ended, the time that
    // both run counts once here, so a family may be shorter by as much as kernels overlap, and never longer.
    assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort());
    const shorter = Object.keys(found).map(family => found[family] - expected[family]);
    assert.ok(shorter.every(ns => ns >= 0));
    assert.ok(shorter.reduce((sum, ns) => sum + ns, 0) <= overlapOnStreams(profile));
  });

/** Time in which a kernel runs although the one before it on its stream has not ended. */
function overlapOnStreams(profile: Profile): number {
  const kernels = profile.tables.kernels!;
  const [start, end, stream] = [kernels.start, kernels.end, kernels.stream].map(column =>
    Array.from(column as unknown as ArrayLike<number>),
  );
  const order = start.map((_, row) => row).sort((a, b) => start[a] - start[b]);
  const ends = new Map<number, number>();
  let overlap = 0;
  for (const row of order) {
    const before = ends.get(stream[row]) ?? -Infinity;
    overlap += Math.max(0, Math.min(before, end[row]) - start[row]);
    ends.set(stream[row], Math.max(before, end[row]));
  }
  return overlap;
}

test('what holds no kernel table says so', async () => {
  writeFileSync(at('notes.txt'), 'Instances of Name are many\nnothing here\n');
  const { status, err } = await stepscope('families', at('notes.txt'));
  assert.notEqual(status, 0);
  assert.match(err, /contains no kernel summary\.\n/);
});
