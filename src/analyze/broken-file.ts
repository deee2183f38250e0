import type { Note } from '../base/notes.js';
import type { Profile } from '../model/profile.js';

/** Notes of the importers that a file is not whole, rather than that a few events in it are odd. */
const BROKEN = /^(cut-off|damaged)/;

/** What says that the file was cut off or damaged; then what is absent may have been there once. */
export function brokenFile({ notes }: Profile): Note | undefined {
  return notes.find(note => note.severity === 'loss' && BROKEN.test(note.code));
}
