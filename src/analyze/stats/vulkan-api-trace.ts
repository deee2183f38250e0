import { NONE } from '../../base/column.js';
import { column, numbers, texts } from './columns.js';
import { type EventRow, eventsFrom, hasEventsFrom, nameOf } from './event-summary.js';
import type { StatsReport } from './report.js';

const VULKAN = /^VULKAN_API$/;

export const vulkanApiTrace: StatsReport = {
  id: 'vulkan_api_trace',
  title: 'Vulkan API Trace',
  aliases: ['vulkanapitrace'],
  options: [],
  reads: { otherEvents: ['class', 'context', 'correlation'] },
  needs: [['otherEvents']],
  recorded: profile => hasEventsFrom(profile, VULKAN),
  compute(profile) {
    const events = profile.tables.otherEvents!;
    const rows = eventsFrom(profile, VULKAN);
    const thread = (row: EventRow) => profile.threads[events.thread[row]];
    return [
      column(
        'Start (ns)',
        'timestamp',
        rows.map(row => events.start[row]),
      ),
      numbers('Duration (ns)', 'ns', rows, row => events.end[row] - events.start[row]),
      texts('Name', rows, row => nameOf(profile, row) ?? null),
      numbers('Event Class', 'id', rows, row => events.class?.[row]),
      numbers('Context', 'id', rows, row => events.context?.[row]),
      numbers('CorrID', 'id', rows, row => events.correlation?.[row]),
      numbers('Pid', 'id', rows, row =>
        events.thread[row] === NONE ? undefined : profile.processes[thread(row).process].pid,
      ),
      numbers('Tid', 'id', rows, row => thread(row)?.tid),
      numbers('T-Pri', 'id', rows, row => thread(row)?.priority),
      texts('Thread Name', rows, row => thread(row)?.name ?? null),
    ];
  },
};
