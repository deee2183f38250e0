/**
 * Whether the host reads the result of a step before it launches the next one: in most steps a call waits past the end
 * of the step's work, and the next step starts only after that call has returned. Where steps overlap, the next one is
 * queued by then and starts at once, or the call waits for an earlier step.
 *
 *   gpu     ▄▄▄▄▄▄▄▄        ▄▄▄▄▄▄▄▄
 *   host    │ wait      │ code │ wait        synchronous
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import type { Derived } from '../analysis.js';
import { callsNamed } from '../names-used.js';
import { stepWork } from './step-work.js';

/** Undefined where no two steps follow each other. */
export const readsOwnResult: Derived<boolean | undefined> = {
  id: 'reads-own-result',
  reads: { apiCalls: [] },
  uses: [stepWork],
  compute({ profile, useIfRecorded }) {
    const work = useIfRecorded(stepWork);
    const calls = profile.tables.apiCalls;
    if (!work || !calls) return undefined;
    const waits = new Map<number, { start: number[]; end: number[] }>();
    const waiting = callsNamed(profile, SYNC_CALL);
    for (let i = 0; i < waiting.length; i++) {
      const row = waiting[i];
      if (calls.thread[row] === NONE) continue;
      const own = waits.get(calls.thread[row]) ?? { start: [], end: [] };
      own.start.push(calls.start[row]);
      own.end.push(calls.end[row]);
      waits.set(calls.thread[row], own);
    }
    let [pairs, own] = [0, 0];
    for (const indexes of work.byDevice.values())
      indexes.slice(1).forEach((index, i) => {
        const before = work.deviceRuns[indexes[i]];
        const after = work.deviceRuns[index];
        if (Number.isNaN(before.gpuEnd) || Number.isNaN(after.gpuStart) || after.step === before.step) return;
        pairs++;
        const list = waits.get(work.steps.lanes[before.lane].thread);
        // The last wait that began before the step's work was done.
        const last = list ? lowerBound(list.start, before.gpuEnd) - 1 : -1;
        if (list && last >= 0 && list.end[last] >= before.gpuEnd && list.end[last] < after.gpuStart) own++;
      });
    return pairs === 0 ? undefined : own > pairs / 2;
  },
};
