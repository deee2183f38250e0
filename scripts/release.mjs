// Makes a release: checks, changelog, the version in every place, tarball, wheels and checksums, a commit and a tag.
//
//   npm run release -- 0.2.0              in a clean working tree; does not publish
//   npm run release -- 0.2.0 --dry-run    the same in a temporary copy
//   --skip-tests                          without the test run, if it has just passed
//   --skip-build                          of a dry run: with what was built last
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
const options = new Set(words.filter(word => word.startsWith('--')));
const [version, ...more] = words.filter(word => !word.startsWith('--'));
const isDry = options.has('--dry-run');

function fail(what, hint) {
  process.stderr.write(`release: ${what}\n${hint}\n`);
  process.exit(1);
}

const OPTIONS = ['--dry-run', '--skip-tests', '--skip-build'];
const unknown = [...options].find(option => !OPTIONS.includes(option));
if (unknown) fail(`Unknown option ${unknown}.`, `Options: ${OPTIONS.join(', ')}`);
if (options.has('--skip-build') && !isDry)
  fail('A release is built from its own sources.', 'Use --skip-build only with --dry-run.');
if (!version || more.length > 0) fail('Name one version.', 'Example: npm run release -- 0.2.0 --dry-run');

const git = (...args) => spawnSync('git', args, { cwd: project, encoding: 'utf8' }).stdout;

/** A copy of all files that git tracks or would add; its build uses the packages installed here. */
function copyOfProject() {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-release-'));
  process.on('exit', () => fs.rmSync(copy, { recursive: true, force: true }));
  for (const name of git('ls-files', '-co', '--exclude-standard', '-z').split('\0').filter(Boolean)) {
    if (name.startsWith('test/') || !fs.existsSync(path.join(project, name))) continue;
    fs.mkdirSync(path.dirname(path.join(copy, name)), { recursive: true });
    fs.copyFileSync(path.join(project, name), path.join(copy, name));
  }
  fs.symlinkSync(path.join(project, 'node_modules'), path.join(copy, 'node_modules'));
  if (options.has('--skip-build'))
    fs.cpSync(path.join(project, 'dist'), path.join(copy, 'dist'), {
      recursive: true,
      filter: name => name !== path.join(project, 'dist/test'),
    });
  return copy;
}

const root = isDry ? copyOfProject() : project;
const read = name => fs.readFileSync(path.join(root, name), 'utf8');
const write = (name, text) => fs.writeFileSync(path.join(root, name), text);
const say = text => process.stdout.write(`${text}\n`);

function run(command, args, { cwd = root, quiet = false } = {}) {
  const stdio = quiet ? ['ignore', 'pipe', 'inherit'] : 'inherit';
  const { status, error, stdout } = spawnSync(command, args, { cwd, stdio, encoding: 'utf8' });
  if (error || status !== 0)
    fail(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}.`, 'Nothing was tagged.');
  return stdout;
}

// --- checks ---
const current = JSON.parse(read('package.json')).version;
const numbers = text => /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number);
const [now, next] = [numbers(current), numbers(version)];
if (!next) fail(`${version} is not a version.`, 'Write three numbers: MAJOR.MINOR.PATCH, see semver.org');
const at = next.findIndex((number, i) => number !== now[i]);
if (at === -1 || next[at] < now[at])
  fail(`${version} does not come after ${current}.`, 'Raise one of the three numbers.');
if (!isDry && git('status', '--porcelain').trim() !== '')
  fail('The working tree has changes.', 'Commit or stash them, or preview a release with --dry-run.');
const changelog = read('CHANGELOG.md');
const unreleased = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[)/m.exec(changelog)?.[1].trim();
if (!unreleased) fail('CHANGELOG.md has nothing under [Unreleased].', 'Describe user-visible changes there.');
const python = [process.env.STEPSCOPE_PYTHON, path.join(project, '.test-tools/bin/python'), 'python3'].find(
  name => name && spawnSync(name, ['-c', 'import hatchling']).status === 0,
);
if (!python)
  fail('No Python with hatchling to build the wheels.', 'Run scripts/install-test-tools.sh to install one.');
if (!options.has('--skip-tests')) run('npm', ['test'], { cwd: project });

// --- update the version everywhere ---
const today = new Date().toISOString().slice(0, 10);
write(
  'CHANGELOG.md',
  changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${today}\n`),
);
for (const name of ['package.json', 'package-lock.json']) {
  const document = JSON.parse(read(name));
  document.version = version;
  if (document.packages) document.packages[''].version = version;
  write(name, `${JSON.stringify(document, null, 2)}\n`);
}
for (const name of ['agent/stepscope_agent/__init__.py', 'python/stepscope/__init__.py'])
  write(name, read(name).replace(/^__version__ = ".*"$/m, `__version__ = "${version}"`));

// --- tarball, wheels, checksums ---
const out = path.join(root, 'release');
fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out);
if (!options.has('--skip-build')) run('npm', ['run', 'build', '--silent']);
run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], { quiet: true });
run(python, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', out], {
  cwd: path.join(root, 'agent'),
  quiet: true,
});
process.env.STEPSCOPE_PYTHON = python;
run(process.execPath, ['scripts/build-wheel.mjs', out], { quiet: true });
const files = fs.readdirSync(out).sort();
const sums = files.map(name => {
  const hash = createHash('sha256').update(fs.readFileSync(path.join(out, name)));
  return `${hash.digest('hex')}  ${name}`;
});
fs.writeFileSync(path.join(out, 'SHA256SUMS'), `${sums.join('\n')}\n`);
for (const name of files) {
  say(`  ${name}  ${(fs.statSync(path.join(out, name)).size / 1e6).toFixed(2)} MB`);
  if (!name.includes(`-${version}`))
    fail(`${name} does not contain ${version}.`, 'Update the version where it is missing.');
}

if (isDry) {
  say(`dry run: ${version} would be committed and tagged as v${version}. Its changes:\n\n${unreleased}`);
} else {
  run('git', ['commit', '-qam', `Release ${version}`]);
  run('git', ['tag', '-a', `v${version}`, '-m', `Stepscope ${version}`]);
  say(`release/ contains ${version}, committed and tagged as v${version}. To publish:`);
  say(`  git push --follow-tags`);
  say(`  npm publish release/${files.find(name => name.endsWith('.tgz'))}`);
  const wheels = files.filter(name => name.endsWith('.whl'));
  say(`  twine upload ${wheels.map(name => `release/${name}`).join(' ')}`);
}
