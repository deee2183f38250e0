/** GPU idle time while a launching thread could have run but had no CPU, per phase; and while it changed its CPU. */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { type Intervals, lengthWithin, unionOf } from '../../base/intervals.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { cpuRuns } from './cpu-runs.js';
import { launchingThreads } from './launching-threads.js';
import { type OffCpu, offCpu } from './off-cpu.js';

interface Delay {
  readonly contentionNs: number;
  readonly migratingNs: number;
  /** Moments at which a launching thread changed its CPU. */
  readonly migrations: number;
}

export interface CpuDelays {
  /** null: outside of steps, or where there are none. */
  readonly byPhase: ReadonlyMap<Phase | null, Delay>;
  /** Who had the CPU of the launching threads, most time first. */
  readonly takers: readonly number[];
  /** The kernel's reasons are recorded; otherwise calls of the system tell. */
  readonly isByReason: boolean;
}

export const cpuDelays: Derived<CpuDelays> = {
  id: 'cpu-delays',
  reads: {},
  uses: [offCpu, cpuRuns, launchingThreads, selection, stepsOf, deviceTimelines],
  compute({ use }) {
    const runs = use(cpuRuns);
    const off = use(offCpu);
    const steps = use(stepsOf)?.steps ?? [];
    const byDevice = use(launchingThreads);
    const byPhase = new Map<Phase | null, Delay>();
    const takers = new Map<number, number>();
    for (const { device, busy } of use(deviceTimelines)) {
      const own = [...(byDevice.get(device) ?? [])].map(off);
      for (const { takers: found } of own)
        for (const [thread, ns] of found) takers.set(thread, (takers.get(thread) ?? 0) + ns);
      const contention = unionOf(...own.map(one => one.contention));
      const migrating = unionOf(...own.map(one => one.migrating));
      for (const { start, end, step, ...window } of use(selection).windows) {
        if (window.device !== device) continue;
        const phase = step === NONE ? null : steps[step].facts.phase;
        const known = byPhase.get(phase) ?? { contentionNs: 0, migratingNs: 0, migrations: 0 };
        byPhase.set(phase, {
          contentionNs: known.contentionNs + idleDuring(contention, busy, start, end),
          migratingNs: known.migratingNs + idleDuring(migrating, busy, start, end),
          migrations: known.migrations + migrationsIn(own, start, end),
        });
      }
    }
    const named = [...takers].sort((a, b) => b[1] - a[1]).map(([thread]) => thread);
    return { byPhase, takers: named, isByReason: runs.hasStates };
  },
};

const migrationsIn = (own: readonly OffCpu[], start: number, end: number): number =>
  own.reduce((sum, { migrations }) => sum + lowerBound(migrations, end) - lowerBound(migrations, start), 0);

/** How much of a window both lies in the list and is idle. */
function idleDuring(list: Intervals, busy: Intervals, start: number, end: number): number {
  let total = 0;
  for (let i = upperBound(list.end, start); i < list.length && list.start[i] < end; i++) {
    const from = Math.max(list.start[i], start);
    const to = Math.min(list.end[i], end);
    if (to > from) total += to - from - lengthWithin(busy, from, to);
  }
  return total;
}
