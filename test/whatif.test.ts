/** Predictions on real captures: the replay is the recording, and models agree with pairs of runs that were measured. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { totalsByPhase } from '../src/analyze/inference/budget-totals.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { replayModels } from '../src/analyze/whatif/build-models.js';
import { changesOf } from '../src/analyze/whatif/changes.js';
import { equationOf } from '../src/analyze/whatif/equation.js';
import { type PhasePrediction, predictPhases } from '../src/analyze/whatif/predict.js';
import { pairError } from '../src/analyze/whatif/prediction-interval.js';
import { replay, stepLengths } from '../src/analyze/whatif/replay.js';
import { withTypicalWaits } from '../src/analyze/whatif/replay-model.js';
import { isPredicted } from '../src/analyze/whatif/whatif-document.js';
import { whatifSchema } from '../src/analyze/whatif/whatif-schema.js';
import type { Static } from '../src/base/document.js';
import { shellQuote } from '../src/capture/shell-quote.js';
import { predictionPairs } from '../src/catalog/prediction-pairs.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, capturesFolder, projectRoot, unlikeCaptures } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { lacks, locate } from '../src/testing/needs.js';
import { pairRow } from './gains-page.js';
import { answerIn, runStepscope } from './run-stepscope.js';

type Asked = Parameters<typeof changesOf>[0];

const open = async (file: string) => new Analyzer(await openProfile([file]));

async function predictDecode(file: string, asked: Asked): Promise<PhasePrediction> {
  const found = predictPhases(await open(file), changesOf(asked)).find(({ phase }) => phase === 'decode')!;
  assert.ok(isPredicted(found), JSON.stringify(found));
  return found;
}

/** Profiles below a folder of captures; files of the agent and of expert counts are something else. */
const profilesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /(?:\.sqlite|kineto\.json)\.gz$/.test(name))
    .map(name => path.join(folder, name))
    .sort();

/** Of every step: deviation of the unchanged replay; of every phase: deviation without waits that nothing explains. */
async function replayErrors(files: readonly string[]) {
  const [steps, phases]: [number[], number[]] = [[], []];
  for (const file of files) {
    const analyzer = await open(file);
    if (!analyzer.profile.tables.kernels || !analyzer.profile.tables.apiCalls) continue;
    for (const models of analyzer.get(replayModels).values()) {
      let [whole, explained] = [0, 0];
      for (const model of models) {
        const lengths = stepLengths(model, replay(model)!);
        const typical = withTypicalWaits(model);
        const shorter = stepLengths(typical, replay(typical)!);
        model.steps.forEach(({ windowStart, windowEnd }, k) => {
          steps.push(Math.abs(lengths[k] / (windowEnd - windowStart) - 1));
          whole += windowEnd - windowStart;
          explained += shorter[k];
        });
      }
      phases.push(1 - explained / whole);
    }
  }
  return { steps: steps.sort((a, b) => a - b), phases: phases.sort((a, b) => a - b) };
}

test('an unchanged replay reproduces every step of every bundled capture', async () => {
  const { steps, phases } = await replayErrors(
    profilesBelow(capturesFolder).filter(file => unlikeCaptures.includes(path.basename(path.dirname(file)))),
  );
  assert.ok(steps.length > 120, `${steps.length} steps`);
  assert.ok(steps.at(-1)! < 0.005, `the worst is off by ${steps.at(-1)}`);
  // Without waits that neither launches nor other work explain, little is missing.
  assert.ok(phases.at(-1)! < 0.07, `${phases.at(-1)} of a step is not explained`);
});

test('and of every capture of a real engine', { skip: lacks('captures') }, async () => {
  const { steps, phases } = await replayErrors(profilesBelow(locate('captures')!));
  assert.ok(steps.at(-1)! < 0.005, `the worst is off by ${steps.at(-1)}`);
  assert.ok(phases.at(-1)! < 0.07, `${phases.at(-1)} of a step is not explained`);
});

test('the profiled side of the equation is the measured budget', async () => {
  for (const capture of ['eager', 'graph', 'gc', 'moe-learned', 'graphmode']) {
    const file = capturePath(capture);
    const { from } = await predictDecode(file, { noGc: true });
    const total = totalsByPhase((await open(file)).get(stepBudget).rows).find(
      ({ phase }) => phase === 'decode',
    )!;
    const mean = (ns: number) => ns / total.windows;
    const sum = (isMeant: (part: string) => boolean) =>
      [...from].reduce((all, [part, ns]) => all + (isMeant(part) ? ns : 0), 0);
    const near = (ours: number, theirs: number, what: string) =>
      assert.ok(
        Math.abs(ours - theirs) < 0.001 * mean(total.wallNs),
        `${capture} ${what}: ${ours} and ${theirs}`,
      );
    near(
      sum(part => part.startsWith('kernel:') || part === 'replay'),
      mean(total.computeNs),
      'compute',
    );
    near(
      sum(part => part === 'copies'),
      mean(total.copyExposedNs),
      'copies',
    );
    for (const [cause, ns] of Object.entries(total.idleByCause))
      near(from.get(`idle:${cause}`) ?? 0, mean(ns), cause);
  }
});

for (const pair of predictionPairs.filter(({ captures }) => captures)) {
  const [before, after] = pair.captures!;
  const bundled = existsSync(path.join(capturesFolder, before));
  test(`${pair.change} on ${pair.pair}: predicted within 25% of the measured change`, {
    skip: bundled ? false : lacks('captures'),
  }, async () => {
    const folder = bundled ? capturesFolder : locate('captures')!;
    const { fromNs, toNs } = equationOf(
      await predictDecode(path.join(folder, before), { [pair.change]: true }),
    );
    const measured = totalsByPhase((await open(path.join(folder, after))).get(stepBudget).rows)[0];
    // The table states what the code predicts today.
    const figures = [fromNs, measured.wallNs / measured.windows, toNs].map(ns =>
      Number((ns / 1e6).toFixed(3)),
    );
    assert.deepEqual(figures, [pair.fromMs, pair.toMs, pair.predictedMs]);
    assert.ok(pairError(pair) < 0.25, `${pairError(pair)}`);
  });
}

test('the finding and whatif give one figure for CUDA graphs and for garbage collection', async () => {
  const cases = [
    ['eager', 'launch-overhead', { graphs: true }],
    ['old23', 'launch-overhead', { graphs: true }],
    ['gc', 'garbage-collection', { noGc: true }],
  ] as const;
  for (const [capture, id, asked] of cases) {
    const all = (await open(capturePath(capture))).get(findings).findings;
    const gain = all.find(finding => finding.id === id)!.gain!;
    // Findings speak of the step without the profiler.
    const before = equationOf(await predictDecode(capturePath(capture), { noProfiler: true }));
    const after = equationOf(await predictDecode(capturePath(capture), { ...asked, noProfiler: true }));
    const changeNs = after.toNs - before.toNs;
    const difference = Math.abs(gain.nsPerStep + changeNs) / before.toNs;
    assert.ok(difference < 0.05, `${capture}: finding ${-gain.nsPerStep}, whatif ${changeNs}`);
  }
});

test('the finding and whatif give one figure for FP8', { skip: lacks('captures') }, async () => {
  const file = path.join(locate('captures')!, 'vllm-graphs/profile.sqlite.gz');
  const gain = (await open(file)).get(findings).findings.find(({ id }) => id === 'fp8-available')!.gain!;
  const { changeNs } = equationOf(await predictDecode(file, { fp8: true }));
  // The finding counts every 16-bit GEMM by its mean, whatif only those of the forward pass, one by one.
  assert.ok(Math.abs(gain.nsPerStep / -changeNs - 1) < 0.15, `${gain.nsPerStep} and ${changeNs}`);
});

test('several changes: together less than one by one', async () => {
  const { changes, from, to } = await predictDecode(capturePath('eager'), { graphs: true, async: true });
  const { changeNs } = equationOf({ from, to });
  assert.deepEqual(
    changes.map(({ outcome }) => outcome.status),
    ['applied', 'applied'],
  );
  for (const { aloneNs } of changes) assert.ok(changeNs <= aloneNs! + 1000, `${changeNs} and ${aloneNs}`);
});

test('docs/gains.md lists every measured pair as the catalogue has it', () => {
  const page = readFileSync(path.join(projectRoot, 'docs/gains.md'), 'utf8');
  const rows = page.split('\n').filter(line => /\| (?:fit|judge) \|/.test(line));
  assert.deepEqual(rows, predictionPairs.map(pairRow));
  // What misses the bar is named below the table.
  for (const change of ['fp8', 'batch'])
    assert.ok(predictionPairs.some(pair => pair.change === change && pairError(pair) > 0.25));
  assert.match(page, /### What misses[\s\S]*FP8 misses[\s\S]*Batch 1 to 8/);
});

test('the command prints the equation, and its JSON keeps to the schema', async () => {
  const { status, out } = await runStepscope(['whatif', capturePath('eager'), '--graphs', '--async'], 200);
  assert.equal(status, 0);
  assert.match(
    out,
    /With CUDA graphs \+ asynchronous scheduling, decode is predicted 5\.\d times as fast: 23\.\d ms → 4\.\d+ ms per step/,
  );
  assert.match(out, /profiled, mean of 4 decode steps/);
  assert.doesNotMatch(out, /certain/);
  const { out: json } = await runStepscope(['whatif', capturePath('eager'), '--graphs', '--fp8', '--json']);
  const document: Static<typeof whatifSchema> = answerIn(json);
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(whatifSchema as object);
  const [{ terms, changeNs, fromNs, toNs }] = document.predictions;
  assert.ok(validate(document), JSON.stringify(validate.errors));
  const sum = (of: 'fromNs' | 'toNs' | 'changeNs') => terms.reduce((all, term) => all + term[of], 0);
  assert.deepEqual([sum('fromNs'), sum('toNs'), sum('changeNs')], [fromNs, toNs, changeNs]);
});

test('the answer for the bundled eager capture reads as it should, and fits', async () => {
  const { out } = await runStepscope(['whatif', capturePath('eager'), '--graphs'], 115);
  assertGolden('whatif-eager-graphs.txt', out);
  const lines = out.split('\n');
  assert.equal(lines.at(-2), `→ stepscope view ${shellQuote(capturePath('eager'))}`);
  assert.ok(lines.slice(0, -2).every(line => line.length <= 115));
});

test('every format has the result', async () => {
  for (const [flag, expected] of [
    ['--csv', /^phase,term,label,fromNs,toNs,changeNs\ndecode,kernel:/],
    ['--markdown', /\| CUDA graphs \|/],
    ['--html', /<html[\s\S]*CUDA graphs/],
  ] as const) {
    const { status, out } = await runStepscope(['whatif', capturePath('eager'), '--graphs', flag]);
    assert.equal(status, 0);
    assert.match(out, expected);
  }
});

test('counts per expert beside the profile give the gain of perfect routing', async () => {
  const files = ['profile.sqlite.gz', 'expert-load.json'].map(file =>
    capturePath('agent-router-learned', file),
  );
  const { out } = await runStepscope(['whatif', ...files, '--gpus', '2', '--perfect-routing', '--json']);
  const [{ changes, changeNs }] = answerIn(out).predictions;
  assert.equal(changes[0].status, 'applied', changes[0].detail);
  assert.ok(changeNs < 0);
  // Neither one GPU nor counts without a number of GPUs tell it.
  for (const some of [files.slice(0, 1), files]) {
    const { out: other } = await runStepscope(['whatif', ...some, '--perfect-routing', '--json']);
    assert.equal(answerIn(other).predictions[0].changes[0].status, 'cannot-tell');
  }
});

test('without a change, or with one that is not a number, the user is told in two lines', async () => {
  for (const args of [[], ['--batch', 'many']]) {
    const { status, err } = await runStepscope(['whatif', capturePath('eager'), ...args]);
    assert.notEqual(status, 0);
    assert.equal(err.trim().split('\n').length, 2, err);
  }
});
