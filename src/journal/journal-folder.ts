/**
 * The journal on disk: a folder per entry with `entry.json` and a README.md made from it. Files are written whole, and one
 * process at a time changes the journal, so an interruption or a second user leaves every entry as it was or as it is to
 * be. Two people may number an entry alike in two clones: the folders have different names and both stay.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { withLock } from '../disk/file-lock.js';
import { writeWhole } from '../disk/write-whole.js';
import { formatKept } from '../gate/baselines.js';
import { folderName, isBegun, isOpen, type JournalEntry } from './entry.js';
import { entryMarkdown } from './entry-markdown.js';
import { entryStates } from './entry-states.js';

const ENTRY = 'entry.json';
const MOST_ENTRY_BYTES = 32e6;
const FOLDER = /^(\d{3,6})-[a-z0-9-]+$/;

export interface StoredEntry {
  /** Name of its folder. */
  readonly key: string;
  readonly entry: JournalEntry;
}

interface Journal {
  readonly entries: readonly StoredEntry[];
  /** Folders whose entry.json is missing or cannot be read. */
  readonly unreadable: readonly string[];
}

export function readJournal(folder: string): Journal {
  const keys = foldersIn(folder);
  const entries: StoredEntry[] = [];
  const unreadable: string[] = [];
  for (const key of keys) {
    const entry = readEntry(path.join(folder, key, ENTRY));
    if (entry) entries.push({ key, entry });
    else unreadable.push(key);
  }
  return { entries, unreadable };
}

function foldersIn(folder: string): string[] {
  try {
    return fs
      .readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory() && FOLDER.test(entry.name))
      .map(({ name }) => name)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unusable(folder, error);
  }
}

function readEntry(file: string): JournalEntry | undefined {
  try {
    if (fs.statSync(file).size > MOST_ENTRY_BYTES) return undefined;
    const value = JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<JournalEntry>;
    const isEntry =
      value.schema === 'stepscope-journal-entry/1' &&
      entryStates.includes(value.state as never) &&
      Number.isInteger(value.number) &&
      Array.isArray(value.base?.runs) &&
      value.base.runs.length > 0;
    return isEntry ? (value as JournalEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** The entry that is meant: by number or name, or the newest that is open, or the newest of all. */
export function chooseEntry({ entries }: Journal, wanted: string | undefined): StoredEntry {
  if (entries.length === 0)
    throw new UserError(
      'not-found',
      'The journal has no entries.',
      'Begin one: stepscope optimize start FILE',
    );
  if (wanted === undefined) return entries.findLast(({ entry }) => isOpen(entry)) ?? entries.at(-1)!;
  const found = entries.filter(
    ({ key, entry }) => key === wanted || (/^\d+$/.test(wanted) && entry.number === Number(wanted)),
  );
  if (found.length === 1) return found[0];
  throw new UserError(
    found.length > 1 ? 'usage' : 'not-found',
    found.length > 1 ? `Several entries have the number ${wanted}.` : `The journal has no entry ${wanted}.`,
    `Use one of: ${(found.length > 1 ? found : entries)
      .slice(-8)
      .map(({ key }) => key)
      .join(', ')}`,
  );
}

/** Adds an entry under the next number, or goes on with the same one that was begun before. `make` is called while nobody else changes the journal. */
export function addEntry(folder: string, title: string, make: (number: number) => JournalEntry): StoredEntry {
  return changing(folder, () => {
    const numbers = foldersIn(folder).map(name => Number(FOLDER.exec(name)![1]));
    const entry = make(Math.max(0, ...numbers) + 1);
    const begun = readJournal(folder).entries.findLast(known => isBegun(known.entry, entry));
    if (begun) return begun;
    const key = folderName(entry.number, title);
    fs.mkdirSync(path.join(folder, key));
    write(folder, key, entry);
    return { key, entry };
  });
}

/** Changes an entry as it is at this moment. */
export function changeEntry(
  folder: string,
  key: string,
  change: (entry: JournalEntry) => JournalEntry,
): StoredEntry {
  return changing(folder, () => {
    const known = readEntry(path.join(folder, key, ENTRY));
    if (!known)
      throw new UserError(
        'not-found',
        `${key} has no valid ${ENTRY}.`,
        'Restore it from your version control.',
      );
    const entry = change(known);
    write(folder, key, entry);
    return { key, entry };
  });
}

function changing<Result>(folder: string, change: () => Result): Result {
  try {
    fs.mkdirSync(folder, { recursive: true });
    return withLock(path.join(folder, 'journal'), change);
  } catch (error) {
    throw error instanceof UserError ? error : unusable(folder, error);
  }
}

function write(folder: string, key: string, entry: JournalEntry): void {
  writeWhole(path.join(folder, key, ENTRY), `${formatKept(entry, '')}\n`);
  writeWhole(path.join(folder, key, 'README.md'), entryMarkdown(entry));
}

const unusable = (folder: string, error: unknown) =>
  new UserError(
    'unreadable',
    `${folder} cannot be used: ${(error as Error).message}`,
    'Check the folder given with --journal.',
  );
