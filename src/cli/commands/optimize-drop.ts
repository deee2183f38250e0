import { decided } from '../../journal/entry.js';
import { changeEntry, chooseEntry, readJournal } from '../../journal/journal-folder.js';
import { define } from '../command.js';
import { entryResult } from '../optimize/entry-result.js';

export const optimizeDrop = define({
  usage: ['[REASON] [options]'],
  options: ['journal', 'entry'],
  formats: ['table', 'json'],
  examples: [['stepscope optimize drop "no measurable change"', 'close the entry; the journal remembers it']],
  async run({ values, given, emit }) {
    const { key } = chooseEntry(readJournal(values.journal), values.entry);
    const reason = given.join(' ');
    await emit(entryResult(changeEntry(values.journal, key, entry => decided(entry, false, reason))));
    return 0;
  },
});
