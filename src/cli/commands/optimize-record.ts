import { withResult } from '../../journal/entry.js';
import { changeEntry, chooseEntry, readJournal } from '../../journal/journal-folder.js';
import { define } from '../command.js';
import { entryResult } from '../optimize/entry-result.js';
import { measureForJournal } from '../optimize/measure-for-journal.js';

export const optimizeRecord = define({
  usage: ['FILE… [options]'],
  options: ['journal', 'entry', 'repeat'],
  formats: ['table', 'json'],
  examples: [
    ['stepscope optimize record graphs.sqlite', 'the profile of the changed program'],
    ['stepscope optimize record b1.sqlite --repeat b2.sqlite', 'with a repeat'],
  ],
  async run({ values, given, output, emit }) {
    const { journal, entry: wanted, repeat } = values;
    const { key, entry } = chooseEntry(readJournal(journal), wanted);
    // Said before a large profile is read.
    withResult(entry, entry.base);
    const result = await measureForJournal('optimize record', given, repeat, output);
    await emit(entryResult(changeEntry(journal, key, known => withResult(known, result))));
    return 0;
  },
});
