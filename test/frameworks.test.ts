/** `stepscope frameworks`: tokens' time adds up, nothing is invented, unfair pairs are not ranked, mistakes have lines. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Browser, chromium } from 'playwright-core';
import { Analyzer, type Settings } from '../src/analyze/analysis.js';
import { tokenTime } from '../src/analyze/inference/token-time.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { UserError } from '../src/base/user-error.js';
import { findModel } from '../src/catalog/models.js';
import { htmlPage } from '../src/cli/html-page.js';
import { chooseRuns } from '../src/compare/frameworks/common-load.js';
import { compareMeasured } from '../src/compare/frameworks/compare-frameworks.js';
import { correlate } from '../src/compare/frameworks/correlation.js';
import { describeFrameworks } from '../src/compare/frameworks/describe-frameworks.js';
import { printedSum, unitFor } from '../src/compare/frameworks/equation.js';
import { checkFairness } from '../src/compare/frameworks/fairness.js';
import type { FrameworkInput } from '../src/compare/frameworks/framework.js';
import { frameworksCsv, frameworksDocument } from '../src/compare/frameworks/frameworks-document.js';
import { frameworksSchema } from '../src/compare/frameworks/frameworks-schema.js';
import { initConfig } from '../src/compare/frameworks/init-config.js';
import { measureFramework } from '../src/compare/frameworks/measure-framework.js';
import { readFrameworksConfig } from '../src/compare/frameworks/read-config.js';
import { openProfile } from '../src/import/open.js';
import type { BenchRun } from '../src/model/bench-run.js';
import { frameworksPage } from '../src/report/html/frameworks-page.js';
import { text } from '../src/report/text.js';
import { benchRows, measures } from '../src/run/measures.js';
import { pearson, ranks } from '../src/stats/correlation.js';
import { capturePath, projectRoot, unlikeCaptures } from '../src/testing/captures.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { assertGolden } from '../src/testing/golden.js';
import { lacks, locate } from '../src/testing/needs.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const examples = path.join(projectRoot, 'docs/examples');
const bundled = path.join(examples, 'frameworks-bundled.yaml');
const folder = process.env.REPORT_FOLDER ?? mkdtempSync(path.join(tmpdir(), 'stepscope-frameworks-'));
const executable = locate('browser');
let browser: Browser;
before(async () => {
  if (executable) browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
});
after(async () => {
  await browser?.close();
  if (!process.env.REPORT_FOLDER) rmSync(folder, { recursive: true });
});

/** As the command does it: benchmarks first, since they decide which load is compared. */
function compareFrameworks(inputs: readonly FrameworkInput[]) {
  const chosen = chooseRuns(inputs.map(({ runs }) => runs));
  return compareMeasured(inputs.map((one, i) => measureFramework(one, chosen[i])));
}

const stepscope = (args: string[], width = 100) => runStepscope(['frameworks', ...args], width);

const input = async (
  name: string,
  capture: string,
  runs: readonly BenchRun[] = [],
): Promise<FrameworkInput> => ({
  name,
  analyzer: new Analyzer(await openProfile([capturePath(capture)])),
  runs,
});

/** A result of a serving benchmark with just these figures. */
const bench = (outputTokens: number, rest: Partial<BenchRun> = {}): BenchRun => ({
  source: { file: 'drawn.json', format: 'drawn' },
  tool: 'a client',
  model: 'm',
  load: { inputTokens: 256, outputTokens: 128, maxConcurrency: 8, requestRate: 'unlimited', gpus: 1 },
  throughput: { outputTokens },
  latency: {},
  counts: {},
  notes: [],
  ...rest,
});

test('on every capture the parts of a token sum to its wall time, exactly and as printed', async () => {
  let checked = 0;
  for (const name of unlikeCaptures)
    for (const file of ['profile.sqlite.gz', 'kineto.json.gz'].filter(one =>
      existsSync(capturePath(name, one)),
    )) {
      const analyzer = new Analyzer(await openProfile([capturePath(name, file)]));
      const { frameworks } = compareFrameworks([{ name, analyzer, runs: [] }]);
      for (const { phase, budget, figures } of frameworks[0].phases) {
        if (!('tokens' in budget)) continue;
        const where = `${name}/${file} ${phase}`;
        const parts = Object.values(budget.partsNs);
        assert.equal(
          parts.reduce((sum, ns) => sum + ns, 0),
          budget.wallNs,
          where,
        );
        assert.ok(budget.tokens > 0 && budget.wallNs > 0, where);
        const perToken = parts.map(ns => ns / budget.tokens);
        const unit = unitFor([budget.wallNs / budget.tokens]);
        const printed = printedSum(perToken, unit);
        const number = (cell: string) => Math.round(Number(cell.replaceAll(',', '')) * 10 ** unit.decimals);
        assert.equal(
          printed.parts.reduce((sum, cell) => sum + number(cell), 0),
          number(printed.whole),
          where,
        );
        if (phase === 'decode') {
          const row = analyzer.get(tokenTime).rows.find(own => own.phase === phase)!;
          assert.equal(figures.wallNsPerToken.value, row.perTokenNs, where);
          assert.equal(figures.hostNsPerToken.value, row.hostNs, where);
        }
        checked++;
      }
    }
  assert.ok(checked >= 18, `only ${checked} phases had tokens`);
});

test('printed parts sum to the printed whole for any numbers', () => {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 2000; round++) {
    const parts = Array.from({ length: 5 }, () => (random() < 0.3 ? 0 : 10 ** (random() * 8)));
    const whole = parts.reduce((sum, ns) => sum + ns, 0);
    if (whole < 1) continue;
    const unit = unitFor([whole]);
    const printed = printedSum(parts, unit);
    const grains = (cell: string) => Math.round(Number(cell.replaceAll(',', '')) * 10 ** unit.decimals);
    assert.equal(
      printed.parts.reduce((sum, cell) => sum + grains(cell), 0),
      grains(printed.whole),
    );
    const close = unit.ns / 10 ** unit.decimals;
    printed.parts.forEach((cell, i) => {
      assert.ok(Math.abs(grains(cell) * close - parts[i]) <= close, `${cell} for ${parts[i]}`);
    });
  }
});

test('tokens are what the markers say, per phase', async () => {
  const { frameworks } = compareFrameworks([await input('a', 'run-ahead')]);
  const [prefill, decode] = frameworks[0].phases;
  assert.deepEqual([prefill.phase, decode.phase], ['prefill', 'decode']);
  assert.ok('tokens' in prefill.budget && 'tokens' in decode.budget);
  assert.equal(prefill.budget.tokens / prefill.budget.steps, prefill.batch);
  assert.equal(decode.budget.tokens / decode.budget.windows, decode.batch);
  // Requests alone do not tell how long their prompts were.
  const silent = drawEngine({ marker: step => `[Executor] _forward_step ${step}: 4 ctx reqs, 0 gen reqs` });
  const drawn = compareFrameworks([{ name: 'silent', analyzer: new Analyzer(silent), runs: [] }]);
  const { budget } = drawn.frameworks[0].phases[0];
  assert.ok('what' in budget);
  assert.match(budget.what, /prompt tokens per step/);
});

test('several ranks: a token costs the time of a step, not of all GPUs together', () => {
  const one = compareFrameworks([{ name: 'one', analyzer: new Analyzer(drawEngine()), runs: [] }]);
  const two = compareFrameworks([
    { name: 'two', analyzer: new Analyzer(drawEngine({ secondRankLateNs: 0 })), runs: [] },
  ]);
  const wall = (of: typeof one) => of.frameworks[0].phases[0].figures.wallNsPerToken.value!;
  assert.ok(Math.abs(wall(two) / wall(one) - 1) < 0.01, `${wall(one)} and ${wall(two)}`);
});

test('the page of the bundled example', async () => {
  const { status, out } = await stepscope([bundled]);
  assert.equal(status, 0);
  assertGolden('frameworks-bundled.txt', out);
});

test('the page fits any terminal', async () => {
  for (const width of [50, 60, 80, 100, 132, 200]) {
    const { out } = await stepscope([bundled], width);
    for (const line of out.split('\n')) assert.ok([...line].length <= width, `${width}: ${line}`);
  }
});

test('JSON follows its schema, CSV has every figure, Markdown every table', async () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(frameworksSchema as object);
  const { out } = await stepscope([bundled, '--json']);
  const document: object = answerIn(out);
  assert.ok(validate(document), JSON.stringify(validate.errors?.slice(0, 3)));
  const poor = compareFrameworks([
    { name: 'bench only', runs: [bench(100)] },
    await input('client', 'client'),
    await input('no steps', 'unified'),
  ]);
  const written = JSON.parse(JSON.stringify(frameworksDocument(poor)));
  assert.ok(validate(written), JSON.stringify(validate.errors?.slice(0, 3)));
  assert.ok(!validate({ ...document, checks: [{ id: 'x' }] }));

  const rows = parseCsv((await stepscope([bundled, '--csv'])).out);
  const [head, ...lines] = rows;
  assert.deepEqual(head.slice(0, 6), ['framework', 'source', 'phase', 'figure', 'unit', 'value']);
  for (const { id } of measures)
    assert.ok(
      lines.some(line => line[0] === 'eager' && line[3] === id),
      `${id} is not in the CSV`,
    );
  for (const id of benchRows)
    assert.ok(
      lines.some(line => line[3] === id),
      `${id} is not in the CSV`,
    );
  for (const line of lines)
    assert.ok((line[5] === '') === (line[6] !== ''), `empty means not recorded: ${line}`);

  const markdown = (await stepscope([bundled, '--markdown'])).out;
  for (const title of [
    'Measured by the benchmark',
    'Per decode token',
    'Is the comparison fair?',
    'Not recorded',
  ])
    assert.ok(markdown.includes(title), title);
  assert.match(markdown, /\| graphs \|.*\| 467\.3 \|/);
});

test('what was not recorded says so and how to record it, never zero', async () => {
  const comparison = compareFrameworks([
    await input('blocks', 'graphmode'),
    await input('client', 'client'),
    { name: 'bench only', runs: [bench(100)] },
  ]);
  const [blocks, client, benchOnly] = comparison.frameworks;
  const { figures, families } = blocks.phases[0];
  for (const id of ['kernelsPerLayer', 'kernelsPerStep', 'communicationNsPerToken', 'peakBytes'] as const) {
    const figure = figures[id];
    assert.ok(figure.value === null && figure.hint !== '', id);
  }
  assert.ok('hint' in families);
  assert.match(client.why!.hint, /process that runs the model \(not its client\)/);
  assert.match(benchOnly.why!.hint, /list it under profiles:/);
  const csv = parseCsv(frameworksCsv(comparison)).slice(1);
  for (const line of csv.filter(([name, source]) => name === 'client' && source === 'profile')) {
    assert.equal(line[5], '');
    assert.match(line[7], /not its client/);
  }
  const page = text.render(describeFrameworks(comparison), { width: 120, color: false });
  const row = page.split('\n').find(line => line.trim().startsWith('Kernels per step'))!;
  assert.equal(row.match(/not recorded/g)?.length, 3);
  assert.match(page, /blocks: the kernels inside CUDA graph replays .* → capture with/);
});

test('the fastest is named with the reason, and ties are ties', async () => {
  const fast = [1800, 1810, 1790].map(value => bench(value));
  const slow = [330, 335, 338].map(value => bench(value));
  const pair = async (a: readonly BenchRun[], b: readonly BenchRun[]) =>
    compareFrameworks([await input('eager', 'eager', a), await input('graph', 'graph', b)]).verdict;
  const clear = await pair(slow, fast);
  assert.equal(clear.speed?.lead, 'proven');
  assert.match(clear.lines[0], /^graph is the fastest in the benchmark: 1,800 output tok\/s, ×5\.38 eager/);
  assert.equal(clear.why?.from, 'graph');
  const sum = clear.why!.terms.reduce((total, { changeNs }) => total + changeNs, 0);
  assert.ok(Math.abs(sum - clear.why!.changeNs) < 1e-6 * clear.why!.changeNs);
  assert.equal(clear.why!.terms[0].part, 'host');
  assert.ok(clear.lines.some(line => /^eager has the least kernel time per token/.test(line)));
  const tie = await pair(
    [1700, 1900, 1800].map(value => bench(value)),
    fast,
  );
  assert.equal(tie.speed?.lead, 'within-noise');
  assert.match(tie.lines[0], /equally fast/);
  const single = await pair([bench(330)], [bench(1800)]);
  assert.match(single.lines[0], /one run per framework: the difference may be noise/);
  const against = await pair(fast, slow);
  assert.ok(against.lines.some(line => /Benchmark and profile disagree/.test(line)));
});

test('what was asked another question is not ranked', async () => {
  const other = compareFrameworks([
    await input('eager', 'eager', [bench(330)]),
    await input('wide', 'membound', [bench(120)]),
  ]);
  const status = (id: string) => other.checks.find(check => check.id === id)?.status;
  assert.equal(status('layers'), 'differs');
  assert.equal(status('batch'), 'differs');
  assert.equal(status('gpu'), 'same');
  assert.equal(other.verdict.fairness, 'unfair');
  assert.match(
    other.verdict.lines[0],
    /^Not a fair comparison: layers, requests per decode step differ\. No/,
  );
  assert.match(other.verdict.lines[1], /^Measured output tok\/s: /);
  const load = { inputTokens: 256, outputTokens: 128, maxConcurrency: 64, gpus: 1 };
  const heavier = compareFrameworks([
    await input('a', 'eager', [bench(330)]),
    await input('b', 'graph', [bench(1800, { load })]),
  ]);
  assert.equal(heavier.verdict.fairness, 'unfair');
  assert.equal(heavier.checks.find(({ id }) => id === 'profiledLoad')?.status, 'differs');
  const alike = compareFrameworks([
    { name: 'a', runs: [bench(330)] },
    { name: 'b', runs: [bench(1800)] },
  ]);
  assert.equal(alike.checks.find(({ id }) => id === 'outputTokens')?.status, 'same');
  assert.equal(alike.verdict.fairness, 'reservations');
});

test('servers name one model differently: what the user states counts', () => {
  const named = (name: string, model?: string) => ({
    name,
    runs: [bench(1000, { model: `served-as-${name}` })],
    ...(model ? { model } : {}),
  });
  const modelOf = (model?: string) =>
    compareFrameworks([named('a', model), named('b', model)]).checks.find(({ id }) => id === 'model')?.status;
  assert.equal(modelOf(), 'differs');
  assert.equal(modelOf('llama-3.1-8b'), 'same');
});

test('a difference in GPUs is ranked per GPU, and said', () => {
  const on = (gpus: number) => ({ inputTokens: 256, outputTokens: 128, maxConcurrency: 8, gpus });
  const { verdict } = compareFrameworks([
    { name: 'one', runs: [bench(1000, { load: on(1) })] },
    { name: 'four', runs: [bench(3000, { load: on(4) })] },
  ]);
  assert.equal(verdict.speed?.perGpu, true);
  assert.deepEqual(
    verdict.speed?.ranked.map(({ name, value }) => [name, value]),
    [
      ['one', 1000],
      ['four', 750],
    ],
  );
  assert.equal(verdict.fairness, 'unfair');
});

test('of a sweep the load that all have is compared', () => {
  const at = (maxConcurrency: number, value: number) =>
    bench(value, { load: { inputTokens: 256, outputTokens: 128, maxConcurrency } });
  const { frameworks } = compareFrameworks([
    { name: 'a', runs: [at(1, 10), at(16, 100), at(64, 400)] },
    { name: 'b', runs: [at(16, 120), at(16, 130), at(128, 900)] },
  ]);
  assert.deepEqual(
    frameworks.map(({ measured }) => measured.outputTokensPerSecond.value),
    [100, 125],
  );
  assert.deepEqual(
    frameworks.map(({ bench: own }) => own?.loads),
    [3, 2],
  );
  const taken = (...all: (readonly BenchRun[])[]) =>
    chooseRuns(all).map(({ runs }) => runs[0].load.maxConcurrency);
  // Most repeats on both sides, then the heaviest; each its own first where none is shared.
  assert.deepEqual(taken([at(64, 1), at(16, 1), at(16, 2)], [at(64, 1), at(16, 1), at(16, 2)]), [16, 16]);
  assert.deepEqual(taken([at(64, 1), at(16, 1), at(16, 2)], [at(16, 1), at(64, 1)]), [64, 64]);
  assert.deepEqual(taken([at(64, 1)], [at(16, 1), at(32, 1)]), [64, 16]);
});

test('coefficients equal known ones, and few points are said to prove little', () => {
  // Anscombe's first set; the textbook example of Spearman with hours of television.
  const x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
  const y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
  assert.ok(Math.abs(pearson(x, y)! - 0.81642) < 1e-5);
  const iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110];
  const hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17];
  assert.ok(Math.abs(correlate(iq, hours).spearman! + 29 / 165) < 1e-12);
  assert.deepEqual(ranks([30, 10, 30, 20]), [3.5, 1, 3.5, 2]);
  const guide = correlate([31, 35, 36], [31.7, 28.5, 28.1]);
  assert.equal(guide.spearman, -1);
  assert.ok(guide.pearson! < -0.99);
  assert.equal(guide.chance, 2 / 6);
  assert.match(guide.warning, /^3 points: a trend, not proof\. .*1 time in 3/);
  assert.equal(correlate([1, 2], [3, 4]).pearson, null);
  assert.match(correlate([1, 2], [3, 4]).warning, /any two points lie on a line/);
  assert.equal(correlate([1, 1, 1], [1, 2, 3]).pearson, null);
  assert.equal(correlate([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]).chance, 2 / 120);
});

const entry = '  - {name: a, profiles: [x]}\n  - {name: b, profiles: [y]}\n';
const mistakes: readonly (readonly [yaml: string, what: RegExp, advice: RegExp])[] = [
  [
    'frameworks:\n  - name: a\n    profles: [x]\n',
    /^c\.yaml:3:5: a framework has an unknown key "profles"/,
    /Did you mean "profiles"\? Line 3 reads: profles: \[x\]/,
  ],
  [
    'framework:\n',
    /^c\.yaml:1:1: the comparison has an unknown key "framework"/,
    /Did you mean "frameworks"/,
  ],
  ['title: x\n', /^c\.yaml:1:1: the comparison has no key "frameworks"/, /--init/],
  ['frameworks: a\n', /^c\.yaml:1:13: "frameworks" must be a list/, /"- "/],
  [
    'frameworks:\n  - {name: a, profiles: [x]}\n',
    /^c\.yaml:2:5: "frameworks" has only one entry/,
    /at least two/,
  ],
  ['frameworks: []\n', /:1:1: "frameworks" is empty/, /two/],
  [
    'frameworks:\n  - {profiles: [x]}\n  - {name: b, profiles: [y]}\n',
    /:2:5: this framework has no name/,
    /name:/,
  ],
  [
    'frameworks:\n  - {name: a}\n  - {name: b, profiles: [y]}\n',
    /:2:5: this framework has neither/,
    /one file/,
  ],
  [
    'frameworks:\n  - {name: a, profiles: [x]}\n  - {name: a, profiles: [y]}\n',
    /:3:12: the name "a" is used twice/,
    /unique name/,
  ],
  [
    'frameworks:\n  - {name: a, profiles: [{x: 1}]}\n  - {name: b, profiles: [y]}\n',
    /:2:26: "profiles" must be one value/,
    /text/,
  ],
  [`phase: decod\nframeworks:\n${entry}`, /:1:8: "decod" is not a phase/, /prefill, mixed, decode/],
  [`gpus: many\nframeworks:\n${entry}`, /:1:7: "many" is not a number of GPUs/, /gpus: 8/],
  [`iterations: 5 to 9\nframeworks:\n${entry}`, /:1:13: .* is not a range of iterations/, /A-B/],
  [`marker: '(a'\nframeworks:\n${entry}`, /:1:9: "marker" is not a regular expression/, /quotes/],
  [`model:\nframeworks:\n${entry}`, /:1:7: "model" must be one value/, /Line 1 reads/],
  [`a: &x 1\nframeworks: *x\n`, /:1:1: the comparison has an unknown key "a"/, /Allowed keys/],
  [`title: &x t\nframeworks:\n  - {name: *x, profiles: [x]}\n`, /:3:|one framework/, /./],
  [`title: !!binary aGk=\nframeworks:\n${entry}`, /:1:17: tags such as/, /plain value/],
  ['frameworks:\n  - name: a\n  name: b\n', /^c\.yaml:\d+:\d+: this is not valid YAML/, /Line \d reads/],
  ['frameworks:\n  - name: "a\n', /^c\.yaml:\d+:\d+: this is not valid YAML/, /./],
  ['frameworks: 1\nframeworks: 2\n', /:2:1: this is not valid YAML: map keys must be unique/, /Line 2/],
  ['', /^c\.yaml:1:1: the comparison must be a map/, /key: value/],
  ['- a\n- b\n', /^c\.yaml:1:1: the comparison must be a map/, /key: value/],
];

test('mistakes in CONFIG are told with line, column and text', () => {
  for (const [yaml, what, advice] of mistakes)
    assert.throws(
      () => readFrameworksConfig('c.yaml', yaml),
      (error: unknown) => {
        assert.ok(error instanceof UserError, `${yaml}: ${error}`);
        assert.match(error.message, what, yaml);
        assert.match(error.hint, advice, yaml);
        assert.ok(!error.hint.includes('\n'));
        return true;
      },
      yaml,
    );
});

test('aliases, depth and size cannot explode', () => {
  const refused = (yaml: string, what: RegExp) =>
    assert.throws(
      () => readFrameworksConfig('c.yaml', yaml),
      (error: unknown) => {
        assert.ok(error instanceof UserError, String(error));
        assert.match(error.message, what);
        return true;
      },
    );
  const bomb = ['title: &a [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i++)
    bomb.push(`k${i}: &${String.fromCharCode(97 + i)} [${`*${String.fromCharCode(96 + i)}, `.repeat(9)}]`);
  refused(`${bomb.join('\n')}\n`, /has an unknown key "k1"/);
  refused('frameworks: &x\n  - *x\n  - *x\n', /aliases/);
  refused(`frameworks: ${'['.repeat(50_000)}`, /nested too deeply/);
  refused(`frameworks:\n${' '.repeat(200)}- a\n`, /nested too deeply/);
  refused('- '.repeat(20_000), /nested too deeply|not valid YAML|must be a map/);
  refused(`title: ${'x'.repeat(300_000)}`, /more than 256 kB/);
});

test('options stand for all, or for one', () => {
  const config = readFrameworksConfig(
    'c.yaml',
    'title: t\nphase: decode\ngpus: 8\nframeworks:\n  - {name: 1.10, profiles: x}\n  - {name: b, profiles: [y, z], gpus: 4, marker: "^s"}\n',
  );
  const [a, b] = config.frameworks;
  assert.deepEqual([a.name, a.phase, a.gpus, a.profiles.map(one => one.path)], ['1.10', 'decode', 8, ['x']]);
  assert.deepEqual([b.gpus, b.marker?.source, b.profiles.length], [4, '^s', 2]);
  assert.equal(b.profiles[1].where, 'c.yaml:6:29');
});

test('--init and every example are a CONFIG', async () => {
  const { status, out } = await stepscope(['--init']);
  assert.equal(status, 0);
  assert.equal(out, initConfig);
  assert.equal(readFrameworksConfig('init', out).frameworks.length, 2);
  const files = readdirSync(examples).filter(name => /^frameworks-.*\.yaml$/.test(name));
  assert.ok(files.length >= 3);
  const all = files.map(name => readFileSync(path.join(examples, name), 'utf8'));
  for (const [i, one] of all.entries()) readFrameworksConfig(files[i], one);
  for (const name of ['TensorRT-LLM', 'NIM', 'vLLM', 'SGLang', 'TGI'])
    assert.ok(
      all.some(one => new RegExp(`^  - name: ${name}$`, 'm').test(one)),
      `no example for ${name}`,
    );
  for (const line of all.join('\n').split('\n')) assert.ok(line.length <= 122, line);
});

test('errors of the command are two lines and say where', async () => {
  const config = path.join(folder, 'c.yaml');
  const cases: readonly (readonly [args: string[], status: number, err: RegExp])[] = [
    [[], 2, /^stepscope: No CONFIG was given\.\nFor example/],
    [[path.join(folder, 'absent.yaml')], 3, /absent\.yaml does not exist/],
    [[config], 3, /c\.yaml:2:26: nowhere\.sqlite does not exist\.\nPaths are relative/],
    [[config, '--json', '--csv'], 2, /Several formats/],
    [[config, '--html', 'x.html', '--json'], 2, /Several formats/],
    [[config, '-f', 'xml'], 2, /Unknown format "xml"/],
  ];
  writeFileSync(
    config,
    'frameworks:\n  - {name: a, profiles: [nowhere.sqlite]}\n  - {name: b, profiles: [c.yaml]}\n',
  );
  for (const [args, status, err] of cases) {
    const result = await stepscope(args);
    assert.equal(result.status, status, args.join(' '));
    assert.match(result.err, err);
    assert.equal(result.err.trimEnd().split('\n').length, 2, result.err);
  }
  const capture = capturePath('eager');
  writeFileSync(
    config,
    `frameworks:\n  - {name: a, profiles: [${capture}]}\n  - {name: b, benchmarks: [${capture}]}\n`,
  );
  const wrong = await stepscope([config]);
  assert.match(wrong.err, /c\.yaml:3:28: .*no benchmark result/);
  writeFileSync(
    config,
    `phase: prefill\nframeworks:\n  - {name: a, profiles: [${capture}]}\n  - {name: b, profiles: [${capture}]}\n`,
  );
  const noPhase = await stepscope([config]);
  assert.match(noPhase.err, /a: No prefill step .*\n.*phase: and iterations: in CONFIG/);
});

const html = path.join(folder, 'frameworks.html');

test('the page is one file that asks for nothing', async () => {
  const { status, err } = await stepscope([bundled, '--html', html, '--force']);
  assert.equal(status, 0);
  assert.match(err, /wrote .*frameworks\.html \(\d+ kB\)/);
  assert.equal((await stepscope([bundled, '--html', html])).status, 2);
  const markup = readFileSync(html, 'utf8').replace(/<script[^>]*>[\s\S]*?<\/script>/g, '');
  assert.doesNotMatch(markup, /\b(?:src|href|action|data|poster)\s*=\s*["']?(?!#)[^"'>\s]*[:/]/i);
  assert.match(markup, /Content-Security-Policy" content="default-src 'none'/);
});

test('the page draws its charts, wide and narrow', { skip: lacks('browser') }, async () => {
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const trouble: string[] = [];
    page.on('console', message => message.type() === 'error' && trouble.push(message.text()));
    page.on('pageerror', error => trouble.push(error.message));
    page.on('request', request => !request.url().startsWith('file:') && trouble.push(request.url()));
    await page.goto(pathToFileURL(html).href);
    await page.locator('html[data-ready=yes]').waitFor({ state: 'attached' });
    const found = (await page.evaluate(`(() => {
      const blank = canvas => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const colors = new Set();
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) colors.add(data[i] + ',' + data[i + 1] + ',' + data[i + 2]);
        return colors.size < 4;
      };
      const canvases = [...document.querySelectorAll('canvas')];
      return { charts: canvases.map(one => one.dataset.chart), blank: canvases.filter(blank).length, wide: document.documentElement.scrollWidth > innerWidth };
    })()`)) as { charts: string[]; blank: number; wide: boolean };
    if (process.env.REPORT_FOLDER)
      await page.screenshot({ path: path.join(folder, `frameworks-${width}.png`), fullPage: true });
    await page.close();
    assert.deepEqual(trouble, []);
    assert.deepEqual(found, { charts: ['token-stack', 'frameworks-scatter'], blank: 0, wide: false });
  }
});

test('names from strangers cannot break the page', () => {
  const comparison = compareFrameworks([
    { name: '<script>alert(1)</script>\u001b[2J', runs: [bench(10)], notes: '</title>' },
    { name: 'b', runs: [bench(20)] },
  ]);
  const page = text.render(describeFrameworks(comparison), { width: 100, color: false });
  assert.ok(!page.includes('\u001b'));
  const written = htmlPage({ blocks: () => [], page: cutter => frameworksPage(comparison, cutter) });
  assert.equal(written.match(/<script/g)?.length, 3);
  assert.equal(written.match(/<\/title>/g)?.length, 1);
});

test('with a model, kernels per layer are by its layers, and a pattern that differs by one proves no other model', async () => {
  const model = findModel('llama-3.1-8b')!.config as Settings['model'];
  const profile = await openProfile([capturePath('eager')]);
  const told = compareFrameworks([{ name: 'a', analyzer: new Analyzer(profile, { model }), runs: [] }]);
  assert.equal(told.frameworks[0].phases[0].figures.kernelsPerLayer.value, 1016 / 32);
  const status = (a: number, b: number, guessed?: true) => {
    const [one] = told.frameworks;
    const with_ = (layers: number) => {
      const model = { layers, kernelsPerLayer: layers, otherKernels: 0, ...(guessed ? { guessed } : {}) };
      return { ...one, run: { ...one.run!, facts: { ...one.run!.facts, model } } };
    };
    return checkFairness([with_(a), with_(b)], 'decode').find(({ id }) => id === 'layers')!.status;
  };
  assert.equal(status(22, 22, true), 'same');
  assert.equal(status(18, 17, true), 'unknown');
  assert.equal(status(36, 17, true), 'unknown');
  assert.equal(status(22, 12, true), 'differs');
  assert.equal(status(18, 17), 'differs');
});
