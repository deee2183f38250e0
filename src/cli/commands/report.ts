import { Analyzer, tablesReadBy } from '../../analyze/analysis.js';
import { usualAnalyses } from '../../analyze/index.js';
import { recordedWith } from '../../capture/run/recorded-with.js';
import { tableNames } from '../../model/schema.js';
import { Cutter, levels } from '../../report/html/limits.js';
import { DEFAULT_MAX_BYTES } from '../../report/html/page.js';
import { composeReport, reportBlocks } from '../../report/html/sections.js';
import { define, requireFiles } from '../command.js';
import { commandOn } from '../command-on.js';
import { emit, extensions } from '../emit.js';
import { analysisOptions } from '../options.js';
import { analyzeDocument, profileOf, runAll, settingsOf } from '../profile-of.js';
import { openShareable } from '../redacted-copies.js';
import { refuseExisting } from '../write-result.js';

export const report = define({
  usage: ['FILE… [-o report.html] [options]'],
  options: [...analysisOptions, 'model', 'gpu', 'tp', 'redacted', 'maxSize', 'output', 'force'],
  formats: ['html', 'markdown', 'json'],
  notes: [
    [
      'without -o',
      'report.html, or report.md with --markdown; JSON goes to standard output, as with analyze',
    ],
    ['without --max-size', `${DEFAULT_MAX_BYTES / 1e6} MB`],
  ],
  examples: [
    ['stepscope report profile.sqlite', 'writes report.html, a single file to share'],
    [
      'stepscope report rank*.json.gz -o run-12.html --phase decode',
      'all ranks as one run, decode steps only',
    ],
    [
      'stepscope report profile.sqlite --model llama-3.1-8b --force',
      'compare step time with the speed of light',
    ],
    ['stepscope report profile.sqlite --markdown -o report.md', 'for a pull request'],
    ['stepscope report profile.sqlite --redact', 'without names of people, machines and paths'],
  ],
  async run({ values, given, destination, output }) {
    requireFiles('report', given);
    const { format, force } = destination;
    const isPrinted = format === 'json' || values.output === '-';
    const file = destination.file ?? (isPrinted ? undefined : `report.${extensions[format]}`);
    if (file !== undefined && !force) refuseExisting(file);
    // The report also says what was recorded, so no table may be passed over.
    const wanted = tablesReadBy(usualAnalyses);
    for (const table of tableNames) if (!wanted.has(table)) wanted.set(table, []);
    const files = [...given, ...(await recordedWith(given))];
    const profile = await openShareable(files, values.redacted, output, own =>
      profileOf(own, output, wanted),
    );
    // Printed JSON is what analyze prints; a page is findings written down.
    const documented = format === 'json' ? {} : { documented: true as const };
    const analyzer = new Analyzer(profile, { ...settingsOf(values), ...documented });
    const outcomes = runAll(analyzer, usualAnalyses, output);
    // Base names, redacted if the rest is: a page travels further than the folders of its author.
    const page = (cutter: Cutter) =>
      composeReport(analyzer, usualAnalyses, cutter, commandOn(profile.capture.files));
    const result = {
      blocks: () => reportBlocks(page(new Cutter(levels[0]))),
      document: () => analyzeDocument(profile, outcomes),
      page,
      maxBytes: values.maxSize,
    };
    await emit(result, { ...destination, file }, output);
    return 0;
  },
});
