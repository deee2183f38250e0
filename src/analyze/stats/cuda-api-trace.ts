import { NONE } from '../../base/column.js';
import type { Row } from '../../model/profile.js';
import { column } from './columns.js';
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
    const number = (value: (row: Row<'apiCalls'>) => number | undefined) =>
      Float64Array.from(rows, row => value(row) ?? Number.NaN);
    return [
      column('Start (ns)', 'timestamp', calls.start),
      column(
        'Duration (ns)',
        'ns',
        number(row => calls.end[row] - calls.start[row]),
      ),
      column(
        'Name',
        'text',
        rows.map(row => apiName(profile.strings.text(calls.name[row]))),
      ),
      column(
        'Result',
        'id',
        number(row => calls.result?.[row]),
      ),
      column(
        'CorrID',
        'id',
        number(row => calls.correlation[row]),
      ),
      column(
        'Pid',
        'id',
        number(row => (calls.thread[row] === NONE ? undefined : profile.processes[thread(row).process].pid)),
      ),
      column(
        'Tid',
        'id',
        number(row => thread(row)?.tid),
      ),
      column(
        'T-Pri',
        'id',
        number(row => thread(row)?.priority),
      ),
      column(
        'Thread Name',
        'text',
        rows.map(row => thread(row)?.name ?? null),
      ),
    ];
  },
};
