/** Exposed communication of each device: while it waits for the last rank to arrive, and in calls that were matched at all. */
import { type Intervals, intersect, NO_INTERVALS } from '../../base/intervals.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { collectiveWaits } from './collective-waits.js';

interface ExposedParts {
  readonly waiting: Intervals;
  readonly matched: Intervals;
}

/** By device; undefined where ranks were not matched. */
export const communicationSplit: Derived<ReadonlyMap<number, ExposedParts> | undefined> = {
  id: 'communication-split',
  reads: {},
  uses: [deviceTimelines, collectiveWaits],
  compute({ use }) {
    const waits = use(collectiveWaits);
    if (!waits) return undefined;
    return new Map(
      use(deviceTimelines).map(({ device, communicationExposed }) => [
        device,
        {
          waiting: intersect(communicationExposed, waits.waiting.get(device) ?? NO_INTERVALS),
          matched: intersect(communicationExposed, waits.matchedTime.get(device) ?? NO_INTERVALS),
        },
      ]),
    );
  },
};
