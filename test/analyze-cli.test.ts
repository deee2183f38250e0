/** `stepscope analyze` and `stepscope steps` as a user meets them: pages, JSON by its schema, CSV, choices, mistakes. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Analyzer, type AnyAnalysis, type Json } from '../src/analyze/analysis.js';
import { analyses, usualAnalyses } from '../src/analyze/index.js';
import { describePage } from '../src/analyze/page.js';
import { envelopedSchema } from '../src/base/envelope-schema.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { shellQuote } from '../src/capture/shell-quote.js';
import { outcomeAsJson } from '../src/report/analysis-json.js';
import { analysisSchema, analyzeSchema } from '../src/report/analysis-schema.js';
import { text } from '../src/report/text.js';
import { captureNames, capturePath, projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { randomProfile } from '../src/testing/random-profile.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const stepscope = (...args: string[]) => runStepscope(args);

interface Document {
  readonly schema: string;
  readonly analyses: Record<
    string,
    { status: string; rows?: Record<string, Json>[]; summary?: Record<string, Json> }
  >;
}

for (const name of ['eager', 'graph', 'graphmode', 'gc', 'client', 'membound', 'moe-learned']) {
  test(`the page of ${name} reads as it should, and fits`, async () => {
    const { status, out } = await stepscope('analyze', capturePath(name));
    assert.equal(status, 0);
    assertGolden(`analyze-${name}.txt`, out);
    const lines = out.split('\n');
    assert.ok(lines.length <= 65, `${lines.length} lines`);
    assert.equal(lines.at(-2), `→ stepscope view ${shellQuote(capturePath(name))}`);
    for (const line of lines.slice(0, -2)) assert.ok([...line].length <= 110, line);
  });
}

test('the answer comes first', async () => {
  const first = async (name: string) =>
    (await stepscope('analyze', capturePath(name))).out.split('\n').slice(0, 5).join(' ');
  assert.match(
    await first('eager'),
    /Decode is launch-bound: 1,016 kernel launches, no CUDA graphs \([\d.]+ ms per step, [\d.]+%; gain ×[34]\.\d, likely\)/,
  );
  assert.match(
    await first('gc'),
    /The GPU waits for Python garbage collection: 200 ms per step \(88\.0%; gain ×8\.4, likely\)/,
  );
  assert.match(await first('gil'), /waits for the GIL while the GPU is idle/);
  assert.match(await first('client'), /No GPU work was recorded/);
});

test('of a cut-off file that is said first, and the client is not blamed', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-cut-'));
  try {
    const file = path.join(folder, 'cut.json');
    const whole = gunzipSync(readFileSync(capturePath('eager', 'kineto.json.gz')));
    for (const share of [0.2, 0.99]) {
      writeFileSync(file, whole.subarray(0, Math.floor(whole.length * share)));
      const { out } = await stepscope('analyze', file);
      const answer = out.split('\n\n')[1];
      assert.match(answer, /^ {2}This file is cut off or damaged/, answer);
      assert.match(out, /1 {2}The file is broken: the file is truncated/);
      assert.doesNotMatch(out, /client/);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every analysis is defined in docs/metrics.md', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/metrics.md'), 'utf8');
  const headings = [...text.matchAll(/^### (.+)$/gm)].flatMap(match => match[1].split(', '));
  for (const { id } of analyses) assert.ok(headings.includes(id), id);
});

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const validators = new Map(
  analyses.map((analysis: AnyAnalysis) => [analysis.id, ajv.compile(analysisSchema(analysis))]),
);
const validateDocument: (document: unknown) => boolean = ajv.compile(
  envelopedSchema(analyzeSchema(analyses)),
);

for (const name of captureNames) {
  test(`JSON of ${name} follows the schemas, with names scripts rely on`, async () => {
    const { out } = await stepscope('analyze', capturePath(name), '--json', '--model', 'tinyllama-1.1b');
    const document = answerIn(out) as Document;
    assert.equal(document.schema, 'stepscope-analyze/1');
    assert.ok(validateDocument(JSON.parse(out)), 'the document');
    assert.deepEqual(
      Object.keys(document.analyses),
      usualAnalyses.map(analysis => analysis.id),
    );
    assertResults(document);
  });
}

function assertResults(document: Document): void {
  for (const [id, result] of Object.entries(document.analyses)) {
    assert.notEqual(result.status, 'failed', `${id}: ${JSON.stringify(result)}`);
    const validate = validators.get(id)!;
    assert.ok(validate(result), `${id}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
    const keys = (result.rows ?? []).map(row => row.key);
    assert.equal(new Set(keys).size, keys.length, `${id}: rows have names of their own`);
  }
}

test('analyses that read much answer where they are named, and only there', async () => {
  const ids = analyses.filter(({ onlyAsked }) => onlyAsked).map(({ id }) => id);
  assert.ok(ids.includes('operators'));
  for (const file of [capturePath('eager', 'kineto.json.gz'), capturePath('eager')]) {
    const { out } = await stepscope('analyze', file, '--json', '--only', ids.join());
    const document = answerIn(out) as Document;
    assert.deepEqual(Object.keys(document.analyses), ids);
    assertResults(document);
  }
});

test('on random profiles every analysis answers by its schema or says what is missing', () => {
  let answered = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const analyzer = new Analyzer(randomProfile(seed), { whole: seed % 2 === 0 });
    for (const analysis of analyses) {
      const outcome = analyzer.run(analysis);
      assert.notEqual(outcome.status, 'failed', `seed ${seed}, ${analysis.id}: ${JSON.stringify(outcome)}`);
      if (outcome.status === 'ok') answered++;
      const validate = validators.get(analysis.id)!;
      const json = JSON.parse(JSON.stringify(outcomeAsJson(outcome)));
      assert.ok(
        validate(json),
        `seed ${seed}, ${analysis.id}: ${JSON.stringify(validate.errors?.slice(0, 3))}`,
      );
    }
    assert.ok(text.render(describePage(analyzer, analyses), { width: 80, color: false }).length > 0);
  }
  assert.ok(answered > 2000, `${answered}`);
});

test('the fixed field names are there', async () => {
  const { out } = await stepscope('analyze', capturePath('eager'), '--json');
  const rows = (id: string) => (answerIn(out) as Document).analyses[id].rows!;
  const fixed: Record<string, string[]> = {
    iterations:
      'iteration phase contextRequests generationRequests startNs endNs gpuStartNs gpuEndNs kernels graphLaunches gpuBusyNs'.split(
        ' ',
      ),
    'step-budget':
      'iteration device wallNs computeNs communicationExposedNs copyExposedNs idleNs idleByCause'.split(' '),
    'kernel-families': ['family', 'kernels', 'totalNs', 'share'],
    'gpu-utilization': ['device', 'windowNs', 'busyNs', 'idleNs', 'busyShare'],
  };
  for (const [id, names] of Object.entries(fixed))
    for (const name of names) assert.ok(name in rows(id)[0], `${id}.${name}`);
  for (const id of [
    'gpu-metrics',
    'gc',
    'gil',
    'memory-operations',
    'launch-overhead',
    'graph-coverage',
    'speed-of-light',
  ])
    assert.ok((answerIn(out) as Document).analyses[id], id);
});

test('CSV has the same rows as JSON', async () => {
  const csv = parseCsv((await stepscope('analyze', capturePath('gc'), '--only', 'step-budget', '--csv')).out);
  const { out } = await stepscope('analyze', capturePath('gc'), '--only', 'step-budget', '--json');
  const rows = (answerIn(out) as Document).analyses['step-budget'].rows!;
  const [header, ...lines] = csv;
  assert.equal(lines.length, rows.length);
  const column = (name: string) => lines.map(line => Number(line[header.indexOf(name)]));
  assert.deepEqual(
    column('wallNs'),
    rows.map(row => row.wallNs),
  );
  assert.deepEqual(
    column('idleByCause.garbage-collection'),
    rows.map(row => (row.idleByCause as Record<string, number>)['garbage-collection']),
  );
  const several = await stepscope('analyze', capturePath('gc'), '--csv');
  assert.equal(several.status, 2);
  assert.match(several.err, /--only/);
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-csv-'));
  try {
    const written = await stepscope('analyze', capturePath('gc'), '--csv', '-o', path.join(folder, 'gc'));
    assert.equal(written.status, 0);
    assert.match(readFileSync(path.join(folder, 'gc_kernel-families.csv'), 'utf8'), /^key,family,kernels,/);
    assert.match(written.err, /gpu-metrics: not recorded/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('steps lists every step, and the kernels of one on request', async () => {
  const table = await stepscope('steps', capturePath('graph'));
  assert.match(table.out, /9 steps found by marker of TensorRT-LLM \(certain\); steady state: all/);
  assert.equal(table.out.match(/decode/g)!.length, 9);
  const chosen = await stepscope('steps', capturePath('graph'), '--iterations', '13-14,20', '--csv');
  assert.deepEqual(
    parseCsv(chosen.out)
      .slice(1)
      .map(row => row[1]),
    ['13', '14', '20'],
  );
  const sequence = await stepscope('steps', capturePath('eager'), '--sequence', '--rows', '30');
  assertGolden('steps-sequence-eager.txt', sequence.out);
  const full = await stepscope('steps', capturePath('eager'), '--sequence', '--full-names');
  assert.match(full.out, /void at::native::/);
  const empty = await stepscope('steps', capturePath('client'));
  assert.match(empty.out, /No engine steps were found/);
  const hidden = await stepscope('steps', capturePath('client'), '--sequence');
  assert.equal(hidden.status, 8);
  assert.equal(hidden.err.trim().split('\n').length, 2);
});

test('why a kernel is in its family, with the user’s own rules first', async () => {
  const name =
    'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3>>(int, float)';
  const why = await stepscope('analyze', '--why', name);
  assert.match(why.out, /family\s+elementwise/);
  assert.match(why.out, /rule\s+\S+: \//);
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-rules-'));
  try {
    const rules = path.join(folder, 'rules.json');
    writeFileSync(rules, JSON.stringify({ rules: [{ family: 'norm', match: 'elementwise' }] }));
    const own = await stepscope('analyze', '--why', name, '--rules', rules, '--json');
    assert.equal(answerIn(own.out).class.family, 'norm');
    const page = await stepscope(
      'analyze',
      capturePath('eager'),
      '--only',
      'kernel-families',
      '--rules',
      rules,
      '--json',
    );
    const rows = (answerIn(page.out) as Document).analyses['kernel-families'].rows!;
    assert.equal(rows[0].family, 'norm');
    writeFileSync(rules, '{"rules": [{"family": "nonsense", "match": "x"}]}');
    const wrong = await stepscope('analyze', '--why', name, '--rules', rules);
    assert.equal(wrong.status, 2);
    assert.equal(wrong.err.trim().split('\n').length, 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('mistakes get two lines and a status', async () => {
  const file = capturePath('graph');
  const cases: [args: string[], text: RegExp][] = [
    [['analyze'], /No profile was given/],
    [['analyze', file, '--only', 'budget'], /Unknown analysis "budget"[\s\S]*step-budget/],
    [['analyze', file, '--phase', 'decoding'], /"decoding" is not a value of --phase[\s\S]*prefill/],
    [['analyze', file, '--phase', 'prefill'], /No prefill step/],
    [['analyze', file, '--iterations', '9-3'], /not a range of iterations/],
    [['analyze', file, '--marker', '('], /not a regular expression/],
    [['analyze', file, '--model', 'nothing-7b'], /neither a file nor a model preset[\s\S]*llama/],
    [['analyze', file, '--rules', '/nowhere.json'], /cannot be read/],
    [['analyze', file, '--tp', '0'], /not a number for --tp/],
    [['steps', file, '--nonsense'], /--nonsense/],
  ];
  for (const [args, text] of cases) {
    const { status, err } = await stepscope(...args);
    assert.notEqual(status, 0, args.join(' '));
    assert.match(err, text, args.join(' '));
    assert.equal(err.trim().split('\n').length, 2, err);
  }
});

test('lists, help and Markdown', async () => {
  const list = await stepscope('analyze', '--list');
  for (const { id } of analyses) assert.match(list.out, new RegExp(`^${id} `, 'm'));
  assert.equal(
    answerIn((await stepscope('analyze', '--list', '--json')).out).analyses.length,
    analyses.length,
  );
  assert.match((await stepscope('analyze', '--help')).out, /examples:/);
  assert.match((await stepscope('steps', '--help')).out, /--sequence/);
  assert.equal(
    JSON.parse((await stepscope('analyze', '--schema', 'gc')).out).title,
    'Python garbage collection',
  );
  const markdown = await stepscope('analyze', capturePath('eager'), '--markdown');
  assert.match(markdown.out, /\| compute \| 2\.42 ms \| 10\.2% \|/);
});
