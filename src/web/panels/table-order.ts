/** Which rows of a table are shown, and in which order. Blocks that travelled as JSON have null where NaN was. */
import type { TableBlock, TableColumn } from '../../analyze/block.js';
import { readableCell } from '../../analyze/readable-cell.js';

export interface Order {
  readonly column: number;
  readonly direction: 'ascending' | 'descending';
}

export interface Cells {
  readonly header: string;
  readonly isText: boolean;
  readonly text: (row: number) => string;
  readonly raw: (row: number) => string | number | null;
}

export function cellsOf(column: TableColumn): Cells {
  const isText = column.kind === 'text';
  const values = isText
    ? column.values
    : Array.from(column.values as ArrayLike<number | null>, value => value ?? Number.NaN);
  return {
    header: column.header,
    isText,
    text: readableCell({ ...column, values }),
    raw: row => values[row] as string | number | null,
  };
}

/** Rows with the text in any cell, sorted; without an order as they came. What has no value is last either way. */
export function rowsShown(
  { rows }: TableBlock,
  columns: readonly Cells[],
  filter: string,
  order: Order | null,
): number[] {
  const wanted = filter.trim().toLowerCase();
  const kept = Array.from({ length: rows }, (_, row) => row).filter(
    row => wanted === '' || columns.some(column => column.text(row).toLowerCase().includes(wanted)),
  );
  const cells = order && columns[order.column];
  if (!cells) return kept;
  const sign = order.direction === 'ascending' ? 1 : -1;
  const missing = (value: string | number | null) =>
    Number(typeof value === 'number' ? Number.isNaN(value) : value === null || value === '');
  return kept.sort((a, b) => {
    const [left, right] = [cells.raw(a), cells.raw(b)];
    if (missing(left) || missing(right)) return missing(left) - missing(right) || a - b;
    if (typeof left === 'number' && typeof right === 'number') return sign * (left - right) || a - b;
    return sign * String(left).localeCompare(String(right), 'en', { numeric: true }) || a - b;
  });
}

/** The shown rows with plain numbers, as spreadsheets read them. */
export function tableCsv(columns: readonly Cells[], rows: readonly number[]): string {
  const quote = (value: string | number | null) => {
    const text = value === null || Number.isNaN(value) ? '' : String(value);
    // A cell that begins like a formula would be run by a spreadsheet.
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.map(row => columns.map(column => quote(column.raw(row))).join(','));
  return `${[columns.map(column => quote(column.header)).join(','), ...lines].join('\n')}\n`;
}
