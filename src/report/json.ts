/** Tables as JSON rows, keyed by column header like NVIDIA's: one array for one table, an object for several. */
import type { Block, TableBlock } from '../analyze/block.js';
import { scatterTable } from '../analyze/scatter-table.js';
import { numberFormatter } from './csv.js';
import type { Renderer } from './renderer.js';

export const json: Renderer = {
  id: 'json',
  mediaType: 'application/json',
  extension: 'json',
  render(blocks) {
    const value =
      blocks.length === 1
        ? blockRows(blocks[0])
        : Object.fromEntries(blocks.map(block => [block.id, blockRows(block)]));
    return `${JSON.stringify(value, null, 2)}\n`;
  },
};

export function blockRows(block: Block): unknown {
  if (block.kind === 'not-recorded') return { notRecorded: block.what, hint: block.hint };
  if (block.kind === 'facts') return block.facts;
  if (block.kind === 'statement') return block.lines;
  if (block.kind === 'bars') return block.rows;
  if (block.kind === 'findings') return block.findings;
  if (block.kind === 'scatter') return tableRows(scatterTable(block));
  if (block.kind === 'waterfall') return { from: block.from, to: block.to, terms: block.terms };
  if (block.kind === 'heat')
    return { rows: block.rows, columns: block.columns, values: Array.from(block.values) };
  return tableRows(block);
}

function tableRows(block: TableBlock): Record<string, string | number | null>[] {
  const formats = block.columns.map(column => numberFormatter(column.kind));
  return Array.from({ length: block.rows }, (_, row) => {
    const record: Record<string, string | number | null> = {};
    block.columns.forEach((column, c) => {
      record[column.header] = cell(column.values[row], formats[c]);
    });
    return record;
  });
}

/** The same digits as in CSV, as numbers. */
function cell(value: string | number | null, format: (value: number) => string): string | number | null {
  if (typeof value !== 'number') return value;
  return Number.isNaN(value) ? null : Number(format(value));
}
