import * as fs from 'node:fs';
import * as path from 'node:path';
import { plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { isPhase, type Phase, phases } from '../../catalog/phases.js';
import { describeTrend, seriesName, trendCsv } from '../../gate/describe-trend.js';
import { formatValue } from '../../gate/quantity.js';
import { type LabelledRun, type Trend, trendDocument, trendOf } from '../../gate/trend.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import { linePlot, sparkline } from '../../report/text-plot.js';
import { cleanText } from '../../run/collect-facts.js';
import { findMetric, type Metric, suggestMetrics } from '../../run/metrics.js';
import { readArguments } from '../arguments.js';
import { readBaselines } from '../baselines-file.js';
import type { Command, Output } from '../command.js';
import { type MeasureValues, measureFiles, measureHelp, measureOptions } from '../measure-files.js';
import { version } from '../version.js';

const MAIN_METRICS = ['step.p50', 'idle', 'kernels'];
const PLOT_ROWS = 8;

export const trend: Command = {
  name: 'trend',
  summary: 'Follow metrics over many runs and say where they changed.',
  usage:
    'stepscope trend FILE… | --baselines FILE [--metric ID[,ID…]] [--phase PHASE] [--json | --csv | --markdown]',
  options: [
    { flags: 'FILE, LABEL=FILE', meaning: 'a run each, in order; a folder is one run of several ranks' },
    {
      flags: '--baselines FILE',
      meaning: 'the baselines of that file, in the order they were saved, come first',
    },
    {
      flags: '--metric LIST',
      meaning: `default ${MAIN_METRICS.join(', ')}; stepscope check --metrics lists all`,
    },
    { flags: '--phase PHASE', meaning: 'default: the phase that takes most time' },
    { flags: '--json', meaning: 'as JSON' },
    { flags: '--csv', meaning: 'a row per run and metric' },
    { flags: '--markdown', meaning: 'as Markdown' },
    ...measureHelp,
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope trend nightly/*.sqlite', 'step time, idle and kernels of the main phase'],
    ['stepscope trend a1b2=old.sqlite c3d4=new.sqlite --metric step.p99 --phase decode', 'runs by commit'],
    [
      'stepscope trend --baselines stepscope-baselines.json --metric family.gemm',
      'the history in your repository',
    ],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('trend', args, {
      ...measureOptions,
      baselines: { type: 'string' },
      metric: { type: 'string', multiple: true },
      phase: { type: 'string' },
      json: { type: 'boolean' },
      csv: { type: 'boolean' },
      markdown: { type: 'boolean' },
    });
    const metrics = readMetrics(values.metric ?? MAIN_METRICS);
    const phase = readPhase(values.phase);
    if ([values.json, values.csv, values.markdown].filter(Boolean).length > 1)
      throw new UserError('usage', '--json, --csv and --markdown are three forms.', 'Choose one.');
    if (positionals.length === 0 && values.baselines === undefined)
      throw new UserError(
        'usage',
        'No runs were given.',
        'For example: stepscope trend nightly/*.sqlite, or --baselines FILE',
      );
    const runs = [
      ...(values.baselines === undefined ? [] : fromBaselines(values.baselines)),
      ...(await fromFiles(positionals, values, output)),
    ];
    if (runs.length < 2)
      throw new UserError(
        'usage',
        `A trend needs two runs or more, this is ${plural(runs.length, 'run')}.`,
        'Give each run as a file of its own, in order.',
      );
    const found = trendOf(runs, metrics, phase);
    if (values.json)
      output.out(`${JSON.stringify(trendDocument(found, `stepscope ${version()}`), null, 1)}\n`);
    else if (values.csv) output.out(trendCsv(found));
    else if (values.markdown) output.out(asMarkdown(found));
    else output.out(asText(found, output));
    return 0;
  },
};

function readMetrics(lists: readonly string[]): Metric[] {
  const names = [...new Set(lists.flatMap(list => list.split(',')).map(name => name.trim()))].filter(
    name => name !== '',
  );
  return names.map(name => {
    const metric = findMetric(name);
    if (metric) return metric;
    const close = suggestMetrics(name);
    throw new UserError(
      'usage',
      `There is no metric ${JSON.stringify(name)}.`,
      close.length > 0 ? `Did you mean ${close.join(', ')}?` : 'stepscope check --metrics lists them.',
    );
  });
}

function readPhase(given: string | undefined): Phase | undefined {
  if (given === undefined || isPhase(given)) return given;
  throw new UserError(
    'usage',
    `${JSON.stringify(given)} is not a phase.`,
    `Use one of: ${phases.map(({ id }) => id).join(', ')}`,
  );
}

/** A baseline of several runs is several points: they show how far a figure moves by itself. */
function fromBaselines(file: string): LabelledRun[] {
  return readBaselines(file).baselines.flatMap(({ name, runs }) =>
    runs.map((run, i) => ({ label: runs.length > 1 ? `${name}#${i + 1}` : name, run })),
  );
}

async function fromFiles(
  given: readonly string[],
  values: MeasureValues,
  output: Output,
): Promise<LabelledRun[]> {
  const named = given.map(argument => {
    const at = argument.indexOf('=');
    // A path may have that character too.
    const isLabelled = at > 0 && !fs.existsSync(argument);
    return {
      file: isLabelled ? argument.slice(at + 1) : argument,
      label: isLabelled ? argument.slice(0, at) : undefined,
    };
  });
  const stem = (file: string) => path.basename(file).replace(/\.(sqlite|json|nsys-rep)(\.gz)?$|\.gz$/i, '');
  const stems = named.map(({ file }) => stem(file));
  const runs: LabelledRun[] = [];
  for (const [i, { file, label }] of named.entries()) {
    const run = await measureFiles([file], values, output);
    // Runs kept in folders of their own often share a name: the folder tells them apart.
    const isAlone = stems.indexOf(stems[i]) === stems.lastIndexOf(stems[i]);
    const folder = path.basename(path.dirname(path.resolve(file)));
    runs.push({ label: cleanText(label ?? (isAlone ? stems[i] : `${folder}/${stems[i]}`)), run });
  }
  return runs;
}

function asText(found: Trend, output: Output): string {
  const [answer, ...tables] = describeTrend(found);
  const plots = found.series
    .filter(({ measured }) => measured > 0)
    .map((series, i) => {
      const plot = linePlot(
        series.points.map(({ value }) => value),
        {
          width: output.width,
          height: PLOT_ROWS,
          format: value => formatValue(value, series.metric.unit),
          breaks: series.changes.map(({ after }) => after),
        },
      );
      return `${text.render([tables[i]], output)}\n${plot}`;
    });
  return [text.render([answer], output), ...plots].join('\n');
}

function asMarkdown(found: Trend): string {
  const sparks = found.series.map(
    series => `- ${seriesName(series)} \`${sparkline(series.points.map(({ value }) => value))}\`\n`,
  );
  const [answer, ...tables] = describeTrend(found);
  const render = (blocks: typeof tables) => markdown.render(blocks, { width: Infinity, color: false });
  return `${render([answer])}\n${sparks.join('')}\n${render(tables)}`;
}
