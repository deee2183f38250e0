/** A scatter as the table of its points, for those who cannot draw it. */
import type { ScatterBlock, TableBlock } from './block.js';

export function scatterTable({ id, title, x, y, points, remark }: ScatterBlock): TableBlock {
  return {
    kind: 'table',
    id,
    title,
    rows: points.length,
    columns: [
      { header: 'Name', kind: 'text', values: points.map(point => point.label) },
      { header: x.label, kind: x.kind, values: points.map(point => point.x) },
      { header: y.label, kind: y.kind, values: points.map(point => point.y) },
    ],
    ...(remark ? { advice: remark } : {}),
  };
}
