import { numbers } from './columns.js';
import { operationsByDevice } from './gpu-busy-intervals.js';
import type { StatsReport } from './report.js';
import { limitRows } from './rule-rows.js';

export const gpuGaps: StatsReport = {
  id: 'gpu_gaps',
  title: 'GPU Gaps',
  aliases: ['gpu-starv'],
  options: ['gap', 'rows'],
  reads: { kernels: [], copies: [], memsets: [], overheads: [] },
  needs: [['kernels', 'copies', 'memsets']],
  advice: 'Periods when a GPU was idle. Check what the launching thread did before each gap.',
  compute(profile, options) {
    const threshold = (options.numbers.gap ?? 500) * 1e6;
    const gaps: { duration: number; start: number; pid: number; deviceId: number; contextId: number }[] = [];
    for (const { pid, deviceId, starts, ends, contextIds } of operationsByDevice(profile)) {
      // With starts and ends each in order, the i-th end leaves the GPU empty only if the next start comes later:
      // before it, as many operations ended as began.
      const started = starts.sort();
      const ended = ends.slice().sort();
      const before = new Map<number, { contextId: number }>();
      for (let i = 0; i + 1 < started.length; i++) {
        const duration = started[i + 1] - ended[i];
        if (!(duration > threshold && duration > 0)) continue;
        const gap = { duration, start: ended[i], pid, deviceId, contextId: 0 };
        gaps.push(gap);
        before.set(gap.start, gap);
      }
      // Of several that end together, the last one recorded.
      ends.forEach((end, i) => {
        const gap = before.get(end);
        if (gap) gap.contextId = contextIds[i];
      });
    }
    gaps.sort((a, b) => b.duration - a.duration || a.start - b.start);
    const rows = limitRows(gaps, options);
    return [
      numbers('Row#', 'id', rows, row => rows.indexOf(row) + 1),
      numbers('Duration (ns)', 'ns', rows, row => row.duration),
      numbers('Start (ns)', 'timestamp', rows, row => row.start),
      numbers('PID', 'id', rows, row => row.pid),
      numbers('Device ID', 'id', rows, row => row.deviceId),
      numbers('Context ID', 'id', rows, row => row.contextId),
    ];
  },
};
