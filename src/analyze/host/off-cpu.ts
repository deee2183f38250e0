/**
 * Why a thread had no CPU: because it waited, or although it could have run. The kernel's reason decides where it is
 * recorded. Nsight Systems writes none in most captures; then a thread that is switched out inside no call of the
 * system or of CUDA did not ask for it, and if another thread runs on its CPU meanwhile, that one took it.
 *
 *   thread   ████ poll......███▒▒▒▒███      ▒ switched out in its own code
 *   CPU 3    ████...........███BBBB███      B runs there: contention
 *
 * A thread that waits in a call is woken at a moment that is not recorded. If others have its CPU without a pause until
 * it runs again, it may have been runnable all that time, and a CPU that nobody else uses has no such time:
 *
 *   thread   ████ poll.........▒▒▒▒███      ▒ may have been runnable
 *   CPU 3    ████..............BBCC███
 */
import { upperBound } from '../../base/bisect.js';
import { covers, IntervalBuilder, type Intervals, unionOf } from '../../base/intervals.js';
import { ThreadState } from '../../model/schema.js';
import type { Derived } from '../analysis.js';
import { type CpuRuns, cpuRuns } from './cpu-runs.js';
import { threadStates } from './thread-states.js';

export interface OffCpu {
  /** Runnable, but another thread had its CPU; at most this where only calls tell. */
  readonly contention: Intervals;
  /** Of these and of those without a known reason: it then went on on another CPU. */
  readonly migrating: Intervals;
  /** Switched out in its own code, and nothing tells why: a page fault, a call that was not traced, another process. */
  readonly unexplained: Intervals;
  /** Moments at which it went on on another CPU, whatever the reason it stopped. */
  readonly migrations: readonly number[];
  /** Who had its CPU during contention, nanoseconds by thread. */
  readonly takers: ReadonlyMap<number, number>;
  /** Nothing tells why it stopped: only contention at the end of a stop is known. */
  readonly isUnknown?: boolean;
}

export const offCpu: Derived<(thread: number) => OffCpu> = {
  id: 'off-cpu',
  reads: { osCalls: [] },
  uses: [cpuRuns, threadStates],
  compute({ profile, use }) {
    const runs = use(cpuRuns);
    const states = use(threadStates);
    const isTraced = profile.tables.osCalls !== undefined;
    const known = new Map<number, OffCpu>();
    return thread => {
      let own = known.get(thread);
      if (!own) known.set(thread, (own = offCpuOf(thread, runs, states(thread), isTraced)));
      return own;
    };
  },
};

function offCpuOf(
  thread: number,
  runs: CpuRuns,
  { cuda, system, gilWaits }: { cuda: Intervals; system: Intervals; gilWaits: Intervals },
  isTraced: boolean,
): OffCpu {
  const explained = unionOf(cuda, system, gilWaits);
  // Where none of its calls was traced (threads of the profiler, or of a whole file), it may wait wherever it stops.
  const isUnknown = !runs.hasStates && (!isTraced || explained.length === 0);
  const [contention, migrating, unexplained] = [0, 0, 0].map(() => new IntervalBuilder());
  const takers = new Map<number, number>();
  const migrations: number[] = [];
  const own = runs.of(thread);
  for (let i = 0; i + 1 < own.length; i++) {
    const { end, cpu, state } = own[i];
    const next = own[i + 1];
    const isMoved = next.cpu !== cpu;
    if (isMoved) migrations.push(next.start);
    const isWaiting = runs.hasStates
      ? state !== ThreadState.running && state !== ThreadState.unscheduled
      : isUnknown || covers(explained, end);
    // A thread that goes on elsewhere did not wait for this CPU.
    if (isWaiting && (runs.hasStates || isMoved)) continue;
    const since = isWaiting ? queuedSince(runs, cpu, end, next.start, thread) : end;
    if (since === next.start) continue;
    const taken = takenBetween(runs, cpu, since, next.start, thread);
    for (const [taker, ns] of taken) takers.set(taker, (takers.get(taker) ?? 0) + ns);
    (runs.hasStates || taken.length > 0 ? contention : unexplained).add(since, next.start);
    if (isMoved) migrating.add(since, next.start);
  }
  return {
    ...{ contention: contention.finish(), migrating: migrating.finish(), unexplained: unexplained.finish() },
    ...{ migrations, takers, ...(isUnknown ? { isUnknown } : {}) },
  };
}

/** From when on others had the CPU without a pause until the thread ran again; the latter moment where they had not. */
function queuedSince(runs: CpuRuns, cpu: number, from: number, to: number, except: number): number {
  const list = runs.onCpu(cpu);
  let since = to;
  for (let at = upperBound(starts(list), to) - 1; at >= 0 && since > from; at--) {
    if (list[at].thread === except && list[at].start >= to) continue;
    if (list[at].thread === except || since - list[at].end > A_SWITCH) break;
    since = Math.min(since, list[at].start);
  }
  return Math.max(since, from);
}

/** Nanoseconds between two threads on one CPU: longer, and it was free. */
const A_SWITCH = 20_000;

/** Other threads on a CPU between two moments. */
function takenBetween(
  runs: CpuRuns,
  cpu: number,
  from: number,
  to: number,
  except: number,
): [thread: number, ns: number][] {
  const list = runs.onCpu(cpu);
  const found: [number, number][] = [];
  // Runs on one CPU follow each other: the first that can matter is the last to begin before.
  let at = Math.max(0, upperBound(starts(list), from) - 1);
  for (; at < list.length && list[at].start < to; at++) {
    const ns = Math.min(list[at].end, to) - Math.max(list[at].start, from);
    if (ns > 0 && list[at].thread !== except) found.push([list[at].thread, ns]);
  }
  return found;
}

const knownStarts = new WeakMap<object, Float64Array>();

function starts(list: readonly { readonly start: number }[]): Float64Array {
  let column = knownStarts.get(list);
  if (!column) knownStarts.set(list, (column = Float64Array.from(list, ({ start }) => start)));
  return column;
}
