/**
 * One option of the command line as data: how it is spelled, what its value is, what it means. Parser, help, completion
 * and documentation all read this and nothing else.
 */
import { UserError } from '../base/user-error.js';

/** How the text of a value becomes a value. */
export interface ValueKind<Value> {
  read(text: string, flag: string): Value;
  /** All there are, where there are few. */
  readonly choices?: readonly string[];
  /** Today's spelling of a text that was right in the last version; undefined for anything else. */
  renewed?(text: string): string | undefined;
}

/** A spelling of the last version: still understood, with a word about it. */
interface OldSpelling {
  readonly flag: string;
  /** Only values like this: the flag has another meaning today. */
  readonly when?: RegExp;
}

export interface Option<Value> {
  readonly flag: string;
  readonly short?: string;
  /** As help shows it; absent where the option takes no value. */
  readonly valueName?: string;
  readonly meaning: string;
  readonly choices?: readonly string[];
  readonly was: readonly OldSpelling[];
  /** `texts`: every value that was given, none where the option was not. */
  read(texts: readonly string[]): Value;
  renewed?(text: string): string | undefined;
}

export type ValueOf<Of> = Of extends Option<infer Value> ? Value : never;

/** `-o, --output FILE` */
function spelled(spelling: string): { flag: string; short?: string; valueName?: string } {
  const match = /^(?:-(\w), )?--([a-z][a-z0-9-]*)(?: (.+))?$/.exec(spelling);
  if (!match) throw new Error(`${spelling} is not a spelling of an option`);
  const [, short, flag, valueName] = match;
  return { flag, ...(short ? { short } : {}), ...(valueName ? { valueName } : {}) };
}

export function toggle(spelling: string, meaning: string, ...was: OldSpelling[]): Option<boolean> {
  return { ...spelled(spelling), meaning, was, read: texts => texts.length > 0 };
}

/** Given twice, the last one counts. */
export function value<Value>(
  spelling: string,
  kind: ValueKind<Value>,
  meaning: string,
  ...was: OldSpelling[]
): Option<Value | undefined> {
  return valued(spelling, kind, meaning, was, values => values.at(-1));
}

export function repeated<Value>(
  spelling: string,
  kind: ValueKind<Value>,
  meaning: string,
  ...was: OldSpelling[]
): Option<readonly Value[]> {
  return valued(spelling, kind, meaning, was, values => values);
}

/** What is meant where the option is not given; help says so. */
export function withDefault<Value>(
  option: Option<Value | undefined>,
  standard: Value,
  words = String(standard),
): Option<Value> {
  const meaning = `${option.meaning} (default ${words})`;
  return { ...option, meaning, read: texts => option.read(texts) ?? standard };
}

function valued<Value, Result>(
  spelling: string,
  kind: ValueKind<Value>,
  meaning: string,
  was: readonly OldSpelling[],
  take: (values: readonly Value[]) => Result,
): Option<Result> {
  const parts = spelled(spelling);
  return {
    ...parts,
    meaning,
    was,
    ...(kind.choices ? { choices: kind.choices } : {}),
    ...(kind.renewed ? { renewed: text => kind.renewed?.(text) } : {}),
    read: texts => take(texts.map(text => kind.read(text, `--${parts.flag}`))),
  };
}

/** A value that cannot be read: what it is not, and one that would do. */
export const notThat = (text: string, what: string, hint: string) =>
  new UserError('usage', `${JSON.stringify(text)} is not a ${what}.`, hint);
