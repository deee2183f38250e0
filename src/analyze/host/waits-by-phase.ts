/**
 * How long the launching threads wait for the GPU in the selected steps, by phase. It is all that launching the next step
 * earlier can hide host work in: a host that never waits is busy all the time, and overlapping saves nothing.
 */
import { lowerBound } from '../../base/bisect.js';
import type { Phase } from '../../catalog/phases.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { stepsOf } from '../inference/steps.js';
import { blockingCalls } from './blocking-calls.js';

export const waitsByPhase: Derived<ReadonlyMap<Phase, number> | undefined> = {
  id: 'waits-by-phase',
  reads: { apiCalls: [] },
  uses: [stepsOf, blockingCalls],
  compute({ profile, use, useIfRecorded }) {
    const found = use(stepsOf);
    const waits = useIfRecorded(blockingCalls);
    const calls = profile.tables.apiCalls;
    if (!found || !waits || !calls) return undefined;
    const lanesOf = new Map<number, number[]>();
    found.lanes.forEach(
      ({ thread }, lane) => void lanesOf.set(thread, [...(lanesOf.get(thread) ?? []), lane]),
    );
    const starts = found.lanes.map(lane => Float64Array.from(lane.runs, run => run.start));
    const byPhase = new Map<Phase, number>();
    for (const row of waits.rows as readonly Row<'apiCalls'>[])
      for (const lane of lanesOf.get(calls.thread[row]) ?? []) {
        const at = lowerBound(starts[lane], calls.start[row] + 1) - 1;
        if (at < 0 || calls.start[row] >= found.lanes[lane].runs[at].periodEnd) continue;
        const { phase } = found.steps[found.stepOfRun[lane][at]].facts;
        byPhase.set(phase, (byPhase.get(phase) ?? 0) + calls.end[row] - calls.start[row]);
        break;
      }
    return byPhase;
  },
};
