/** Python garbage collections in the selected steps, and the GPU idle time that falls into them. */

import { NONE } from '../../base/column.js';
import { IntervalBuilder, intersect, totalLength } from '../../base/intervals.js';
import { formatDuration, formatShare } from '../../base/units.js';
import { activityOf, GC_GENERATION, GC_WATCHED } from '../../catalog/host-activities.js';
import { howToRecord } from '../../catalog/how-to-record.js';
import type { Row } from '../../model/profile.js';
import { RangeKind } from '../../model/schema.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { stepsOf } from '../inference/steps.js';
import { perStep, sumOf } from '../words.js';
import { idleIntervals } from './idle-intervals.js';

interface Tally {
  count: number;
  totalNs: number;
  longestNs: number;
  readonly byProcess: Map<number, IntervalBuilder>;
}

const fields = {
  key: keyField,
  generation: maybe(field.id('Generation', 'null: not in the marker')),
  count: field.count('Count', 'collections that start in the selected steps'),
  countPerStep: field.mean('Per step', 'count divided by steps'),
  totalNs: field.ns('Total', 'sum of their durations'),
  longestNs: field.ns('Longest', 'longest collection'),
  nsPerStep: field.nsMean('Time per step', 'total divided by steps'),
  gpuIdleNs: field.ns('GPU idle', 'idle time of the process’s GPUs during collections'),
};

type GcRow = RowOf<typeof fields>;

export const gc: Analysis<GcRow, AnalysisResult<GcRow>> = {
  id: 'gc',
  title: 'Python garbage collection',
  question: 'How long does Python garbage collection take, and does the GPU wait for it?',
  reads: { ranges: [] },
  uses: [selectedMoments, idleIntervals, stepsOf],
  fields,
  headline: {
    label: 'GC',
    text({ rows }, phase) {
      if (rows.length === 0) return 'no collection in the steps';
      const total = sumOf(rows, row => row.totalNs);
      const idle = total > 0 ? sumOf(rows, row => row.gpuIdleNs) / total : 0;
      return `${formatDuration(sumOf(rows, row => row.nsPerStep))} ${perStep(phase)}; the GPU is idle for ${formatShare(idle)} of it`;
    },
  },
  compute({ profile, use }) {
    const ranges = profile.tables.ranges;
    const moments = use(selectedMoments);
    const idle = use(idleIntervals);
    const generationOf = new Map<number, number | null | undefined>();
    const tallies = new Map<number | null, Tally>();
    let seen = 0;
    for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
      const name = ranges!.name[row];
      const thread = ranges!.thread[row];
      if (name === NONE || thread === NONE || ranges!.kind[row] === RangeKind.gpuAnnotation) continue;
      if (!generationOf.has(name)) {
        const text = profile.strings.text(name);
        const generation = GC_GENERATION.exec(text)?.[1];
        const isGc = activityOf(text) === 'garbage-collection';
        generationOf.set(name, isGc ? (generation === undefined ? null : Number(generation)) : undefined);
      }
      const generation = generationOf.get(name);
      if (generation === undefined) continue;
      seen++;
      const { process } = profile.threads[thread];
      const start = ranges!.start[row];
      const end = ranges!.end[row];
      if (!moments.holds(process, start) || Number.isNaN(end)) continue;
      let tally = tallies.get(generation);
      if (!tally)
        tallies.set(generation, (tally = { count: 0, totalNs: 0, longestNs: 0, byProcess: new Map() }));
      tally.count++;
      tally.totalNs += end - start;
      tally.longestNs = Math.max(tally.longestNs, end - start);
      let builder = tally.byProcess.get(process);
      if (!builder) tally.byProcess.set(process, (builder = new IntervalBuilder()));
      builder.add(start, end);
    }
    if (seen === 0 && !profile.capture.settings[GC_WATCHED])
      throw new NotRecorded(
        'Python garbage collections',
        howToRecord.garbageCollections(use(stepsOf)?.engine ?? ''),
      );
    const rows = [...tallies]
      .sort((a, b) => (b[0] ?? -1) - (a[0] ?? -1))
      .map(([generation, { count, totalNs, longestNs, byProcess }]): GcRow => {
        let gpuIdleNs = 0;
        for (const [process, builder] of byProcess)
          gpuIdleNs += totalLength(intersect(builder.finish(), idle(process)));
        return {
          key: `generation:${generation ?? 'unknown'}`,
          generation,
          count,
          countPerStep: count / moments.steps,
          totalNs,
          longestNs,
          nsPerStep: totalNs / moments.steps,
          gpuIdleNs,
        };
      });
    return { rows, summary: { collectionsInCapture: seen } };
  },
};
