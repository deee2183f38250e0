/** How many API calls ask a GPU to run something, whether or not what they launched was recorded. */
import { GRAPH_LAUNCH, KERNEL_LAUNCH } from '../../catalog/host-activities.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';
import { countNamed } from '../names-used.js';

export const launchCalls: Derived<number> = {
  id: 'launch-calls',
  reads: { apiCalls: [] },
  uses: [],
  compute({ profile }) {
    const isKernel = nameTest(profile, KERNEL_LAUNCH);
    const isGraph = nameTest(profile, GRAPH_LAUNCH);
    return countNamed(profile, 'apiCalls', id => isKernel(id) || isGraph(id));
  },
};
