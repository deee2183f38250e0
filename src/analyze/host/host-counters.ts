/** Page faults, lost CPUs and CPU time of the threads that run steps, per step, where the agent counted them. */
import type { HostCounter, HostPlacement } from '../../model/step-log.js';
import type { Derived } from '../analysis.js';
import { type Steps, stepsOf } from '../inference/steps.js';

export interface StepCounters {
  /** Per step. */
  readonly userNs: number;
  readonly systemNs: number;
  readonly pageFaults: number;
  readonly voluntarySwitches: number;
  readonly involuntarySwitches: number;
  readonly steps: number;
}

interface HostCounters {
  /** By thread id of the system; in windows the profiler takes part, after them nobody records. */
  readonly inWindows: ReadonlyMap<number, StepCounters>;
  readonly outside: ReadonlyMap<number, StepCounters>;
  readonly placements: readonly HostPlacement[];
}

export const hostCounters: Derived<HostCounters> = {
  id: 'host-counters',
  reads: {},
  uses: [stepsOf],
  compute({ profile, useIfRecorded }) {
    const logs = (profile.stepLogs ?? []).filter(({ isOfOtherServer }) => !isOfOtherServer);
    const steps = useIfRecorded(stepsOf);
    const rows = logs.flatMap(({ hostCounters = [] }) => ofWindows(hostCounters, steps));
    return {
      inWindows: byThread(rows.filter(({ part }) => part === 'window')),
      outside: byThread(rows.filter(({ part }) => part === 'after')),
      placements: logs.flatMap(({ placement }) => placement ?? []),
    };
  },
};

/** A process may have been recorded several times: the counters of the windows whose steps the profile has. */
function ofWindows(rows: readonly HostCounter[], steps: Steps | undefined): readonly HostCounter[] {
  const windows = rows.filter(({ part }) => part === 'window');
  const isOurs = ({ first, steps: count }: HostCounter) =>
    steps?.numbered
      ? steps.steps.some(({ iteration }) => iteration >= first && iteration < first + count)
      : windows.length === 1;
  const numbers = windows.filter(isOurs).map(({ window }) => window);
  return rows.filter(({ window }) => numbers.includes(window));
}

function byThread(rows: readonly HostCounter[]): ReadonlyMap<number, StepCounters> {
  const tids = new Set(rows.map(({ tid }) => tid));
  return new Map([...tids].map(tid => [tid, perStep(rows.filter(row => row.tid === tid))]));
}

function perStep(rows: readonly HostCounter[]): StepCounters {
  const steps = rows.reduce((sum, row) => sum + row.steps, 0);
  const mean = (key: 'userNs' | 'systemNs' | 'pageFaults' | 'voluntarySwitches' | 'involuntarySwitches') =>
    rows.reduce((sum, row) => sum + row[key], 0) / steps;
  return {
    ...{ steps, userNs: mean('userNs'), systemNs: mean('systemNs'), pageFaults: mean('pageFaults') },
    voluntarySwitches: mean('voluntarySwitches'),
    involuntarySwitches: mean('involuntarySwitches'),
  };
}
