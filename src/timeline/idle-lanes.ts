/**
 * Every gap of a device from its first step or work to its last, in pieces of one cause, as a lane that can be drawn at
 * any zoom. Of large profiles a thread that helps makes these (`threads/help-ahead.ts`).
 */
import type { Derived } from '../analyze/analysis.js';
import { deviceTimelines } from '../analyze/gpu/device-timeline.js';
import type { IdlePieces } from '../analyze/host/idle-pieces.js';
import { gapJudge } from '../analyze/inference/idle-causes.js';
import { stepWindows } from '../analyze/inference/step-windows.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import type { UnnamedLane } from './host-lanes.js';
import { LaneBuilder } from './labels.js';
import { unnamedLevels } from './slice-pyramid.js';

/** By device; the tone of a piece is the number of its cause. */
export type IdleLanes = ReadonlyMap<number, UnnamedLane>;

export const idleLanes: Derived<IdleLanes> = {
  id: 'idle-lanes',
  reads: {},
  uses: [deviceTimelines, stepWindows, stepsOf, gapJudge],
  compute({ use }) {
    const windows = use(stepWindows) ?? [];
    const lanes = use(stepsOf)?.lanes ?? [];
    const { explainAll } = use(gapJudge);
    return new Map(
      use(deviceTimelines).flatMap((timeline): [number, UnnamedLane][] => {
        const own = windows.filter(({ device }) => device === timeline.device);
        const { busy } = timeline;
        const from = Math.min(busy.start[0], own[0]?.start ?? Infinity);
        const to = Math.max(busy.end[busy.length - 1], own[own.length - 1]?.end ?? -Infinity);
        const fallback = own[0] ? lanes[own[0].lane].thread : NONE;
        // A piece for most gaps.
        const lane = new LaneBuilder(Math.ceil(1.05 * busy.length), false);
        // A part at a time, each up to the begin of some work: all pieces at once would take as much memory as the lane.
        for (let i = 0, begin = from; i < busy.length; i += GAPS_AT_ONCE) {
          const until = i + GAPS_AT_ONCE < busy.length ? busy.start[i + GAPS_AT_ONCE] : to;
          addIdle(lane, explainAll(timeline, begin, until, fallback));
          begin = until;
        }
        if (lane.length === 0) return [];
        const { label: _, ...events } = lane.finish();
        return [[timeline.device, { ...events, levels: unnamedLevels(events) }]];
      }),
    );
  },
};

const GAPS_AT_ONCE = 1 << 14;

function addIdle(lane: LaneBuilder, idle: IdlePieces): void {
  const { cause, start, end } = idle;
  for (let gap = 0; gap < idle.gaps; gap++) {
    const after = idle.firstOf(gap + 1);
    for (let piece = idle.firstOf(gap); piece < after; ) {
      // Pieces of one cause that touch are drawn as one.
      let last = piece;
      while (last + 1 < after && cause[last + 1] === cause[piece] && start[last + 1] === end[last]) last++;
      if (end[last] > start[piece]) lane.add(start[piece], end[last], NONE, cause[piece], idle.nextOf(gap));
      piece = last + 1;
    }
  }
}

/** Memory that another thread can be given. */
export const buffersOfIdle = (lanes: IdleLanes): ArrayBuffer[] =>
  [...lanes.values()].flatMap(({ start, end, row, tone, levels }) =>
    [
      ...(typeof row === 'number' ? [start, end] : [start, end, row]),
      tone,
      ...levels.flatMap(({ merged }) => (merged ? Object.values(merged) : [])),
    ].map(({ buffer }) => buffer as ArrayBuffer),
  );
