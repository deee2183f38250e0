import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import type { Rows } from '../../model/rows.js';
import { RangeKind } from '../../model/schema.js';
import { column } from './columns.js';
import { collectRanges, findParents, rangeLabels } from './range-tree.js';
import { rangeColumns, type StatsReport } from './report.js';

export const nvtxPushpopTrace: StatsReport = {
  id: 'nvtx_pushpop_trace',
  title: 'NVTX Push/Pop Range Trace',
  aliases: ['nvtxpptrace'],
  options: [],
  reads: { ranges: rangeColumns },
  needs: [['ranges']],
  compute(profile) {
    const ranges = profile.tables.ranges!;
    const found = collectRanges(profile, [RangeKind.pushPop], false);
    const parents = findParents(profile, found);
    const duration = (row: Row<'ranges'>) => found.end[row] - ranges.start[row];
    const children = new Int32Array(ranges.length);
    const childNs = new Float64Array(ranges.length);
    for (const row of found.rows) {
      if (parents[row] === NONE) continue;
      children[parents[row]]++;
      childNs[parents[row]] += duration(row);
    }
    const rows = Array.from(found.rows).sort(
      (a, b) => ranges.start[a] - ranges.start[b] || duration(a) - duration(b),
    );
    const label = rangeLabels(profile);
    const tree = describeTree(profile, parents);
    const number = (value: (row: Row<'ranges'>) => number) => Float64Array.from(rows, value);
    const thread = (row: Row<'ranges'>) => profile.threads[ranges.thread[row]];
    return [
      column(
        'Start (ns)',
        'timestamp',
        number(row => ranges.start[row]),
      ),
      column(
        'End (ns)',
        'timestamp',
        number(row => found.end[row]),
      ),
      column('Duration (ns)', 'ns', number(duration)),
      column(
        'DurChild (ns)',
        'ns',
        number(row => childNs[row]),
      ),
      column(
        'DurNonChild (ns)',
        'ns',
        number(row => duration(row) - childNs[row]),
      ),
      column('Name', 'text', rows.map(label)),
      column(
        'PID',
        'id',
        number(row => profile.processes[thread(row).process].pid),
      ),
      column(
        'TID',
        'id',
        number(row => thread(row).tid),
      ),
      column('Lvl', 'id', number(tree.level)),
      column(
        'NumChild',
        'id',
        number(row => children[row]),
      ),
      column('RangeId', 'id', number(tree.id)),
      column(
        'ParentId',
        'id',
        number(row => (parents[row] === NONE ? Number.NaN : tree.id(parents[row]))),
      ),
      column('RangeStack', 'text', rows.map(tree.stack)),
      column(
        'NameTree',
        'text',
        rows.map(row => '--'.repeat(tree.level(row)) + label(row)),
      ),
    ];
  },
};

/** Depth and path of each range. Ids are those of the file, so that other tools' reports can be matched. */
export function describeTree(profile: Profile, parents: Rows<'ranges'>) {
  const ranges = profile.tables.ranges!;
  const id = (row: Row<'ranges'>) => (ranges.sourceRow ? ranges.sourceRow[row] : row + 1);
  const levels = new Int32Array(parents.length).fill(NONE);
  const level = (row: Row<'ranges'>): number => {
    const path: Row<'ranges'>[] = [];
    let at = row;
    while (at !== NONE && levels[at] === NONE) {
      path.push(at);
      at = parents[at];
    }
    let depth = at === NONE ? -1 : levels[at];
    for (const step of path.reverse()) levels[step] = ++depth;
    return levels[row];
  };
  const stack = (row: Row<'ranges'>): string => {
    const ids: number[] = [];
    for (let at = row; at !== NONE; at = parents[at]) ids.push(id(at));
    return ids
      .reverse()
      .map(part => `:${part}`)
      .join('');
  };
  return { id, level, stack };
}
