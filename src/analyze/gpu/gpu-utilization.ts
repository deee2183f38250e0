/** How much of the time each GPU was doing anything at all. */
import { lengthWithin } from '../../base/intervals.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { selection } from '../inference/selection.js';
import { keyField } from '../key-field.js';
import { deviceTimelines } from './device-timeline.js';

interface UtilizationRow {
  readonly key: string;
  readonly device: number;
  readonly windowNs: number;
  readonly busyNs: number;
  readonly idleNs: number | null;
  readonly busyShare: number | null;
  readonly graphReplayNs: number;
}

export const gpuUtilization: Analysis<UtilizationRow, AnalysisResult<UtilizationRow>> = {
  id: 'gpu-utilization',
  title: 'GPU utilization',
  question: 'How much of the time was each GPU busy?',
  reads: {},
  uses: [selection, deviceTimelines],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields: {
    key: keyField,
    device: { header: 'Device', priority: -1, kind: 'id', about: 'CUDA device number' },
    windowNs: { header: 'Window', kind: 'ns', about: 'the selected steps, or the whole trace' },
    busyNs: { header: 'Busy', kind: 'ns', about: 'union of kernels, copies, memsets and graph replays' },
    idleNs: {
      header: 'Idle',
      kind: 'ns',
      about: 'the rest; null when graphs were recorded as blocks, whose inside is unseen',
      optional: true,
    },
    busyShare: { header: 'Busy (%)', kind: 'share', about: 'busy of window; null like idle', optional: true },
    graphReplayNs: { header: 'Graph replays', kind: 'ns', about: 'graph replays recorded as blocks' },
  },
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
