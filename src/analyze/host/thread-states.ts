/** What is known of a thread's time: inside CUDA calls, waiting in the system, waiting for the GIL. */
import { NONE } from '../../base/column.js';
import { IntervalBuilder, type Intervals, NO_INTERVALS, subtract } from '../../base/intervals.js';
import { BLOCKING_CALL, GIL_HOLD, GIL_WAIT } from '../../catalog/host-activities.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';

interface ThreadStates {
  /** Inside calls of CUDA. */
  readonly cuda: Intervals;
  /** Inside any call of the system that was recorded. */
  readonly system: Intervals;
  /** Inside those in which a thread waits, apart from calls of CUDA. */
  readonly waits: Intervals;
  readonly gilWaits: Intervals;
  readonly gilHolds: Intervals;
}

const NOTHING: ThreadStates = {
  ...{ cuda: NO_INTERVALS, system: NO_INTERVALS, waits: NO_INTERVALS },
  ...{ gilWaits: NO_INTERVALS, gilHolds: NO_INTERVALS },
};

export const threadStates: Derived<(thread: number) => ThreadStates> = {
  id: 'thread-states',
  reads: { apiCalls: [], osCalls: [], ranges: [] },
  uses: [],
  compute({ profile }) {
    const builders = new Map<number, Record<keyof ThreadStates, IntervalBuilder>>();
    const add = (thread: number, state: keyof ThreadStates, start: number, end: number) => {
      if (thread === NONE) return;
      let own = builders.get(thread);
      if (!own) {
        own = {
          ...{ cuda: new IntervalBuilder(), system: new IntervalBuilder(), waits: new IntervalBuilder() },
          ...{ gilWaits: new IntervalBuilder(), gilHolds: new IntervalBuilder() },
        };
        builders.set(thread, own);
      }
      own[state].add(start, end);
    };
    const { apiCalls, osCalls, ranges } = profile.tables;
    for (let row = 0 as Row<'apiCalls'>; row < (apiCalls?.length ?? 0); row++)
      add(apiCalls!.thread[row], 'cuda', apiCalls!.start[row], apiCalls!.end[row]);
    const blocks = nameTest(profile, BLOCKING_CALL);
    for (let row = 0 as Row<'osCalls'>; row < (osCalls?.length ?? 0); row++) {
      add(osCalls!.thread[row], 'system', osCalls!.start[row], osCalls!.end[row]);
      if (osCalls!.name[row] !== NONE && blocks(osCalls!.name[row]))
        add(osCalls!.thread[row], 'waits', osCalls!.start[row], osCalls!.end[row]);
    }
    const gil = [profile.strings.find(GIL_WAIT) as number, profile.strings.find(GIL_HOLD) as number];
    for (let row = 0 as Row<'ranges'>; gil.some(id => id >= 0) && row < (ranges?.length ?? 0); row++) {
      const name = ranges!.name[row];
      if (name === NONE) continue;
      if (name === gil[0]) add(ranges!.thread[row], 'gilWaits', ranges!.start[row], ranges!.end[row]);
      else if (name === gil[1]) add(ranges!.thread[row], 'gilHolds', ranges!.start[row], ranges!.end[row]);
    }
    const known = new Map<number, ThreadStates>();
    for (const [thread, own] of builders) {
      const lists = Object.entries(own).map(([state, builder]) => [state, builder.finish()]);
      const states = Object.fromEntries(lists) as ThreadStates;
      known.set(thread, { ...states, waits: subtract(states.waits, states.cuda) });
    }
    return thread => known.get(thread) ?? NOTHING;
  },
};
