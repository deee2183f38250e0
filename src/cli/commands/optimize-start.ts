import { UserError } from '../../base/user-error.js';
import { startedEntry } from '../../journal/entry.js';
import { addEntry, readJournal } from '../../journal/journal-folder.js';
import { define } from '../command.js';
import { entryResult } from '../optimize/entry-result.js';
import { measureForJournal } from '../optimize/measure-for-journal.js';

export const optimizeStart = define({
  usage: ['[FILE…] [options]'],
  options: ['journal', 'entryTitle', 'repeat'],
  formats: ['table', 'json'],
  notes: [
    ['FILE', 'the profile to improve on; without it, the result that was kept last'],
    ['journal', 'an entry is a folder with entry.json and README.md: commit it with the change'],
  ],
  examples: [
    ['stepscope optimize start profile.sqlite', 'what is wrong, as the first page of an entry'],
    [
      'stepscope optimize start run1.sqlite --repeat run2.sqlite --repeat run3.sqlite',
      'with repeats, for noise',
    ],
    ['stepscope optimize start', 'go on from the last result that was kept'],
  ],
  async run({ values, given, output, emit }) {
    const { journal, entryTitle, repeat } = values;
    const kept = readJournal(journal).entries.findLast(({ entry }) => entry.state === 'kept');
    if (given.length === 0 && !kept?.entry.result)
      throw new UserError(
        'usage',
        'No profile was given, and the journal has no result that was kept.',
        'For example: stepscope optimize start profile.sqlite',
      );
    const base =
      given.length > 0
        ? await measureForJournal('optimize start', given, repeat, output)
        : kept!.entry.result!;
    const title = entryTitle ?? base.findings[0]?.rule ?? 'change';
    await emit(entryResult(addEntry(journal, title, number => startedEntry(number, title, base))));
    return 0;
  },
});
