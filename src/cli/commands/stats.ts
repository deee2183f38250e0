import type { Block } from '../../analyze/block.js';
import {
  type ChosenReport,
  chooseReport,
  defaultReports,
  statsReports,
  worthPrinting,
} from '../../analyze/stats/index.js';
import { runReport, tablesRead } from '../../analyze/stats/report.js';
import { UserError } from '../../base/user-error.js';
import { openProfile } from '../../import/open.js';
import type { Profile } from '../../model/profile.js';
import type { TableName } from '../../model/schema.js';
import { sliceProfile } from '../../model/slice.js';
import { renderers } from '../../report/index.js';
import { blockRows } from '../../report/json.js';
import type { Renderer } from '../../report/renderer.js';
import { readArguments, readTimeWindow, requireFiles } from '../arguments.js';
import type { Command, Output } from '../command.js';
import { writeResult } from '../write-result.js';

const READABLE_ROWS = 12;

export const stats: Command = {
  name: 'stats',
  summary: 'Print the summaries of `nsys stats` and the rules of `nsys analyze`, with the same numbers.',
  usage:
    'stepscope stats FILE… [-r REPORT[:OPTION…][,REPORT…]] [--format table|csv|json|markdown] [-o PREFIX]',
  options: [
    {
      flags: '-r, --report LIST',
      meaning: 'reports to print, by name (default: those of nsys stats that were recorded)',
    },
    { flags: '-f, --format FORMAT', meaning: 'table (default), csv, json or markdown' },
    { flags: '-o, --output PREFIX', meaning: 'write PREFIX_REPORT.csv and so on instead of printing' },
    { flags: '--force', meaning: 'overwrite files that are there' },
    {
      flags: '--rows N',
      meaning: `rows per table on the terminal (default ${READABLE_ROWS}, or all with -r)`,
    },
    { flags: '--time A-B', meaning: 'only events in this stretch of time, for example 1.2s-1.5s' },
    { flags: '--json', meaning: 'all reports in one JSON document, with notes' },
    { flags: '--list', meaning: 'list the reports and their options' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope stats profile.sqlite', 'what nsys stats prints'],
    ['stepscope stats profile.sqlite -r cuda_gpu_kern_sum:base', 'kernels by base name'],
    [
      'stepscope stats trace.json.gz -r cuda_gpu_trace --format csv -o trace',
      'writes trace_cuda_gpu_trace.csv',
    ],
    [
      'stepscope stats profile.sqlite -r gpu_gaps:gap=1,cuda_api_sync --time 1.2s-1.5s',
      'two rules on 300 ms',
    ],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('stats', args, {
      report: { type: 'string', short: 'r', multiple: true },
      format: { type: 'string', short: 'f', default: 'table' },
      output: { type: 'string', short: 'o' },
      force: { type: 'boolean' },
      time: { type: 'string' },
      json: { type: 'boolean' },
      list: { type: 'boolean' },
      rows: { type: 'string' },
    });
    if (values.list) return list(output, values.json === true);
    const renderer = findRenderer(values.format);
    const requests = (values.report ?? defaultReports)
      .flatMap(part => part.split(','))
      .filter(part => part !== '');
    const asked = requests.map(chooseReport);
    const window = values.time === undefined ? undefined : readTimeWindow(values.time);
    requireFiles('stats', positionals);
    const whole = await openProfile(positionals, {
      // Only what the chosen reports read is taken from the file.
      tables: tablesFor(asked),
      onProgress: (file, done) => output.progress(`reading ${file}`, done),
    });
    output.clearProgress();
    const profile = window ? sliceProfile(whole, window) : whole;
    const chosen = values.report ? asked : worthPrinting(asked, profile);
    if (values.json) {
      output.out(document(profile, chosen));
      return 0;
    }
    const toFiles = values.output !== undefined && values.output !== '-';
    const blocks: Block[] = [];
    for (const { report, options, request } of chosen) {
      const block = { ...runReport(report, profile, options), id: report.id };
      if (toFiles)
        writeResult(
          `${values.output}_${fileName(request)}.${renderer.extension}`,
          renderer.render([block], { width: Infinity, color: false }),
          values.force === true,
          output,
        );
      else blocks.push(block);
    }
    const rowLimit = values.rows ? Number(values.rows) : values.report ? undefined : READABLE_ROWS;
    if (!toFiles)
      output.out(
        renderer.render(blocks, {
          width: output.width,
          color: output.color,
          rowLimit,
          allColumns: '--format csv',
        }),
      );
    warn(profile, blocks, renderer, output);
    return 0;
  },
};

function list(output: Output, asJson: boolean): number {
  if (asJson) {
    const rows = statsReports.map(({ id, title, options, aliases }) => ({ id, title, options, aliases }));
    output.out(`${JSON.stringify({ schema: 'stepscope-stats-list/1', reports: rows }, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...statsReports.map(report => report.id.length));
  for (const report of statsReports) {
    const options =
      report.options.length > 0 ? `  [${report.options.map(option => `:${option}`).join(' ')}]` : '';
    output.out(`${report.id.padEnd(width)}  ${report.title}${options}\n`);
  }
  return 0;
}

function findRenderer(format: string): Renderer {
  const renderer = renderers.find(known => known.id === format);
  if (renderer) return renderer;
  throw new UserError(
    'usage',
    `There is no format ${JSON.stringify(format)}.`,
    `Use one of: ${renderers.map(known => known.id).join(', ')}`,
  );
}

function tablesFor(chosen: readonly ChosenReport[]): Map<TableName, string[]> {
  const tables = new Map<TableName, string[]>();
  for (const { report, options } of chosen) {
    for (const [table, columns] of Object.entries(tablesRead(report, options)) as [TableName, string[]][]) {
      tables.set(table, [...(tables.get(table) ?? []), ...columns]);
    }
  }
  return tables;
}

function document(profile: Profile, chosen: readonly ChosenReport[]): string {
  const reports = chosen.map(({ report, options, request }) => {
    const block = runReport(report, profile, options);
    return { id: report.id, request, title: report.title, rows: blockRows(block) };
  });
  return `${JSON.stringify({ schema: 'stepscope-stats/1', files: profile.capture.files, reports, notes: profile.notes }, null, 2)}\n`;
}

const fileName = (request: string) => request.replace(/[^A-Za-z0-9_=-]+/g, '_');

/** Losses are said with every report; formats for machines keep standard output clean. */
function warn(profile: Profile, blocks: readonly Block[], renderer: Renderer, output: Output): void {
  for (const block of blocks) {
    if (block.kind === 'not-recorded' && renderer.id === 'csv')
      output.err(`${block.id}: not recorded: ${block.what}; ${block.hint}\n`);
  }
  for (const note of profile.notes) {
    if (note.severity === 'loss')
      output.err(`note: ${note.count} ${note.text}${note.example ? ` (e.g. ${note.example})` : ''}\n`);
  }
}
