/**
 * Whom a thread waits for. Of a wait for the GIL: who holds it meanwhile. Of a wait in the system: the thread whose call
 * of the system began or ended last before the wait ended, because it is the one that ran and could wake it.
 *
 *   waits    ........sem_wait.........|
 *   other    nanosleep ──────|  ▒▒▒▒▒▒        woke up, released the lock
 */
import { upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { type Intervals, lengthWithin } from '../../base/intervals.js';
import { orderBy } from '../../base/order.js';
import { BLOCKING_CALL, SLEEPING_CALL } from '../../catalog/host-activities.js';
import { isProfilerThread } from '../../catalog/thread-roles.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { nameTest } from '../name-test.js';
import { threadStates } from './thread-states.js';

/** Waking a thread takes some microseconds; what another did longer before the wait ended is not what ended it. */
const REACH_NS = 100_000;
/** Shorter waits are the price of a call, not of another thread. */
const LEAST_WAIT_NS = 5_000;

interface WaitedFor {
  /** Nanoseconds by thread, of waits that lie in `periods` (all, where undefined). */
  of(thread: number, periods: Intervals | undefined): ReadonlyMap<number, number>;
}

interface Moments {
  readonly at: Float64Array;
  readonly thread: Int32Array;
}

export const waitedFor: Derived<WaitedFor> = {
  id: 'waited-for',
  reads: { osCalls: [] },
  uses: [threadStates],
  compute({ profile, use }) {
    const states = use(threadStates);
    const calls = profile.tables.osCalls;
    const others = profile.threads.flatMap(({ name }, thread) => (isProfilerThread(name) ? [] : [thread]));
    let moments: Moments | undefined;
    let waits: ReadonlyMap<number, readonly { start: number; end: number }[]> | undefined;
    return {
      of(thread, periods) {
        const found = new Map<number, number>();
        const add = (other: number, ns: number) => {
          if (ns > 0) found.set(other, (found.get(other) ?? 0) + ns);
        };
        forEachGil(thread, periods, add);
        waits ??= collectWaits();
        moments ??= collectMoments();
        for (const { start, end } of waits.get(thread) ?? []) {
          const ns = periods ? lengthWithin(periods, start, end) : end - start;
          const other = ns > 0 ? lastBefore(thread, Math.max(start, end - REACH_NS), end) : NONE;
          if (other !== NONE) add(other, ns);
        }
        return found;
      },
    };

    function forEachGil(
      thread: number,
      periods: Intervals | undefined,
      add: (other: number, ns: number) => void,
    ): void {
      const { gilWaits } = states(thread);
      for (const other of others) {
        if (other === thread || profile.threads[other].process !== profile.threads[thread].process) continue;
        const { gilHolds } = states(other);
        if (gilHolds.length === 0) continue;
        for (let i = 0; i < gilWaits.length; i++) {
          const held = lengthWithin(gilHolds, gilWaits.start[i], gilWaits.end[i]);
          const inside = periods ? lengthWithin(periods, gilWaits.start[i], gilWaits.end[i]) : held;
          add(other, Math.min(held, inside));
        }
      }
    }

    function collectWaits() {
      const blocks = nameTest(profile, BLOCKING_CALL);
      const sleeps = nameTest(profile, SLEEPING_CALL);
      const found = new Map<number, { start: number; end: number }[]>();
      for (let row = 0 as Row<'osCalls'>; row < (calls?.length ?? 0); row++) {
        const [name, thread] = [calls!.name[row], calls!.thread[row]];
        const long = calls!.end[row] - calls!.start[row] >= LEAST_WAIT_NS;
        if (!long || name === NONE || thread === NONE || !blocks(name) || sleeps(name)) continue;
        const wait = { start: calls!.start[row], end: calls!.end[row] };
        const list = found.get(thread);
        if (list) list.push(wait);
        else found.set(thread, [wait]);
      }
      return found;
    }

    /** When calls of the system began and ended, of all threads together. */
    function collectMoments(): Moments {
      const isOther = new Uint8Array(profile.threads.length);
      for (const other of others) isOther[other] = 1;
      const length = calls?.length ?? 0;
      const at = new Float64Array(length * 2);
      const thread = new Int32Array(length * 2);
      let count = 0;
      for (let row = 0 as Row<'osCalls'>; row < length; row++) {
        const owner = calls!.thread[row];
        if (owner === NONE || !isOther[owner]) continue;
        thread.fill(owner, count, count + 2);
        at[count++] = calls!.start[row];
        at[count++] = calls!.end[row];
      }
      const order = orderBy(at.subarray(0, count));
      return {
        at: Float64Array.from(order, moment => at[moment]),
        thread: Int32Array.from(order, moment => thread[moment]),
      };
    }

    function lastBefore(thread: number, from: number, to: number): number {
      for (let i = upperBound(moments!.at, to) - 1; i >= 0 && moments!.at[i] > from; i--)
        if (moments!.thread[i] !== thread) return moments!.thread[i];
      return NONE;
    }
  },
};
