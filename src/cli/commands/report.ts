import { Analyzer, tablesReadBy } from '../../analyze/analysis.js';
import { analyses } from '../../analyze/index.js';
import { UserError } from '../../base/user-error.js';
import { openProfile } from '../../import/open.js';
import { tableNames } from '../../model/schema.js';
import { Cutter, levels } from '../../report/html/limits.js';
import { DEFAULT_MAX_BYTES, renderReport } from '../../report/html/page.js';
import { composeReport, reportBlocks } from '../../report/html/sections.js';
import { markdown } from '../../report/markdown.js';
import { readSettings, settingHelp, settingOptions } from '../analysis-settings.js';
import { readArguments, requireFiles } from '../arguments.js';
import type { Command } from '../command.js';
import { pageAssets } from '../page-assets.js';
import { analyzeDocument, runAll } from '../run-analyses.js';
import { refuseExisting, writeResult } from '../write-result.js';

export const report: Command = {
  name: 'report',
  summary: 'Write one HTML file with the answer, charts and tables, readable without this tool.',
  usage: 'stepscope report FILE… [-o report.html] [--markdown | --json] [options]',
  options: [
    {
      flags: '-o, --output FILE',
      meaning: 'what to write (default: report.html, report.md with --markdown)',
    },
    { flags: '--force', meaning: 'overwrite a file that is there' },
    {
      flags: '--max-size MB',
      meaning: `cut tables and thin charts to stay below (default ${DEFAULT_MAX_BYTES / 1e6})`,
    },
    ...settingHelp,
    {
      flags: '--model FILE',
      meaning: 'config.json of the model, or a preset: compares with the speed of light',
    },
    { flags: '--tp N', meaning: 'ways the weights are split over GPUs (default: the ranks)' },
    { flags: '--markdown', meaning: 'the same content as Markdown, without charts' },
    { flags: '--json', meaning: 'print what analyze --json prints, and write nothing' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope report profile.sqlite', 'writes report.html: open it, mail it, attach it'],
    [
      'stepscope report rank*.json.gz -o run-12.html --phase decode',
      'all ranks as one run, decode steps only',
    ],
    ['stepscope report profile.sqlite --model llama-3.1-8b --force', 'beside the least time of a step'],
    ['stepscope report profile.sqlite --markdown -o report.md', 'for a pull request'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('report', args, {
      ...settingOptions,
      model: { type: 'string' },
      tp: { type: 'string' },
      output: { type: 'string', short: 'o' },
      force: { type: 'boolean' },
      'max-size': { type: 'string' },
      markdown: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    // Printed JSON is what analyze prints; a page is findings written down.
    const settings = { ...readSettings(values), ...(values.json ? {} : { documented: true as const }) };
    const maxBytes = readSize(values['max-size']);
    requireFiles('report', positionals);
    const file = values.output ?? (values.markdown ? 'report.md' : 'report.html');
    const force = values.force === true;
    if (!values.json && !force) refuseExisting(file);
    // The report also says what was recorded, so no table may be passed over.
    const wanted = tablesReadBy(analyses);
    for (const table of tableNames) if (!wanted.has(table)) wanted.set(table, []);
    const profile = await openProfile(positionals, {
      tables: wanted,
      onProgress: (name, done) => output.progress(`reading ${name}`, done),
    });
    const analyzer = new Analyzer(profile, settings);
    const outcomes = runAll(analyzer, analyses, output);
    if (values.json) {
      output.out(`${JSON.stringify(analyzeDocument(profile, outcomes), null, 1)}\n`);
      return 0;
    }
    if (values.markdown) {
      const blocks = reportBlocks(composeReport(analyzer, analyses, new Cutter(levels[0])));
      writeResult(file, markdown.render(blocks, { width: Infinity, color: false }), force, output);
    } else writeResult(file, renderReport(analyzer, analyses, pageAssets(), maxBytes), force, output);
    return 0;
  },
};

function readSize(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MAX_BYTES;
  const megabytes = Number(text);
  if (megabytes > 0 && megabytes <= 1000) return megabytes * 1e6;
  throw new UserError('usage', `${JSON.stringify(text)} is no size in MB.`, 'For example: --max-size 2.5');
}
