/**
 * Why a thread had no CPU: because it waited, or although it could have run. The kernel's reason decides where it is
 * recorded. Nsight Systems writes none in most captures; then a thread that is switched out inside no call of the
 * system or of CUDA did not ask for it, and if another thread runs on its CPU meanwhile, that one took it.
 *
 *   thread   ████ poll......███▒▒▒▒███      ▒ switched out in its own code
 *   CPU 3    ████...........███BBBB███      B runs there: contention
 */
import { upperBound } from '../../base/bisect.js';
import { covers, IntervalBuilder, type Intervals, NO_INTERVALS, unionOf } from '../../base/intervals.js';
import { ThreadState } from '../../model/schema.js';
import type { Derived } from '../analysis.js';
import { type CpuRuns, cpuRuns } from './cpu-runs.js';
import { threadStates } from './thread-states.js';

export interface OffCpu {
  /** Runnable, but another thread had its CPU. */
  readonly contention: Intervals;
  /** Of these and of those without a known reason: it then went on on another CPU. */
  readonly migrating: Intervals;
  /** Switched out in its own code, and nothing tells why: a page fault, a call that was not traced, another process. */
  readonly unexplained: Intervals;
  /** Moments at which it went on on another CPU, whatever the reason it stopped. */
  readonly migrations: readonly number[];
  /** Who had its CPU during contention, nanoseconds by thread. */
  readonly takers: ReadonlyMap<number, number>;
  /** Nothing tells why it stopped: the lists are empty for that reason. */
  readonly isUnknown?: true;
}

/** Undefined where neither reasons nor calls of the system tell why a thread stopped. */
export const offCpu: Derived<((thread: number) => OffCpu) | undefined> = {
  id: 'off-cpu',
  reads: { osCalls: [] },
  uses: [cpuRuns, threadStates],
  compute({ profile, use }) {
    const runs = use(cpuRuns);
    const states = use(threadStates);
    if (!runs.hasStates && !profile.tables.osCalls) return undefined;
    const known = new Map<number, OffCpu>();
    return thread => {
      let own = known.get(thread);
      if (!own) known.set(thread, (own = offCpuOf(thread, runs, states(thread))));
      return own;
    };
  },
};

const UNKNOWN: OffCpu = {
  ...{ contention: NO_INTERVALS, migrating: NO_INTERVALS, unexplained: NO_INTERVALS },
  ...{ migrations: [], takers: new Map(), isUnknown: true },
};

function offCpuOf(
  thread: number,
  runs: CpuRuns,
  { cuda, system, gilWaits }: { cuda: Intervals; system: Intervals; gilWaits: Intervals },
): OffCpu {
  const explained = unionOf(cuda, system, gilWaits);
  // Where none of its calls was traced (threads of the profiler), nothing tells a wait from contention.
  if (!runs.hasStates && explained.length === 0) return UNKNOWN;
  const [contention, migrating, unexplained] = [0, 0, 0].map(() => new IntervalBuilder());
  const takers = new Map<number, number>();
  const migrations: number[] = [];
  const own = runs.of(thread);
  for (let i = 0; i + 1 < own.length; i++) {
    const { end, cpu, state } = own[i];
    const next = own[i + 1];
    if (next.cpu !== cpu) migrations.push(next.start);
    const waits = runs.hasStates
      ? state !== ThreadState.running && state !== ThreadState.unscheduled
      : covers(explained, end);
    if (waits) continue;
    const taken = takenBetween(runs, cpu, end, next.start, thread);
    const isContention = runs.hasStates || taken.length > 0;
    for (const [taker, ns] of taken) takers.set(taker, (takers.get(taker) ?? 0) + ns);
    (isContention ? contention : unexplained).add(end, next.start);
    if (next.cpu !== cpu) migrating.add(end, next.start);
  }
  return {
    ...{ contention: contention.finish(), migrating: migrating.finish(), unexplained: unexplained.finish() },
    ...{ migrations, takers },
  };
}

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
