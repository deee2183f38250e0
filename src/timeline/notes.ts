/** Notes on a stretch of time or an event, as they lie in the file beside a profile and travel to the page. */
import { UserError } from '../base/user-error.js';

export interface WrittenNote {
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

const MOST_NOTES = 1000;
const LONGEST_NOTE = 4000;

/** From a file or from the page: nothing but what a note has. */
export function readNotes(text: string): WrittenNote[] {
  const wrong = () =>
    new UserError('usage', 'These are not notes.', 'Expected: {"notes": [{"text", "fromNs", "toNs"}]}');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw wrong();
  }
  const list = (parsed as { notes?: unknown } | null)?.notes;
  if (!Array.isArray(list) || list.length > MOST_NOTES) throw wrong();
  return list.map((entry: Partial<WrittenNote> | null) => {
    const { text: words, fromNs, toNs, event } = entry ?? {};
    if (typeof words !== 'string' || words.length > LONGEST_NOTE) throw wrong();
    if (!Number.isFinite(fromNs) || !Number.isFinite(toNs) || toNs! < fromNs!) throw wrong();
    const isEvent = Number.isInteger(event?.lane) && Number.isInteger(event?.index);
    return {
      text: words,
      fromNs: fromNs!,
      toNs: toNs!,
      ...(isEvent ? { event: { lane: event!.lane, index: event!.index } } : {}),
    };
  });
}
