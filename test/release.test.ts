/** `npm run release`, dry: everything is made in a copy, and nothing changes here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

const release = (...args: string[]) =>
  spawnSync(process.execPath, [path.join(projectRoot, 'scripts/release.mjs'), ...args], { encoding: 'utf8' });
const inProject = (name: string) => readFileSync(path.join(projectRoot, name), 'utf8');
const { version } = JSON.parse(inProject('package.json')) as { version: string };
const [major, minor, patch] = version.split('.').map(Number);

test('a dry run makes tarball and wheels of the next version, and leaves the project alone', {
  skip: lacks('git', 'wheel'),
}, () => {
  const names = [
    ...['package.json', 'package-lock.json', 'CHANGELOG.md'],
    ...['agent/stepscope_agent/__init__.py', 'python/stepscope/__init__.py'],
  ];
  const before = names.map(inProject);
  const next = `${major}.${minor + 1}.0`;
  const { status, stdout, stderr } = release(next, '--dry-run', '--skip-tests', '--skip-build');
  assert.equal(status, 0, stderr);
  assert.match(stdout, new RegExp(`stepscope-${next}\\.tgz +\\d`));
  assert.match(stdout, new RegExp(`stepscope_agent-${next}-py3-none-any\\.whl +\\d`));
  assert.match(stdout, new RegExp(`stepscope-${next}-py3-none-any\\.whl +\\d`));
  assert.match(stdout, new RegExp(`would be committed and tagged as v${next}`));
  assert.deepEqual(names.map(inProject), before);
});

test('what is no next version is refused in two lines', () => {
  for (const [args, message] of [
    [[], /Name one version/],
    [[version], /does not come after/],
    [['0.0.1'], /does not come after/],
    [[`${major}.${minor}.${patch + 1}-beta`], /is not a version/],
    [['1.0.0', '--dry'], /Unknown option --dry/],
    [['1.0.0', '--skip-build'], /built from its own sources/],
  ] as const) {
    const { status, stderr } = release(...args);
    assert.equal(status, 1);
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 2, stderr);
  }
});

test('the changelog has a section for this version, and one for the next', () => {
  const sections = [...inProject('CHANGELOG.md').matchAll(/^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$/gm)];
  assert.deepEqual([sections[0][1], sections[1][1]], ['Unreleased', version]);
  assert.ok(sections.slice(1).every(([, , date]) => date !== undefined));
});
