/** Notes on a stretch of time or an event, as they lie in the file beside a profile and travel to the page. */
import { UserError } from '../base/user-error.js';

export interface WrittenNote {
  /** Given where it is written, so that two people can change the notes of a profile without undoing each other. */
  readonly id: string;
  readonly text: string;
  /** On the profile's clock. */
  readonly fromNs: number;
  readonly toNs: number;
  /** The event it is about. */
  readonly event?: { readonly lane: number; readonly index: number };
}

export interface NotesDocument {
  readonly notes: readonly WrittenNote[];
  /** The name of the file they are kept in; null: as long as the server runs. */
  readonly file: string | null;
}

/** What somebody did to the notes that were there, whoever else changes them meanwhile. */
export interface NotesChange {
  readonly add: readonly WrittenNote[];
  /** Ids. */
  readonly remove: readonly string[];
}

const MOST_NOTES = 1000;
const LONGEST_NOTE = 4000;
const LONGEST_ID = 64;

const wrong = () =>
  new UserError('usage', 'These are not notes.', 'Expected: {"notes": [{"text", "fromNs", "toNs"}]}');

/** From a file: nothing but what a note has. */
export function readNotes(text: string): WrittenNote[] {
  return notesIn((parsed(text) as { notes?: unknown } | null)?.notes);
}

/** From the page. */
export function readNotesChange(text: string): NotesChange {
  const { add = [], remove = [] } = (parsed(text) ?? {}) as { add?: unknown; remove?: unknown };
  if (!Array.isArray(remove) || remove.length > MOST_NOTES || !remove.every(isId)) throw wrong();
  return { add: notesIn(add), remove };
}

/** Sending a change twice changes nothing more. */
export function changeNotes(
  notes: readonly WrittenNote[],
  { add, remove }: NotesChange,
): readonly WrittenNote[] {
  const known = new Set(notes.map(({ id }) => id));
  const changed = [
    ...notes.filter(({ id }) => !remove.includes(id)),
    ...add.filter(({ id }) => !known.has(id)),
  ];
  if (changed.length > MOST_NOTES)
    throw new UserError('too-large', `There are ${MOST_NOTES} notes already.`, 'Remove some first.');
  return changed;
}

const isId = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= LONGEST_ID;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong();
  }
}

function notesIn(list: unknown): WrittenNote[] {
  if (!Array.isArray(list) || list.length > MOST_NOTES) throw wrong();
  return list.map((entry: Partial<WrittenNote> | null, i) => {
    // Files of the first version have no ids: whoever reads them next gives the same.
    const { id = `note-${i}`, text: words, fromNs, toNs, event } = entry ?? {};
    if (!isId(id)) throw wrong();
    if (typeof words !== 'string' || words.length > LONGEST_NOTE) throw wrong();
    if (!Number.isFinite(fromNs) || !Number.isFinite(toNs) || toNs! < fromNs!) throw wrong();
    const isEvent = Number.isInteger(event?.lane) && Number.isInteger(event?.index);
    return {
      id,
      text: words,
      fromNs: fromNs!,
      toNs: toNs!,
      ...(isEvent ? { event: { lane: event!.lane, index: event!.index } } : {}),
    };
  });
}
