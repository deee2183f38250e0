/** How much of the time each GPU was doing anything at all. */
import { lengthWithin } from '../../base/intervals.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { selection } from '../inference/selection.js';
import { deviceTimelines } from './device-timeline.js';

const fields = {
  key: keyField,
  device: field.id('Device', 'CUDA device number', { priority: -1 }),
  windowNs: field.ns('Window', 'the selected steps, or the whole trace'),
  busyNs: field.ns('Busy', 'union of kernels, copies, memsets and graph replays'),
  idleNs: maybe(
    field.ns(
      'Idle',
      'window minus busy; null when graphs were recorded as blocks, which hide idle time inside',
    ),
  ),
  busyShare: maybe(field.share('Busy (%)', 'busy divided by window; null when idle is null')),
  graphReplayNs: field.ns('Graph replays', 'graph replays recorded as blocks'),
};

type UtilizationRow = RowOf<typeof fields>;

export const gpuUtilization: Analysis<UtilizationRow, AnalysisResult<UtilizationRow>> = {
  id: 'gpu-utilization',
  title: 'GPU utilization',
  question: 'How much of the time was each GPU busy?',
  reads: {},
  uses: [selection, deviceTimelines],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields,
  compute({ profile, use }) {
    const { windows } = use(selection);
    const rows = use(deviceTimelines).flatMap(({ device, busy, blocks }): UtilizationRow[] => {
      const own = windows.filter(window => window.device === device);
      if (own.length === 0) return [];
      let windowNs = 0;
      let busyNs = 0;
      let graphReplayNs = 0;
      for (const { start, end } of own) {
        windowNs += end - start;
        busyNs += lengthWithin(busy, start, end);
        graphReplayNs += lengthWithin(blocks, start, end);
      }
      const hidden = graphReplayNs > 0;
      return [
        {
          key: `device:${device}`,
          device: profile.gpus[device].deviceId,
          windowNs,
          busyNs,
          idleNs: hidden ? null : windowNs - busyNs,
          busyShare: hidden || windowNs === 0 ? null : busyNs / windowNs,
          graphReplayNs,
        },
      ];
    });
    return { rows };
  },
};
