/** What commands say about themselves. */
import type { Command } from './command.js';
import type { Option } from './option.js';
import { options } from './options.js';
import { optionsOf } from './read-call.js';
import { version } from './version.js';

/** What the list of commands says of one. */
type Listed = Pick<Command, 'name' | 'summary'>;

/** `further`: commands whose name begins with this one's. */
export function helpText(command: Command, further: readonly Listed[] = []): string {
  const lines = optionLines(command);
  const width = Math.max(...lines.map(([spelling]) => spelling.length));
  const table = lines.map(([spelling, meaning]) => `  ${spelling.padEnd(width)}  ${meaning}`);
  const examples = command.examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  return `${command.summary}\n\nusage: ${usageLines(command).join('\n       ')}\n\noptions:\n${table.join('\n')}\n\nexamples:\n${examples.join('\n')}\n${further.length > 0 ? `\nsubcommands:\n${commandList(further)}\n` : ''}`;
}

/** The list of commands; of a group (`moe`, `baseline`) those of the group alone. */
export function overview(commands: readonly Listed[]): string {
  return `stepscope ${version()}: where every microsecond of an LLM inference step goes

usage: stepscope COMMAND FILE… [options]
       stepscope FILE…                   the same as stepscope analyze FILE…

commands:
${commandList(commands)}

options of every command:
  --plugin FILE  add analyses, findings, kernel rules, importers and markers of your own (docs/plugins.md)
  --no-config    leave out stepscope.config.js or .json of the current folder
  --no-cache     decode large files again, and keep nothing of them (docs/security.md)

examples:
  stepscope profile.sqlite
  stepscope compare before.sqlite after.sqlite
  stepscope steps profile.sqlite --sequence
  stepscope stats profile.sqlite -r cuda_gpu_kern_sum --csv

For more, run: stepscope COMMAND --help
`;
}

export function commandList(commands: readonly Listed[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n');
}

export const usageLines = ({ name, usage }: Command): string[] =>
  usage.map(line => `stepscope ${name}${line === '' ? '' : ` ${line}`}`);

/** Options and what else must be known, as help lists them. */
export function optionLines(command: Command): (readonly [spelling: string, meaning: string])[] {
  const own = optionsOf(command).map(name => {
    const option: Option<unknown> = options[name];
    const choices = option.choices ? `: ${option.choices.join(', ')}` : '';
    const formats = name === 'format' ? `: ${command.formats?.join(', ')}` : '';
    return [spellingOf(option), `${option.meaning}${choices}${formats}`] as const;
  });
  return [...(command.notes ?? []), ...own, ['-h, --help', 'show this help']];
}

const spellingOf = ({ flag, short, valueName }: Option<unknown>): string =>
  `${short ? `-${short}, ` : ''}--${flag}${valueName ? ` ${valueName}` : ''}`;
