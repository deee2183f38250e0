import { UserError } from '../../base/user-error.js';
import { withoutSecrets } from '../../catalog/secret-shapes.js';
import { keptText, withChange } from '../../journal/entry.js';
import { changeEntry, chooseEntry, readJournal } from '../../journal/journal-folder.js';
import { define } from '../command.js';
import { entryResult } from '../optimize/entry-result.js';
import { runGit } from '../run-git.js';

export const optimizePropose = define({
  usage: ['TEXT [options]', 'TEXT [options] -- CAPTURE COMMAND…'],
  options: ['journal', 'entry'],
  formats: ['table', 'json'],
  takesProgram: true,
  notes: [
    ['TEXT', 'what is changed, in your words'],
    ['COMMAND', 'how the changed program is captured; it is kept, not run'],
    ['git', 'the commit and a hash of what is not committed are kept, not the difference itself'],
  ],
  examples: [
    [
      'stepscope optimize propose "turn on CUDA graphs" -- stepscope capture --engine vllm -o graphs',
      'a change, and the command that records it',
    ],
  ],
  async run({ values, given, program, emit }) {
    const text = keptText(given.join(' '));
    if (text === '')
      throw new UserError(
        'usage',
        'No change was described.',
        'For example: stepscope optimize propose "turn on CUDA graphs"',
      );
    const { key } = chooseEntry(readJournal(values.journal), values.entry);
    const change = {
      ...{ text, git: runGit('.') },
      capture: program.map(word => withoutSecrets(word, () => {})),
    };
    await emit(entryResult(changeEntry(values.journal, key, entry => withChange(entry, change))));
    return 0;
  },
});
