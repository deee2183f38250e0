/** Every command in every format it names: to standard output, to a file, and refused where it has no such format. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseCsv } from '../src/base/parse-csv.js';
import { extensions, type FormatId, formatIds } from '../src/cli/emit.js';
import { optionsOf } from '../src/cli/read-call.js';
import { allCommands } from '../src/cli/registry.js';
import { documentText } from '../src/report/document-text.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { npyOf } from '../src/testing/load-files.js';
import { runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-formats-'));
const inFolder = (name: string) => path.join(folder, name);
const bench = (name: string) => path.join(projectRoot, 'test/fixtures/bench', name);
/** Narrower than the longest of these lists. */
const WIDTH = 80;
const [eager, graph] = [capturePath('eager'), capturePath('graph')];
/** What is read does not matter for how it is written. */
const small = capturePath('gil');
let server: ChildProcess;
let address = '';

before(async () => {
  server = fork(path.join(projectRoot, 'dist/test/load-server.js'));
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  address = `http://127.0.0.1:${port}/timed`;
  const counts = Array.from({ length: 40 * 2 * 16 }, (_, i) => 4 + (i % 7));
  writeFileSync(inFolder('loads.npy'), npyOf('<i4', [40, 2, 16], counts));
  writeFileSync(inFolder('policy.yaml'), 'limits:\n  - {metric: step.p50, max: 1s}\n');
  const kernels = await runStepscope(['stats', eager, '-r', 'cuda_gpu_kern_sum', '--csv']);
  writeFileSync(inFolder('kernels.csv'), kernels.out);
  await runStepscope(['optimize', 'start', capturePath('gil'), '--journal', inFolder('dropped')]);
  await runStepscope(['baseline', 'save', 'main', graph, '--baselines', inFolder('kept.json')]);
});
after(() => {
  server.disconnect();
  rmSync(folder, { recursive: true });
});

/** Ways to call each command that writes results; several where it has several kinds of them. */
const calls: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  analyze: () => [[small, '--only', 'step-budget'], ['--list'], ['--why', 'ampere_sgemm_64x64']],
  report: () => [[small]],
  compare: () => [
    [capturePath('old23'), graph],
    [bench('sglang-serving.jsonl'), bench('aiperf.json')],
    [capturePath('moe-learned'), capturePath('moe-perfect'), '--perfect-router'],
  ],
  whatif: () => [[capturePath('old23'), '--graphs', '--async']],
  host: () => [[small], [graph, '--weight', 'time', '--inverted', '--depth', '3']],
  steps: () => [[graph], [small, '--sequence']],
  info: () => [[small]],
  explain: () => [[graph, 'step:14']],
  search: () => [[small, '--name', 'launch']],
  ncu: () => [[graph, 'gemm']],
  repro: () => [[capturePath('eager', 'kineto.json.gz'), 'aten::mm']],
  export: () => [[capturePath('gil'), '-o', inFolder('gil.pftrace'), '--force']],
  'optimize start': () => [[capturePath('gil'), '--journal', inFolder('journal')]],
  'optimize propose': () => [['another sampler', '--journal', inFolder('journal')]],
  'optimize record': () => [[capturePath('gil'), '--journal', inFolder('journal')]],
  'optimize compare': () => [['--journal', inFolder('journal')]],
  'optimize keep': () => [['to see what happens', '--journal', inFolder('journal')]],
  'optimize drop': () => [['--journal', inFolder('dropped')]],
  'optimize status': () => [['--journal', inFolder('journal')]],
  sql: () => [['SELECT iteration, selected FROM steps', small]],
  stats: () => [[small, '-r', 'cuda_api_sum'], [graph], ['--list']],
  bench: () => [[bench('sglang-serving.jsonl'), bench('aiperf.json')]],
  moe: () => [[inFolder('loads.npy'), '--gpus', '4']],
  'moe place': () => [[inFolder('loads.npy'), '--gpus', '4']],
  'moe experiment': () => [
    ['--learned', capturePath('moe-learned'), '--perfect', capturePath('moe-perfect')],
  ],
  families: () => [[inFolder('kernels.csv')]],
  frameworks: () => [[path.join(projectRoot, 'docs/examples/frameworks-bundled.yaml')]],
  check: () => [[graph, '--policy', inFolder('policy.yaml')], ['--metrics']],
  'baseline list': () => [['--baselines', inFolder('kept.json')]],
  'baseline show': () => [['main', '--baselines', inFolder('kept.json')]],
  trend: () => [[small, graph]],
  'fleet map': () => [[small, '--out', inFolder('lake')]],
  'fleet report': () => [[inFolder('lake')]],
  load: () => [[address, '--requests', '2', '--warmup', '0']],
  capture: () => [['--dry-run', '--nsys-version', '2025.3', '--', 'trtllm-bench']],
  doctor: () => [[]],
  redact: () => [[small, '-o', inFolder('copy.sqlite'), '--force']],
};

const ajv = new Ajv2020({ strict: false });
const schemaOf = (name: string) => path.join(projectRoot, 'docs/schemas', `${name}.schema.json`);

/** Every answer has a published schema that the whole text follows; an analysis has one of its own. */
function assertFollows(answer: { schema: string; data: { analyses?: Record<string, unknown> } }): void {
  const follows = (name: string, value: unknown) => {
    // Drafts differ in nothing these use.
    const { $schema, ...schema } = JSON.parse(readFileSync(schemaOf(name), 'utf8'));
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema);
    assert.ok(validate(value), `${name}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
  };
  const [, name] = /^stepscope-(.+)\/1$/.exec(answer.schema)!;
  if (name !== 'analyze') follows(name, answer);
  else for (const [id, outcome] of Object.entries(answer.data.analyses!)) follows(id, outcome);
}

const isOf: Readonly<Record<FormatId, (text: string) => void>> = {
  table: text => assert.match(text, /^ *\S.*\n/),
  json(text) {
    const answer = JSON.parse(text);
    assert.deepEqual(Object.keys(answer), ['schema', 'tool', 'inputs', 'notes', 'truncated', 'data']);
    assert.equal(text, documentText(answer));
    assertFollows(answer);
  },
  csv(text) {
    for (const table of text.trimEnd().split('\n\n')) {
      const [header, ...rows] = parseCsv(table);
      assert.ok(header.length > 1 && rows.length > 0, table.slice(0, 200));
      for (const row of rows) assert.equal(row.length, header.length, row.join());
    }
  },
  markdown(text) {
    assert.match(text, /^(### |\| |\|---|- \*\*|<!-- )/m);
    assert.throws(() => JSON.parse(text));
  },
  html(text) {
    assert.match(text, /^<!doctype html>\n/);
    assert.match(text, /Content-Security-Policy" content="default-src 'none'/);
    assert.match(text, /<section id=[\s\S]*<\/html>\n$/);
  },
};

test('lists of what there is to choose from keep to the width', async () => {
  for (const args of [
    ['sql', '--tables'],
    ['analyze', '--list'],
    ['check', '--metrics'],
    ['stats', '--list'],
  ]) {
    const { out } = await runStepscope(args, WIDTH);
    for (const line of out.split('\n')) assert.ok(line.length <= WIDTH, `${args.join(' ')}: ${line}`);
  }
});

test('every command has samples here, if it writes results', async () => {
  const named = (await allCommands()).filter(({ formats }) => formats).map(({ name }) => name);
  assert.deepEqual(named.sort(), Object.keys(calls).sort());
});

for (const [name, samples] of Object.entries(calls))
  test(`${name}: each format it names comes out as that, on standard output and in a file`, async () => {
    const command = (await allCommands()).find(known => known.name === name)!;
    for (const args of samples())
      for (const format of command.formats!) {
        const border = args.indexOf('--');
        const [own, program] = border < 0 ? [args, []] : [args.slice(0, border), args.slice(border)];
        const call = (...more: string[]) => runStepscope([...name.split(' '), ...own, ...more, ...program]);
        const said = `${name} ${args.join(' ')} ${format}`;
        // A page or a report is written to a file unless - is asked for.
        const toOutput = optionsOf(command).includes('output') ? ['-o', '-'] : [];
        const named = await call('--format', format, ...toOutput);
        assert.equal(named.status, 0, `${said}: ${named.err}`);
        try {
          isOf[format](named.out);
        } catch (error) {
          throw new Error(said, { cause: error });
        }
        // Times and free bytes are others each time.
        if (format !== 'table' && name !== 'load' && name !== 'doctor') {
          const switched = await call(`--${format}`, ...toOutput);
          assert.deepEqual([switched.out, switched.status], [named.out, 0], said);
        }
        if (toOutput.length === 0) continue;
        // Its ending is enough.
        const file = inFolder(`result.${extensions[format]}`);
        const written = await call('-o', file);
        assert.equal(written.status, 0, `${said}: ${written.err}`);
        assert.match(written.err, /wrote .*result\./);
        isOf[format](readFileSync(file, 'utf8'));
        if (!command.overwrites) assert.match((await call('-o', file)).err, /already exists/);
        rmSync(file);
      }
  });

test('a format that a command does not have is refused in two lines', async () => {
  for (const { name, formats = [], options } of await allCommands())
    for (const format of formatIds) {
      // view has a --json of its own: one line when it is up.
      if (format === 'table' || formats.includes(format) || options.includes('jsonLine')) continue;
      const { status, err, out } = await runStepscope([...name.split(' '), `--${format}`]);
      assert.ok(status === 2 || status === 3, `${name} --${format}: ${status}`);
      assert.match(err, new RegExp(`^stepscope: stepscope ${name} does not support --${format}\\.\\n.+\\n$`));
      assert.equal(out, '');
      if (formats.length === 0) continue;
      const named = await runStepscope([...name.split(' '), '--format', format]);
      assert.match(named.err, /^stepscope: Unknown format "\w+"\.\nUse one of: .+\n$/);
    }
});
