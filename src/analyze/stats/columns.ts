/** The columns most reports share, built the same way everywhere. */
import type { Summary } from '../../stats/summary.js';
import type { ColumnKind, TableColumn } from '../block.js';

export const column = (header: string, kind: ColumnKind, values: TableColumn['values']): TableColumn => ({
  header,
  kind,
  values,
});

/** undefined: nothing to show. */
export const numbers = <T>(
  header: string,
  kind: ColumnKind,
  rows: ArrayLike<T>,
  value: (row: T) => number | undefined,
): TableColumn =>
  column(
    header,
    kind,
    Float64Array.from(rows, row => value(row) ?? Number.NaN),
  );

export const texts = <T>(header: string, rows: ArrayLike<T>, value: (row: T) => string | null): TableColumn =>
  column(
    header,
    'text',
    Array.from(rows, row => value(row)),
  );

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
