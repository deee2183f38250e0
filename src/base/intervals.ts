/**
 * Stretches of time as two sorted columns that never overlap, so that lengths are unions and never sums of overlaps.
 *
 *   a         ███..██..      union(a, b)      ████.███.
 *   b         .███..██       subtract(a, b)   █...█....
 */
import { lowerBound, upperBound } from './bisect.js';
import { allocate } from './column.js';
import { orderBy } from './order.js';

/** Most builders stay small; the large ones hold an interval per kernel. */
const FIRST_ROOM = 16;

export interface Intervals {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
}

export const NO_INTERVALS: Intervals = {
  length: 0,
  start: new Float64Array(0),
  end: new Float64Array(0),
};

/** Collects stretches and joins those that touch or overlap. They should come in order of start; others cost a sort. */
export class IntervalBuilder {
  private starts: Float64Array;
  private ends: Float64Array;
  private length = 0;
  private from = Number.NaN;
  private to = Number.NaN;
  private inOrder = true;
  /** Stretches that lie no further apart than this are joined. */
  constructor(
    private readonly reach = 0,
    /** How many are expected: growing copies all that is there. */
    expected = FIRST_ROOM,
  ) {
    // Many are shared with threads that help.
    this.starts = allocate('f64', expected, expected > FIRST_ROOM) as Float64Array;
    this.ends = allocate('f64', expected, expected > FIRST_ROOM) as Float64Array;
  }

  /** True when this stretch opens a new interval. Empty stretches are left out. */
  add(start: number, end: number): boolean {
    if (!(end > start)) return false;
    if (start < this.from) this.inOrder = false;
    else if (start <= this.to + this.reach) {
      if (end > this.to) this.to = end;
      return false;
    }
    this.flush();
    this.from = start;
    this.to = end;
    return true;
  }

  private flush(): void {
    if (Number.isNaN(this.from)) return;
    if (this.length === this.starts.length) {
      this.starts = twiceTheRoom(this.starts);
      this.ends = twiceTheRoom(this.ends);
    }
    this.starts[this.length] = this.from;
    this.ends[this.length++] = this.to;
  }

  finish(): Intervals {
    this.flush();
    const start = cutTo(this.starts, this.length);
    const end = cutTo(this.ends, this.length);
    if (this.inOrder) return { length: start.length, start, end };
    const sorted = new IntervalBuilder(this.reach);
    for (const row of orderBy(start)) sorted.add(start[row], end[row]);
    return sorted.finish();
  }
}

/** Without the room that was not needed, where it is much. */
const cutTo = (column: Float64Array, length: number): Float64Array =>
  column.length - length > Math.max(WORTH_CUTTING, length / 8)
    ? column.slice(0, length)
    : column.subarray(0, length);

const WORTH_CUTTING = 1 << 16;

function twiceTheRoom(column: Float64Array): Float64Array {
  const larger = new Float64Array(Math.max(FIRST_ROOM, column.length * 2));
  larger.set(column);
  return larger;
}

/** What lies in at least one of the lists. */
export function unionOf(...lists: readonly Intervals[]): Intervals {
  const filled = lists.filter(list => list.length > 0);
  if (filled.length === 0) return NO_INTERVALS;
  if (filled.length === 1) return filled[0];
  const builder = new IntervalBuilder();
  const at = filled.map(() => 0);
  for (;;) {
    let first = -1;
    for (let i = 0; i < filled.length; i++) {
      if (at[i] >= filled[i].length) continue;
      if (first < 0 || filled[i].start[at[i]] < filled[first].start[at[first]]) first = i;
    }
    if (first < 0) return builder.finish();
    builder.add(filled[first].start[at[first]], filled[first].end[at[first]]);
    at[first]++;
  }
}

/** What lies in the first list and not in the second. `expected`: about how many stretches, where it is known. */
export function subtract(from: Intervals, what: Intervals, expected?: number): Intervals {
  const builder = new IntervalBuilder(0, expected);
  let next = 0;
  for (let i = 0; i < from.length; i++) {
    let start = from.start[i];
    const end = from.end[i];
    while (next < what.length && what.end[next] <= start) next++;
    for (let other = next; other < what.length && what.start[other] < end; other++) {
      builder.add(start, what.start[other]);
      start = Math.max(start, what.end[other]);
    }
    builder.add(start, end);
  }
  return builder.finish();
}

/** What lies in both lists. */
export function intersect(a: Intervals, b: Intervals): Intervals {
  return subtract(a, subtract(a, b));
}

export function totalLength({ length, start, end }: Intervals): number {
  let total = 0;
  for (let i = 0; i < length; i++) total += end[i] - start[i];
  return total;
}

/** How much of [from, to) the list covers. */
export function lengthWithin(list: Intervals, from: number, to: number): number {
  let total = 0;
  for (let i = upperBound(list.end, from); i < list.length && list.start[i] < to; i++)
    total += Math.min(list.end[i], to) - Math.max(list.start[i], from);
  return total;
}

/** True when the moment lies inside one of the stretches (their ends excluded). */
export function covers(list: Intervals, moment: number): boolean {
  const index = upperBound(list.start, moment) - 1;
  return index >= 0 && moment < list.end[index];
}

/** Calls visit(start, end) for each stretch of [from, to) that the list does not cover, in order. */
export function forEachGap(
  list: Intervals,
  from: number,
  to: number,
  visit: (start: number, end: number, next: number) => void,
): void {
  let at = from;
  for (let i = upperBound(list.end, from); i < list.length && list.start[i] < to; i++) {
    if (list.start[i] > at) visit(at, list.start[i], i);
    at = Math.max(at, list.end[i]);
  }
  if (at < to) visit(at, to, lowerBound(list.start, to));
}

/** The last of moments in any order, of those that are known. */
export function latestOf(moments: Float64Array): number {
  let latest = -Infinity;
  for (let i = 0; i < moments.length; i++) if (moments[i] > latest) latest = moments[i];
  return latest;
}
