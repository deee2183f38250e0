/** Which rows of a table in order of start may lie between two moments, without looking at all of them. */
import { lowerBound } from '../../base/bisect.js';

interface Events {
  readonly length: number;
  readonly start: { readonly [row: number]: number };
  readonly end: { readonly [row: number]: number };
}

const BLOCK = 1024;

/** Per block of rows, when the last of them ends; one that never ended reaches past everything. */
export function blockEndsOf({ length, end }: Events): Float64Array {
  const ends = new Float64Array(Math.ceil(length / BLOCK)).fill(-Infinity);
  for (let row = 0; row < length; row++) {
    const block = (row / BLOCK) | 0;
    if (!(end[row] <= ends[block])) ends[block] = Number.isNaN(end[row]) ? Infinity : end[row];
  }
  return ends;
}

/** Visits stretches of rows that begin before `to`, in order, and leaves out most of those that end before `from`. */
export function forRowsReaching(
  events: Events,
  blockEnds: Float64Array,
  from: number,
  to: number,
  visit: (first: number, after: number) => void,
): void {
  const last = lowerBound(events.start as unknown as Float64Array, to);
  for (let block = 0; block * BLOCK < last; block++)
    if (!(blockEnds[block] <= from)) visit(block * BLOCK, Math.min(last, (block + 1) * BLOCK));
}
