/** Grouping rows by a key and summarizing a number per group, in linear time. */
import { NONE } from '../../base/column.js';
import { type Summary, summarize } from '../../stats/summary.js';

export interface Group<Key> {
  readonly key: Key;
  readonly summary: Summary;
  /** Some row of the group (the first), to read further columns from. */
  readonly row: number;
}

/** Groups by a whole number per row (NONE is a key like any other) and summarizes end - start. */
export function groupSpans(
  keys: ArrayLike<number>,
  start: ArrayLike<number>,
  end: ArrayLike<number>,
): Group<number>[] {
  const groups = assignGroups(keys);
  const values = new Float64Array(keys.length);
  const { groupOf, fill } = groups;
  for (let row = 0; row < groupOf.length; row++) values[fill[groupOf[row]]++] = end[row] - start[row];
  return summarizeGroups(groups, values);
}

/** The same for any measure of a row. */
export function groupValues(keys: ArrayLike<number>, measured: ArrayLike<number>): Group<number>[] {
  const groups = assignGroups(keys);
  const values = new Float64Array(keys.length);
  const { groupOf, fill } = groups;
  for (let row = 0; row < groupOf.length; row++) values[fill[groupOf[row]]++] = measured[row];
  return summarizeGroups(groups, values);
}

interface Groups {
  readonly keys: number[];
  readonly firstRows: number[];
  readonly groupOf: Int32Array;
  /** Where each group's values begin once they lie side by side; one longer than keys. */
  readonly from: Int32Array;
  /** A copy of `from` to count up while filling. */
  readonly fill: Int32Array;
}

/** Keys below this are looked up in an array: string ids and the like nearly always are. */
const DENSE = 1 << 20;
/** Of few rows the array is small: zeroing the largest one takes longer than they do. */
const DENSE_PER_ROW = 16;

function assignGroups(keyOf: ArrayLike<number>): Groups {
  const length = keyOf.length;
  const denseKeys = Math.min(DENSE, length * DENSE_PER_ROW);
  const dense = new Int32Array(denseKeys + 1);
  const sparse = new Map<number, number>();
  const keys: number[] = [];
  const firstRows: number[] = [];
  const counts: number[] = [];
  const groupOf = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    const key = keyOf[row];
    const inArray = key >= NONE && key < denseKeys;
    let group = (inArray ? dense[key + 1] : (sparse.get(key) ?? 0)) - 1;
    if (group < 0) {
      group = keys.length;
      if (inArray) dense[key + 1] = group + 1;
      else sparse.set(key, group + 1);
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
  return { keys, firstRows, groupOf, from, fill: from.slice() };
}

function summarizeGroups({ keys, firstRows, from }: Groups, values: Float64Array): Group<number>[] {
  return keys.map((key, group) => ({
    key,
    row: firstRows[group],
    summary: summarize(values, from[group], from[group + 1]),
  }));
}

export const byTotal = (a: { summary: Summary }, b: { summary: Summary }) =>
  b.summary.total - a.summary.total;

/** The order of the kernel summaries: by total, then fewer instances first, then by name. */
export function byTotalThenName(
  a: { summary: Summary; name: string },
  b: { summary: Summary; name: string },
): number {
  return (
    byTotal(a, b) || a.summary.count - b.summary.count || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  );
}
