/** What a command of optimize shows: the entry it changed. */
import type { Static } from '../../base/document.js';
import { describeEntry } from '../../journal/describe-entry.js';
import { nextStep } from '../../journal/entry.js';
import type { StoredEntry } from '../../journal/journal-folder.js';
import type { journalEntrySchema } from '../../journal/journal-schema.js';
import type { Result } from '../emit.js';

export const entryResult = (stored: StoredEntry): Result => ({
  blocks: () => describeEntry(stored),
  document: (): Static<typeof journalEntrySchema> => ({ ...stored.entry, next: nextStep(stored.entry) }),
});
