import type { Block } from '../../analyze/block.js';
import { findNames, namesFrom } from '../../analyze/explain/find-names.js';
import type { Static } from '../../base/document.js';
import { UserError } from '../../base/user-error.js';
import type { TableName } from '../../model/schema.js';
import type { searchSchema } from '../answers-schema.js';
import { define, requireFiles } from '../command.js';
import { profileOf, tellLosses } from '../profile-of.js';

export const search = define({
  usage: ['FILE… --name REGEX [options]'],
  options: ['namePattern', 'rows'],
  formats: ['table', 'json', 'csv', 'markdown'],
  examples: [
    [
      'stepscope search profile.sqlite --name nccl',
      'kernels, calls, ranges and operators with this in their name',
    ],
    ["stepscope search trace.json.gz --name '^aten::(mm|bmm)$' --json", 'for scripts'],
  ],
  async run({ values, given, destination, output, emit }) {
    requireFiles('search', given);
    const pattern = values.namePattern;
    if (!pattern)
      throw new UserError('usage', 'No name was given.', 'For example: stepscope search FILE --name nccl');
    const wanted = new Map(Object.entries(namesFrom) as [TableName, readonly string[]][]);
    const profile = await profileOf(given, output, wanted);
    const names = findNames(profile, new RegExp(pattern.source, 'i'));
    const table: Block = {
      kind: 'table',
      id: 'search',
      title: 'Names',
      rows: names.length,
      columns: [
        { header: 'Kind', kind: 'text', values: names.map(({ table: own }) => own) },
        { header: 'Count', kind: 'count', values: names.map(({ count }) => count) },
        { header: 'Total', kind: 'ns', values: names.map(({ totalNs }) => totalNs ?? Number.NaN) },
        { header: 'Longest', kind: 'ns', values: names.map(({ longestNs }) => longestNs ?? Number.NaN) },
        { header: 'First at', kind: 'timestamp', values: names.map(({ firstNs }) => firstNs) },
        { header: 'Name', kind: 'text', values: names.map(({ name }) => name) },
      ],
    };
    await emit({
      blocks: () => [table],
      document: (): Static<typeof searchSchema> => ({
        schema: 'stepscope-search/1',
        files: profile.capture.files,
        pattern: pattern.source,
        names,
        notes: profile.notes,
      }),
      shown: { rowLimit: values.rows ?? 40 },
    });
    if (destination.format !== 'json') tellLosses(profile, output);
    return 0;
  },
});
