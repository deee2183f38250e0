import type { Block, TableBlock } from '../../analyze/block.js';
import { readableCell, shortHeader } from '../../analyze/readable-cell.js';
import { csvCell } from '../../base/csv-cell.js';
import { UserError } from '../../base/user-error.js';
import { benchMetrics, benchSettings } from '../../catalog/bench-metrics.js';
import {
  type BenchComparison,
  compareToFirst,
  describeBench,
  medianStep,
} from '../../compare/bench-table.js';
import { openBenchRuns } from '../../import/bench/open-bench.js';
import type { BenchRun } from '../../model/bench-run.js';
import { BENCH_SCHEMA } from '../../report/bench-json.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import { readArguments } from '../arguments.js';
import type { Command } from '../command.js';

const formats = ['table', 'csv', 'json', 'markdown'] as const;

export const bench: Command = {
  name: 'bench',
  summary: 'Put the results of benchmarks beside each other: throughput, latency, TTFT, TPOT, ITL.',
  usage: 'stepscope bench FILE|FOLDER… [--json | --csv | --markdown]',
  options: [
    { flags: '--json', meaning: 'everything, rows of iterations and requests included, by docs/schemas' },
    { flags: '--csv', meaning: 'a row per run in base units (nanoseconds, per second)' },
    { flags: '--markdown', meaning: 'the table, for a pull request' },
    { flags: '-f, --format FORMAT', meaning: 'table (default), csv, json or markdown' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope bench trtllm-bench.log', 'every report in a log, one row each'],
    ['stepscope bench before.json after.json', 'two runs, with the change'],
    ['stepscope bench results/ --csv > sweep.csv', 'a sweep for a spreadsheet'],
    ['stepscope bench profile_export_aiperf.json --markdown', 'for a pull request'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('bench', args, {
      json: { type: 'boolean' },
      csv: { type: 'boolean' },
      markdown: { type: 'boolean' },
      format: { type: 'string', short: 'f' },
    });
    const format = chosenFormat(values);
    if (positionals.length === 0)
      throw new UserError(
        'usage',
        'No benchmark result was given.',
        'For example: stepscope bench trtllm-bench.log',
      );
    const runs = await openBenchRuns(positionals, {
      onPassedOver: (folder, files) =>
        output.err(`note: ${files.length} files of ${folder} hold no benchmark result (e.g. ${files[0]})\n`),
    });
    const comparison = compareToFirst(runs);
    if (format === 'json') output.out(document(positionals, runs, comparison));
    else if (format === 'csv') output.out(asCsv(runs, comparison));
    else {
      const blocks = describeBench(runs, comparison);
      const context = { width: output.width, color: output.color };
      output.out(
        format === 'markdown'
          ? markdown.render(
              blocks.flatMap(block => (block.kind === 'table' ? readable(block) : [block])),
              context,
            )
          : text.render(blocks, context),
      );
    }
    return 0;
  },
};

function chosenFormat(values: { json?: boolean; csv?: boolean; markdown?: boolean; format?: string }) {
  const asked = [
    ...(['json', 'csv', 'markdown'] as const).filter(name => values[name]),
    ...(values.format === undefined ? [] : [values.format]),
  ];
  const known = formats.find(name => name === (asked[0] ?? 'table'));
  if (known && new Set(asked).size <= 1) return known;
  throw new UserError(
    'usage',
    known ? 'Several formats were asked for.' : `There is no format ${JSON.stringify(asked[0])}.`,
    `Use one of: ${formats.join(', ')}`,
  );
}

function document(
  files: readonly string[],
  runs: readonly BenchRun[],
  { names, beside }: BenchComparison,
): string {
  const content = {
    schema: BENCH_SCHEMA,
    files,
    runs: runs.map((run, i) => ({ name: names[i], ...run })),
    besideFirst: beside.map((difference, i) => ({ run: names[i + 1], ...difference })),
  };
  return `${JSON.stringify(content, null, 1)}\n`;
}

/** Base units and the names of the catalog; what was not printed is empty. */
function asCsv(runs: readonly BenchRun[], { names, beside }: BenchComparison): string {
  const columns: [string, (run: BenchRun, i: number) => string | number | undefined][] = [
    ['run', (_, i) => names[i]],
    ['file', run => run.source.file],
    ['format', run => run.source.format],
    ...benchSettings.map(({ id, of }) => [id, of] as [string, typeof of]),
    ['meanConcurrency', run => run.load.meanConcurrency],
    ['completed', run => run.counts.completed],
    ['errors', run => run.counts.errors],
    ...benchMetrics.map(({ id, of }) => [id, of] as [string, typeof of]),
    ['iterations', run => run.iterations?.length],
    ['stepP50Ns', medianStep],
    ['comparableToFirst', (_, i) => (i === 0 ? undefined : String(beside[i - 1].comparable))],
  ];
  const lines = runs.map((run, i) => columns.map(([, of]) => csvCell(String(of(run, i) ?? ''))).join(','));
  return `${[columns.map(([name]) => name).join(','), ...lines].join('\n')}\n`;
}

/** Cells with their units, as on the terminal; what all runs share is a line above. */
function readable(block: TableBlock): Block[] {
  const columns = block.columns.map(column => {
    const cell = readableCell(column);
    const values = Array.from({ length: block.rows }, (_, row) => cell(row));
    return { header: shortHeader(column.header), kind: 'text' as const, values };
  });
  const table: TableBlock = { ...block, columns };
  if (block.advice === undefined) return [table];
  return [{ kind: 'statement', id: 'bench-shared', title: '', lines: [block.advice] }, table];
}
