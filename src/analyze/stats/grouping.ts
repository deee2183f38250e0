/** Grouping rows by a key and summarizing a number per group, in linear time. */
import { type Summary, summarize } from '../../base/stats.js';

export interface Group<Key> {
  readonly key: Key;
  readonly summary: Summary;
  /** Some row of the group (the first), to read further columns from. */
  readonly row: number;
}

/** Groups by a small whole number per row (-1 is a key like any other); summarizes value(row). */
export function groupByNumber(
  length: number,
  keyOf: (row: number) => number,
  measure: (row: number) => number,
): Group<number>[] {
  const indexOf = new Map<number, number>();
  const keys: number[] = [];
  const firstRows: number[] = [];
  const counts: number[] = [];
  const groupOf = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    const key = keyOf(row);
    let group = indexOf.get(key);
    if (group === undefined) {
      group = keys.length;
      indexOf.set(key, group);
      keys.push(key);
      firstRows.push(row);
      counts.push(0);
    }
    groupOf[row] = group;
    counts[group]++;
  }
  // Counting sort: each group's values end up side by side, ready for in-place selection.
  const from = new Int32Array(keys.length + 1);
  for (let group = 0; group < keys.length; group++) from[group + 1] = from[group] + counts[group];
  const fill = from.slice();
  const values = new Float64Array(length);
  for (let row = 0; row < length; row++) values[fill[groupOf[row]]++] = measure(row);
  return keys.map((key, group) => ({
    key,
    row: firstRows[group],
    summary: summarize(values, from[group], from[group + 1]),
  }));
}

/** Gives a small number to each distinct pair, so that keys of several columns become one. */
export class PairNumbers {
  private readonly numbers = new Map<number, number>();

  /** `left` must be below 2^21, `right` any 32-bit whole number. */
  of(left: number, right: number): number {
    const key = (left + 1) * 2 ** 32 + (right >>> 0);
    let number = this.numbers.get(key);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(key, number);
    }
    return number;
  }
}

export const byTotal = (a: { summary: Summary }, b: { summary: Summary }) =>
  b.summary.total - a.summary.total;
