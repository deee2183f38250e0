/** Times of processes on one axis: as recorded, or corrected where the ends of collectives show that a clock is wrong. */
import type { Derived } from '../analysis.js';
import { collectiveWaits } from './collective-waits.js';

interface CommonAxis {
  /** Times of different processes can be compared. */
  readonly comparable: boolean;
  at(process: number, moment: number): number;
}

export const commonAxis: Derived<CommonAxis> = {
  id: 'common-axis',
  reads: {},
  uses: [collectiveWaits],
  compute({ profile, use }) {
    const waits = use(collectiveWaits);
    // Files whose clock starts with their own session say nothing about each other's times.
    const recorded = profile.clock === 'utc' || profile.capture.files.length === 1;
    if (waits?.alignment.status !== 'aligned') return { comparable: recorded, at: (_, moment) => moment };
    const rankOf = new Map(waits.calls.ranks.map(({ process }, rank) => [process, rank]));
    return {
      comparable: true,
      at: (process, moment) => {
        const rank = rankOf.get(process);
        return rank === undefined ? moment : waits.alignment.toCommon(rank, moment);
      },
    };
  },
};
