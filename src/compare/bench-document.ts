/** Benchmarks beside each other, for machines: one JSON document, and a row per run in base units. */
import { csvCell } from '../base/csv-cell.js';
import type { Static } from '../base/document.js';
import { benchMetrics, benchSettings } from '../catalog/bench-metrics.js';
import type { BenchRun } from '../model/bench-run.js';
import type { benchSchema } from './bench-schema.js';
import { type BenchComparison, medianStep } from './bench-table.js';

export const benchDocument = (
  files: readonly string[],
  runs: readonly BenchRun[],
  { names, beside }: BenchComparison,
): Static<typeof benchSchema> => ({
  schema: 'stepscope-bench/1',
  files,
  runs: runs.map((run, i) => ({ name: names[i], ...run })),
  besideFirst: beside.map((difference, i) => ({ run: names[i + 1], ...difference })),
});

/** Base units and the names of the catalog; what was not printed is empty. */
export function benchCsv(runs: readonly BenchRun[], { names, beside }: BenchComparison): string {
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
