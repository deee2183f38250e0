import { Analyzer, type AnyAnalysis } from '../../analyze/analysis.js';
import { iterations } from '../../analyze/inference/iterations.js';
import { stepSequence } from '../../analyze/inference/step-sequence.js';
import { stepsRemark } from '../../analyze/inference/steps-remark.js';
import { rowsTable } from '../../analyze/rows-table.js';
import { UserError } from '../../base/user-error.js';
import { rowsAsCsv } from '../../report/analysis-json.js';
import { define, requireFiles } from '../command.js';
import { analysisOptions } from '../options.js';
import { analyzeDocument, profileFor, settingsOf } from '../profile-of.js';

export const steps = define({
  usage: ['FILE… [--sequence] [options]'],
  options: ['sequence', 'fullNames', ...analysisOptions, 'rows'],
  formats: ['table', 'json', 'csv', 'markdown'],
  examples: [
    ['stepscope steps profile.sqlite', 'every step: phase, batch, time, kernels'],
    ['stepscope steps profile.sqlite --sequence', 'the kernels of one step, in order'],
    ["stepscope steps trace.json.gz --marker '^iter (?<iteration>\\d+)'", 'use your own step marker'],
  ],
  async run({ values, given, destination, output, emit }) {
    requireFiles('steps', given);
    const settings = settingsOf(values);
    const analysis: AnyAnalysis = values.sequence ? stepSequence : iterations;
    const profile = await profileFor(given, [analysis], output);
    const outcome = new Analyzer(profile, settings).run(analysis);
    const document = () => analyzeDocument(profile, [outcome]);
    if (outcome.status !== 'ok') {
      if (destination.format === 'json') await emit({ blocks: () => [], document });
      else if (outcome.status === 'failed') throw new Error(outcome.message);
      else
        throw new UserError(
          'not-recorded',
          `Not recorded: ${outcome.what}.`,
          `To record it: ${outcome.hint}`,
        );
      return 0;
    }
    const { summary = {} } = outcome.result;
    const rows: readonly Readonly<Record<string, unknown>>[] = outcome.result.rows;
    // Steps asked for by number or phase; without a choice all are listed, whatever their state.
    const narrowed = settings.iterations !== undefined || settings.phase !== undefined;
    const chosen = values.sequence || !narrowed ? rows : rows.filter(row => row.selected);
    const shown = values.fullNames ? chosen.map(row => ({ ...row, kernel: row.name ?? null })) : chosen;
    await emit({
      blocks: () => [
        rowsTable(analysis, shown, { advice: stepsRemark(values.sequence, summary, rows.length) }),
      ],
      document,
      csv: () => rowsAsCsv(analysis, shown),
      shown: { rowLimit: values.rows },
      view: { files: given },
    });
    return 0;
  },
});
