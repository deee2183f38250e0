import { Analyzer, tablesReadBy } from '../../analyze/analysis.js';
import { iterations } from '../../analyze/inference/iterations.js';
import { stepSequence } from '../../analyze/inference/step-sequence.js';
import { rowsTable } from '../../analyze/rows-table.js';
import { formatDuration } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { openProfile } from '../../import/open.js';
import { ANALYZE_SCHEMA, outcomeAsJson, rowsAsCsv } from '../../report/analysis-json.js';
import { text } from '../../report/text.js';
import { readSettings, settingHelp, settingOptions } from '../analysis-settings.js';
import { readArguments, requireFiles } from '../arguments.js';
import type { Command } from '../command.js';

export const steps: Command = {
  name: 'steps',
  summary: 'List the engine steps of a capture, or the kernels of a typical one.',
  usage: 'stepscope steps FILE… [--sequence] [--json | --csv] [options]',
  options: [
    { flags: '--sequence', meaning: 'the kernels of one typical step, in order' },
    { flags: '--full-names', meaning: 'with --sequence: names as recorded instead of short ones' },
    ...settingHelp,
    { flags: '--rows N', meaning: 'rows to show (default all)' },
    { flags: '--json', meaning: 'as JSON, in the form of stepscope analyze' },
    { flags: '--csv', meaning: 'as CSV, all fields' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope steps profile.sqlite', 'every step: phase, batch, time, kernels'],
    ['stepscope steps profile.sqlite --sequence', 'what one step runs, kernel by kernel'],
    ["stepscope steps trace.json.gz --marker '^iter (?<iteration>\\d+)'", 'steps by your own marker'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('steps', args, {
      ...settingOptions,
      sequence: { type: 'boolean' },
      'full-names': { type: 'boolean' },
      rows: { type: 'string' },
      json: { type: 'boolean' },
      csv: { type: 'boolean' },
    });
    const settings = readSettings(values);
    requireFiles('steps', positionals);
    const analysis = values.sequence ? stepSequence : iterations;
    const profile = await openProfile(positionals, {
      tables: tablesReadBy([analysis]),
      onProgress: (file, done) => output.progress(`reading ${file}`, done),
    });
    output.clearProgress();
    const outcome = new Analyzer(profile, settings).run(analysis);
    if (values.json) {
      const document = {
        schema: ANALYZE_SCHEMA,
        files: profile.capture.files,
        analyses: { [analysis.id]: outcomeAsJson(outcome) },
        notes: profile.notes,
      };
      output.out(`${JSON.stringify(document, null, 1)}\n`);
      return 0;
    }
    if (outcome.status === 'failed') throw new Error(outcome.message);
    if (outcome.status === 'not-recorded')
      throw new UserError('not-recorded', `Not recorded: ${outcome.what}.`, `To record it: ${outcome.hint}`);
    const { rows, summary = {} } = outcome.result as {
      rows: readonly Record<string, unknown>[];
      summary?: Record<string, unknown>;
    };
    // Steps asked for by number or phase; without a choice all are listed, whatever their state.
    const narrowed = settings.iterations !== undefined || settings.phase !== undefined;
    const chosen = values.sequence || !narrowed ? rows : rows.filter(row => row.selected);
    const shown = values['full-names'] ? chosen.map(row => ({ ...row, kernel: row.name ?? null })) : chosen;
    if (values.csv) {
      output.out(rowsAsCsv(analysis, shown));
      return 0;
    }
    const rowLimit = values.rows ? Number(values.rows) : undefined;
    const table = rowsTable(analysis, shown, {
      advice: remark(values.sequence === true, summary, rows.length),
    });
    output.out(text.render([table], { width: output.width, color: output.color, rowLimit }));
    return 0;
  },
};

function remark(isSequence: boolean, summary: Record<string, unknown>, count: number): string {
  if (isSequence) {
    return `Iteration ${summary.iteration}, ${summary.phase}: the ${formatDuration(summary.wallNs as number)} step with the median time; ${summary.kernels} kernels.`;
  }
  if (count === 0) return 'No engine steps were found: mark them with NVTX, or give --marker REGEX.';
  const left = Object.entries((summary.leftOut ?? {}) as Record<string, number>).map(
    ([state, n]) => `${n} ${state}`,
  );
  const found = `${count} steps found by ${summary.foundBy}${summary.engine ? ` of ${summary.engine}` : ''} (${summary.confidence})`;
  const range = summary.rangeMeaning
    ? ` Asked for ${JSON.stringify(summary.requested)}: ${summary.rangeMeaning}.`
    : '';
  return `${found}; steady state: ${left.length > 0 ? `all but ${left.join(', ')}` : 'all'}.${range}`;
}
