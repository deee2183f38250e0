/** `stepscope compare` as a user meets it: pages, JSON by its schema, CSV, one HTML file, names, repeats, mistakes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { envelopedSchema } from '../src/base/envelope-schema.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { shellQuote } from '../src/capture/shell-quote.js';
import { distinctNames } from '../src/cli/asked-configurations.js';
import { compareSchema } from '../src/compare/compare-schema.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-compare-'));
after(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string) => path.join(folder, name);

const stepscope = (...args: string[]) => runStepscope(args);

const [eager, graph] = [capturePath('eager'), capturePath('graph')];
const [learned, perfect] = [capturePath('moe-learned'), capturePath('moe-perfect')];

for (const [name, from, to] of [
  ['eager-graph', eager, graph],
  ['moe', learned, perfect],
  ['profilers', eager, capturePath('eager', 'kineto.json.gz')],
]) {
  test(`the page of ${name} reads as it should, and fits`, async () => {
    const { status, out, err } = await stepscope('compare', from, to);
    assert.equal(status, 0, err);
    assertGolden(`compare-${name}.txt`, out);
    const lines = out.trimEnd().split('\n');
    // A command to copy is never broken.
    assert.equal(lines.pop(), `→ stepscope view ${shellQuote(from)} --compare ${shellQuote(to)}`);
    for (const line of lines) assert.ok([...line].length <= 110, line);
  });
}

const paragraph = (out: string) => out.split('\n\n')[1].replace(/\s+/g, ' ');

test('the answer comes first: what changed, by how much, measurable or not, and why', async () => {
  const faster = paragraph((await stepscope('compare', eager, graph)).out);
  assert.match(faster, /graph\/profile is 6\.\d times as fast in decode: 23\.7 ms → 3\.74 ms per step/);
  assert.match(faster, /Launch-bound idle nearly disappeared: 21\.1 ms → \d+ µs/);
  assert.match(faster, /the same kernels ran/);
  assert.match(faster, /Run-to-run noise was not measured/);
  const slower = paragraph((await stepscope('compare', graph, eager)).out);
  assert.match(slower, /is 6\.\d times as slow/);
  const equal = paragraph((await stepscope('compare', eager, capturePath('eager', 'kineto.json.gz'))).out);
  assert.match(equal, /No measurable difference in decode/);
  assert.match(
    equal,
    /The two profilers have different host overhead.*GPU work alone changes 2\.43 ms → 2\.44 ms/,
  );
  // Stacks more than double the step of the same engine: it differs, and nobody can say by how much.
  const other = (file: string) => path.join(projectRoot, 'test/fixtures/own-programs', file);
  const doubtful = paragraph(
    (await stepscope('compare', other('sglang-stacks.json.xz'), other('nsys-sglang-no-overlap.sqlite.xz')))
      .out,
  );
  assert.match(doubtful, /Cannot tell in decode: .* which the two profilers alone may cause/);
  assert.match(doubtful, /batch mixes 8 decoding vs not recorded \(the batch may differ/);
  const itself = paragraph((await stepscope('compare', eager, eager)).out);
  assert.match(itself, /The two runs are identical in decode: 23\.7 ms per step, and every term is 0\./);
  const small = paragraph((await stepscope('compare', learned, perfect, '--threshold', '50')).out);
  assert.match(small, /The difference in decode is below the threshold/);
});

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const validate = ajv.compile(compareSchema as object);

test('every figure of the schema is defined', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/metrics.md'), 'utf8');
  const section = text.slice(text.indexOf('\n## Compare\n'));
  const kinds = 'same replaced regrouped removed added hidden communication copies idle'.split(' ');
  const figures = 'changeNs interval95 noiseFloorNs tracingFloorNs threshold weight verdict'.split(' ');
  for (const word of [...kinds, ...figures]) assert.match(section, new RegExp(`\\b${word}\\b`), word);
});

interface Document {
  readonly base: { readonly name: string };
  readonly comparisons: readonly {
    readonly to: { readonly name: string; readonly runs: readonly unknown[] };
    readonly comparable: string;
    readonly runToRunNoiseMeasured: boolean;
    readonly phases: readonly {
      readonly changeNs: number;
      readonly noiseFloorNs: number | null;
      readonly terms: readonly { readonly key: string; readonly changeNs: number }[];
    }[];
  }[];
}

async function document(...args: string[]): Promise<Document> {
  const { out, err, status } = await stepscope('compare', ...args, '--json');
  assert.equal(status, 0, err);
  const parsed: Document = answerIn(out);
  const follows = validate(parsed);
  assert.ok(follows, JSON.stringify(validate.errors?.slice(0, 3)));
  return parsed;
}

test('JSON follows the schema, and its terms sum to the change', async () => {
  const pairs = [
    [eager, graph],
    [graph, capturePath('graphmode')],
    [capturePath('run-ahead'), capturePath('run-ahead')],
    [capturePath('membound'), capturePath('eager-decode')],
    [capturePath('unified'), capturePath('two-processes')],
    [learned, perfect, capturePath('moe-perfect', 'kineto.json.gz')],
  ];
  for (const files of pairs)
    for (const { phases } of (await document(...files)).comparisons)
      for (const { changeNs, terms } of phases)
        assert.equal(
          terms.reduce((sum, term) => sum + term.changeNs, 0),
          changeNs,
        );
});

test('CSV has the same terms', async () => {
  const { out } = await stepscope('compare', eager, graph, '--csv');
  const [header, ...rows] = parseCsv(out);
  const { phases } = (await document(eager, graph)).comparisons[0];
  const change = header.indexOf('changeNs');
  assert.deepEqual(
    rows.map(row => [row[header.indexOf('term')], Number(row[change])]),
    phases[0].terms.map(term => [term.key, term.changeNs]),
  );
});

test('several runs are each compared with the first', async () => {
  const { base, comparisons } = await document(eager, graph, learned);
  assert.equal(base.name, 'eager/profile');
  assert.deepEqual(
    comparisons.map(({ to }) => to.name),
    ['graph/profile', 'moe-learned/profile'],
  );
  const { out } = await stepscope('compare', eager, graph, learned);
  assert.match(out, /^Compared with eager\/profile/);
  const { out: md } = await stepscope('compare', eager, graph, '--markdown');
  assert.match(md, /\| idle: launch-bound \| 21\.1 ms \|/);
});

test('repeats under a name measure noise between runs, and folders are ranks', async () => {
  const one = await document(
    `base=${learned},${perfect}`,
    `new=${graph},${capturePath('graph', 'kineto.json.gz')}`,
  );
  assert.equal(one.base.name, 'base');
  const [{ to, runToRunNoiseMeasured, phases }] = one.comparisons;
  assert.equal(to.name, 'new');
  assert.equal(to.runs.length, 2);
  assert.ok(runToRunNoiseMeasured);
  assert.ok(phases[0].noiseFloorNs! > 0);
  const { out } = await stepscope('compare', `base=${eager}`, `new=${graph},${graph}`);
  assert.match(out.replace(/\s+/g, ' '), /The interval includes run-to-run noise: ±.* from 1 run and 2 runs/);
  cpSync(eager, inFolder('ranks/rank0.sqlite.gz'), { recursive: true });
  cpSync(eager, inFolder('ranks/rank1.sqlite.gz'), { recursive: true });
  const ranks = await document(eager, inFolder('ranks'));
  assert.equal(ranks.comparisons[0].phases[0].changeNs, 0);
});

test('with --model both sides stand beside the speed of light', async () => {
  const { out } = await stepscope('compare', eager, graph, '--model', 'tinyllama-1.1b');
  assert.match(out, /minimum step time for this model +430 µs +430 µs/);
  assert.match(out, /minimum step time relative to the measured time +1\.8% +11\.5%/);
  const { out: without } = await stepscope('compare', eager, graph);
  assert.doesNotMatch(without, /minimum step time/);
});

test('names are short and distinct', () => {
  const names = (...files: string[]) => distinctNames(files.map(file => ({ name: undefined, file })));
  assert.deepEqual(names('/x/a.sqlite', '/x/b.json.gz'), ['a', 'b']);
  assert.deepEqual(names('/x/a/p.sqlite.gz', '/x/b/p.sqlite.gz'), ['a/p', 'b/p']);
  assert.deepEqual(names('/x/1/r/p.sqlite', '/x/2/r/p.sqlite'), ['1/r/p', '2/r/p']);
  assert.deepEqual(names('/x/p.sqlite', '/x/p.sqlite'), ['p', 'p (2)']);
  assert.deepEqual(names('/x/p.sqlite', '/x/p.json'), ['p', 'p (2)']);
});

test('--html writes one file that loads nothing, with both sides', async () => {
  const file = inFolder('compare.html');
  const { status, err } = await stepscope('compare', eager, graph, learned, '--html', file);
  assert.equal(status, 0, err);
  const page = readFileSync(file, 'utf8');
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)![1];
  assert.match(policy, /^default-src 'none'/);
  for (const [, script] of page.matchAll(/<script>([\s\S]*?)<\/script>/g))
    assert.ok(
      policy.includes(createHash('sha256').update(script).digest('base64')),
      'scripts are those allowed',
    );
  assert.doesNotMatch(page, /(?:src|href)="(?!#)/);
  const { charts } = JSON.parse(/id="report-data">(.*?)<\/script>/.exec(page)![1]);
  assert.equal(charts.length, 4);
  assert.deepEqual(charts[0].data.labels, ['eager/profile', 'graph/profile']);
  const parts = charts[0].data.datasets.map((set: { data: number[] }) => set.data[0]);
  assert.equal(
    parts.reduce((sum: number, ns: number) => sum + ns, 0),
    await meanOf(eager, graph),
  );
  assert.match(page, /Every term and its rows/);
  assert.match((await stepscope('compare', eager, graph, '--html', file)).err, /already exists/);
  assert.equal((await stepscope('compare', eager, graph, '--html', file, '--force')).status, 0);
});

async function meanOf(...files: string[]): Promise<number> {
  const { comparisons } = (await document(...files)) as unknown as {
    comparisons: { phases: { from: { meanNs: number } }[] }[];
  };
  return comparisons[0].phases[0].from.meanNs;
}

test('of a damaged file that is said, in the answer and in the notes', async () => {
  const file = inFolder('cut.json');
  const whole = gunzipSync(readFileSync(capturePath('eager', 'kineto.json.gz')));
  writeFileSync(file, whole.subarray(0, Math.floor(whole.length * 0.9)));
  const { out, status } = await stepscope('compare', eager, file);
  assert.equal(status, 0);
  assert.match(paragraph(out), /^ cut is cut off or damaged: its figures cover only the readable part\./);
  assert.equal((await document(eager, file)).comparisons[0].comparable, 'with-reservations');
  assert.match(out, /\n\d+ notes?\n[\s\S]*cut +\d+ The file is truncated/);
});

test('mistakes get two lines', async () => {
  const wrong = async (status: number, what: RegExp, ...args: string[]) => {
    const result = await stepscope('compare', ...args);
    assert.equal(result.status, status, result.err);
    assert.equal(result.err.trimEnd().split('\n').length, 2, result.err);
    assert.match(result.err, what);
    assert.equal(result.out, '');
  };
  await wrong(2, /No profile was given/);
  await wrong(2, /nothing to compare with/, eager);
  await wrong(2, /no GPU work was recorded/, eager, capturePath('client'));
  await wrong(2, /no phase in common/, eager, capturePath('unified'));
  await wrong(2, /not comparable: CUDA graphs/, graph, capturePath('graphmode'), '--only-comparable');
  await wrong(2, /not a percentage/, eager, graph, '--threshold', 'much');
  await wrong(2, /eager\/profile\.sqlite\.gz: No prefill step/, eager, graph, '--phase', 'prefill');
  await wrong(3, /does not exist/, eager, 'base=nowhere.sqlite');
  await wrong(2, /does not name a file/, eager, 'base=,');
});

test('help and schema', async () => {
  const { out } = await stepscope('compare', '--help');
  assert.match(out, /usage: stepscope compare BASE OTHER…/);
  assert.match(out, /NAME=FILE,FILE/);
  for (const line of out.split('\n')) assert.ok(line.length <= 120, line);
  const printed = (await stepscope('compare', '--schema')).out;
  assert.deepEqual(JSON.parse(printed), JSON.parse(JSON.stringify(envelopedSchema(compareSchema))));
});
