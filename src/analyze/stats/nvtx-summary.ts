/** The three NVTX summaries: the same table over different kinds of ranges. */
import type { Profile } from '../../model/profile.js';
import { texts, timeSummaryColumns } from './columns.js';
import { byTotal, groupValues } from './grouping.js';
import { collectRanges, rangeLabels, styleOf } from './range-tree.js';

export function nvtxSummary(profile: Profile, kinds: readonly number[], withStyle: boolean) {
  const ranges = profile.tables.ranges!;
  const { rows, end } = collectRanges(profile, kinds, false);
  const label = rangeLabels(profile);
  const numbersByText = new Map<string, number>();
  const keys = Int32Array.from(rows, row => {
    const text = `${withStyle ? ranges.kind[row] : ''}${label(row)}`;
    let number = numbersByText.get(text);
    if (number === undefined) {
      number = numbersByText.size;
      numbersByText.set(text, number);
    }
    return number;
  });
  const durations = Float64Array.from(rows, row => end[row] - ranges.start[row]);
  const groups = groupValues(keys, durations).sort(byTotal);
  const columns = timeSummaryColumns(
    groups.map(group => group.summary),
    'Instances',
  );
  if (withStyle) columns.push(texts('Style', groups, group => styleOf(ranges.kind[rows[group.row]])));
  columns.push(texts('Range', groups, group => label(rows[group.row])));
  return columns;
}
