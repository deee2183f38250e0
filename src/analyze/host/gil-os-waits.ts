/**
 * Waits for Python's interpreter lock that only the system's calls show. CPython waits for it in pthread_cond_timedwait
 * and passes it on with pthread_cond_signal. Two things show it:
 *
 * - a holder that does not let go: the wait gives up after the switch interval (5 ms unless somebody changed it) and
 *   begins again, so waits end at that time, one after the other;
 * - threads that pass it back and forth: each of them waits and signals about as often, thousands of times. With a queue
 *   one side waits and the other signals.
 */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';

const TIMED_WAIT = /^(?:__)?pthread_cond_timedwait(?:@|$)/;
const SIGNAL = /^(?:__)?pthread_cond_signal(?:@|$)/;
/** The switch interval, and what waking up adds. */
const SWITCH_INTERVAL = { from: 4.95e6, to: 6e6 };
const LONG_WAIT_NS = 1e6;
const FEWEST_TIMEOUTS = 5;
const MOST_OF_THEM = 0.8;
const FEWEST_HANDOVERS = 100;
/** Waits per signal, or signals per wait. */
const ABOUT_AS_OFTEN = 2;

interface OfThread {
  readonly thread: number;
  waits: number;
  signals: number;
  long: number;
  timedOut: number;
  readonly names: Set<number>;
}

/** Names of the calls in which threads wait for the GIL; none where neither shows. */
export const gilOsWaits: Derived<ReadonlySet<number>> = {
  id: 'gil-os-waits',
  reads: { osCalls: [] },
  uses: [],
  compute({ profile }) {
    const threads = callsByThread(profile);
    const known = [...threads.filter(gaveUp), ...passedAround(profile, threads)];
    return new Set(known.flatMap(({ names }) => [...names]));
  },
};

const gaveUp = ({ long, timedOut }: OfThread) =>
  timedOut >= FEWEST_TIMEOUTS && timedOut >= MOST_OF_THEM * long;

/** Threads that wait and signal alike, where a process has several of them. */
function passedAround(profile: Profile, threads: readonly OfThread[]): OfThread[] {
  const alike = threads.filter(
    ({ waits, signals }) =>
      Math.min(waits, signals) >= FEWEST_HANDOVERS &&
      waits <= ABOUT_AS_OFTEN * signals &&
      signals <= ABOUT_AS_OFTEN * waits,
  );
  const processOf = ({ thread }: OfThread) => profile.threads[thread].process;
  return alike.filter(own => alike.some(other => other !== own && processOf(other) === processOf(own)));
}

function callsByThread(profile: Profile): OfThread[] {
  const calls = profile.tables.osCalls;
  const isWait = nameTest(profile, TIMED_WAIT);
  const isSignal = nameTest(profile, SIGNAL);
  const threads = new Map<number, OfThread>();
  for (let row = 0 as Row<'osCalls'>; row < (calls?.length ?? 0); row++) {
    const thread = calls!.thread[row];
    const name = calls!.name[row];
    const waits = isWait(name);
    if (thread === NONE || !(waits || isSignal(name))) continue;
    let own = threads.get(thread);
    if (!own)
      threads.set(
        thread,
        (own = { thread, waits: 0, signals: 0, long: 0, timedOut: 0, names: new Set<number>() }),
      );
    if (!waits) {
      own.signals++;
      continue;
    }
    const ns = calls!.end[row] - calls!.start[row];
    own.waits++;
    if (ns >= LONG_WAIT_NS) own.long++;
    if (ns >= SWITCH_INTERVAL.from && ns <= SWITCH_INTERVAL.to) own.timedOut++;
    own.names.add(name);
  }
  return [...threads.values()];
}
