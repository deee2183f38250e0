/** docs/commands.md is the commands' own help, all of it: UPDATE_GOLDEN=1 writes it anew. */
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
