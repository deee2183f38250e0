import { decided } from '../../journal/entry.js';
import { changeEntry, chooseEntry, readJournal } from '../../journal/journal-folder.js';
import { define } from '../command.js';
import { entryResult } from '../optimize/entry-result.js';

export const optimizeKeep = define({
  usage: ['[REASON] [options]'],
  options: ['journal', 'entry'],
  formats: ['table', 'json'],
  notes: [['REASON', 'needed if the change is not measurably faster']],
  examples: [
    ['stepscope optimize keep', 'a change that is measurably faster'],
    ['stepscope optimize keep "halves the memory, costs no time"', 'another one, and why'],
  ],
  async run({ values, given, emit }) {
    const { key } = chooseEntry(readJournal(values.journal), values.entry);
    const reason = given.join(' ');
    await emit(entryResult(changeEntry(values.journal, key, entry => decided(entry, true, reason))));
    return 0;
  },
});
