/** Tables as JSON rows, keyed by column header like NVIDIA's: one array for one table, an object for several. */
import type { Block, TableBlock } from '../analyze/block.js';
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
  return tableRows(block);
}

export function tableRows(block: TableBlock): Record<string, string | number | null>[] {
  return Array.from({ length: block.rows }, (_, row) => {
    const record: Record<string, string | number | null> = {};
    for (const { header, kind, values } of block.columns) record[header] = cell(kind, values[row]);
    return record;
  });
}

/** The same digits as in CSV, as numbers. */
function cell(kind: string, value: string | number | null): string | number | null {
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) return null;
  if (kind === 'percent' || kind === 'ns-mean' || kind === 'mean') return Number(value.toFixed(1));
  if (kind === 'bytes' || kind === 'bytes-per-second') return Number((value / 1e6).toFixed(3));
  return value;
}
