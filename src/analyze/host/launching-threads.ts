/** Threads that launch the GPU work of the selected steps, by device. */
import { NONE } from '../../base/column.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { selectedWork } from '../inference/selected-work.js';

export const launchingThreads: Derived<ReadonlyMap<number, ReadonlySet<number>>> = {
  id: 'launching-threads',
  reads: { apiCalls: [] },
  uses: [gpuWork, selectedWork],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end } = use(selectedWork);
    const calls = profile.tables.apiCalls;
    const found = new Map<number, Set<number>>();
    let [lastThread, lastDevice]: number[] = [NONE, NONE];
    for (let i = first; i < end; i++) {
      if (!selected[i] || work.launch[i] === NONE) continue;
      const thread = calls!.thread[work.launch[i]];
      // Almost always as before.
      if (thread === NONE || (thread === lastThread && work.device[i] === lastDevice)) continue;
      lastThread = thread;
      lastDevice = work.device[i];
      const known = found.get(work.device[i]);
      if (known) known.add(thread);
      else found.set(work.device[i], new Set([thread]));
    }
    return found;
  },
};

/** Their ids in the system. */
export const launchingTids: Derived<readonly number[]> = {
  id: 'launching-tids',
  reads: {},
  uses: [launchingThreads],
  compute: ({ profile, use }) => [
    ...new Set(
      [...use(launchingThreads).values()].flatMap(threads =>
        [...threads].map(thread => profile.threads[thread].tid),
      ),
    ),
  ],
};
