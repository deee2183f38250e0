/** Manual pages (man stepscope, man stepscope-analyze), made from the data that help is made from. */
import type { Command } from '../src/cli/command.js';
import { optionLines, usageLines } from '../src/cli/help.js';

/** By file name, as docs/man holds them. */
export function manPages(commands: readonly Command[]): Map<string, string> {
  const pages = new Map<string, string>([['stepscope.1', overviewPage(commands)]]);
  for (const command of commands) pages.set(`${pageName(command)}.1`, commandPage(command));
  return pages;
}

const pageName = ({ name }: Pick<Command, 'name'>) => `stepscope-${name.replaceAll(' ', '-')}`;

/** Text of a page: a backslash and a dash mean something to roff, and so does a dot at the start of a line. */
const text = (words: string) =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    // What is not ASCII by number: not every roff reads UTF-8.
    .replaceAll(
      /[^\p{ASCII}]/gu,
      letter => `\\[u${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^([.'])/, '\\&$1');

const head = (name: string) => `.TH "${name.toUpperCase()}" "1" "" "Stepscope" "Stepscope Manual"`;

function overviewPage(commands: readonly Command[]): string {
  const listed = commands.flatMap(command => [
    '.TP',
    `.BR ${text(pageName(command))} (1)`,
    text(command.summary),
  ]);
  return `${[
    head('stepscope'),
    '.SH NAME',
    'stepscope \\- where every microsecond of an LLM inference step goes, why, and what to do',
    '.SH SYNOPSIS',
    '.B stepscope',
    '.I COMMAND FILE',
    '[options]',
    '.br',
    '.B stepscope',
    '.I FILE',
    '(the same as stepscope analyze FILE)',
    '.SH COMMANDS',
    ...listed,
    '.SH OPTIONS OF EVERY COMMAND',
    ...[
      '.TP',
      `.B ${text('--plugin FILE')}`,
      'add analyses, findings, kernel rules, importers and markers of your own',
    ],
    ...[
      '.TP',
      `.B ${text('--no-config')}`,
      text('leave out stepscope.config.js or .json of the current folder'),
    ],
    ...['.TP', `.B ${text('--no-cache')}`, 'decode large files again, and keep nothing of them'],
    '.SH EXIT STATUS',
    text('0: done. Other values are listed in docs/json.md; those of check are its verdict.'),
  ].join('\n')}\n`;
}

function commandPage(command: Command): string {
  const options = optionLines(command).flatMap(([spelling, meaning]) =>
    spelling === '' ? ['.PP', text(meaning)] : ['.TP', `.B ${text(quoted(spelling))}`, text(meaning)],
  );
  const examples = command.examples.flatMap(([line, meaning]) => [
    '.PP',
    text(`${meaning}:`),
    '.PP',
    '.RS 4',
    '.nf',
    text(line),
    '.fi',
    '.RE',
  ]);
  return `${[
    head(pageName(command)),
    '.SH NAME',
    `${text(pageName(command))} \\- ${text(command.summary)}`,
    '.SH SYNOPSIS',
    ...usageLines(command).flatMap((line, i) => [...(i > 0 ? ['.br'] : []), text(line)]),
    '.SH OPTIONS',
    ...options,
    '.SH EXAMPLES',
    ...examples,
    '.SH SEE ALSO',
    `.BR stepscope (1)`,
  ].join('\n')}\n`;
}

/** A macro takes words apart; in quotes they stay together. */
const quoted = (words: string) => (words.includes(' ') ? `"${words.replaceAll('"', '')}"` : words);
