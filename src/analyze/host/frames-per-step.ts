/** Python calls that a process wrote down in the selected steps, per step: the price of recording stacks. */
import { NONE } from '../../base/column.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { selectedMoments } from '../inference/selected-moments.js';

export const framesPerStep: Derived<number> = {
  id: 'frames-per-step',
  reads: { frames: [] },
  uses: [selectedMoments],
  compute({ profile, use }) {
    const frames = profile.tables.frames;
    if (!frames) return 0;
    const moments = use(selectedMoments);
    let count = 0;
    const processes = new Set<number>();
    const { first, end } = moments.rowsOf(frames);
    for (let row = first as Row<'frames'>; row < end; row++) {
      const thread = frames.thread[row];
      if (thread === NONE) continue;
      const { process } = profile.threads[thread];
      if (!moments.holds(process, frames.start[row])) continue;
      count++;
      processes.add(process);
    }
    return count / moments.steps / Math.max(1, processes.size);
  },
};
