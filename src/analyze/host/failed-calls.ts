/** API calls that returned an error. `not ready` is how a query says "no", and no error. */
import { NONE } from '../../base/column.js';
import { apiFunction } from '../../catalog/api-function.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';

/** cudaErrorNotReady, CUDA_ERROR_NOT_READY and hipErrorNotReady are one number. */
const NOT_READY = 600;

interface FailedCalls {
  readonly call: string;
  readonly code: number;
  readonly count: number;
  readonly firstNs: number;
}

/** Most frequent first; none where results were not recorded. */
export const failedCalls: Derived<readonly FailedCalls[]> = {
  id: 'failed-calls',
  reads: { apiCalls: ['result'] },
  uses: [],
  needs: [['apiCalls']],
  compute({ profile }) {
    const calls = profile.tables.apiCalls!;
    if (!calls.result) return [];
    const found = new Map<string, FailedCalls>();
    for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++) {
      const code = calls.result[row];
      if (code === 0 || code === NONE || code === NOT_READY) continue;
      const call = apiFunction(profile.strings.text(calls.name[row]));
      const known = found.get(`${call}/${code}`);
      found.set(`${call}/${code}`, {
        call,
        code,
        count: (known?.count ?? 0) + 1,
        firstNs: known?.firstNs ?? calls.start[row],
      });
    }
    return [...found.values()].sort((a, b) => b.count - a.count);
  },
};
