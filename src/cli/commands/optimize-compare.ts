import { readDifferenceKinds } from '../../gate/comparable.js';
import { compareMeasurements } from '../../journal/compare-measurements.js';
import { recordedResult, withComparison } from '../../journal/entry.js';
import { changeEntry, chooseEntry, readJournal } from '../../journal/journal-folder.js';
import { define } from '../command.js';
import { entryResult } from '../optimize/entry-result.js';

const NOT_COMPARABLE = 2;

export const optimizeCompare = define({
  usage: ['[options]'],
  options: ['journal', 'entry', 'allowDifferent'],
  formats: ['table', 'json'],
  notes: [
    [
      'verdict',
      'of the mean step of the phase with most time; faster or slower if the 95% interval excludes 0',
    ],
    ['exit code', '0: compared; 2: the runs cannot be compared, and why'],
  ],
  examples: [['stepscope optimize compare', 'base and result of the open entry']],
  async run({ values, emit }) {
    const { journal, entry: wanted, allowDifferent } = values;
    const allowed = readDifferenceKinds(allowDifferent.flat());
    const { key } = chooseEntry(readJournal(journal), wanted);
    const stored = changeEntry(journal, key, entry =>
      withComparison(entry, compareMeasurements(entry.base, recordedResult(entry), allowed)),
    );
    await emit(entryResult(stored));
    return stored.entry.comparison!.comparable ? 0 : NOT_COMPARABLE;
  },
});
