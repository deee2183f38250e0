/**
 * Waits for Python's interpreter lock that only the system's calls show. CPython waits for it in pthread_cond_timedwait,
 * gives up after its switch interval (5 ms unless somebody changed it), asks the holder to let go, and waits again: calls
 * that end at that time, one after the other, are nothing else.
 */
import { NONE } from '../../base/column.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';

const TIMED_WAIT = /^(?:__)?pthread_cond_timedwait(?:@|$)/;
/** The switch interval, and what waking up adds. */
const SWITCH_INTERVAL = { from: 4.95e6, to: 6e6 };
const LONG_WAIT_NS = 1e6;
const FEWEST = 5;
const MOST_OF_THEM = 0.8;

/** Names of the calls in which threads wait for the GIL; none where their lengths do not show it. */
export const gilTimeouts: Derived<ReadonlySet<number>> = {
  id: 'gil-timeouts',
  reads: { osCalls: [] },
  uses: [],
  compute({ profile }) {
    const calls = profile.tables.osCalls;
    const isTimed = nameTest(profile, TIMED_WAIT);
    const perThread = new Map<number, { long: number; timedOut: number; names: Set<number> }>();
    for (let row = 0 as Row<'osCalls'>; row < (calls?.length ?? 0); row++) {
      const ns = calls!.end[row] - calls!.start[row];
      const thread = calls!.thread[row];
      if (ns < LONG_WAIT_NS || thread === NONE || !isTimed(calls!.name[row])) continue;
      let own = perThread.get(thread);
      if (!own) perThread.set(thread, (own = { long: 0, timedOut: 0, names: new Set() }));
      own.long++;
      own.names.add(calls!.name[row]);
      if (ns >= SWITCH_INTERVAL.from && ns <= SWITCH_INTERVAL.to) own.timedOut++;
    }
    return new Set(
      [...perThread.values()]
        .filter(({ long, timedOut }) => timedOut >= FEWEST && timedOut >= MOST_OF_THEM * long)
        .flatMap(({ names }) => [...names]),
    );
  },
};
