/** Trends: a change is found where it was drawn, chance is not taken for one, and the command says both. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { findChangePoints, LEAST_RUNS, leastRuns } from '../src/gate/change-points.js';
import { describeTrend, seriesSentences, trendCsv } from '../src/gate/describe-trend.js';
import { trendSchema } from '../src/gate/gate-schema.js';
import { trendDocument, trendOf } from '../src/gate/trend.js';
import { linePlot, sparkline } from '../src/report/text-plot.js';
import { metricById } from '../src/run/metrics.js';
import type { Run } from '../src/run/run.js';
import { seededRandom } from '../src/stats/random.js';
import { capturePath } from '../src/testing/captures.js';
import { normal, runOf, writeRun } from './gate-runs.js';
import { answerIn, runStepscope as stepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-trend-'));
after(() => rmSync(folder, { recursive: true }));

const validator = new Ajv2020({ allowUnionTypes: true }).compile(trendSchema as object);
function assertFollows(document: unknown): void {
  assert.ok(validator(document), JSON.stringify(validator.errors?.[0]));
}
const step = metricById('step.p50')!;

/** Runs whose figures scatter by 1% around a level of their own. */
function series(levels: readonly number[], seed: number, noise = (random: () => number) => normal(random)) {
  const random = seededRandom(seed);
  return levels.map(level => level * (1 + 0.01 * noise(random)));
}
const levels = (...parts: readonly (readonly [count: number, level: number])[]) =>
  parts.flatMap(([count, level]) => Array.from({ length: count }, () => level));

test('a change is found where it was drawn', () => {
  let exact = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const found = findChangePoints(series(levels([10, 100], [10, 104]), seed));
    assert.ok(found.length >= 1, `seed ${seed}`);
    const [best] = [...found].sort((a, b) => a.p - b.p);
    assert.ok(Math.abs(best.after - 9) <= 2, `seed ${seed}: after ${best.after}`);
    if (best.after === 9) exact++;
    assert.ok(Math.abs(best.changeShare - 0.04) < 0.02, `${best.changeShare}`);
    assert.ok(best.p <= 0.05);
  }
  assert.ok(exact >= 85, `${exact} of 100 at the very run`);
});

test('chance is taken for a change no more often than the level says', () => {
  const rate = (count: number, noise?: (random: () => number) => number) => {
    let alarms = 0;
    for (let seed = 1; seed <= 400; seed++)
      if (findChangePoints(series(levels([count, 100]), seed, noise)).length > 0) alarms++;
    return alarms / 400;
  };
  // 5%, and twice the deviation of 400 trials.
  assert.ok(rate(12) <= 0.075);
  assert.ok(rate(30) <= 0.075);
  // One run in ten is far off: shuffling needs no bell curve.
  assert.ok(rate(20, random => normal(random) * (random() < 0.1 ? 20 : 1)) <= 0.075);
});

test('several changes, none in a row of equal figures, and one odd run is none', () => {
  let exact = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const found = findChangePoints(series(levels([12, 100], [12, 110], [12, 100]), seed));
    const places = found.map(({ after: at }) => at);
    assert.ok(places.includes(11) && places.includes(23), `seed ${seed}: ${places}`);
    if (found.length > 2) continue;
    exact++;
    assert.ok(found[0].changeShare > 0.08 && found[1].changeShare < -0.07);
  }
  assert.ok(exact >= 90, `${exact} of 100 without a third`);
  assert.deepEqual(findChangePoints(levels([20, 100])), []);
  const odd = levels([20, 100]);
  odd[12] = 150;
  assert.deepEqual(findChangePoints(odd), []);
  assert.deepEqual(
    findChangePoints(levels([6, 1016], [6, 1020])).map(({ after: at, p }) => [at, p < 0.01]),
    [[5, true]],
  );
});

test('the same series gives the same answer', () => {
  const values = series(levels([10, 100], [10, 103]), 5);
  assert.deepEqual(findChangePoints(values), findChangePoints(values));
});

test('with too few runs it says so, and where that is', () => {
  assert.equal(LEAST_RUNS, 8);
  // Of 7 runs in 3 and 4, 2 of 35 orders look as clear; of 8 in halves, 2 of 70.
  assert.ok(2 / 35 > 0.05 && 2 / 70 <= 0.05);
  assert.ok(leastRuns(0.001) > 8);
  assert.deepEqual(findChangePoints([1, 1, 1, 1, 9, 9, 9]), []);
  assert.equal(findChangePoints([1, 1, 1, 1, 9, 9, 9, 9]).length, 1);
  const runs = [1, 2, 3].map(seed => ({ label: `r${seed}`, run: runOf({ seed }) }));
  const [own] = trendOf(runs, [step]).series;
  assert.equal(own.tooFew, true);
  assert.match(seriesSentences(own)[0], /too few runs to detect a change: 3 of at least 8/);
});

const drawn = (count: number, slowerFrom: number, changed: object = {}) =>
  Array.from({ length: count }, (_, i) => ({
    label: `r${i + 1}`,
    run: runOf({ seed: i + 1, slower: i >= slowerFrom ? 1.05 : 1, ...(i >= slowerFrom ? changed : {}) }),
  }));

test('a slower engine shows between the runs where it became slower', () => {
  const trend = trendOf(drawn(12, 6), [step, metricById('kernels')!]);
  const [time, kernels] = trend.series;
  assert.match(
    seriesSentences(time)[0],
    /^decode step\.p50: between run 6 \(r6\) and 7 \(r7\): \+[45]\.\d%, worse \(.* ms → .* ms, p = 0\.0\d+\)\.$/,
  );
  assert.match(seriesSentences(kernels)[0], /no change over 12 runs/);
  assertFollows(JSON.parse(JSON.stringify(trendDocument(trend, 't'))));
  assert.equal(describeTrend(trend).length, 3);
});

test('a run without the metric is a gap, and a run on another GPU is named', () => {
  const runs = drawn(12, 6, { gpu: 'NVIDIA H100' }).map((one, i): { label: string; run: Run } =>
    i === 6 ? { ...one, run: { ...one.run, figures: {} } } : one,
  );
  const trend = trendOf(runs, [step]);
  const [time] = trend.series;
  assert.equal(time.measured, 11);
  assert.equal(time.points[6].value, undefined);
  assert.match(seriesSentences(time)[0], /between run 6 \(r6\) and 8 \(r8\)/);
  assert.deepEqual(
    trend.differences.map(({ label }) => label),
    ['r7', 'r8', 'r9', 'r10', 'r11', 'r12'],
  );
  const rows = parseCsv(trendCsv(trend));
  assert.equal(rows.length, 13);
  assert.equal(rows[7][rows[0].indexOf('value')], '');
  assert.equal(rows[8][rows[0].indexOf('newLevel')], 'true');
});

test('the command: files, labels, baselines, every form', async () => {
  const files = Array.from({ length: 9 }, (_, i) =>
    writeRun(path.join(folder, `night-${i + 1}.json`), { seed: i + 1, slower: i >= 5 ? 1.08 : 1 }),
  );
  const page = await stepscope(['trend', ...files], 100);
  assert.equal(page.status, 0);
  assert.match(
    page.out,
    /^ {2}decode step\.p50: between run 5 \(night-5\) and 6 \(night-6\): \+[78]\.\d%, worse/,
  );
  assert.match(page.out, /●/);
  assert.match(page.out, /└─+┴─+/);
  for (const line of page.out.split('\n')) assert.ok([...line].length <= 100, line);
  const labelled = await stepscope([
    'trend',
    `a1b2=${files[0]}`,
    `c3d4=${files[8]}`,
    '--metric',
    'step.p99,idle',
    '--json',
  ]);
  const document = answerIn(labelled.out);
  assertFollows(document);
  assert.deepEqual(
    document.series[0].runs.map((run: { label: string }) => run.label),
    ['a1b2', 'c3d4'],
  );
  assert.deepEqual(
    document.series.map((one: { metric: string }) => one.metric),
    ['step.p99', 'idle'],
  );
  const comment = await stepscope(['trend', ...files, '--markdown']);
  assert.match(comment.out, /decode step\.p50 `[▁▂▃▄▅▆▇█]{9}`/);
  assert.equal(parseCsv((await stepscope(['trend', ...files, '--csv'])).out).length, 1 + 3 * 9);
  const history = path.join(folder, 'history.json');
  for (const [i, file] of files.slice(0, 3).entries())
    await stepscope(['baseline', 'save', String(30 - i), file, '--baselines', history]);
  const kept = answerIn((await stepscope(['trend', '--baselines', history, files[3], '--json'])).out);
  assert.deepEqual(
    kept.series[0].runs.map((run: { label: string }) => run.label),
    ['30', '29', '28', 'night-4'],
    'in the order they were saved',
  );
  const captures = await stepscope(['trend', capturePath('graph'), capturePath('eager')]);
  assert.match(captures.out, /eager\/profile is not comparable with the first run: different CUDA graphs/);
  for (const args of [
    [],
    [files[0]],
    [files[0], files[1], '--metric', 'step.p5'],
    [files[0], files[1], '--phase', 'x'],
    [files[0], files[1], '--json', '--csv'],
  ]) {
    const { status, err } = await stepscope(['trend', ...args]);
    assert.equal(status, 2, args.join(' '));
    assert.equal(err.trim().split('\n').length, 2);
  }
  assert.match(
    (await stepscope(['trend', files[0], files[1], '--metric', 'step.p5'])).err,
    /Did you mean step\.p50/,
  );
});

test('plots put the highest at the top, gaps where nothing is, and fit', () => {
  assert.equal(sparkline([1, 2, undefined, 8]), '▁▂ █');
  assert.equal(sparkline([5, 5]), '▄▄');
  const plot = linePlot([1, undefined, 3], { width: 40, height: 3, format: String, breaks: [0] });
  assert.deepEqual(plot.split('\n'), ['  3 ┤ ┊      ●', '    ┤ ┊', '  1 ┤●┊', '    └─┴───────', '']);
  const many = linePlot(
    Array.from({ length: 500 }, (_, i) => i),
    { width: 60, height: 5, format: String, breaks: [250] },
  );
  for (const line of many.split('\n')) assert.ok([...line].length <= 60, line);
  assert.equal(linePlot([undefined], { width: 40, height: 3, format: String, breaks: [] }), '');
});
