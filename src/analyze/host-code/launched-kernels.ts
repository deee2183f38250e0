/** The kernel that each CUDA call brings, by name; a replay brings many, and its first stands for all. */
import { NONE } from '../../base/column.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';

/** Per call the id of the name, or NONE. */
export const launchedKernels: Derived<Int32Array> = {
  id: 'launched-kernels',
  reads: { apiCalls: [], kernels: [] },
  uses: [],
  compute({ profile }) {
    const { apiCalls, kernels } = profile.tables;
    const names = new Int32Array(apiCalls?.length ?? 0).fill(NONE);
    if (!apiCalls || !kernels) return names;
    for (let row = 0 as Row<'kernels'>; row < kernels.length; row++) {
      const call = kernels.launch[row];
      if (call !== NONE && names[call] === NONE) names[call] = kernels.name[row];
    }
    return names;
  },
};
