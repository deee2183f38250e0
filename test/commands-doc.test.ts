/** What users read first: docs/commands.md is the commands' own help (UPDATE_GOLDEN=1 writes it anew); links lead somewhere. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { allCommands } from '../src/cli/registry.js';
import { projectRoot } from '../src/testing/captures.js';
import { assertSameText } from '../src/testing/golden.js';
import { commandsPage } from './commands-page.js';
import { manPages } from './man-pages.js';

test('docs/commands.md is what the commands say of themselves', async () => {
  assertSameText(path.join(projectRoot, 'docs/commands.md'), commandsPage(await allCommands()));
});

test('manual pages are what the commands say of themselves, one for each, and groff takes them', async () => {
  const folder = path.join(projectRoot, 'docs/man');
  const made = manPages(await allCommands());
  for (const [name, page] of made) assertSameText(path.join(folder, name), page);
  assert.deepEqual(readdirSync(folder).sort(), [...made.keys()].sort());
  const groff = spawnSync(
    'groff',
    ['-man', '-Tutf8', '-ww', '-z', ...[...made.keys()].map(name => path.join(folder, name))],
    {
      encoding: 'utf8',
    },
  );
  // Machines without groff show the pages in other programs.
  if (!groff.error) assert.equal(groff.stderr, '');
});

const pages = ['README.md', 'CHANGELOG.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'agent/README.md'].concat(
  readdirSync(path.join(projectRoot, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
);

test('the README is short, and every link in the documents leads to a file that is there', () => {
  const read = (name: string) => readFileSync(path.join(projectRoot, name), 'utf8');
  assert.ok(read('README.md').split('\n').length <= 121, 'the README has more than 120 lines');
  const broken = pages.flatMap(page =>
    [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target)
      .filter(target => !/^[a-z]+:/.test(target))
      .filter(target => !existsSync(path.join(projectRoot, path.dirname(page), target.replace(/#.*/, ''))))
      .map(target => `${page}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test('screens in the documents are what the commands print now', () => {
  const read = (name: string) => readFileSync(path.join(projectRoot, name), 'utf8');
  const plain = (text: string) => text.replace(/\s+/g, ' ').trim();
  for (const [page, command, golden] of [
    ['README.md', '$ stepscope analyze profile.sqlite.gz', 'analyze-eager.txt'],
    ['docs/guide.md', '$ stepscope compare eager/profile.sqlite', 'compare-eager-graph.txt'],
    ['docs/guide.md', '$ stepscope whatif eager/profile.sqlite', 'whatif-eager-graphs.txt'],
    ['docs/guide.md', '$ stepscope host eager/kineto.json', 'host-eager.txt'],
    ['docs/guide.md', '$ stepscope frameworks docs/examples', 'frameworks-bundled.txt'],
  ]) {
    const screen = read(page)
      .split('```')
      .find(block => block.trim().startsWith(command));
    assert.ok(screen, `${page} shows no ${command}`);
    const printed = plain(read(`test/golden/${golden}`));
    const [, ...lines] = screen.trim().split('\n');
    const stale = lines.map(plain).filter(line => line !== '…' && !printed.includes(line));
    assert.deepEqual(stale, [], page);
  }
});
