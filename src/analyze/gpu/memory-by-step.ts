/** GPU memory in use at the end of each selected step: what a step allocates and frees again leaves no trace here. */
import { upperBound } from '../../base/bisect.js';
import type { Derived } from '../analysis.js';
import { selection } from '../inference/selection.js';
import { memoryCurves } from './memory-in-use.js';

interface MemoryBySteps {
  /** Row of Profile.gpus. */
  readonly gpu: number;
  /** Bytes at the end of each step, in order of time. */
  readonly bytes: readonly number[];
}

export const memoryByStep: Derived<readonly MemoryBySteps[]> = {
  id: 'memory-by-step',
  reads: {},
  uses: [memoryCurves, selection],
  needs: [['memoryEvents']],
  compute({ use }) {
    const { windows } = use(selection);
    return use(memoryCurves).map(({ gpu, at, bytes }) => {
      const own = windows.filter(window => window.device === gpu && window.step >= 0);
      const ends = own.map(window => upperBound(at, window.end) - 1).filter(index => index >= 0);
      return { gpu, bytes: ends.map(index => bytes[index]) };
    });
  },
};
