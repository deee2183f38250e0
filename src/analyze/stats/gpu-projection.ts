/**
 * Ranges projected onto the GPU: from the start of the first piece of work launched inside a range to the end of the
 * last.
 *
 *   cpu  [ range: launch a, launch b ]
 *   gpu           [ a ]   [ b ]
 *                 |<--------->|   projected range
 */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import { describeTree } from './nvtx-pushpop-trace.js';
import { findParents, launchContext } from './range-tree.js';

export interface Projection {
  /** Row of the ranges table. */
  readonly row: Row<'ranges'>;
  readonly start: number;
  readonly end: number;
  readonly operations: number;
  readonly level: number;
  readonly children: number;
  readonly parent: Row<'ranges'>;
}

interface Projections {
  readonly list: readonly Projection[];
  readonly rangeEnd: Float64Array;
  readonly tree: ReturnType<typeof describeTree>;
}

export function projectRanges(profile: Profile): Projections {
  const calls = profile.tables.apiCalls!;
  const ranges = profile.tables.ranges!;
  const context = launchContext(profile);
  // First and last moment of the work behind each call, over all the kinds of work it launched.
  const first = new Float64Array(calls.length).fill(Infinity);
  const last = new Float64Array(calls.length).fill(-Infinity);
  for (const name of ['kernels', 'copies', 'memsets'] as const) {
    const work = tableNamed(profile, name);
    for (let row = 0 as Row<'copies' | 'kernels' | 'memsets'>; row < (work?.length ?? 0); row++) {
      const call = work!.launch[row];
      if (call === NONE) continue;
      if (work!.start[row] < first[call]) first[call] = work!.start[row];
      if (work!.end[row] > last[call]) last[call] = work!.end[row];
    }
  }
  const start = new Float64Array(ranges.length).fill(Infinity);
  const end = new Float64Array(ranges.length).fill(-Infinity);
  const operations = new Int32Array(ranges.length);
  context.forEachEnclosing((range, call) => {
    if (first[call] < start[range]) start[range] = first[call];
    if (last[call] > end[range]) end[range] = last[call];
    operations[range]++;
  });
  const parents = findParents(profile, context.ranges);
  const children = new Int32Array(ranges.length);
  for (const row of context.ranges.rows)
    if (operations[row] > 0 && parents[row] !== NONE) children[parents[row]]++;
  const tree = describeTree(profile, parents);
  const list: Projection[] = [];
  for (const row of context.ranges.rows) {
    if (operations[row] === 0) continue;
    list.push({
      row,
      start: start[row],
      end: end[row],
      operations: operations[row],
      level: tree.level(row),
      children: children[row],
      parent: parents[row],
    });
  }
  return { list, rangeEnd: context.ranges.end, tree };
}
