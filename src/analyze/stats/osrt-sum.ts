import type { Row } from '../../model/profile.js';
import { texts, timeSummaryColumns } from './columns.js';
import { byTotal, groupValues } from './grouping.js';
import type { StatsReport } from './report.js';

/** nsys event class of plain library calls; the others are its own bookkeeping. */
const OS_RUNTIME_CALL = 27;

export const osrtSum: StatsReport = {
  id: 'osrt_sum',
  title: 'OS Runtime Summary',
  aliases: ['osrtsum'],
  options: [],
  reads: { osCalls: ['class'] },
  needs: [['osCalls']],
  compute(profile) {
    const calls = profile.tables.osCalls!;
    const rows: Row<'osCalls'>[] = [];
    for (let row = 0 as Row<'osCalls'>; row < calls.length; row++) {
      if (!calls.class || calls.class[row] === OS_RUNTIME_CALL) rows.push(row);
    }
    const names = Int32Array.from(rows, row => calls.name[row]);
    const durations = Float64Array.from(rows, row => calls.end[row] - calls.start[row]);
    const groups = groupValues(names, durations).sort(byTotal);
    return [
      ...timeSummaryColumns(
        groups.map(group => group.summary),
        'Num Calls',
      ),
      texts('Name', groups, group => profile.strings.text(group.key)),
    ];
  },
};
