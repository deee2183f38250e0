import { Analyzer, type AnyAnalysis, type Outcome, tablesReadBy } from '../../analyze/analysis.js';
import { explainKernel } from '../../analyze/explain-kernel.js';
import { analyses, chooseAnalyses } from '../../analyze/index.js';
import { blocksOf } from '../../analyze/outcome-blocks.js';
import { describePage } from '../../analyze/page.js';
import { UserError } from '../../base/user-error.js';
import { createClassifier } from '../../catalog/kernels/classify.js';
import { openProfile } from '../../import/open.js';
import type { Profile } from '../../model/profile.js';
import { analysisSchema, rowsAsCsv } from '../../report/analysis-json.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import { readSettings, settingHelp, settingOptions } from '../analysis-settings.js';
import { readArguments, requireFiles } from '../arguments.js';
import type { Command, Output } from '../command.js';
import { analyzeDocument, runAll } from '../run-analyses.js';
import { writeResult } from '../write-result.js';

const READABLE_ROWS = 40;

export const analyze: Command = {
  name: 'analyze',
  summary: 'Say where the time of a step goes: phases, budget, kernel families, idle by cause.',
  usage: 'stepscope analyze FILE… [--only ID[,ID…]] [--json | --csv | --markdown] [options]',
  options: [
    ...settingHelp,
    { flags: '--checklist', meaning: 'what a sound analysis needs, done or not' },
    { flags: '--only LIST', meaning: 'these analyses alone, each with all its rows' },
    {
      flags: '--model FILE',
      meaning: 'config.json of the model, or a preset: compares with the speed of light',
    },
    { flags: '--tp N', meaning: 'ways the weights are split over GPUs (default: the ranks)' },
    { flags: '--why KERNEL', meaning: 'say why a kernel is in its family; needs no file' },
    { flags: '--rows N', meaning: `rows per table with --only (default ${READABLE_ROWS})` },
    { flags: '--json', meaning: 'everything as one JSON document' },
    { flags: '--csv', meaning: 'rows of one analysis (with --only), or of several with -o' },
    { flags: '--markdown', meaning: 'the page as Markdown' },
    { flags: '-o, --output PREFIX', meaning: 'with --csv: write PREFIX_ID.csv for each analysis' },
    { flags: '--force', meaning: 'overwrite files that are there' },
    { flags: '--schema ID', meaning: 'print the JSON Schema of an analysis' },
    { flags: '--list', meaning: 'list the analyses and their questions' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope analyze profile.sqlite', 'the page: answer, budget, kernels, steps'],
    ['stepscope analyze rank*.json.gz --phase decode', 'all ranks as one run, decode steps only'],
    ['stepscope analyze profile.sqlite --only step-budget --csv', 'one row per step and device'],
    ['stepscope analyze profile.sqlite --json | jq \'.analyses["kernel-families"].rows\'', 'for scripts'],
    ['stepscope analyze profile.sqlite --model llama-3.1-8b', 'beside the least time of a step'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('analyze', args, {
      ...settingOptions,
      only: { type: 'string', multiple: true },
      checklist: { type: 'boolean' },
      model: { type: 'string' },
      tp: { type: 'string' },
      why: { type: 'string' },
      rows: { type: 'string' },
      json: { type: 'boolean' },
      csv: { type: 'boolean' },
      markdown: { type: 'boolean' },
      output: { type: 'string', short: 'o' },
      force: { type: 'boolean' },
      schema: { type: 'string' },
      list: { type: 'boolean' },
    });
    if (values.list) return list(output, values.json === true);
    if (values.schema !== undefined) {
      output.out(`${JSON.stringify(analysisSchema(chooseAnalyses([values.schema])[0]), null, 2)}\n`);
      return 0;
    }
    const settings = readSettings(values);
    if (values.why !== undefined) {
      const explanation = createClassifier(settings.kernelRules).explain(values.why);
      if (values.json) output.out(`${JSON.stringify(explanation, null, 2)}\n`);
      else output.out(text.render([explainKernel(values.why, explanation)], output));
      return 0;
    }
    const asked = values.only?.flatMap(part => part.split(',')).filter(part => part !== '');
    const only = values.checklist ? [...(asked ?? []), 'checklist'] : asked;
    const chosen = only ? chooseAnalyses(only) : analyses;
    requireFiles('analyze', positionals);
    if (values.csv && chosen.length > 1 && values.output === undefined) {
      throw new UserError(
        'usage',
        'CSV holds the rows of one analysis.',
        'Add --only step-budget (see --list), or -o PREFIX to write a file for each.',
      );
    }
    const profile = await openProfile(positionals, {
      tables: tablesReadBy(chosen),
      onProgress: (file, done) => output.progress(`reading ${file}`, done),
    });
    const analyzer = new Analyzer(profile, settings);
    if (values.json) {
      const outcomes = runAll(analyzer, chosen, output);
      output.out(`${JSON.stringify(analyzeDocument(profile, outcomes), null, 1)}\n`);
    } else if (values.csv) {
      for (const outcome of runAll(analyzer, chosen, output))
        writeCsv(outcome, values.output, values.force === true, output);
    } else {
      // Computed with progress first; the page then only words what is there.
      const outcomes = runAll(analyzer, only ? chosen : analyses.filter(isOnPage), output);
      const blocks = only
        ? outcomes.flatMap(outcome => blocksOf(outcome, profile))
        : describePage(analyzer, analyses);
      const rowLimit = values.rows ? Number(values.rows) : READABLE_ROWS;
      output.out(
        (values.markdown ? markdown : text).render(blocks, {
          width: output.width,
          color: output.color,
          rowLimit,
        }),
      );
      if (!only && !values.markdown) output.out(`\n${footer(profile)}\n`);
    }
    for (const note of profile.notes)
      if (note.severity === 'loss' && !values.json)
        output.err(`note: ${note.count} ${note.text}${note.example ? ` (e.g. ${note.example})` : ''}\n`);
    return 0;
  },
};

/** The page draws on findings, which draw on most others, and has a line of each analysis with a headline. */
const isOnPage = ({ id, headline }: AnyAnalysis): boolean => id === 'findings' || headline !== undefined;

function writeCsv(outcome: Outcome, prefix: string | undefined, force: boolean, output: Output): void {
  if (outcome.status === 'not-recorded') {
    output.err(`${outcome.analysis.id}: not recorded: ${outcome.what}; ${outcome.hint}\n`);
    return;
  }
  if (outcome.status === 'failed') {
    output.err(`${outcome.analysis.id}: failed: ${outcome.message}\n`);
    return;
  }
  const content = rowsAsCsv(outcome.analysis, outcome.result.rows);
  if (prefix === undefined || prefix === '-') output.out(content);
  else writeResult(`${prefix}_${outcome.analysis.id}.csv`, content, force, output);
}

function list(output: Output, asJson: boolean): number {
  if (asJson) {
    const rows = analyses.map(({ id, title, question }) => ({ id, title, question }));
    output.out(`${JSON.stringify({ schema: 'stepscope-analyze-list/1', analyses: rows }, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...analyses.map(({ id }) => id.length));
  for (const { id, question } of analyses) output.out(`${id.padEnd(width)}  ${question}\n`);
  return 0;
}

function footer(profile: Profile): string {
  const notes = profile.notes.reduce((sum, note) => sum + note.count, 0);
  return `  notes  ${notes === 0 ? 'none' : `${notes} (stepscope info shows them)`}    more: stepscope steps · report · stats · analyze --list`;
}
