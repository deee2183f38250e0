import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import type { Rows } from '../../model/rows.js';
import { RangeKind } from '../../model/schema.js';
import { numbers, texts } from './columns.js';
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
    const thread = (row: Row<'ranges'>) => profile.threads[ranges.thread[row]];
    return [
      numbers('Start (ns)', 'timestamp', rows, row => ranges.start[row]),
      numbers('End (ns)', 'timestamp', rows, row => found.end[row]),
      numbers('Duration (ns)', 'ns', rows, duration),
      numbers('DurChild (ns)', 'ns', rows, row => childNs[row]),
      numbers('DurNonChild (ns)', 'ns', rows, row => duration(row) - childNs[row]),
      texts('Name', rows, label),
      numbers('PID', 'id', rows, row => profile.processes[thread(row).process].pid),
      numbers('TID', 'id', rows, row => thread(row).tid),
      numbers('Lvl', 'id', rows, tree.level),
      numbers('NumChild', 'id', rows, row => children[row]),
      numbers('RangeId', 'id', rows, tree.id),
      numbers('ParentId', 'id', rows, row => (parents[row] === NONE ? Number.NaN : tree.id(parents[row]))),
      texts('RangeStack', rows, tree.stack),
      texts('NameTree', rows, row => '--'.repeat(tree.level(row)) + label(row)),
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
