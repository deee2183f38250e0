/** The longest single stretches in which a device did nothing, each with its causes and what came next. */
import { NONE } from '../../base/column.js';
import { forEachGap } from '../../base/intervals.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { workFamilies } from '../gpu/work-families.js';
import { codeInGap } from '../host-code/code-in-gap.js';
import { stackBlockers } from '../host-code/host-blockers.js';
import { idleCode } from '../host-code/idle-code.js';
import { causesAsObject, gapJudge } from './idle-causes.js';
import { selection } from './selection.js';
import { stepsOf } from './steps.js';

const LISTED = 50;

const fields = {
  key: keyField,
  startNs: field.timestamp('Start', 'start of the gap', { priority: KEEP }),
  durationNs: field.ns('Duration', 'duration of the gap inside its step', { priority: KEEP }),
  device: field.id('Device', 'CUDA device number', { priority: -1 }),
  iteration: maybe(field.id('Iteration', 'step that contains the gap')),
  cause: field.text('Main cause', 'cause with the largest part of the gap'),
  causes: quiet(field.mapNs('Causes', 'time by cause; sums to the duration')),
  code: maybe(
    field.text(
      'Host code',
      'what the launching thread did longest in the gap; null: the host did not cause it',
    ),
  ),
  next: maybe(field.text('Before', 'operation that ends the gap')),
};

export type IdleGapRow = RowOf<typeof fields>;

export const idleGaps: Analysis<IdleGapRow, AnalysisResult<IdleGapRow>> = {
  id: 'idle-gaps',
  title: 'Longest idle gaps',
  question: 'Which gaps cost the most, and why did the GPU wait?',
  reads: {},
  uses: [selection, deviceTimelines, gapJudge, stepsOf, gpuWork, workFamilies, idleCode, stackBlockers],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields,
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
    // All code first: call paths are numbered as they are met, and equal ones are listed in that order.
    use(stackBlockers);
    const rows = longest.map(({ from, to, device, step, lane, next }): IdleGapRow => {
      const perCause = new Float64Array(idleCauses.length);
      const fallback = lane === NONE ? NONE : (lanes[lane].thread as number);
      judge(perCause, from, to, next, fallback);
      const causes = causesAsObject(perCause);
      return {
        key: `gap:${from}/device:${device}`,
        startNs: from,
        durationNs: to - from,
        device: profile.gpus[device].deviceId,
        iteration: steps[step]?.iteration ?? null,
        cause: Object.keys(causes)[0] ?? 'unknown',
        causes,
        code: codeInGap(use(idleCode), { from, to, next, fallback })[0]?.label ?? null,
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
