/** What users read first: docs/commands.md is the commands' own help (UPDATE_GOLDEN=1 writes it anew); links lead somewhere. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { helpText } from '../src/cli/command.js';
import { commands } from '../src/cli/main.js';
import { projectRoot } from '../src/testing/captures.js';
import { assertSameText } from '../src/testing/golden.js';

test('docs/commands.md says what --help says', async () => {
  const loaded = await Promise.all(Object.values(commands).map(load => load()));
  const list = loaded.map(({ name, summary }) => `- [\`${name}\`](#${name}): ${summary}`);
  const sections = loaded.map(command => `## ${command.name}\n\n\`\`\`\n${helpText(command)}\`\`\`\n`);
  const text = `# Commands\n\nThe help of every command, as \`stepscope COMMAND --help\` prints it.\n\n${list.join('\n')}\n\n${sections.join('\n')}`;
  assertSameText(path.join(projectRoot, 'docs/commands.md'), text);
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
