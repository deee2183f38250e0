/** Finds the verb that words name, prints errors in two lines, gives the exit status. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { closestWord } from '../base/closest-word.js';
import { printable } from '../base/printable.js';
import { UserError } from '../base/user-error.js';
import { wrapLines } from '../report/terminal.js';
import type { Command } from './command.js';
import { commandList, helpText, overview } from './help.js';
import { mistakeOf } from './mistake-of.js';
import { commandElsewhere } from './other-words.js';
import type { Output } from './output.js';
import { readCall } from './read-call.js';
import { allCommands, commands, loadCommand } from './registry.js';
import { systemError } from './system-error.js';

const BUG = 1;

/** The command under way: some have exit codes of their own. */
let underWay: Command | undefined;

/** What standard output refused, in two lines; gives the exit code. */
export function sayRefused(error: Error, output: Output): number {
  const refused = systemError(error);
  if (!refused) throw error;
  output.err(`stepscope: the result could not be written: ${refused.message}\n${refused.hint}\n`);
  return underWay?.failures?.mistake ?? refused.exitCode;
}

export async function dispatch(given: readonly string[], output: Output): Promise<number> {
  let command: Command | undefined;
  try {
    const { words: args, plugins, config } = await withoutPlugins(given);
    const [first, ...others] = args;
    const asksHelp = first === 'help' || wantsHelp(args);
    const words = first === 'help' ? others : args;
    if (words.length === 0 || words[0] === '--help' || words[0] === '-h') {
      output.out(wrapLines(overview(listed(Object.keys(commands))), output.width));
      return 0;
    }
    const name = commandOf(words, asksHelp);
    if (name === undefined) {
      const group = commandList(listed(inGroup(words[0])));
      output.out(`commands:\n${group}\n\nFor more, run: stepscope ${words[0]} COMMAND --help\n`);
      return 0;
    }
    if (plugins.length > 0 || config !== undefined)
      await (await import('./plugins-of.js')).installPlugins(plugins, config, output);
    command = await loadCommand(name);
    underWay = command;
    if (asksHelp) {
      output.out(wrapLines(helpText(command, listed(inGroup(name))), output.width));
      return 0;
    }
    // A file alone is to be analyzed: then no word of it names a command.
    const own = words[0] === name.split(' ')[0] ? words.slice(name.split(' ').length) : words;
    return await command.run(readCall(command, own, output), allCommands);
  } catch (error) {
    output.clearProgress();
    const mistake = mistakeOf(error);
    if (mistake) {
      const lines = `stepscope: ${printable(mistake.message)}\n${printable(mistake.hint)}\n`;
      output.err(wrapLines(lines, output.errorWidth ?? Infinity));
      return command?.failures?.mistake ?? mistake.exitCode;
    }
    // Left to Node, it would be shown with the line it comes from: a hundred kilobytes of the bundle.
    const { stack = String(error) } = error as Error;
    output.err(`stepscope: internal error (this is a bug): ${stack}\n`);
    return command?.failures?.bug ?? BUG;
  }
}

/** Options that every command takes, wherever they stand: --plugin FILE, --no-config, --no-cache. */
async function withoutPlugins(
  args: readonly string[],
): Promise<{ words: string[]; plugins: string[]; config?: string }> {
  const border = args.indexOf('--');
  const own = border < 0 ? args : args.slice(0, border);
  const plugins: string[] = [];
  let takesConfig = process.env.STEPSCOPE_NO_CONFIG === undefined;
  const words = own.filter((word, i) => {
    if (own[i - 1] === '--plugin') return false;
    const joined = /^--plugin=(.+)$/s.exec(word)?.[1];
    const file = joined ?? (word === '--plugin' ? own[i + 1] : undefined);
    if (word === '--plugin' && file === undefined)
      throw new UserError('usage', '--plugin needs a file.', 'For example: --plugin ./my-analyses.js');
    if (file !== undefined) plugins.push(file);
    if (word === '--no-config') takesConfig = false;
    if (word === '--no-cache') process.env.STEPSCOPE_NO_CACHE = '1';
    return file === undefined && word !== '--no-config' && word !== '--no-cache';
  });
  const rest = border < 0 ? [] : args.slice(border);
  const config = takesConfig ? configHere() : undefined;
  return { words: [...words, ...rest], plugins, ...(config ? { config } : {}) };
}

/** In the folder one started in, and in no other. */
const configHere = (): string | undefined =>
  ['stepscope.config.js', 'stepscope.config.mjs', 'stepscope.config.json']
    .map(name => path.join(process.cwd(), name))
    .find(file => fs.existsSync(file));

/** What follows `--` is another program's: its --help is not ours. */
function wantsHelp(args: readonly string[]): boolean {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return own.includes('--help') || own.includes('-h');
}

const isKnown = (name: string): boolean => Object.hasOwn(commands, name);
const inGroup = (word: string): string[] => Object.keys(commands).filter(name => name.startsWith(`${word} `));

/** The command the words begin with; undefined where they name a group and ask what is in it. */
function commandOf([first, second = '']: readonly string[], asksHelp: boolean): string | undefined {
  if (isKnown(`${first} ${second}`)) return `${first} ${second}`;
  if (isKnown(first)) return first;
  const group = inGroup(first);
  if (group.length > 0) {
    if (asksHelp) return undefined;
    throw new UserError(
      'usage',
      second === '' || second.startsWith('-')
        ? `No ${first} command was given.`
        : `Unknown command ${JSON.stringify(`${first} ${second}`)}.`,
      `Use one of: ${group.map(name => `stepscope ${name}`).join(', ')}`,
    );
  }
  if (fs.existsSync(first)) return 'analyze';
  const elsewhere = commandElsewhere(first);
  const meant = closestWord(first, [...new Set(Object.keys(commands).map(name => name.split(' ')[0]))]);
  throw new UserError(
    'usage',
    `${JSON.stringify(first)} is neither a command nor a file.`,
    elsewhere !== undefined
      ? `${elsewhere} stepscope --help lists the commands.`
      : meant === undefined
        ? 'stepscope --help lists the commands.'
        : `Did you mean ${meant}? stepscope --help lists the commands.`,
  );
}

const listed = (names: readonly string[]) => names.map(name => ({ name, summary: commands[name].summary }));
