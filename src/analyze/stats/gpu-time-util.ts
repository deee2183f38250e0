import { numbers } from './columns.js';
import { type DeviceOperations, extent, operationsByDevice } from './gpu-busy-intervals.js';
import type { StatsReport } from './report.js';
import { limitRows } from './rule-rows.js';

interface Region {
  readonly start: number;
  readonly duration: number;
  readonly percent: number;
  readonly pid: number;
  readonly deviceId: number;
  readonly contextId: number;
}

export const gpuTimeUtil: StatsReport = {
  id: 'gpu_time_util',
  title: 'GPU Time Utilization',
  aliases: ['gpu-low-util'],
  options: ['threshold', 'chunks', 'rows'],
  reads: { kernels: [], copies: [], memsets: [], overheads: [] },
  needs: [['kernels', 'copies', 'memsets']],
  advice: 'Periods of low GPU utilization. Work on several streams adds up, so 100% can hide idle time.',
  compute(profile, options) {
    const regions = operationsByDevice(profile).flatMap(device =>
      lowRegions(device, options.numbers.threshold ?? 50, options.numbers.chunks ?? 30),
    );
    regions.sort((a, b) => a.percent - b.percent || a.duration - b.duration);
    const rows = limitRows(regions, options);
    return [
      numbers('Row#', 'id', rows, row => rows.indexOf(row) + 1),
      numbers('In-Use (%)', 'percent', rows, row => row.percent),
      numbers('Duration (ns)', 'ns', rows, row => row.duration),
      numbers('Start (ns)', 'timestamp', rows, row => row.start),
      numbers('PID', 'id', rows, row => row.pid),
      numbers('Device ID', 'id', rows, row => row.deviceId),
      numbers('Context ID', 'id', rows, row => row.contextId),
    ];
  },
};

/** Cuts the device's time into equal chunks and joins neighbours whose use is below the threshold. */
function lowRegions(device: DeviceOperations, threshold: number, chunks: number): Region[] {
  const { pid, deviceId, starts, ends } = device;
  const { start, end, contextId } = extent(device);
  const size = Math.ceil((end - start) / chunks);
  const busy = new Float64Array(chunks);
  for (let i = 0; i < starts.length; i++) {
    const firstChunk = Math.max(0, Math.floor((starts[i] - start) / size));
    for (let chunk = firstChunk; chunk < chunks; chunk++) {
      const from = start + chunk * size;
      const to = Math.min(from + size, end);
      if (from >= ends[i] || from >= to) break;
      if (starts[i] < to) busy[chunk] += Math.min(ends[i], to) - Math.max(starts[i], from);
    }
  }
  const regions: Region[] = [];
  let open: { start: number; end: number; weighted: number; size: number } | undefined;
  const close = () => {
    if (!open) return;
    const percent = Number((open.weighted / open.size).toFixed(1));
    regions.push({ start: open.start, duration: open.end - open.start, percent, pid, deviceId, contextId });
    open = undefined;
  };
  for (let chunk = 0; chunk < chunks; chunk++) {
    const from = start + chunk * size;
    const to = Math.min(from + size, end);
    if (from >= to) break;
    const percent = (busy[chunk] / (to - from)) * 100;
    if (!(percent < threshold)) {
      close();
      continue;
    }
    open ??= { start: from, end: to, weighted: 0, size: 0 };
    open.end = to;
    open.weighted += (to - from) * percent;
    open.size += to - from;
  }
  close();
  return regions;
}
