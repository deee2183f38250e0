// The whole test: format and lint, build (which is the type check), then every test file.
//
//   node test/run.mjs                  everything
//   node test/run.mjs cli moe          the test files whose name holds one of these
//   node test/run.mjs --no-skips       fails where a test was skipped without an excuse (test/closing-lines.ts)
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const require = createRequire(import.meta.url);
const node = process.execPath;

/** What it says comes in one piece, since others run at the same time. Ends everything where it fails. */
function step(title, ...args) {
  return new Promise((resolve, reject) => {
    const running = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] }).on('error', reject);
    const said = [];
    for (const stream of [running.stdout, running.stderr]) stream.on('data', chunk => said.push(chunk));
    running.on('close', status => {
      process.stdout.write(`\n${title}\n${Buffer.concat(said)}`);
      if (status !== 0) process.exit(status ?? 1);
      resolve();
    });
  });
}

/** A tool's own file: packages do not export their commands. */
const tool = (name, file) => path.join(path.dirname(require.resolve(`${name}/package.json`)), file);

const words = process.argv.slice(2);
const mayNotSkip = words.includes('--no-skips');
const only = words.filter(word => !word.startsWith('--'));
// By source, not by what an earlier build may have left in dist.
const files = readdirSync('test', { recursive: true })
  .filter(name => name.endsWith('.test.ts') && (only.length === 0 || only.some(part => name.includes(part))))
  .map(name => `dist/test/${name.replace(/ts$/, 'js')}`)
  .sort();
if (files.length === 0) {
  process.stderr.write(`no test file's name contains ${only.join(' or ')}\n`);
  process.exit(1);
}

const tsc = tool('typescript', 'bin/tsc');
const vite = tool('vite', 'bin/vite.js');
await step('build the scanner of events', 'scripts/build-wasm.mjs');
await Promise.all([
  // The command is made of what the compiler wrote.
  step('build and type check', tsc, '-p', '.').then(() =>
    step('build the command', vite, 'build', '--mode', 'cli'),
  ),
  step('format and lint', tool('@biomejs/biome', 'bin/biome'), 'check', '.'),
  step('build the declarations', 'scripts/build-types.mjs'),
  step('type check of the page', tsc, '-p', 'src/web'),
  step('build the page', vite, 'build').then(() =>
    step('build the page of reports', vite, 'build', '--mode', 'report'),
  ),
]);

const { v8Flags } = await import('../dist/src/cli/v8-flags.js');
// What tests open is not kept for the user.
process.env.STEPSCOPE_NO_CACHE = '1';
// Threads of small models wait for each other by spinning, which is all they do where others use the cores too.
process.env.OMP_NUM_THREADS ??= '1';
const folder = mkdtempSync(path.join(os.tmpdir(), 'stepscope-results-'));

/**
 * Files that wait for a moment in an engine they started, and miss it beside each other; and those that profile with the
 * real nsys, of which two stumble over each other's semaphores: one at a time.
 */
const WAITING = /test\/(capture-|left-behind|load|raw-stream)/;
/** Files that mostly wait for installers, schedulers and servers, however long those take. */
const INSTALLING = /test\/(agent-package|fleet-|package|python|release|store-results|view-cli)/;

/** The longest first, so that none of them runs alone at the end. */
const LONGEST = [
  ...[
    'e2e/view',
    'agent',
    'truth-table',
    'agent-transformers',
    'redact',
    'gate',
    'bad-sqlite',
    'kineto-json',
  ],
  ...['whatif', 'compare', 'import-promises', 'damage', 'report-html', 'external', 'frameworks'],
].map(name => `dist/test/${name}.test.js`);
const longestFirst = some => [
  ...LONGEST.filter(file => some.includes(file)),
  ...some.filter(file => !LONGEST.includes(file)),
];

function runTests(name, some, concurrency, niceness = 0) {
  const resultsFile = path.join(folder, name);
  if (some.length === 0) return Promise.resolve({ status: 0, results: [] });
  const args = [
    ...v8Flags(process.versions.v8, false),
    // Threads that collect garbage gain nothing where each core has a test of its own, and cost a tenth.
    '--single-threaded-gc',
    'test/run-files.mjs',
    resultsFile,
    String(concurrency),
    ...some,
  ];
  return new Promise((resolve, reject) => {
    const running = spawn(node, args, { stdio: 'inherit' }).on('error', reject);
    if (niceness) os.setPriority(running.pid, niceness);
    running.on('close', status =>
      resolve({
        status: status ?? 1,
        results: readFileSync(resultsFile, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line)),
      }),
    );
  });
}

process.stdout.write(`\ntests (${files.length} files)\n`);
const runs = await Promise.all([
  runTests(
    'working',
    longestFirst(files.filter(file => !WAITING.test(file) && !INSTALLING.test(file))),
    // More than there are cores: many start programs, and wait for them.
    5,
    // Those who wait for a moment must not miss it.
    10,
  ),
  runTests(
    'waiting',
    files.filter(file => WAITING.test(file)),
    1,
  ),
  runTests(
    'installing',
    files.filter(file => INSTALLING.test(file)),
    1,
    5,
  ),
]);
const first = runs.flatMap(run => run.results);
let status = Math.max(...runs.map(run => run.status));
let again = [];

/**
 * What starts engines and servers can miss a moment while others use every core. A few files that failed run once more,
 * alone: what fails then is broken, and what passes is named at the end. Many that failed are no chance.
 */
const FEW = 3;
/** A test that a helper defines is reported as the helper's: each file that uses it may be the one. */
function filesWith(reported) {
  if (reported.endsWith('.test.js')) return [reported];
  return files.filter(file => readFileSync(file, 'utf8').includes(path.basename(reported)));
}
const hasFailed = ({ outcome }) => outcome === 'failed';
const failed = [...new Set(first.filter(hasFailed).map(({ file }) => file))];
const isByTests = runs.every(run => run.status === 0 || run.results.some(hasFailed));
if (isByTests && failed.length > 0 && failed.length <= FEW && files.length > 1 && !failed.includes('')) {
  process.stdout.write(`\nonce more, alone: ${failed.map(file => path.basename(file)).join(', ')}\n`);
  const alone = await runTests('alone', [...new Set(failed.flatMap(filesWith))], 1);
  again = alone.results;
  status = alone.status;
}
rmSync(folder, { recursive: true });

const { closingLines } = await import('../dist/test/closing-lines.js');
const { lines, unexcused, failed: stillFailing } = closingLines(first, again);
process.stdout.write(`\n${lines.join('\n')}\n`);
if (stillFailing > 0) status = 1;
if (status === 0 && mayNotSkip && unexcused.length > 0) {
  process.stderr.write(`skipped without an excuse in test/closing-lines.ts: ${unexcused.join('; ')}\n`);
  process.exit(1);
}
process.exit(status);
