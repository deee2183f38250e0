/** The library as others use it: its examples run, its types hold, its interface is written down; and plugins. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { assertSameText } from '../src/testing/golden.js';
import { apiReport } from './api-report.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-library-'));
after(() => rmSync(folder, { recursive: true }));
const examples = path.join(projectRoot, 'docs/examples/library');
const graph = capturePath('graph');
const put = (name: string, text: string) => {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
};

test('docs/api.md is the public interface', () => {
  assertSameText(path.join(projectRoot, 'docs/api.md'), apiReport());
});

/** What an example prints, in this process. */
async function printed(name: string, ...args: string[]): Promise<string> {
  const { argv } = process;
  const { log } = console;
  let text = '';
  process.argv = [argv[0], name, ...args];
  console.log = (...values: unknown[]) => {
    text += `${values.map(value => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ')}\n`;
  };
  try {
    await import(pathToFileURL(path.join(examples, name)).href);
  } finally {
    process.argv = argv;
    console.log = log;
  }
  return text;
}

test('the examples run, their types hold, and docs/library.md shows them', async () => {
  assert.match(
    await printed('diagnose.mjs', capturePath('gc')),
    /^The GPU waits for Python garbage collection.*\n\{"claim"/,
  );
  const compared = await printed('compare.mjs', capturePath('eager'), graph);
  assert.match(compared, /^decode \[\{/);
  assert.match(await printed('typed-rows.mjs', graph), /^\d+ \d+\.\d% idle\n/);
  const page =
    readFileSync(path.join(projectRoot, 'docs/library.md'), 'utf8') +
    readFileSync(path.join(projectRoot, 'docs/plugins.md'), 'utf8');
  for (const name of readdirSync(examples))
    assert.ok(page.includes(readFileSync(path.join(examples, name), 'utf8').trim()), name);
  const tsc = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const options = [
    '--noEmit',
    '--checkJs',
    '--allowJs',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--types',
    'node',
  ];
  const files = ['diagnose.mjs', 'compare.mjs', 'typed-rows.mjs'].map(name => path.join(examples, name));
  const checked = spawnSync(process.execPath, [tsc, '--ignoreConfig', ...options, ...files], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  assert.equal(checked.status, 0, checked.stdout);
});

test('a plugin adds to every command by the contracts of what is built in', async () => {
  const plugin = path.join(examples, 'plugin.mjs');
  const run = (...args: string[]) => runStepscope([...args, '--plugin', plugin]);
  const longest = await runStepscope([
    'analyze',
    graph,
    '--only',
    'longest-step',
    '--json',
    '--plugin',
    plugin,
  ]);
  assert.equal(longest.status, 0, longest.err);
  const steps = answerIn((await runStepscope(['steps', graph, '--json'])).out).analyses.iterations.rows;
  assert.equal(
    answerIn(longest.out).analyses['longest-step'].rows[0].wallNs,
    Math.max(...steps.map((row: { wallNs: number }) => row.wallNs)),
  );
  const why = await runStepscope(['analyze', '--why', 'my_gemm_kernel', '--json']);
  assert.equal(answerIn(why.out).class.family, 'gemm');
  // A second time its ids are taken: named, and the rest goes on.
  const again = await run('analyze', graph, '--only', 'iterations', '--json');
  assert.equal(again.status, 0);
  assert.match(again.err, /note: plugin longest: analysis longest-step failed: its id is taken/);
});

test('a plugin that throws is named, and the rest goes on', async () => {
  const bad = put(
    'bad.mjs',
    `export default ({ field, keyField }) => ({
      name: 'bad',
      analyses: [{ id: 'throws', fields: { key: keyField }, compute() { throw new Error('boom 1'); } }, { id: 'No Id' }],
      findings: [{ id: 'throws-too', look() { throw new Error('boom 2'); } }],
      importers: [{ id: 'odd', label: 'odd', endings: ['.odd'], recognizes() { throw new Error('boom 3'); }, import() {} }],
      kernelRules: [{ family: 'no-such', pattern: /x/ }],
      markers: [{ pattern: 'text' }],
    });`,
  );
  const answer = await runStepscope([
    'analyze',
    graph,
    '--only',
    'findings,throws',
    '--json',
    '--plugin',
    bad,
  ]);
  assert.equal(answer.status, 0, answer.err);
  const { analyses, notes } = answerIn(answer.out);
  assert.deepEqual(
    [analyses.findings.status, analyses.throws.status, analyses.throws.message],
    ['ok', 'failed', 'plugin bad: boom 1'],
  );
  const said = notes
    .filter((note: { code: string }) => note.code === 'plugin-failed')
    .map(({ text, example }: Record<string, string>) => `${text}: ${example}`);
  for (const expected of [
    /bad: analysis throws: boom 1/,
    /bad: finding throws-too: boom 2/,
    /bad: importer odd: boom 3/,
    /analysis No Id: its id is not of the form/,
    /kernel rule: there is no family "no-such"/,
    /marker: its pattern is not a regular/,
  ])
    assert.ok(
      said.some((text: string) => expected.test(text)),
      `${expected} in ${said.join('\n')}`,
    );
  for (const [name, text, reason] of [
    ['syntax.mjs', 'export default {', /Unexpected/],
    ['throwing.mjs', "throw new Error('at once');", /at once/],
    ['empty.mjs', 'export const x = 1;', /neither a plugin nor a function/],
    ['other.mjs', "export default { name: 'x', anything: [] };", /unknown part "anything"/],
  ] as const) {
    const ran = await runStepscope(['info', graph, '--json', '--plugin', put(name, text)]);
    assert.equal(ran.status, 0, name);
    assert.match(ran.err, reason, name);
  }
  const missing = await runStepscope(['info', graph, '--plugin', path.join(folder, 'no.mjs')]);
  assert.deepEqual([missing.status, missing.out], [3, '']);
});

test('a configuration counts in the folder one starts in, and nowhere else', () => {
  const bin = path.join(projectRoot, 'bin/stepscope');
  const mark = path.join(folder, 'ran');
  put(
    'stepscope.config.js',
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, ''); export default { name: 'mine' };`,
  );
  put('package.json', '{"type":"module"}');
  const inner = mkdtempSync(path.join(folder, 'inner-'));
  const start = (cwd: string, ...args: string[]) =>
    spawnSync(process.execPath, [bin, ...args], { cwd, encoding: 'utf8' });
  const ran = () => readdirSync(folder).includes('ran');
  // Neither from above, nor from the folder of a file.
  assert.equal(start(inner, 'analyze', '--list').status, 0);
  assert.equal(start(projectRoot, 'bench', folder).status, 3);
  assert.equal(start(folder, 'analyze', '--list', '--no-config').status, 0);
  assert.ok(!ran());
  assert.equal(start(folder, 'analyze', '--list').status, 0);
  assert.ok(ran());
  chmodSync(path.join(folder, 'stepscope.config.js'), 0o666);
  assert.match(start(folder, 'analyze', '--list').stderr, /can be written by everyone, and is not run/);
  rmSync(path.join(folder, 'stepscope.config.js'));
  put(
    'stepscope.config.json',
    '{"rules": [{"family": "attention", "match": "my_attn"}], "markers": ["^x (?<iteration>\\\\d+)"]}',
  );
  assert.match(start(folder, 'analyze', '--why', 'my_attn_fwd').stdout, /attention/);
  put('stepscope.config.json', '{"rulez": []}');
  assert.match(start(folder, 'analyze', '--list').stderr, /has an unknown key "rulez"/);
});
