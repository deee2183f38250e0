/** A cell of a table for people: durations and sizes with the unit they read best in. */
import { printable } from '../base/printable.js';
import { formatBytes, formatChange, formatCount, formatDuration } from '../base/units.js';
import type { TableColumn } from './block.js';

/** Cells carry their unit, so the header need not. */
export const shortHeader = (header: string) => header.replace(/ \((ns|MB|MB\/s)\)$/, '');

export function readableCell({ kind, values }: TableColumn): (row: number) => string {
  if (kind === 'text') return row => printable((values[row] as string | null) ?? '');
  const numbers = values as ArrayLike<number>;
  const number: (value: number) => string =
    kind === 'ns' || kind === 'ns-mean'
      ? formatDuration
      : kind === 'ns-change'
        ? formatChange
        : kind === 'timestamp'
          ? value => `${(value / 1e9).toFixed(6)} s`
          : kind === 'bytes'
            ? formatBytes
            : kind === 'bytes-per-second'
              ? value => `${formatBytes(value)}/s`
              : kind === 'share'
                ? value => (value * 100).toFixed(1)
                : kind === 'percent'
                  ? value => `${value.toFixed(1)}`
                  : kind === 'mean'
                    ? value => formatCount(Number(value.toFixed(1)))
                    : kind === 'count'
                      ? formatCount
                      : String;
  return row => (!Number.isNaN(numbers[row]) ? number(numbers[row]) : '');
}
