/**
 * Events that last longer than the whole capture: one damaged time is enough to make a kernel run for years, and every
 * mean and sum with it. Which events those are; the builder leaves them out and says so.
 */
import type { AnyArray } from '../base/column.js';

/** Where no file says how long it recorded, only what is absurd is refused. */
const UNSTATED_LEAST_NS = 60e9;
const UNSTATED_FACTOR = 2;

interface Rows {
  readonly length: number;
  readonly columns: Readonly<Record<string, AnyArray>>;
}

/** The longest anything can have lasted. */
interface Longest {
  /** What was recorded as it happened. */
  readonly eventNs: number;
  /** A program's own ranges and its calls of the OS: real ones begin before the recording, or end behind it. */
  readonly rangeNs: number;
}

/** Tables are sorted by start. */
export function longestPossible(tables: Iterable<Rows>, statedNs: number | undefined): Longest {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { length, columns } of tables) {
    if (!columns.start) continue;
    first = Math.min(first, columns.start[0]);
    last = Math.max(last, columns.start[length - 1]);
  }
  const startsNs = Math.max(0, last - first);
  const rangeNs = Math.max(UNSTATED_LEAST_NS, startsNs * UNSTATED_FACTOR);
  const isStated = statedNs !== undefined && statedNs > 0;
  return { eventNs: isStated ? Math.max(statedNs, startsNs) : rangeNs, rangeNs };
}

/** Rows that last longer. Those without an end are still open, and stay. */
export function rowsBeyond({ length, columns: { start, end } }: Rows, longestNs: number): number[] {
  const beyond: number[] = [];
  if (end) for (let row = 0; row < length; row++) if (end[row] - start[row] > longestNs) beyond.push(row);
  return beyond;
}
