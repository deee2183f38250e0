/** How many API calls ask a GPU to run something, whether or not what they launched was recorded. */
import { GRAPH_LAUNCH, KERNEL_LAUNCH } from '../../catalog/host-activities.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';

export const launchCalls: Derived<number> = {
  id: 'launch-calls',
  reads: { apiCalls: [] },
  uses: [],
  compute({ profile }) {
    const calls = profile.tables.apiCalls;
    const isKernel = nameTest(profile, KERNEL_LAUNCH);
    const isGraph = nameTest(profile, GRAPH_LAUNCH);
    let count = 0;
    for (let row = 0 as Row<'apiCalls'>; row < (calls?.length ?? 0); row++)
      if (isKernel(calls!.name[row]) || isGraph(calls!.name[row])) count++;
    return count;
  },
};
