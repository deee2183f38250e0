/** Shades of a heat map, the same on every surface: steps of a ratio, so that twice and half are as far from 1. */
import type { HeatBlock } from './block.js';

/** Upper bounds of the shades; what is above the last has the last. */
export const heatBounds = [0.5, 0.8, 1.25, 2, 4, 8] as const;
export const heatShades = heatBounds.length + 1;
/** From pale to strong, readable in grey and for colour-blind readers. */
export const heatColors = [
  '#f1f4f7',
  '#d6e2ec',
  '#b0cbe0',
  '#7fb0d1',
  '#4b8ec0',
  '#e08214',
  '#a8321f',
] as const;

/** 0 to `heatShades` − 1, or -1 where there is nothing. */
export function shadeOf(value: number): number {
  // What is nothing here is null by the time it reaches a page.
  if (!Number.isFinite(value)) return -1;
  const found = heatBounds.findIndex(bound => value < bound);
  return found < 0 ? heatBounds.length : found;
}

export const shadeLabel = (shade: number): string =>
  shade === 0
    ? `under ${heatBounds[0]}×`
    : shade === heatBounds.length
      ? `${heatBounds[shade - 1]}× and more`
      : `${heatBounds[shade - 1]}–${heatBounds[shade]}×`;

/** A smaller map: neighbours are joined, and the largest shows, because it is what GPUs wait for. */
export function shrinkHeat(block: HeatBlock, mostRows: number, mostColumns: number): HeatBlock {
  const rows = Math.min(block.rows.length, Math.max(1, mostRows));
  const columns = Math.min(block.columns, Math.max(1, mostColumns));
  if (rows === block.rows.length && columns === block.columns) return block;
  const values = new Float64Array(rows * columns).fill(Number.NaN);
  for (let row = 0; row < block.rows.length; row++)
    for (let column = 0; column < block.columns; column++) {
      const value = block.values[row * block.columns + column];
      const to =
        Math.floor((row * rows) / block.rows.length) * columns +
        Math.floor((column * columns) / block.columns);
      if (!(values[to] >= value) && Number.isFinite(value)) values[to] = value;
    }
  const names = Array.from({ length: rows }, (_, row) => {
    const first = Math.ceil((row * block.rows.length) / rows);
    const last = Math.ceil(((row + 1) * block.rows.length) / rows) - 1;
    const number = /\d+$/.exec(block.rows[last])?.[0] ?? block.rows[last];
    return first === last ? block.rows[first] : `${block.rows[first]}–${number}`;
  });
  return { ...block, rows: names, columns, values };
}

/** Cells of one shade as an SVG path of unit squares, runs in a row joined. */
export function shadePath({ rows, columns, values }: HeatBlock, shade: number): string {
  const parts: string[] = [];
  for (let row = 0; row < rows.length; row++)
    for (let column = 0; column < columns; column++) {
      if (shadeOf(values[row * columns + column]) !== shade) continue;
      let width = 1;
      while (column + width < columns && shadeOf(values[row * columns + column + width]) === shade) width++;
      parts.push(`M${column} ${row}h${width}v1h-${width}z`);
      column += width - 1;
    }
  return parts.join('');
}
