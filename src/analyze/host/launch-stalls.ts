/**
 * Kernel launches that take far longer than launching does: a kernel's code is loaded, or the driver's lock is held.
 * The GPU waits for one call then, not for many launches.
 */
import { NONE } from '../../base/column.js';
import { lengthWithin } from '../../base/intervals.js';
import { apiFunction } from '../../catalog/api-function.js';
import { KERNEL_LAUNCH } from '../../catalog/host-activities.js';
import type { Phase } from '../../catalog/phases.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepsOf } from '../inference/steps.js';
import { nameTest } from '../name-test.js';
import { idleIntervals } from './idle-intervals.js';

/** Launching takes 2 to 20 µs, on a busy machine 50; nothing that only launches takes this long. */
export const STALL_NS = 300e3;

export interface LaunchStall {
  readonly phase: Phase | null;
  readonly call: string;
  readonly startNs: number;
  readonly ns: number;
  /** Of it, time in which the GPU did nothing. */
  readonly idleNs: number;
}

/** Longest first. */
export const launchStalls: Derived<readonly LaunchStall[]> = {
  id: 'launch-stalls',
  reads: { apiCalls: [] },
  uses: [gpuWork, selectedWork, stepsOf, idleIntervals],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches'], ['apiCalls']],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end, step } = use(selectedWork);
    const steps = use(stepsOf)?.steps ?? [];
    const idle = use(idleIntervals);
    const calls = profile.tables.apiCalls!;
    const isKernelLaunch = nameTest(profile, KERNEL_LAUNCH);
    const phaseOfCall = new Map<Row<'apiCalls'>, Phase | null>();
    for (let i = first; i < end; i++) {
      const launch = work.launch[i];
      if (!selected[i] || launch === NONE || calls.end[launch] - calls.start[launch] < STALL_NS) continue;
      if (isKernelLaunch(calls.name[launch]))
        phaseOfCall.set(launch, step[i] === NONE ? null : steps[step[i]].facts.phase);
    }
    // Threads and processes of one GPU may stall together: a moment of its idle time counts for one of them.
    const coveredUntil = new Map<string, number>();
    const stalls = [...phaseOfCall]
      .sort(([a], [b]) => calls.start[a] - calls.start[b])
      .map(([row, phase]): LaunchStall => {
        const { process } = profile.threads[calls.thread[row]];
        const devices = profile.streams.flatMap(stream => (stream.process === process ? [stream.gpu] : []));
        const key = [...new Set(devices)].sort().join();
        const from = Math.max(calls.start[row], coveredUntil.get(key) ?? -Infinity);
        const to = calls.end[row];
        coveredUntil.set(key, Math.max(to, from));
        return {
          phase,
          call: apiFunction(profile.strings.text(calls.name[row])),
          startNs: calls.start[row],
          ns: to - calls.start[row],
          idleNs: from < to ? lengthWithin(idle(process), from, to) : 0,
        };
      });
    return stalls.sort((a, b) => b.ns - a.ns);
  },
};
