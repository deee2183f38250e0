/** What plugins could not do in this process: counted, and part of the notes of every answer. */
import type { Note } from '../base/notes.js';

const failures = new Map<string, Note>();

/** True: the first of its kind. */
export function countPluginFailure(plugin: string, what: string, error: unknown): boolean {
  const key = `${plugin}\n${what}`;
  const known = failures.get(key);
  failures.set(key, {
    code: 'plugin-failed',
    severity: 'warning',
    text: `failures of plugin ${plugin}: ${what}`,
    count: (known?.count ?? 0) + 1,
    example: known?.example ?? String((error as Error | undefined)?.message ?? error).slice(0, 300),
  });
  return known === undefined;
}

export const pluginNotes = (): readonly Note[] => [...failures.values()];
