/** The package as published: packed, installed into an empty folder, run from there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { capturePath, projectRoot } from '../src/testing/captures.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function npm(args: string[], cwd: string) {
  const result = spawnSync('npm', args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' });
  assert.equal(result.status, 0, `npm ${args.join(' ')}\n${result.stdout}\n${result.stderr}`);
  return result.stdout;
}

test('npm pack gives a package that runs from its tarball', () => {
  // The build is here already; packing must not start another one under the feet of the other tests.
  const [packed] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], projectRoot),
  );
  const names = packed.files.map((file: { path: string }) => file.path) as string[];
  for (const needed of [
    'agent/_stepscope_start.py',
    'agent/pyproject.toml',
    'agent/sitecustomize.py',
    'agent/stepscope_agent/__init__.py',
    'bin/stepscope',
    'dist/src/cli/main.js',
    'dist/web/index.html',
    'docs/metrics.md',
    'LICENSE',
    'README.md',
  ]) {
    assert.ok(names.includes(needed), `${needed} is missing from the package`);
  }
  assert.deepEqual(
    names.filter(name => /^agent\/(tests|gpu|dist|build)\/|__pycache__|_cache\/|egg-info/.test(name)),
    [],
  );
  assert.ok(
    !names.some(name => /^(dist\/)?(src\/|agent\/)?test(s|ing)?\//.test(name)),
    'tests are in the package',
  );
  const home = path.join(folder, 'home');
  spawnSync('mkdir', [home]);
  writeFileSync(path.join(home, 'package.json'), '{"name":"home","version":"1.0.0","private":true}');
  npm(['install', '--offline', '--no-audit', '--no-fund', path.join(folder, packed.filename)], home);
  const out = npm(['exec', '--offline', '--', 'stepscope', 'info', capturePath('graph')], home);
  assert.match(out, /recorded node by node/);
});
