/**
 * What every reader promises of a damaged file: it is refused in two lines, or its figures are those of the intact
 * file, or a note names the loss; and it says the same whatever was asked for.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { tablesReadBy } from '../../src/analyze/analysis.js';
import { analyses } from '../../src/analyze/index.js';
import type { Note } from '../../src/base/notes.js';
import { UserError } from '../../src/base/user-error.js';
import { openProfile } from '../../src/import/open.js';
import type { Profile } from '../../src/model/profile.js';
import { validateProfile } from '../../src/testing/validate-profile.js';

const SLOW_MS = 4000;
const asked = tablesReadBy(analyses);

export interface Opened {
  readonly profile?: Profile;
  readonly error?: UserError;
}

/** A folder for one file at a time. */
export class Scratch {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'stepscope-damage-'));

  constructor(private readonly name: string) {}

  write(bytes: Uint8Array, name = this.name): string {
    const file = path.join(this.folder, name);
    writeFileSync(file, bytes);
    return file;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Opens a file as a user would: all of it, or only what the analyses ask for. */
export async function open(file: string, everything = true): Promise<Opened> {
  const begun = performance.now();
  try {
    const profile = await openProfile([file], { workers: 0, ...(everything ? {} : { tables: asked }) });
    assert.deepEqual(validateProfile(profile), []);
    return { profile };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    assert.ok(error.message.length > 10 && error.hint.length > 10 && !/\n/.test(error.message + error.hint));
    return { error };
  } finally {
    assert.ok(performance.now() - begun < SLOW_MS, 'took too long');
  }
}

/** What reports are made of: how many rows of each table there are, and how long they lasted. */
export function figures({ tables }: Profile): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => {
      const { start, end = [] } = table as unknown as Record<'start' | 'end', ArrayLike<number>>;
      let total = 0;
      for (let row = 0; row < end.length; row++) if (end[row] > start[row]) total += end[row] - start[row];
      return [name, `${table.length} rows, ${total} ns`];
    }),
  );
}

const isWorthMore = (note: Note, before: readonly Note[]) =>
  note.count > (before.find(known => known.code === note.code)?.count ?? 0);

/** Notes the intact file does not have, or has fewer of. */
export const newNotes = (profile: Profile, intact: Profile): Note[] =>
  profile.notes.filter(note => isWorthMore(note, intact.notes));

export const saysLoss = (notes: readonly Note[]): boolean =>
  notes.some(({ severity }) => severity !== 'info');
