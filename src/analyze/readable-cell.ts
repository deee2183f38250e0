/** A cell of a table for people: durations and sizes with the unit they read best in. */
import { printable } from '../base/printable.js';
import { formatBytes, formatChange, formatCount, formatDuration, formatRate } from '../base/units.js';
import type { ColumnKind, TableColumn } from './block.js';

/** Cells carry their unit, so the header need not. */
export const shortHeader = (header: string) => header.replace(/ \((ns|MB|MB\/s)\)$/, '');

const formats: { readonly [Kind in Exclude<ColumnKind, 'text'>]: (value: number) => string } = {
  ns: formatDuration,
  'ns-mean': formatDuration,
  'ns-change': formatChange,
  timestamp: value => `${(value / 1e9).toFixed(6)} s`,
  bytes: formatBytes,
  'bytes-per-second': value => `${formatBytes(value)}/s`,
  share: value => (value * 100).toFixed(1),
  percent: value => value.toFixed(1),
  // A tenth of a call in hundreds says nothing.
  mean: value => formatCount(Number(value.toFixed(value < 100 ? 1 : 0))),
  rate: formatRate,
  count: formatCount,
  id: String,
};

export function readableCell({ kind, values }: TableColumn): (row: number) => string {
  if (kind === 'text') return row => printable((values[row] as string | null) ?? '');
  const numbers = values as ArrayLike<number>;
  const format = formats[kind];
  return row => (!Number.isNaN(numbers[row]) ? format(numbers[row]) : '');
}
