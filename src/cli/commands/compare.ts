import { Analyzer, type Settings, tablesReadBy } from '../../analyze/analysis.js';
import type { Block } from '../../analyze/block.js';
import { csvCell } from '../../base/csv-cell.js';
import { UserError } from '../../base/user-error.js';
import {
  type Comparison,
  compareConfigurations,
  DEFAULT_THRESHOLD,
} from '../../compare/compare-configurations.js';
import { compareSchema } from '../../compare/compare-schema.js';
import { comparisonDocument, csvFields, termsTable } from '../../compare/comparison-json.js';
import { comparisonBlocks, summaryTable } from '../../compare/describe-comparison.js';
import { openProfile } from '../../import/open.js';
import { ROUTER_THRESHOLD } from '../../moe/experiment/router-pair.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import { profileRun, profileSources } from '../../run/collect.js';
import type { Configuration, ProfiledRun } from '../../run/run.js';
import { readSettings, settingHelp, settingOptions } from '../analysis-settings.js';
import { readArguments } from '../arguments.js';
import type { Command, Output } from '../command.js';
import { type AskedConfiguration, readConfigurations, readThreshold } from '../compare-arguments.js';
import { areBenchmarks, compareBenchmarks } from '../compare-benchmarks.js';
import { comparisonPage } from '../compare-page.js';
import { perfectRouterReport } from '../perfect-router-report.js';
import { refuseExisting, writeResult } from '../write-result.js';

export const compare: Command = {
  name: 'compare',
  summary: 'Say whether a change helped and why: step times of two or more runs as an equation that adds up.',
  usage: 'stepscope compare BASE OTHER… [--json | --csv | --markdown] [--html FILE] [options]',
  options: [
    {
      flags: 'BASE, OTHER',
      meaning: 'a profile, a folder of ranks or a benchmark result; NAME=FILE,FILE for repeats',
    },
    ...settingHelp.filter(({ flags }) => !/--(requested|policy)/.test(flags)),
    {
      flags: '--model FILE',
      meaning: 'config.json of the model, or a preset: both sides beside the speed of light',
    },
    { flags: '--tp N', meaning: 'ways the weights are split over GPUs (default: the ranks)' },
    {
      flags: '--threshold PERCENT',
      meaning: `changes below this are none that matters (default ${DEFAULT_THRESHOLD * 100})`,
    },
    { flags: '--only-comparable', meaning: 'refuse (status 2) where figures would need a reservation' },
    {
      flags: '--perfect-router',
      meaning: 'BASE ran with the learned router, OTHER with the perfect one: is routing the bottleneck?',
    },
    { flags: '--html FILE', meaning: 'write one self-contained page with charts' },
    { flags: '--force', meaning: 'overwrite a file that is there' },
    { flags: '--json', meaning: 'everything as one JSON document' },
    { flags: '--csv', meaning: 'one row per term' },
    { flags: '--markdown', meaning: 'the page as Markdown' },
    { flags: '--schema', meaning: 'print the JSON Schema of --json' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope compare eager.sqlite graph.sqlite', 'what changed, by how much, is it measurable, why'],
    ['stepscope compare before/ after/ --phase decode', 'folders of ranks, decode steps only'],
    [
      'stepscope compare base=a1.sqlite,a2.sqlite,a3.sqlite new=b1.sqlite,b2.sqlite',
      'repeats: noise from run to run is measured',
    ],
    ['stepscope compare base.sqlite b.sqlite c.sqlite --html compare.html', 'each against the first'],
    ['stepscope compare old=a1.json,a2.json new=b1.json,b2.json', 'results of benchmarks'],
    ['stepscope compare --perfect-router normal.json perfect.json', 'is routing imbalance the bottleneck?'],
    [
      "stepscope compare a.sqlite b.sqlite --json | jq '.comparisons[0].phases[0].terms'",
      'for scripts; terms sum to changeNs',
    ],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('compare', args, {
      ...settingOptions,
      model: { type: 'string' },
      tp: { type: 'string' },
      threshold: { type: 'string' },
      'only-comparable': { type: 'boolean' },
      'perfect-router': { type: 'boolean' },
      html: { type: 'string' },
      force: { type: 'boolean' },
      json: { type: 'boolean' },
      csv: { type: 'boolean' },
      markdown: { type: 'boolean' },
      schema: { type: 'boolean' },
    });
    if (values.schema) {
      output.out(`${JSON.stringify(compareSchema, null, 2)}\n`);
      return 0;
    }
    const settings = readSettings(values);
    const asked = readConfigurations(positionals);
    const format = values.json ? 'json' : values.markdown ? 'markdown' : 'table';
    if (values['perfect-router']) {
      const [normal, perfect] = asked.map(({ runs }) => runs);
      const threshold = readThreshold(values.threshold, ROUTER_THRESHOLD);
      return perfectRouterReport({ normal, perfect, format, threshold, settings }, output);
    }
    if (await areBenchmarks(asked)) return compareBenchmarks(asked, format, output);
    const threshold = readThreshold(values.threshold, DEFAULT_THRESHOLD);
    const force = values.force === true;
    if (values.html !== undefined && !force) refuseExisting(values.html);
    const configurations: Configuration[] = [];
    for (const one of asked) configurations.push(await readConfiguration(one, settings, output));
    output.clearProgress();
    const [base, ...others] = configurations;
    const options = { threshold, onlyComparable: values['only-comparable'] === true };
    const comparisons = others.map(other => compareConfigurations(base, other, options));
    if (values.html !== undefined) {
      writeResult(values.html, comparisonPage(comparisons), force, output);
      if (!values.json && !values.csv && !values.markdown) return 0;
    }
    if (values.json) output.out(`${JSON.stringify(comparisonDocument(comparisons, threshold), null, 1)}\n`);
    else if (values.csv) {
      const lines = [csvFields, ...termsTable(comparisons)];
      output.out(
        `${lines.map(cells => cells.map(cell => csvCell(String(cell ?? ''))).join(',')).join('\n')}\n`,
      );
    } else output.out((values.markdown ? markdown : text).render(blocksOf(comparisons), output));
    return 0;
  },
};

function blocksOf(comparisons: readonly Comparison[]): Block[] {
  const each = comparisons.flatMap(comparisonBlocks);
  return comparisons.length > 1 ? [summaryTable(comparisons), ...each] : each;
}

async function readConfiguration(
  { name, runs }: AskedConfiguration,
  settings: Settings,
  output: Output,
): Promise<Configuration> {
  const read: ProfiledRun[] = [];
  for (const run of runs) read.push(await readRun(run, settings, output));
  return { name, runs: read };
}

/** A function of its own, so that nothing holds the profile once its facts are known. */
async function readRun(run: string, settings: Settings, output: Output): Promise<ProfiledRun> {
  const profile = await openProfile([run], {
    tables: tablesReadBy(profileSources),
    onProgress: (file, done) => output.progress(`reading ${file}`, done),
  });
  try {
    return profileRun(new Analyzer(profile, settings));
  } catch (error) {
    // Of several files it must be said which one has no such step.
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.code, `${run}: ${error.message}`, error.hint);
  }
}
