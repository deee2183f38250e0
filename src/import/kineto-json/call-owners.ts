/** Which process made the API call of a correlation id, for files that hold calls of several processes. */
import { NONE } from '../../base/column.js';
import type { RawTable } from '../../model/builder.js';

export class CallOwners {
  private readonly byCorrelation = new Map<number, number>();

  constructor(calls: RawTable, processOfLane: (lane: number) => number) {
    const { correlation, thread } = calls;
    if (!correlation || !thread) return;
    for (let row = 0; row < correlation.length; row++) {
      const id = correlation[row];
      // Two processes may use one id; the first call in time has it, as nothing in the file says better.
      if (id !== 0 && !this.byCorrelation.has(id)) this.byCorrelation.set(id, processOfLane(thread[row]));
    }
  }

  of(correlation: number): number {
    return this.byCorrelation.get(correlation) ?? NONE;
  }
}
