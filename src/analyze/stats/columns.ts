/** The columns most reports share, built the same way everywhere. */
import type { Summary } from '../../stats/summary.js';
import type { ColumnKind, TableColumn } from '../block.js';

export const column = (header: string, kind: ColumnKind, values: TableColumn['values']): TableColumn => ({
  header,
  kind,
  values,
});

export const numbers = <T>(
  header: string,
  kind: ColumnKind,
  rows: readonly T[],
  value: (row: T) => number,
): TableColumn => column(header, kind, Float64Array.from(rows, value));

export const texts = <T>(header: string, rows: readonly T[], value: (row: T) => string | null): TableColumn =>
  column(header, 'text', rows.map(value));

/** Time (%), Total Time, <count>, Avg, Med, Min, Max, StdDev: the head of every summary by time. */
export function timeSummaryColumns(summaries: readonly Summary[], countHeader: string): TableColumn[] {
  const everything = summaries.reduce((sum, summary) => sum + summary.total, 0);
  return [
    numbers('Time (%)', 'percent', summaries, s => (s.total * 100) / everything),
    numbers('Total Time (ns)', 'ns', summaries, s => s.total),
    numbers(countHeader, 'count', summaries, s => s.count),
    ...spreadColumns(summaries, ''),
  ];
}

export function spreadColumns(summaries: readonly Summary[], prefix: string): TableColumn[] {
  return [
    numbers(`${prefix}Avg (ns)`, 'ns-mean', summaries, s => s.mean),
    numbers(`${prefix}Med (ns)`, 'ns-mean', summaries, s => s.median),
    numbers(`${prefix}Min (ns)`, 'ns', summaries, s => s.min),
    numbers(`${prefix}Max (ns)`, 'ns', summaries, s => s.max),
    numbers(`${prefix}StdDev (ns)`, 'ns-mean', summaries, s => s.stddev),
  ];
}
