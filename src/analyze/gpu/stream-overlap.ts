/** Whether streams run side by side: time with one, two and more streams busy on a device. */
import { GrowingColumn } from '../../base/growing-column.js';
import { IntervalBuilder, type Intervals, lengthWithin } from '../../base/intervals.js';
import { orderBy } from '../../base/order.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { selection } from '../inference/selection.js';
import { deviceTimelines } from './device-timeline.js';
import { gpuWork } from './gpu-work.js';

const fields = {
  key: keyField,
  device: field.id('Device', 'CUDA device number', { priority: -1 }),
  streams: field.count('Streams', 'streams with work in the capture'),
  busyNs: field.ns('Busy', 'at least one stream busy'),
  overlappedNs: field.ns('Two or more', 'at least two streams busy'),
  overlapShare: field.share('Overlap (%)', 'time with two or more streams busy, relative to busy'),
  communicationNs: field.ns('Comm', 'union of communication kernels'),
  communicationHiddenShare: maybe(field.share('Comm hidden (%)', 'under compute')),
  copyNs: field.ns('Copies', 'union of copies and memsets'),
  copyHiddenShare: maybe(field.share('Copies hidden (%)', 'under compute or communication')),
};

type OverlapRow = RowOf<typeof fields>;

export const streamOverlap: Analysis<OverlapRow, AnalysisResult<OverlapRow>> = {
  id: 'stream-overlap',
  title: 'Stream overlap',
  question: 'Do streams run concurrently, and does compute hide communication?',
  reads: {},
  uses: [gpuWork, deviceTimelines, selection],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields,
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
