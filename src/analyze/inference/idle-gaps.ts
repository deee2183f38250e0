/** The longest single stretches in which a device did nothing, each with its causes and what came next. */
import { NONE } from '../../base/column.js';
import { forEachGap } from '../../base/intervals.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { workFamilies } from '../gpu/work-families.js';
import { keyField } from '../key-field.js';
import { causesAsObject, gapJudge } from './idle-causes.js';
import { selection } from './selection.js';
import { stepsOf } from './steps.js';

export interface IdleGapRow {
  readonly key: string;
  readonly startNs: number;
  readonly durationNs: number;
  readonly device: number;
  readonly iteration: number | null;
  readonly cause: string;
  readonly causes: Readonly<Record<string, number>>;
  readonly next: string | null;
}

const LISTED = 50;

export const idleGaps: Analysis<IdleGapRow, AnalysisResult<IdleGapRow>> = {
  id: 'idle-gaps',
  title: 'Longest idle gaps',
  question: 'Which single gaps cost most, and why did the GPU wait there?',
  reads: {},
  uses: [selection, deviceTimelines, gapJudge, stepsOf, gpuWork, workFamilies],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields: {
    key: keyField,
    startNs: { header: 'Start', priority: KEEP, kind: 'timestamp', about: 'begin of the gap' },
    durationNs: { header: 'Duration', priority: KEEP, kind: 'ns', about: 'of the gap inside its step' },
    device: { header: 'Device', priority: -1, kind: 'id', about: 'CUDA device number' },
    iteration: { header: 'Iteration', kind: 'id', about: 'the step it lies in', optional: true },
    cause: { header: 'Main cause', kind: 'text', about: 'the cause with most of it' },
    causes: { header: 'Causes', kind: 'map-ns', about: 'sums to the duration', quiet: true },
    next: { header: 'Before', kind: 'text', about: 'the work that ends the gap', optional: true },
  },
  compute({ profile, use }) {
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { steps = [], lanes = [] } = use(stepsOf) ?? {};
    const { judge } = use(gapJudge);
    const longest: { from: number; to: number; device: number; step: number; lane: number; next: number }[] =
      [];
    let gaps = 0;
    for (const { device, step, lane, start, end } of use(selection).windows) {
      const { busy, opener } = timelines.get(device)!;
      forEachGap(busy, start, end, (from, to, interval) => {
        gaps++;
        const last = longest[longest.length - 1];
        if (longest.length >= LISTED && to - from <= last.to - last.from) return;
        const next = interval < busy.length ? opener[interval] : NONE;
        longest.push({ from, to, device, step, lane, next });
        longest.sort((a, b) => b.to - b.from - (a.to - a.from));
        if (longest.length > LISTED) longest.pop();
      });
    }
    const rows = longest.map(({ from, to, device, step, lane, next }): IdleGapRow => {
      const perCause = new Float64Array(idleCauses.length);
      judge(perCause, from, to, next, lane === NONE ? NONE : lanes[lane].thread);
      const causes = causesAsObject(perCause);
      return {
        key: `gap:${from}/device:${device}`,
        startNs: from,
        durationNs: to - from,
        device: profile.gpus[device].deviceId,
        iteration: steps[step]?.iteration ?? null,
        cause: Object.keys(causes)[0] ?? 'unknown',
        causes,
        next: next === NONE ? null : nameOf(next),
      };
    });
    return { rows, summary: { gaps, listed: rows.length } };

    function nameOf(i: number): string {
      const work = use(gpuWork);
      const kind = work.kind[i];
      if (kind !== WorkKind.kernel)
        return kind === WorkKind.copy ? 'memory copy' : kind === WorkKind.memset ? 'memset' : 'graph replay';
      return use(workFamilies).classOf(profile.tables.kernels!.name[work.row[i]]).shortName;
    }
  },
};
