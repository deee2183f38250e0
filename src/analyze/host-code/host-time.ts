/** Where the threads that launch GPU work spend the time of the selected steps, whether or not the GPU waits for it. */
import { NONE } from '../../base/column.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { stepsOf } from '../inference/steps.js';
import { CallTally, type NodeSums } from './call-tally.js';
import { threadCode } from './thread-code.js';
import { threadStacks } from './thread-stacks.js';

export const hostTime: Derived<NodeSums> = {
  id: 'host-time',
  reads: { apiCalls: [] },
  uses: [gpuWork, selectedMoments, stepsOf, threadStacks, threadCode],
  compute({ profile, use }) {
    const { paths } = use(threadStacks);
    const code = use(threadCode);
    const moments = use(selectedMoments);
    const sums = new CallTally();
    for (const thread of launchingThreads()) {
      const periods = moments.periods(profile.threads[thread].process);
      for (let i = 0; i < (periods?.length ?? 0); i++)
        code.visit(thread, periods!.start[i], periods!.end[i], ({ node, event, line, from, to }) =>
          sums.add(0, paths, node, to - from, event, line),
        );
    }
    return sums.sums(paths) ?? { selfNs: new Float64Array(0), calls: new Int32Array(0) };

    /** Those that run the steps; without steps, all that launched something. */
    function launchingThreads(): readonly number[] {
      const lanes = use(stepsOf)?.lanes ?? [];
      if (lanes.length > 0) return [...new Set(lanes.map(({ thread }) => thread))];
      const calls = profile.tables.apiCalls;
      const found = new Set<number>();
      const { launch, length } = use(gpuWork);
      for (let i = 0; i < length; i++)
        if (launch[i] !== NONE && calls!.thread[launch[i]] !== NONE) found.add(calls!.thread[launch[i]]);
      return [...found];
    }
  },
};
