import type { Static } from '../../base/document.js';
import { describeJournal, stepChangeOf } from '../../journal/describe-entry.js';
import { nextStep } from '../../journal/entry.js';
import { readJournal } from '../../journal/journal-folder.js';
import type { journalSchema } from '../../journal/journal-schema.js';
import { define } from '../command.js';

export const optimizeStatus = define({
  usage: ['[options]'],
  options: ['journal'],
  formats: ['table', 'json'],
  examples: [['stepscope optimize status', 'every entry, and the command that goes on']],
  async run({ values: { journal }, emit }) {
    const { entries, unreadable } = readJournal(journal);
    const next = nextStep(entries.at(-1)?.entry);
    await emit({
      blocks: () => describeJournal(journal, entries, unreadable, next),
      document: (): Static<typeof journalSchema> => ({
        schema: 'stepscope-journal/1',
        folder: journal,
        entries: entries.map(({ key, entry }) => ({
          ...{ key, number: entry.number, title: entry.title, state: entry.state },
          change: entry.change?.text ?? null,
          verdict: entry.comparison?.verdict ?? null,
          stepChange: stepChangeOf(entry),
          reason: entry.decision?.reason ?? null,
        })),
        unreadable: [...unreadable],
        next,
      }),
    });
    return 0;
  },
});
