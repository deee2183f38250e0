/** Which notes of a reader say that the file itself is damaged, and not only that something was not recorded. */
import type { Note } from '../base/notes.js';

const damageCodes: ReadonlySet<string> = new Set([
  'bad-string',
  'beyond-capture',
  'cut-off',
  'damaged-archive',
  'damaged-event',
  'damaged-metadata',
  'damaged-pages',
  'damaged-rows',
  'damaged-tables',
  'id-too-large',
  'impossible-times',
  'loose-comma',
  'missing-columns',
  'no-owner',
  'not-an-event',
  'not-numbers',
  'odd-pages',
]);

/** How much damage was noted; 0 for a sound file. A copy of a file with any would not be complete. */
export const damageCount = (notes: readonly Note[]): number =>
  notes.reduce((sum, { code, count }) => sum + (damageCodes.has(code) ? count : 0), 0);
