/** What may happen to an entry, in order. Each step gives a new entry; what is out of order is refused with what to do. */
import type { Static } from '../base/document.js';
import { UserError } from '../base/user-error.js';
import { withoutSecrets } from '../catalog/secret-shapes.js';
import type { journalEntrySchema } from './journal-schema.js';

export type JournalEntry = Omit<Static<typeof journalEntrySchema>, 'next'>;
export type Measurement = JournalEntry['base'];
export type EntryChange = NonNullable<JournalEntry['change']>;
export type EntryComparison = NonNullable<JournalEntry['comparison']>;

const LONGEST_TEXT = 4000;
const LONGEST_TITLE = 60;

/** Free text of the user: bounded, and without keys that were pasted along. */
export const keptText = (text: string): string =>
  withoutSecrets(text, () => {})
    .trim()
    .slice(0, LONGEST_TEXT);

export function startedEntry(number: number, title: string, base: Measurement): JournalEntry {
  return {
    schema: 'stepscope-journal-entry/1',
    ...{ number, title: keptText(title).slice(0, LONGEST_TITLE), state: 'diagnosed', base },
    ...{ change: null, result: null, comparison: null, decision: null },
  };
}

/** `003-cuda-graphs` */
export function folderName(number: number, title: string): string {
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)
    .replace(/-$/, '');
  return `${String(number).padStart(3, '0')}-${slug || 'change'}`;
}

export function withChange(entry: JournalEntry, change: EntryChange): JournalEntry {
  requireOpen(entry);
  if (entry.result && entry.change?.text === change.text) return entry;
  if (entry.result)
    throw outOfOrder(
      entry,
      'has the result of another change',
      'Close it (stepscope optimize keep or drop), then begin the next one: stepscope optimize start FILE',
    );
  return { ...entry, state: 'changed', change };
}

export function withResult(entry: JournalEntry, result: Measurement): JournalEntry {
  requireOpen(entry);
  if (!entry.change)
    throw outOfOrder(
      entry,
      'has no change yet',
      'Say what was changed first: stepscope optimize propose "…"',
    );
  return { ...entry, state: 'captured', result, comparison: null };
}

/** Runs that cannot be compared leave the entry as it was, with the reasons. */
export function withComparison(entry: JournalEntry, comparison: EntryComparison): JournalEntry {
  requireOpen(entry);
  return { ...entry, comparison, state: comparison.comparable ? 'compared' : 'captured' };
}

export function recordedResult(entry: JournalEntry): Measurement {
  requireOpen(entry);
  if (entry.result) return entry.result;
  throw outOfOrder(
    entry,
    'has no result to compare',
    'Capture the changed program, then: stepscope optimize record FILE',
  );
}

/** Deciding the same again changes nothing: whoever was interrupted may repeat it. */
export function decided(entry: JournalEntry, kept: boolean, reason: string): JournalEntry {
  const text = keptText(reason);
  if (entry.decision?.kept === kept && (text === '' || text === entry.decision.reason)) return entry;
  requireOpen(entry);
  const isProven = entry.comparison?.verdict === 'faster';
  if (kept && !isProven && text === '')
    throw outOfOrder(
      entry,
      entry.comparison ? `is not measurably faster (${entry.comparison.verdict})` : 'was not compared',
      'Compare it (stepscope optimize compare), or say why it is kept: stepscope optimize keep "reason"',
    );
  return { ...entry, state: kept ? 'kept' : 'dropped', decision: { kept, reason: text } };
}

/** An entry with this base and title that nobody has gone on with: beginning it again goes on with it. */
export const isBegun = ({ state, title, base }: JournalEntry, wanted: JournalEntry): boolean =>
  state === 'diagnosed' &&
  title === wanted.title &&
  JSON.stringify(base.files) === JSON.stringify(wanted.base.files);

export const isOpen = ({ state }: JournalEntry): boolean => state !== 'kept' && state !== 'dropped';

function requireOpen(entry: JournalEntry): void {
  if (isOpen(entry)) return;
  throw outOfOrder(entry, `is closed (${entry.state})`, 'Begin the next one: stepscope optimize start FILE');
}

const outOfOrder = ({ number }: JournalEntry, what: string, hint: string) =>
  new UserError('usage', `Entry ${number} ${what}.`, hint);

/** The command that goes on from here. */
export function nextStep(entry: JournalEntry | undefined): string {
  switch (entry?.state) {
    case undefined:
      return 'stepscope optimize start FILE';
    case 'diagnosed':
      return 'stepscope optimize propose "WHAT IS CHANGED" -- CAPTURE COMMAND';
    case 'changed':
      return 'stepscope optimize record FILE';
    case 'captured':
      return entry.comparison ? 'stepscope optimize record FILE' : 'stepscope optimize compare';
    case 'compared':
      return entry.comparison?.verdict === 'faster'
        ? 'stepscope optimize keep'
        : 'stepscope optimize drop "REASON"';
    case 'kept':
      return 'stepscope optimize start';
    default:
      return 'stepscope optimize start FILE';
  }
}
