/** From words on a command line to typed values, by the table of options: unknown words, old spellings, formats, files. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { closestWord } from '../base/closest-word.js';
import { UserError } from '../base/user-error.js';
import { splitNsysWords } from '../capture/nsys-words.js';
import type { Shape } from '../report/shape-document.js';
import type { Call, Command, Verb } from './command.js';
import { type Destination, emit, extensions, type FormatId, formatIds } from './emit.js';
import type { Option } from './option.js';
import { type OptionName, options, type Values } from './options.js';
import { optionElsewhere } from './other-words.js';
import type { Output } from './output.js';
import { refuseExisting } from './write-result.js';

/** How much of the JSON; what any of them is given for is JSON. */
const shapeOptions = ['fields', 'limit', 'offset', 'budget', 'ndjson'] as const;

/** Whose call it is. */
type Called = Verb & Pick<Command, 'name'>;

/** The options of a command with those its formats bring along, in the order help shows them. */
export function optionsOf({ options: own, formats = [], overwrites }: Verb): OptionName[] {
  const named = formats.filter(format => format !== 'table');
  const flags = new Set(own.map(name => options[name].flag));
  const shared: OptionName[] = named.length === 0 ? [] : [...named, 'format'];
  if (named.includes('json')) shared.push(...shapeOptions);
  // Some commands write something else with -o.
  if (formats.includes('table')) shared.push('wide');
  if (formats.length > 0 && !flags.has('output'))
    shared.push('output', ...(overwrites ? [] : (['force'] as const)));
  return [...own, ...shared.filter(name => !flags.has(options[name].flag))];
}

export function readCall(command: Called, args: readonly string[], output: Output): Call {
  const border = command.takesProgram ? args.indexOf('--') : -1;
  const own = border < 0 ? args : args.slice(0, border);
  const program = border < 0 ? [] : args.slice(border + 1);
  const notes: string[] = [];
  const note = (was: string, now: string) =>
    notes.push(`${was} is now ${now}; the next version removes the old spelling.`);
  const taken = optionsOf(command);
  const { own: ours, nsys: nsysOptions } = command.takesNsysOptions
    ? splitNsysWords(joinedNsysArgs(own), flagsOf(taken))
    : { own, nsys: [] };
  const words = command.formats?.includes('html') ? withoutOldHtml(ours, note) : ours;
  const { texts, given } = parse(command, taken, words);
  const values = Object.fromEntries(
    taken.map(name => [name, readOption(options[name], texts, taken, note)]),
  ) as Values<OptionName>;
  const destination = {
    ...destinationOf(command, values),
    given: [...given, ...filesNamed(taken, texts)],
  };
  const { file, format, force } = destination;
  // A prefix may well be the name of something that is there.
  const isPrefix = taken.includes('outputFiles') && !file?.endsWith(`.${extensions[format]}`);
  if (file !== undefined && !force && !isPrefix) refuseExisting(file);
  for (const line of notes) output.err(`stepscope: ${line}\n`);
  return {
    ...{ values, given, program, nsysOptions, destination, output },
    emit: result => emit(result, destination, output),
  };
}

/** Its value is options, which the parser would take for options of ours. */
const joinedNsysArgs = (words: readonly string[]): string[] =>
  words.flatMap((word, i) => {
    if (words[i - 1] === '--nsys-args') return [];
    return word === '--nsys-args' && i + 1 < words.length ? [`${word}=${words[i + 1]}`] : [word];
  });

/** Every spelling, with dashes, and whether a value follows it. */
function flagsOf(taken: readonly OptionName[]): ReadonlyMap<string, boolean> {
  const flags = new Map<string, boolean>([
    ['--help', false],
    ['-h', false],
  ]);
  for (const name of taken) {
    const { flag, short, valueName }: Option<unknown> = options[name];
    for (const spelling of [`--${flag}`, ...(short ? [`-${short}`] : [])])
      flags.set(spelling, valueName !== undefined);
  }
  return flags;
}

type Texts = ReadonlyMap<string, readonly string[]>;

/** Every text that was given for a flag, old spellings among them. */
function parse(
  command: Called,
  taken: readonly OptionName[],
  args: readonly string[],
): { texts: Texts; given: readonly string[] } {
  const config: NonNullable<ParseArgsConfig['options']> = {};
  for (const name of taken) {
    const { flag, short, valueName, was }: Option<unknown> = options[name];
    const type = valueName === undefined ? 'boolean' : 'string';
    for (const old of was) config[old.flag] ??= { type, multiple: true };
    config[flag] = { type, multiple: true, ...(short ? { short } : {}) };
  }
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: config, allowPositionals: true });
    const texts = Object.entries(values).map(
      ([flag, all]) => [flag, [all ?? []].flat().map(String)] as const,
    );
    return { texts: new Map(texts), given: positionals };
  } catch (error) {
    throw usageError(command, Object.keys(config), error as Error);
  }
}

function usageError({ name, formats = [] }: Called, flags: readonly string[], error: Error): UserError {
  const [reason] = error.message.split(/\. (?:To specify|Did you)|\n/);
  const unknown = /^Unknown option '--([^']+)'/.exec(reason)?.[1];
  const format = formatIds.find(id => id === unknown && id !== 'table');
  if (format)
    return new UserError(
      'usage',
      `stepscope ${name} does not support --${format}.`,
      formats.length > 0 ? `Supported formats: ${formats.join(', ')}` : 'It has a single output format.',
    );
  const elsewhere = unknown === undefined ? undefined : optionElsewhere(unknown, flags);
  if (elsewhere !== undefined)
    return new UserError(
      'usage',
      `${reason.replace(/\.$/, '')}.`,
      `Use ${elsewhere} See: stepscope ${name} --help`,
    );
  const meant = unknown === undefined ? undefined : closestWord(unknown, flags);
  const help = `See: stepscope ${name} --help`;
  return new UserError(
    'usage',
    `${reason.replace(/\.$/, '')}.`,
    meant === undefined ? help : `Did you mean --${meant}? ${help}`,
  );
}

function readOption(
  option: Option<unknown>,
  texts: Texts,
  taken: readonly OptionName[],
  note: (was: string, now: string) => void,
): unknown {
  const valued = option.valueName !== undefined;
  const now = (text: string) => (valued ? `--${option.flag} ${text}` : `--${option.flag}`);
  const found: string[] = [];
  const take = (flag: string, text: string) => {
    const today = option.renewed?.(text) ?? text;
    if (flag !== option.flag || today !== text) note(valued ? `--${flag} ${text}` : `--${flag}`, now(today));
    found.push(today);
  };
  for (const { flag, when } of option.was)
    for (const text of texts.get(flag) ?? []) if (!when || when.test(text)) take(flag, text);
  for (const text of texts.get(option.flag) ?? [])
    if (!isOldOfAnother(option, text, taken)) take(option.flag, text);
  return option.read(found);
}

/** `--output 128` of a dataset was a length before it was a file. */
const isOldOfAnother = (option: Option<unknown>, text: string, taken: readonly OptionName[]): boolean =>
  taken.some(name => {
    const other: Option<unknown> = options[name];
    return other !== option && other.was.some(({ flag, when }) => flag === option.flag && when?.test(text));
  });

/** `--html FILE` was the one format that named its file. */
function withoutOldHtml(args: readonly string[], note: (was: string, now: string) => void): string[] {
  const isPage = (word: string | undefined): word is string => /\.html?$/i.test(word ?? '');
  return args.flatMap((word, i) => {
    const joined = /^--html=(.+)$/.exec(word)?.[1];
    if (args[i - 1] === '--html' && isPage(word)) return [];
    const file = joined ?? (word === '--html' && isPage(args[i + 1]) ? args[i + 1] : undefined);
    if (file === undefined) return [word];
    note(`--html ${file}`, `--html -o ${file}`);
    return ['--html', '-o', file];
  });
}

function destinationOf(command: Called, values: Values<OptionName>): Destination {
  const { formats = ['table'] } = command;
  const taken = optionsOf(command);
  const force = command.overwrites ?? (taken.includes('force') && values.force);
  const file = taken.includes('output')
    ? values.output
    : taken.includes('outputFiles')
      ? values.outputFiles
      : undefined;
  const switched = formats.filter(id => id !== 'table' && taken.includes(id) && values[id]);
  const named =
    taken.includes('format') && values.format !== undefined ? [formatNamed(values.format, formats)] : [];
  const shape = taken.includes('ndjson') ? shapeOf(values) : undefined;
  const asked = new Set([...named, ...switched]);
  if (asked.size > 1)
    throw new UserError('usage', 'Several formats were given.', `Use one of: ${formats.join(', ')}`);
  const [format = shape ? 'json' : (formatOfFile(file, formats) ?? formats[0])] = asked;
  if (shape && format !== 'json')
    throw new UserError(
      'usage',
      `--fields, --limit, --offset, --budget and --ndjson are for JSON, not for ${format}.`,
      'Leave out the other format.',
    );
  const wide = taken.includes('wide') && values.wide;
  return {
    ...{ format, force, wide },
    ...(file === undefined || file === '-' ? {} : { file }),
    ...(shape ? { shape } : {}),
  };
}

/** Undefined where nothing was asked for: then the whole document is printed. */
function shapeOf({ fields, limit, offset, budget, ndjson }: Values<OptionName>): Shape | undefined {
  if (fields.length === 0 && limit === undefined && offset === undefined && budget === undefined && !ndjson)
    return undefined;
  return {
    ...(fields.length > 0 ? { fields: fields.flat() } : {}),
    ...{ limit, offset, budget, lines: ndjson },
  };
}

/** Values of options that name files to read; those for output are not among what a result is made from. */
const filesNamed = (taken: readonly OptionName[], texts: Texts): string[] =>
  taken.flatMap(name => {
    const { flag, valueName, was }: Option<unknown> = options[name];
    if (valueName !== 'FILE' || ['output', 'junit', 'prometheus', 'script'].includes(flag)) return [];
    return [flag, ...was.map(old => old.flag)].flatMap(spelled => texts.get(spelled) ?? []);
  });

function formatNamed(name: string, formats: readonly FormatId[]): FormatId {
  const known = formats.find(id => id === name);
  if (known) return known;
  throw new UserError(
    'usage',
    `Unknown format ${JSON.stringify(name)}.`,
    `Use one of: ${formats.join(', ')}`,
  );
}

const formatOfFile = (file: string | undefined, formats: readonly FormatId[]): FormatId | undefined =>
  file === undefined ? undefined : formats.find(id => file.endsWith(`.${extensions[id]}`));
