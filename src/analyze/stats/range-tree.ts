/**
 * NVTX ranges and the calls made inside them. A call belongs to every range of its thread that encloses it; a
 * range's parent is the shortest range of its thread that encloses it.
 *
 *   thread  [ step                         ]
 *           [ layer 0    ][ layer 1        ]
 *              launch a       launch b            a: layer 0 and step; b: layer 1 and step
 *
 * Ranges that begin on one thread and end on another enclose nothing.
 */
import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import type { Profile, Row, Table } from '../../model/profile.js';
import { asRows, type Rows, tableNamed } from '../../model/rows.js';
import { RangeKind } from '../../model/schema.js';

interface Ranges {
  /** Rows of the ranges table, in order of start, longer ones first. */
  readonly rows: Rows<'ranges'>;
  /** End of every row of the ranges table; ranges still open end with the last event. */
  readonly end: Float64Array;
}

/** Ranges of the given kinds. `sameThread` leaves out those ended by another thread. */
export function collectRanges(profile: Profile, kinds: readonly number[], sameThread: boolean): Ranges {
  const ranges = profile.tables.ranges!;
  let last = -Infinity;
  for (let row = 0 as Row<'ranges'>; row < ranges.length; row++) {
    if (!kinds.includes(ranges.kind[row])) continue;
    last = Math.max(last, ranges.start[row], !Number.isNaN(ranges.end[row]) ? ranges.end[row] : -Infinity);
  }
  const end = Float64Array.from(ranges.end as Float64Array, value => (!Number.isNaN(value) ? value : last));
  const rows: Row<'ranges'>[] = [];
  for (let row = 0 as Row<'ranges'>; row < ranges.length; row++) {
    const elsewhere = sameThread && ranges.endThread !== undefined && ranges.endThread[row] !== NONE;
    if (kinds.includes(ranges.kind[row]) && !elsewhere && ranges.thread[row] !== NONE) rows.push(row);
  }
  // The table is in order of start already; only ranges that start together may need to change places.
  const order = (a: Row<'ranges'>, b: Row<'ranges'>) =>
    ranges.start[a] - ranges.start[b] || end[b] - end[a] || a - b;
  if (rows.some((row, i) => i > 0 && order(rows[i - 1], row) > 0)) rows.sort(order);
  return { rows: asRows(Int32Array.from(rows)), end };
}

/** Parent row of each range, NONE at the top. One sweep per profile, keeping the open ranges of each thread. */
export function findParents(profile: Profile, { rows, end }: Ranges): Rows<'ranges'> {
  const ranges = profile.tables.ranges!;
  const parents = new Int32Array(ranges.length).fill(NONE);
  const open: Row<'ranges'>[][] = profile.threads.map(() => []);
  for (const row of rows) {
    const stack = open[ranges.thread[row]];
    closeBefore(stack, end, ranges.start[row]);
    let shortest = Infinity;
    for (const candidate of stack) {
      const length = end[candidate] - ranges.start[candidate];
      if (end[candidate] >= end[row] && length <= shortest) {
        shortest = length;
        parents[row] = candidate;
      }
    }
    stack.push(row);
  }
  return asRows(parents);
}

function closeBefore(stack: Row<'ranges'>[], end: Float64Array, time: number): void {
  while (stack.length > 0 && end[stack[stack.length - 1]] < time) stack.pop();
  // Ranges that overlap without nesting close out of order; sweep them out once they pile up.
  if (stack.length > 16 && end[stack[0]] < time) {
    const still = stack.filter(row => end[row] >= time);
    stack.length = 0;
    stack.push(...still);
  }
}

interface LaunchContext {
  /** Calls visit(range, call) for every range around every call that launched GPU work. */
  forEachEnclosing(visit: (range: Row<'ranges'>, call: Row<'apiCalls'>) => void): void;
  /** Per API call: the enclosing range that started last, or NONE. */
  innermostRangeOfCall(): Rows<'ranges'>;
  readonly ranges: Ranges;
  /** API rows that launched something, in order of start. */
  readonly calls: Rows<'apiCalls'>;
}

/** With `twins` (see callTwins), the twins of launching calls count as launching too. */
export function launchContext(profile: Profile, twins?: Rows<'apiCalls'>): LaunchContext {
  const calls = launchingCalls(profile, twins);
  const table = profile.tables.apiCalls;
  const hasRanges = profile.tables.ranges !== undefined;
  const ranges: Ranges = hasRanges
    ? collectRanges(profile, [RangeKind.pushPop, RangeKind.startEnd], true)
    : { rows: [], end: new Float64Array(0) };
  const forEachEnclosing = (visit: (range: Row<'ranges'>, call: Row<'apiCalls'>) => void) => {
    if (table && hasRanges) sweep(profile, ranges, calls, table, visit);
  };
  return {
    ranges,
    calls,
    forEachEnclosing,
    innermostRangeOfCall() {
      const innermost = new Int32Array(table?.length ?? 0).fill(NONE);
      const start = profile.tables.ranges?.start;
      forEachEnclosing((range, call) => {
        if (innermost[call] === NONE || start![range] >= start![innermost[call] as Row<'ranges'>])
          innermost[call] = range;
      });
      return asRows(innermost);
    },
  };
}

function sweep(
  profile: Profile,
  { rows, end }: Ranges,
  calls: Rows<'apiCalls'>,
  table: Table<'apiCalls'>,
  visit: (range: Row<'ranges'>, call: Row<'apiCalls'>) => void,
): void {
  const ranges = profile.tables.ranges!;
  const open: Row<'ranges'>[][] = profile.threads.map(() => []);
  let next = 0;
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i];
    const start = table.start[call];
    while (next < rows.length && ranges.start[rows[next]] <= start) {
      const stack = open[ranges.thread[rows[next]]];
      closeBefore(stack, end, ranges.start[rows[next]]);
      stack.push(rows[next++]);
    }
    if (table.thread[call] === NONE) continue;
    const stack = open[table.thread[call]];
    closeBefore(stack, end, start);
    const callEnd = table.end[call];
    for (let s = 0; s < stack.length; s++) if (end[stack[s]] >= callEnd) visit(stack[s], call);
  }
}

/** API rows some kernel, copy or memset points to. */
function launchingCalls(profile: Profile, twins?: Rows<'apiCalls'>): Rows<'apiCalls'> {
  const table = profile.tables.apiCalls;
  if (!table) return [];
  const launched = new Uint8Array(table.length);
  for (const name of ['kernels', 'copies', 'memsets'] as const) {
    const work = tableNamed(profile, name);
    for (let row = 0 as Row<'copies' | 'kernels' | 'memsets'>; row < (work?.length ?? 0); row++)
      if (work!.launch[row] !== NONE) launched[work!.launch[row]] = 1;
  }
  const calls = new GrowingColumn('i32');
  for (let row = 0; row < launched.length; row++) {
    if (!launched[row]) continue;
    calls.push(row);
    // Twins come later in the table, so marking them here is enough.
    if (twins && twins[row] !== NONE) launched[twins[row]] = 1;
  }
  return asRows(calls.finishAll() as Int32Array);
}

/** `domain:name`, as the reports print ranges; the default domain has no name. */
export function rangeLabels(profile: Profile): (row: Row<'ranges'>) => string {
  const ranges = profile.tables.ranges!;
  const known = new Map<number, string>();
  return row => {
    const key = (ranges.domain[row] + 1) * 2 ** 31 + ranges.name[row];
    let label = known.get(key);
    if (label === undefined) {
      const domain = ranges.domain[row] === NONE ? '' : profile.strings.text(ranges.domain[row]);
      label = `${domain}:${profile.strings.text(ranges.name[row])}`;
      known.set(key, label);
    }
    return label;
  };
}

export const styleOf = (kind: number): string => (kind === RangeKind.pushPop ? 'PushPop' : 'StartEnd');
