/** The package as published: packed, installed into an empty folder with an empty npm cache, run from there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}
let packed: Packed;

/** npm with a cache of its own: what this machine once installed must not decide whether the package installs. */
function npm(args: string[], cwd: string) {
  const env = { ...process.env, npm_config_cache: path.join(cwd, '.npm-cache') };
  const result = spawnSync('npm', args, { cwd, env, encoding: 'utf8', shell: process.platform === 'win32' });
  assert.equal(result.status, 0, `npm ${args.join(' ')}\n${result.stdout}\n${result.stderr}`);
  return result.stdout;
}

/** The build is here already; packing must not start another one under the feet of the other tests. */
function pack(...sources: string[]): readonly Packed[] {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...sources];
  return JSON.parse(npm(args, folder));
}

const NO_REGISTRY = ['--registry', 'http://127.0.0.1:9', '--fetch-retries', '0'];

function installInto(name: string, tarballs: readonly string[], options: readonly string[]): string {
  const home = path.join(folder, name);
  mkdirSync(home);
  writeFileSync(path.join(home, 'package.json'), '{"name":"home","version":"1.0.0","private":true}');
  const files = tarballs.map(file => path.join(folder, file));
  npm(['install', '--no-audit', '--no-fund', ...options, ...files], home);
  return home;
}

/** Installed once, the command runs without npm and without the project. */
function runsIn(home: string): void {
  const bin = path.join(home, 'node_modules/stepscope/bin/stepscope');
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'info', capturePath('graph')], {
    cwd: home,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /recorded node by node/);
  const listed = readdirSync(path.join(home, 'node_modules/.bin'));
  assert.ok(listed.includes(process.platform === 'win32' ? 'stepscope.cmd' : 'stepscope'));
}

before(() => {
  [packed] = pack(projectRoot);
});

test('the tarball holds what runs, and nothing that only tests use', () => {
  const names = packed.files.map(file => file.path);
  for (const needed of [
    'agent/_stepscope_start.py',
    'agent/pyproject.toml',
    'agent/sitecustomize.py',
    'agent/stepscope_agent/__init__.py',
    'bin/package.json',
    'bin/stepscope',
    'dist/cli/load-bundle.js',
    'dist/cli/package.json',
    'dist/src/cli/main.js',
    'dist/report/flame.css',
    'dist/report/flame.js',
    'dist/web/index.html',
    'docs/metrics.md',
    'LICENSE',
    'README.md',
  ]) {
    assert.ok(names.includes(needed), `${needed} is missing from the package`);
  }
  const forTests =
    /^(dist\/)?(src\/|agent\/)?test(s|ing)?\/|^agent\/(gpu|dist|build)\/|__pycache__|_cache\/|egg-info/;
  assert.deepEqual(
    names.filter(name => forTests.test(name)),
    [],
  );
});

test('the tarball installs without a registry, beside tarballs of its dependencies', () => {
  const tarballs = [packed, ...pack(...runtimeDependencies())].map(({ filename }) => filename);
  runsIn(installInto('without registry', tarballs, NO_REGISTRY));
});

test('the tarball installs from the registry', { skip: lacks('registry') }, () => {
  runsIn(installInto('from registry', [packed.filename], []));
});

/** Folders of all packages that run with Stepscope, dependencies of dependencies too, as `npm ci` laid them out. */
function runtimeDependencies(): string[] {
  const lock = JSON.parse(readFileSync(path.join(projectRoot, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages as Record<string, { dev?: boolean; optional?: boolean }>)
    .filter(([place, { dev, optional }]) => place !== '' && !dev && !optional)
    .map(([place]) => path.join(projectRoot, place));
}
