/** Whether streams run side by side: time with one, two and more streams busy on a device. */
import { GrowingColumn } from '../../base/growing-column.js';
import { IntervalBuilder, type Intervals, lengthWithin } from '../../base/intervals.js';
import { orderBy } from '../../base/order.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { selection } from '../inference/selection.js';
import { keyField } from '../key-field.js';
import { deviceTimelines } from './device-timeline.js';
import { gpuWork } from './gpu-work.js';

interface OverlapRow {
  readonly key: string;
  readonly device: number;
  readonly streams: number;
  readonly busyNs: number;
  readonly overlappedNs: number;
  readonly overlapShare: number;
  readonly communicationNs: number;
  readonly communicationHiddenShare: number | null;
  readonly copyNs: number;
  readonly copyHiddenShare: number | null;
}

export const streamOverlap: Analysis<OverlapRow, AnalysisResult<OverlapRow>> = {
  id: 'stream-overlap',
  title: 'Stream overlap',
  question: 'Do streams run side by side, and is communication hidden under compute?',
  reads: {},
  uses: [gpuWork, deviceTimelines, selection],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields: {
    key: keyField,
    device: { header: 'Device', priority: -1, kind: 'id', about: 'CUDA device number' },
    streams: { header: 'Streams', kind: 'count', about: 'with work in the whole capture' },
    busyNs: { header: 'Busy', kind: 'ns', about: 'at least one stream busy' },
    overlappedNs: { header: 'Two or more', kind: 'ns', about: 'at least two streams busy' },
    overlapShare: { header: 'Overlap (%)', kind: 'share', about: 'two or more of busy' },
    communicationNs: { header: 'Comm', kind: 'ns', about: 'union of communication kernels' },
    communicationHiddenShare: {
      header: 'Comm hidden (%)',
      kind: 'share',
      about: 'under compute',
      optional: true,
    },
    copyNs: { header: 'Copies', kind: 'ns', about: 'union of copies and memsets' },
    copyHiddenShare: {
      header: 'Copies hidden (%)',
      kind: 'share',
      about: 'under compute or communication',
      optional: true,
    },
  },
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { windows } = use(selection);
    const rows = use(deviceTimelines).map((timeline): OverlapRow => {
      const { device } = timeline;
      const own = windows.filter(window => window.device === device);
      const within = (list: Intervals) =>
        own.reduce((sum, { start, end }) => sum + lengthWithin(list, start, end), 0);
      const { streams, atLeastTwo } = busyStreams(work, device);
      const busyNs = within(timeline.busy);
      const overlappedNs = within(atLeastTwo);
      const communicationNs = within(timeline.communication);
      const copyNs = within(timeline.copies);
      const hidden = (all: number, exposed: Intervals) => (all > 0 ? 1 - within(exposed) / all : null);
      return {
        key: `device:${device}`,
        device: profile.gpus[device].deviceId,
        streams,
        busyNs,
        overlappedNs,
        overlapShare: busyNs > 0 ? overlappedNs / busyNs : 0,
        communicationNs,
        communicationHiddenShare: hidden(communicationNs, timeline.communicationExposed),
        copyNs,
        copyHiddenShare: hidden(copyNs, timeline.copiesExposed),
      };
    });
    return { rows };
  },
};

/** Work of one stream may overlap too (dependent launch); what counts is different streams. */
function busyStreams(work: ReturnType<typeof gpuWork.compute>, device: number) {
  const unions = new Map<number, IntervalBuilder>();
  for (let i = 0; i < work.length; i++) {
    if (work.device[i] !== device) continue;
    let union = unions.get(work.stream[i]);
    if (!union) unions.set(work.stream[i], (union = new IntervalBuilder()));
    union.add(work.start[i], work.end[i]);
  }
  if (unions.size < 2) return { streams: unions.size, atLeastTwo: new IntervalBuilder().finish() };
  const moments = new GrowingColumn('f64');
  const changes = new GrowingColumn('i32');
  for (const union of unions.values()) {
    const { length, start, end } = union.finish();
    for (let i = 0; i < length; i++) {
      moments.push(start[i]);
      changes.push(1);
      moments.push(end[i]);
      changes.push(-1);
    }
  }
  const at = moments.finishAll() as Float64Array;
  const change = changes.finishAll() as Int32Array;
  const overlap = new IntervalBuilder();
  let busy = 0;
  let since = 0;
  for (const row of orderBy(at)) {
    const before = busy;
    busy += change[row];
    if (before < 2 && busy >= 2) since = at[row];
    if (before >= 2 && busy < 2) overlap.add(since, at[row]);
  }
  return { streams: unions.size, atLeastTwo: overlap.finish() };
}
