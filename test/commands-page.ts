/** docs/commands.md, made from the data that help is made from. */
import type { Command } from '../src/cli/command.js';
import { optionLines, usageLines } from '../src/cli/help.js';

export function commandsPage(commands: readonly Command[]): string {
  const list = commands.map(({ name, summary }) => `| [\`${name}\`](#${anchor(name)}) | ${cell(summary)} |`);
  return `# Commands

This page is made from the commands' own help. \`stepscope COMMAND --help\` says the same. \`stepscope FILE…\` means \`stepscope analyze FILE…\`. \`stepscope completion bash\` prints a script that completes commands and options (also for zsh and fish).

Results come as a table for the terminal unless another format is asked for, with its own option (\`--json\`) or by name (\`--format json\`). \`-o FILE\` writes to a file, and its ending chooses the format where none is asked for. JSON answers have one form, and options that ask for less of them: [json.md](json.md).

Every command also takes \`--plugin FILE\` (analyses, findings, kernel rules, importers and markers of your own: [plugins.md](plugins.md)), \`--no-config\` (leave out \`stepscope.config.js\` or \`.json\` of the current folder) and \`--no-cache\` (keep nothing of large files: [security.md](security.md)).

| Command | What it does |
|---|---|
${list.join('\n')}

${commands.map(commandSection).join('\n')}`;
}

function commandSection(command: Command): string {
  const rows = optionLines(command).map(
    ([spelling, meaning]) => `| \`${cell(spelling)}\` | ${cell(meaning)} |`,
  );
  const formats = command.formats?.length ? `\nFormats: ${command.formats.join(', ')}.\n` : '';
  const examples = command.examples.map(([line, meaning]) => `# ${meaning}\n${line}`);
  return `## ${command.name}

${command.summary}

\`\`\`
${usageLines(command).join('\n')}
\`\`\`
${formats}
| Option | Meaning |
|---|---|
${rows.join('\n')}

\`\`\`bash
${examples.join('\n')}
\`\`\`
`;
}

const anchor = (name: string) => name.replaceAll(' ', '-');
const cell = (text: string) => text.replaceAll('|', '\\|');
