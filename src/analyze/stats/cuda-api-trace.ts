import { NONE } from '../../base/column.js';
import type { Row } from '../../model/profile.js';
import { column, numbers, texts } from './columns.js';
import { apiName } from './gpu-operations.js';
import type { StatsReport } from './report.js';

export const cudaApiTrace: StatsReport = {
  id: 'cuda_api_trace',
  title: 'CUDA API Trace',
  aliases: ['cudaapitrace'],
  options: [],
  reads: { apiCalls: ['result'] },
  needs: [['apiCalls']],
  compute(profile) {
    const calls = profile.tables.apiCalls!;
    const rows = Array.from({ length: calls.length }, (_, row) => row as Row<'apiCalls'>);
    const thread = (row: Row<'apiCalls'>) => profile.threads[calls.thread[row]];
    return [
      column('Start (ns)', 'timestamp', calls.start),
      numbers('Duration (ns)', 'ns', rows, row => calls.end[row] - calls.start[row]),
      texts('Name', rows, row => apiName(profile.strings.text(calls.name[row]))),
      numbers('Result', 'id', rows, row => calls.result?.[row]),
      numbers('CorrID', 'id', rows, row => calls.correlation[row]),
      numbers('Pid', 'id', rows, row =>
        calls.thread[row] === NONE ? undefined : profile.processes[thread(row).process].pid,
      ),
      numbers('Tid', 'id', rows, row => thread(row)?.tid),
      numbers('T-Pri', 'id', rows, row => thread(row)?.priority),
      texts('Thread Name', rows, row => thread(row)?.name ?? null),
    ];
  },
};
