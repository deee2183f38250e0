/** Tables as CSV: numbers as NVIDIA prints them (no thousands separators), text quoted where RFC 4180 asks for it. */
import type { FactsBlock, TableBlock, TableColumn } from '../analyze/block.js';
import { csvCell } from '../base/csv-cell.js';
import type { Renderer } from './renderer.js';

export const csv: Renderer = {
  id: 'csv',
  mediaType: 'text/csv',
  extension: 'csv',
  render(blocks) {
    const tables = blocks.filter(block => block.kind === 'table');
    // Facts stand beside tables for people; where they are all there is, they are the rows.
    const facts = blocks.filter(block => block.kind === 'facts').map(factsTable);
    return (tables.length > 0 ? tables : facts)
      .map(renderCsv)
      .filter(part => part !== '')
      .join('\n');
  },
};

const factsTable = ({ facts, ...block }: FactsBlock): TableBlock => ({
  ...block,
  kind: 'table',
  rows: facts.length,
  columns: [
    { header: 'fact', kind: 'text', values: facts.map(({ label }) => label) },
    { header: 'text', kind: 'text', values: facts.map(({ text }) => text) },
  ],
});

export function renderCsv(block: TableBlock): string {
  if (block.rows === 0) return '';
  const lines: string[] = [block.columns.map(column => csvCell(column.header)).join(',')];
  const cells = block.columns.map(cellFormatter);
  for (let row = 0; row < block.rows; row++) lines.push(cells.map(cell => csvCell(cell(row))).join(','));
  return `${lines.join('\n')}\n`;
}

/** Plain text of one cell; empty where there is no value. */
export function cellFormatter(column: TableColumn): (row: number) => string {
  const { values, kind } = column;
  if (kind === 'text') return row => (values[row] as string | null) ?? '';
  const numbers = values as ArrayLike<number>;
  const format = numberFormatter(kind);
  return row => (!Number.isNaN(numbers[row]) ? format(numbers[row]) : '');
}

/** The digits NVIDIA prints for a number of this kind. */
export function numberFormatter(kind: TableColumn['kind']): (value: number) => string {
  switch (kind) {
    case 'percent':
    case 'ns-mean':
    case 'mean':
      // SQLite rounds these, exact ties up; toFixed does the same.
      return value => value.toFixed(1);
    case 'share':
      return value => (value * 100).toFixed(1);
    case 'bytes':
    case 'bytes-per-second':
      return value => thousandths(value / 1e6);
    default:
      return value => String(value);
  }
}

/** C's printf rounds these, exact ties to even. Only odd sixteenths are ties in binary: 0.0625 is 0.062. */
function thousandths(value: number): string {
  const sixteenths = value * 16;
  if (!Number.isInteger(sixteenths) || sixteenths % 2 === 0) return value.toFixed(3);
  const below = Math.floor(value * 1000);
  return ((below % 2 === 0 ? below : below + 1) / 1000).toFixed(3);
}
