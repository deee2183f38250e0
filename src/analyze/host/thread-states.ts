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

type ByThread = ReadonlyMap<number, Intervals>;

/** Each kind is gathered when first asked for: calls of CUDA are millions, and few questions are about them. */
export const threadStates: Derived<(thread: number) => ThreadStates> = {
  id: 'thread-states',
  reads: { apiCalls: [], osCalls: [], ranges: [] },
  uses: [],
  compute({ profile }) {
    const { apiCalls, osCalls, ranges } = profile.tables;
    const blocks = nameTest(profile, BLOCKING_CALL);
    const cuda = gathered(apiCalls, () => true);
    const system = gathered(osCalls, () => true);
    const waitingCalls = gathered(osCalls, row => {
      const name = osCalls!.name[row as Row<'osCalls'>];
      return name !== NONE && blocks(name);
    });
    const rangesNamed = (text: string) => {
      const id = profile.strings.find(text) as number;
      return gathered(id >= 0 ? ranges : undefined, row => ranges!.name[row as Row<'ranges'>] === id);
    };
    const [gilWaits, gilHolds] = [rangesNamed(GIL_WAIT), rangesNamed(GIL_HOLD)];
    const known = new Map<number, ThreadStates>();
    return thread => {
      let own = known.get(thread);
      if (!own) {
        let waits: Intervals | undefined;
        own = {
          get cuda() {
            return cuda().get(thread) ?? NO_INTERVALS;
          },
          get system() {
            return system().get(thread) ?? NO_INTERVALS;
          },
          get waits() {
            const calls = waitingCalls().get(thread) ?? NO_INTERVALS;
            return (waits ??= calls.length > 0 ? subtract(calls, this.cuda) : NO_INTERVALS);
          },
          get gilWaits() {
            return gilWaits().get(thread) ?? NO_INTERVALS;
          },
          get gilHolds() {
            return gilHolds().get(thread) ?? NO_INTERVALS;
          },
        };
        known.set(thread, own);
      }
      return own;
    };
  },
};

interface ThreadEvents {
  readonly length: number;
  readonly thread: { readonly [row: number]: number };
  readonly start: { readonly [row: number]: number };
  readonly end: { readonly [row: number]: number };
}

function gathered(table: ThreadEvents | undefined, isWanted: (row: number) => boolean): () => ByThread {
  let found: ByThread | undefined;
  return () => {
    if (found) return found;
    const builders = new Map<number, IntervalBuilder>();
    for (let row = 0; row < (table?.length ?? 0); row++) {
      const thread = table!.thread[row];
      if (thread === NONE || !isWanted(row)) continue;
      let builder = builders.get(thread);
      if (!builder) builders.set(thread, (builder = new IntervalBuilder()));
      builder.add(table!.start[row], table!.end[row]);
    }
    found = new Map([...builders].map(([thread, builder]) => [thread, builder.finish()]));
    return found;
  };
}
