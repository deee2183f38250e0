/** Commands as users run them: their status, and what they wrote. */

import { runCommand } from '../src/cli/main.js';
import type { Output } from '../src/cli/output.js';

export interface Written {
  out: string;
  err: string;
}

/** An output that keeps what is written to it. */
export function keptOutput(
  width = 110,
  color = false,
): { readonly output: Output; readonly written: Written } {
  const written = { out: '', err: '' };
  const output: Output = {
    out: text => {
      written.out += text;
    },
    err: text => {
      written.err += text;
    },
    width,
    color,
    progress: () => {},
    clearProgress: () => {},
  };
  return { output, written };
}

export async function runStepscope(
  args: readonly string[],
  width?: number,
  color?: boolean,
): Promise<{ readonly status: number } & Readonly<Written>> {
  const { output, written } = keptOutput(width, color);
  return { status: await runCommand(args, output), ...written };
}

/** The data of an answer in JSON, with its schema and the notes, as one value. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form
export function answerIn(text: string): any {
  const { schema, notes, data } = JSON.parse(text);
  return { schema, ...data, ...(notes.length > 0 ? { notes } : {}) };
}
