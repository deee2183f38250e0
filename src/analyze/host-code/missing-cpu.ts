/** When a thread had no CPU although it did not ask to wait, and who had it, from context switches. */
import { lowerBound, upperBound } from '../../base/bisect.js';
import type { Intervals } from '../../base/intervals.js';
import type { HostName } from '../../catalog/host-names.js';
import type { Profile } from '../../model/profile.js';
import type { CpuRuns } from '../host/cpu-runs.js';
import type { OffCpu } from '../host/off-cpu.js';

interface MissingCpu {
  /** Visits a stretch of a thread piece by piece; `name` is undefined where it had a CPU, or nothing is known. */
  visit(
    thread: number,
    from: number,
    to: number,
    visit: (name: HostName | undefined, from: number, to: number) => void,
  ): void;
}

const UNEXPLAINED: HostName = { text: 'switched out', kind: 'no-cpu', waits: 'other', isVague: true };

/** Undefined where no context switches were recorded. */
export function missingCpu(
  profile: Profile,
  runs: CpuRuns | undefined,
  offCpu: ((thread: number) => OffCpu) | undefined,
): MissingCpu | undefined {
  if (!offCpu) return undefined;
  const names = new Map<number, HostName>();
  const starts = new Map<number, Float64Array>();
  return {
    visit(thread, from, to, visit) {
      const off = offCpu(thread);
      let at = from;
      while (at < to) {
        const next = first(off, at, to);
        if (!next) {
          visit(undefined, at, to);
          return;
        }
        if (next.start > at) visit(undefined, at, next.start);
        const end = Math.min(next.end, to);
        const begin = Math.max(next.start, at);
        visit(next.isTaken ? takenBy(thread, next.start, next.end) : UNEXPLAINED, begin, end);
        at = end;
      }
    },
  };

  function first(
    { contention, unexplained }: OffCpu,
    from: number,
    to: number,
  ): { start: number; end: number; isTaken: boolean } | undefined {
    const [taken, other] = [nextIn(contention, from, to), nextIn(unexplained, from, to)];
    if (taken && (!other || taken.start <= other.start)) return { ...taken, isTaken: true };
    return other && { ...other, isTaken: false };
  }

  /** Who had its CPU longest meanwhile. */
  function takenBy(thread: number, from: number, to: number): HostName {
    const own = runs!.of(thread);
    let known = starts.get(thread);
    if (!known) starts.set(thread, (known = Float64Array.from(own, ({ end }) => end)));
    const run = own[lowerBound(known, from)];
    let [taker, most] = [-1, 0];
    for (const other of run ? runs!.onCpu(run.cpu) : []) {
      if (other.start >= to) break;
      const ns = Math.min(other.end, to) - Math.max(other.start, from);
      if (other.thread !== thread && ns > most) [taker, most] = [other.thread, ns];
    }
    let name = names.get(taker);
    if (!name) names.set(taker, (name = { text: words(taker, thread), kind: 'no-cpu', waits: 'cpu' }));
    return name;
  }

  function words(taker: number, thread: number): string {
    if (taker < 0) return 'runnable without a CPU';
    const { name, tid, process } = profile.threads[taker];
    const where = process === profile.threads[thread].process ? '' : ` of ${profile.processes[process].name}`;
    return `runnable, its CPU runs thread ${name || tid}${where}`;
  }
}

function nextIn(
  list: Intervals,
  from: number,
  to: number,
): { readonly start: number; readonly end: number } | undefined {
  const at = upperBound(list.end, from);
  return at < list.length && list.start[at] < to ? { start: list.start[at], end: list.end[at] } : undefined;
}
