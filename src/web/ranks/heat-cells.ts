/** A heat map of ranks as pixels: which cell is where, what it says, how dark it is. */
import { formatDuration } from '../../base/units.js';
import type { RankHeat } from '../../timeline/wire.js';

export interface HeatGrid {
  readonly columns: number;
  /** Columns of the document behind one drawn column. */
  readonly per: number;
  /** Row after row, the largest of the columns behind; null: nothing there. */
  readonly values: readonly (number | null)[];
  readonly least: number;
  readonly most: number;
}

/** Many columns share a drawn one, which shows the largest, so that no outlier is averaged away. */
export function heatGrid(heat: RankHeat, ranks: number, room: number): HeatGrid {
  const per = Math.max(1, Math.ceil(heat.columns / Math.max(1, room)));
  const columns = Math.ceil(heat.columns / per);
  const values: (number | null)[] = [];
  let [least, most] = [Infinity, -Infinity];
  for (let rank = 0; rank < ranks; rank++)
    for (let column = 0; column < columns; column++) {
      let value: number | null = null;
      for (let i = column * per; i < Math.min(heat.columns, (column + 1) * per); i++) {
        const own = heat.values[rank * heat.columns + i];
        if (own !== null && (value === null || own > value)) value = own;
      }
      values.push(value);
      if (value === null) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  return { columns, per, values, least: Number.isFinite(least) ? least : 0, most: Math.max(most, 0) };
}

/** 0 for the smallest to 1 for the largest. */
export function depthOf({ least, most }: HeatGrid, value: number): number {
  return most > least ? (value - least) / (most - least) : 0.5;
}

/** The column of the document that a drawn cell shows: the largest behind it. */
export function largestBehind(heat: RankHeat, grid: HeatGrid, rank: number, column: number): number {
  let best = column * grid.per;
  for (let i = best; i < Math.min(heat.columns, (column + 1) * grid.per); i++) {
    const at = (step: number) => heat.values[rank * heat.columns + step] ?? -1;
    if (at(i) > at(best)) best = i;
  }
  return best;
}

export const cellText = (value: number | null): string =>
  value === null ? 'not recorded' : formatDuration(value);
