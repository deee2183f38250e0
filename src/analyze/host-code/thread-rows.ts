/** The rows of host events that a thread's stack is put together from. */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import { RangeKind } from '../../model/schema.js';
import { forRowsReaching } from './event-reach.js';

/** In the order of a stack: where two begin and end together, the first is the outer one. */
export const SOURCES = ['ranges', 'frames', 'ops', 'apiCalls', 'osCalls'] as const;
export type Source = (typeof SOURCES)[number];

export interface ThreadRows {
  count(thread: number): number;
  /** Asked for once: rows that all belong to one thread are let go with it. */
  take(thread: number): Int32Array;
}

/** Rows between two moments, grouped by thread and in order of start. */
export function rowsByThread(
  profile: Profile,
  ends: Partial<Record<Source, Float64Array>>,
  from: number,
  to: number,
): Partial<Record<Source, ThreadRows>> {
  return Object.fromEntries(
    SOURCES.flatMap((source): [Source, ThreadRows][] => {
      const table = tableNamed(profile, source);
      if (!table) return [];
      const { thread, name, end } = table;
      const kind = source === 'ranges' ? profile.tables.ranges!.kind : undefined;
      const isOurs = (row: Row<Source>) =>
        thread[row] !== NONE &&
        name[row] !== NONE &&
        !(end[row] <= from) &&
        (kind === undefined ||
          (kind[row as Row<'ranges'>] !== RangeKind.mark &&
            kind[row as Row<'ranges'>] !== RangeKind.gpuAnnotation));
      const first = new Int32Array(profile.threads.length + 1);
      let looked = 0;
      let firstRow: number = NONE;
      let afterRow: number = NONE;
      forRowsReaching(table, ends[source]!, from, to, (begin, after) => {
        if (firstRow === NONE) firstRow = begin;
        afterRow = after;
        looked += after - begin;
        for (let row = begin as Row<Source>; row < after; row++) if (isOurs(row)) first[thread[row] + 1]++;
      });
      // One thread has them all, one after the other, as in most captures of an engine.
      const isWhole = looked === afterRow - firstRow && first.includes(looked);
      for (let of = 0; of < profile.threads.length; of++) first[of + 1] += first[of];
      let all = new Int32Array(first[profile.threads.length]);
      const next = first.slice();
      if (isWhole) for (let i = 0; i < all.length; i++) all[i] = firstRow + i;
      else
        forRowsReaching(table, ends[source]!, from, to, (begin, after) => {
          for (let row = begin as Row<Source>; row < after; row++)
            if (isOurs(row)) all[next[thread[row]]++] = row;
        });
      longerFirst(all, table.start, table.end);
      return [
        [
          source,
          {
            count: thread => first[thread + 1] - first[thread],
            take(thread) {
              const own = all.subarray(first[thread], first[thread + 1]);
              if (own.length === all.length) all = new Int32Array(0);
              return own;
            },
          },
        ],
      ];
    }),
  );
}

/** Of rows that begin together the longest is around the others. */
function longerFirst(
  rows: Int32Array,
  start: { readonly [row: number]: number },
  end: { readonly [row: number]: number },
): void {
  for (let i = 0; i < rows.length; ) {
    let after = i + 1;
    while (after < rows.length && start[rows[after]] === start[rows[i]]) after++;
    if (after > i + 1) rows.subarray(i, after).sort((a, b) => end[b] - end[a] || a - b);
    i = after;
  }
}
