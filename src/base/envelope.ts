/** What every command prints with `--json`: what the answer is, who made it from what, and then the answer. */
import type { Note } from './notes.js';

/** An answer before it is sent: its form by name, and its fields. Top-level `notes` are those of reading the inputs. */
export interface JsonAnswer {
  readonly schema: string;
}

export interface Input {
  /** Base name; of a file in a given folder with the folder's name before it. */
  readonly file: string;
  /** null: standard input, or a file that is gone by now. */
  readonly bytes: number | null;
  /** See docs/json.md: `sha256:…` of the whole file, `sampled-sha256:…` of a large one. */
  readonly hash: string | null;
}

/** Rows that were left out, and the options that give them. */
export interface Cut {
  /** Where in `data`. */
  readonly path: string;
  /** First row that is shown, from 0. */
  readonly from: number;
  readonly shown: number;
  readonly of: number;
  readonly more: string;
}

export interface Envelope {
  readonly schema: string;
  /** Name and version. */
  readonly tool: string;
  readonly inputs: readonly Input[];
  readonly notes: readonly Note[];
  /** Empty: nothing is left out. */
  readonly truncated: readonly Cut[];
  readonly data: Readonly<Record<string, unknown>>;
}

export function envelopeOf(answer: JsonAnswer, tool: string, inputs: readonly Input[]): Envelope {
  const { schema, notes = [], ...data } = answer as JsonAnswer & { readonly notes?: readonly Note[] };
  return { schema, tool, inputs, notes, truncated: [], data };
}
