import { Analyzer } from '../../analyze/analysis.js';
import { explainedFrom, explainThing } from '../../analyze/explain/explain-thing.js';
import type { Static } from '../../base/document.js';
import { UserError } from '../../base/user-error.js';
import type { explainSchema } from '../answers-schema.js';
import { define, requireFiles } from '../command.js';
import { analysisOptions } from '../options.js';
import { profileFor, settingsOf, tellLosses } from '../profile-of.js';

const THING = /^(step:\d+|gap(:.+)?|kernel:.+)$/s;

export const explain = define({
  usage: ['FILE… step:N|gap|gap:KEY|kernel:NAME [options]'],
  options: analysisOptions,
  formats: ['table', 'json', 'markdown'],
  notes: [
    [
      'step:N',
      'a step by its number: its budget, gaps, kernels and host code, next to steps of the same phase',
    ],
    ['gap, gap:KEY', 'the longest gap, or a row of analyze --only idle-gaps'],
    ['kernel:NAME', 'kernels whose name contains NAME: time, launches, family and the rule that decides it'],
  ],
  examples: [
    ['stepscope explain profile.sqlite step:14', 'why this step took so long'],
    ['stepscope explain profile.sqlite gap', 'the longest time without GPU work'],
    ['stepscope explain trace.json.gz kernel:gemm --json', 'claims with the rows they rest on'],
  ],
  async run({ values, given, destination, output, emit }) {
    const things = given.filter(word => THING.test(word));
    const files = given.filter(word => !THING.test(word));
    requireFiles('explain', files);
    if (things.length !== 1)
      throw new UserError(
        'usage',
        'What to explain was not given.',
        'Give one of step:N, gap, gap:KEY, kernel:NAME.',
      );
    const analyzer = new Analyzer(await profileFor(files, explainedFrom, output), settingsOf(values));
    const found = explainThing(analyzer, things[0]);
    await emit({
      blocks: () => [
        {
          kind: 'statement',
          id: 'explain',
          title: found.about,
          lines: [
            ...found.claims.map(({ text }) => text),
            ...found.notRecorded.map(({ what, hint }) => `Not recorded: ${what}. To record it: ${hint}`),
          ],
        },
      ],
      document: (): Static<typeof explainSchema> => ({
        schema: 'stepscope-explain/1',
        files: analyzer.profile.capture.files,
        ...found,
        notes: analyzer.profile.notes,
      }),
    });
    if (destination.format !== 'json') tellLosses(analyzer.profile, output);
    return 0;
  },
});
