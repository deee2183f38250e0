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

/** Of the npm package: what is for people, for compilers or for the library. The bundle has all that runs. */
const LEFT_OUT = /^dist\/(src|types)\/|^docs\/(screens|evidence)\/|^CHANGELOG\.md$|\.ipynb$/;
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

/** What `npm pack` takes: `files` of package.json, less what its lines with `!` name. npm itself takes seconds to say so. */
function packedFiles() {
  const { files } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const isPattern = text =>
    new RegExp(
      `^${text
        .replaceAll('.', '\\.')
        .replaceAll('**/', '(.+/)?')
        .replace(/\*(?!\))/g, '[^/]*')}(/|$)`,
    );
  const unwanted = files.filter(name => name.startsWith('!')).map(name => isPattern(name.slice(1)));
  const wanted = files.filter(name => !name.startsWith('!'));
  return ['package.json', 'README.md', 'LICENSE', ...wanted]
    .flatMap(name =>
      fs.statSync(path.join(root, name)).isFile()
        ? [name]
        : filesIn(path.join(root, name)).map(inside => `${name}/${inside}`),
    )
    .filter(name => !unwanted.some(pattern => pattern.test(name)));
}

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

for (const name of packedFiles()) if (!LEFT_OUT.test(name)) copy(name, `stepscope/engine/${name}`);

const { packages } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
for (const [place, { dev }] of Object.entries(packages)) {
  if (place === '' || dev || NATIVE.test(place) || !fs.existsSync(path.join(root, place))) continue;
  for (const name of filesIn(path.join(root, place)))
    if (!NOT_RUN.test(name)) copy(`${place}/${name}`, `stepscope/engine/${place}/${name}`);
}

fs.mkdirSync(out, { recursive: true });
run(python, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', path.resolve(out)], stage);
