// Builds the Python package `stepscope`: the sources of python/, and in it the engine as the npm package has it, with the
// packages it runs with. The wheel is pure: DuckDB, which is native code, is left out; without it everything but
// questions in SQL works. The same sources give the same bytes.
//
//   node scripts/build-wheel.mjs FOLDER      into FOLDER, after npm run build
//
// STEPSCOPE_PYTHON: a Python with hatchling; else the one of scripts/install-test-tools.sh, else python3.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Of the npm package: what is for people or for compilers. */
const LEFT_OUT = /^(dist\/types|docs\/(screens|evidence))\/|^CHANGELOG\.md$|\.ipynb$/;
/** Of its dependencies: typings, maps, texts. Licenses stay. */
const NOT_RUN = /\.(map|md|ts|cts|mts|flow)$|^(test|tests|docs|\.[^/]+)(\/|$)/;
const NATIVE = /^node_modules\/(@duckdb\/|detect-libc$)/;

function fail(what, hint) {
  process.stderr.write(`build-wheel: ${what}\n${hint}\n`);
  process.exit(1);
}

const [out, ...more] = process.argv.slice(2);
if (!out || more.length > 0) fail('Name one folder.', 'Example: node scripts/build-wheel.mjs release');
if (!fs.existsSync(path.join(root, 'dist/cli/main.js'))) fail('Nothing is built yet.', 'Run: npm run build');
const python = [process.env.STEPSCOPE_PYTHON, path.join(root, '.test-tools/bin/python'), 'python3'].find(
  name => name && spawnSync(name, ['-c', 'import hatchling']).status === 0,
);
if (!python) fail('No Python with hatchling.', 'Run scripts/install-test-tools.sh to install one.');

function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    ...{ cwd, encoding: 'utf8', maxBuffer: 1e8 },
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (status !== 0) fail(`${command} ${args.join(' ')} failed.`, stderr ?? '');
  return stdout;
}

/** Names of the files below a folder, without those of packages in it. */
const filesIn = folder =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry =>
      path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'),
    )
    .filter(name => !name.startsWith('node_modules/'));

const stage = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-wheel-'));
process.on('exit', () => fs.rmSync(stage, { recursive: true, force: true }));
function copy(from, to) {
  const target = path.join(stage, to);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.copyFileSync(path.join(root, from), target);
  fs.chmodSync(target, 0o644);
}

for (const name of filesIn(path.join(root, 'python')))
  if (/^(pyproject\.toml|README\.md|stepscope\/[^/]+\.(py|typed))$/.test(name)) copy(`python/${name}`, name);
copy('LICENSE', 'LICENSE');

const [packed] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], root));
for (const { path: name } of packed.files) if (!LEFT_OUT.test(name)) copy(name, `stepscope/engine/${name}`);

const { packages } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
for (const [place, { dev }] of Object.entries(packages)) {
  if (place === '' || dev || NATIVE.test(place) || !fs.existsSync(path.join(root, place))) continue;
  for (const name of filesIn(path.join(root, place)))
    if (!NOT_RUN.test(name)) copy(`${place}/${name}`, `stepscope/engine/${place}/${name}`);
}

fs.mkdirSync(out, { recursive: true });
run(python, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', path.resolve(out)], stage);
