import { plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { describeTrend, trendCsv } from '../../gate/describe-trend.js';
import { trendDocument, trendOf } from '../../gate/trend.js';
import { trendMarkdown, trendText } from '../../report/trend-plots.js';
import { readMetrics } from '../../run/metrics.js';
import { define } from '../command.js';
import { runsOfBaselines, runsOfFiles } from '../labelled-runs.js';
import { version } from '../version.js';

const MAIN_METRICS = ['step.p50', 'idle', 'kernels'];

export const trend = define({
  usage: ['FILE… [options]', '--baselines FILE [FILE…] [options]'],
  options: ['history', 'metric', 'phase', 'iterations', 'marker', 'rules'],
  formats: ['table', 'json', 'csv', 'markdown'],
  notes: [
    ['FILE, LABEL=FILE', 'one run each, in order; a folder is one run with several ranks'],
    ['without --phase', 'the phase with the most time; stepscope check --metrics lists the metrics'],
  ],
  examples: [
    ['stepscope trend nightly/*.sqlite', 'step time, idle and kernels of the main phase'],
    [
      'stepscope trend a1b2=old.sqlite c3d4=new.sqlite --metric step.p99 --phase decode',
      'runs labeled by commit',
    ],
    [
      'stepscope trend --baselines stepscope-baselines.json --metric family.gemm',
      'the baseline history in your repository',
    ],
  ],
  async run({ values, given, output, emit }) {
    const metrics = readMetrics(values.metric.length > 0 ? values.metric.flat() : MAIN_METRICS);
    if (given.length === 0 && values.history === undefined)
      throw new UserError(
        'usage',
        'No runs were given.',
        'For example: stepscope trend nightly/*.sqlite, or --baselines FILE',
      );
    const { iterations, marker, rules } = values;
    const runs = [
      ...(values.history === undefined ? [] : runsOfBaselines(values.history)),
      ...(await runsOfFiles(given, { iterations, marker, rules }, output)),
    ];
    if (runs.length < 2)
      throw new UserError(
        'usage',
        `A trend needs at least two runs; ${plural(runs.length, 'run')} given.`,
        'Give each run as a separate file, in order.',
      );
    const found = trendOf(runs, metrics, values.phase);
    await emit({
      blocks: () => describeTrend(found),
      document: () => trendDocument(found, `stepscope ${version()}`),
      csv: () => trendCsv(found),
      text: context => trendText(found, context),
      markdown: () => trendMarkdown(found),
    });
    return 0;
  },
});
