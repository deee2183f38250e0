/** The contract of a verb. What it takes is data, so parsing, help, completion and documentation are the same for all. */
import { UserError } from '../base/user-error.js';
import type { NsysWord } from '../capture/nsys-words.js';
import type { Destination, FormatId, Result } from './emit.js';
import type { OptionName, Values } from './options.js';
import type { Output } from './output.js';

export interface Verb<Names extends OptionName = OptionName> {
  /** What stands after the name; one line for each way to call it. */
  readonly usage: readonly string[];
  readonly options: readonly Names[];
  /** The first is what comes where none is asked for; a command without any prints what it does. */
  readonly formats?: readonly FormatId[];
  /** What else must be known to use it: arguments, exit codes. */
  readonly notes?: readonly (readonly [what: string, meaning: string])[];
  readonly examples: readonly (readonly [command: string, meaning: string])[];
  /** Words after `--` are another program's. */
  readonly takesProgram?: true;
  /** Options of nsys among its own are understood as nsys writes them. */
  readonly takesNsysOptions?: true;
  /** Its files are made again with every run: `-o` replaces them. */
  readonly overwrites?: true;
  /** Where exit codes are answers, mistakes and bugs have codes of their own. */
  readonly failures?: { readonly mistake: number; readonly bug: number };
  /** `all`: every command there is, for the one that completes them. */
  run(call: Call<Names>, all: () => Promise<readonly Command[]>): Promise<number>;
}

/** A verb as the registry calls it. */
export interface Command extends Verb {
  readonly name: string;
  readonly summary: string;
}

export interface Call<Names extends OptionName = OptionName> {
  readonly values: Values<Names>;
  /** Arguments that are no options: files, most of the time. */
  readonly given: readonly string[];
  /** What stands after `--`, where the command takes a program. */
  readonly program: readonly string[];
  /** Options of nsys that stood among the command's own. */
  readonly nsysOptions: readonly NsysWord[];
  readonly destination: Destination;
  readonly output: Output;
  /** Writes a result in the format asked for, to where it was asked for. */
  emit(result: Result): Promise<void>;
}

/** Infers which options a command takes, so that its values are typed. */
export const define = <Names extends OptionName>(verb: Verb<Names>): Verb<Names> => verb;

export function requireFiles(command: string, files: readonly string[]): void {
  if (files.length > 0) return;
  throw new UserError('usage', 'No profile was given.', `For example: stepscope ${command} profile.sqlite`);
}
