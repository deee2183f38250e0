/** A table whose cells carry their units, as on the terminal, for renderers that print plain numbers otherwise. */
import type { Block, TableBlock } from '../analyze/block.js';
import { readableCell, shortHeader } from '../analyze/readable-cell.js';

/** What all rows share is a line above. */
export function readableTable(block: Block): Block[] {
  if (block.kind !== 'table') return [block];
  const columns = block.columns.map(column => {
    const cell = readableCell(column);
    const values = Array.from({ length: block.rows }, (_, row) => cell(row));
    return { header: shortHeader(column.header), kind: 'text' as const, values };
  });
  const table: TableBlock = { ...block, columns };
  if (block.advice === undefined) return [table];
  return [{ kind: 'statement', id: `${block.id}-shared`, title: '', lines: [block.advice] }, table];
}
