/**
 * GPUs on which more than one process runs kernels. They take turns there: while both are at it, a kernel lasts longer
 * than it would alone, and its recorded time is not its own.
 *
 *   this process    ████████....████████
 *   another one     ....████████....████
 *   both            ....████........████
 */
import { IntervalBuilder, intersect, lengthWithin, unionOf } from '../../base/intervals.js';
import type { Derived } from '../analysis.js';
import { selection } from '../inference/selection.js';
import { gpuWork, WorkKind } from './gpu-work.js';

interface SharedGpu {
  /** Row of the GPU. */
  readonly device: number;
  /** Rows of the processes, the one with most work first. */
  readonly processes: readonly number[];
  /** Time in the selected windows in which at least two of them run kernels. */
  readonly togetherNs: number;
  readonly windowNs: number;
}

export const sharedGpus: Derived<readonly SharedGpu[]> = {
  id: 'shared-gpus',
  reads: {},
  uses: [gpuWork, selection],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const processOf = profile.streams.map(({ process }) => process);
    if (new Set(processOf).size < 2) return [];
    const lanes = new Map<number, Map<number, IntervalBuilder>>();
    for (let i = 0; i < work.length; i++) {
      // Copies have engines of their own: they hold nobody's kernels up.
      if (work.kind[i] !== WorkKind.kernel && work.kind[i] !== WorkKind.graphBlock) continue;
      let own = lanes.get(work.device[i]);
      if (!own) lanes.set(work.device[i], (own = new Map()));
      const process = processOf[work.stream[i]];
      let lane = own.get(process);
      if (!lane) own.set(process, (lane = new IntervalBuilder()));
      lane.add(work.start[i], work.end[i]);
    }
    const { windows } = use(selection);
    return [...lanes].flatMap(([device, own]): SharedGpu[] => {
      if (own.size < 2) return [];
      const busy = [...own].map(([process, lane]) => ({ process, intervals: lane.finish() }));
      const pairs = busy.flatMap((a, i) => busy.slice(i + 1).map(b => intersect(a.intervals, b.intervals)));
      const together = unionOf(...pairs);
      const within = windows.filter(window => window.device === device);
      const sum = (of: (window: (typeof within)[number]) => number) =>
        within.reduce((total, window) => total + of(window), 0);
      const inWindows = (intervals: typeof together) =>
        sum(({ start, end }) => lengthWithin(intervals, start, end));
      const processes = busy
        .map(({ process, intervals }) => ({ process, ns: inWindows(intervals) }))
        .sort((a, b) => b.ns - a.ns)
        .map(({ process }) => process);
      const windowNs = sum(({ start, end }) => end - start);
      return [{ device, processes, togetherNs: inWindows(together), windowNs }];
    });
  },
};
