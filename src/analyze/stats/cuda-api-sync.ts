import type { Row } from '../../model/profile.js';
import { numbers, texts } from './columns.js';
import type { StatsReport } from './report.js';
import { limitRows } from './rule-rows.js';

export const cudaApiSync: StatsReport = {
  id: 'cuda_api_sync',
  title: 'CUDA Synchronization APIs',
  aliases: ['cuda-sync-api'],
  options: ['rows'],
  reads: { apiCalls: [] },
  needs: [['apiCalls']],
  advice:
    'These calls make the host wait for the GPU. Wait on events instead, and only where the value is needed.',
  compute(profile, options) {
    const calls = profile.tables.apiCalls!;
    const waits = new Map<number, boolean>();
    const found: Row<'apiCalls'>[] = [];
    for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++) {
      const id = calls.name[row];
      if (!waits.has(id))
        waits.set(id, /^(cuda|hip)(Device|Stream)Synchronize/i.test(profile.strings.text(id)));
      if (waits.get(id)) found.push(row);
    }
    const duration = (row: Row<'apiCalls'>) => calls.end[row] - calls.start[row];
    found.sort((a, b) => duration(b) - duration(a));
    const rows = limitRows(found, options);
    const thread = (row: Row<'apiCalls'>) => profile.threads[calls.thread[row]];
    return [
      numbers('Duration (ns)', 'ns', rows, duration),
      numbers('Start (ns)', 'timestamp', rows, row => calls.start[row]),
      numbers('PID', 'id', rows, row =>
        thread(row) ? profile.processes[thread(row).process].pid : Number.NaN,
      ),
      numbers('TID', 'id', rows, row => thread(row)?.tid ?? Number.NaN),
      texts('API Name', rows, row => profile.strings.text(calls.name[row])),
    ];
  },
};
