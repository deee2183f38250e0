/**
 * Captures begin in the middle of things: work that the profiler did not see may still run when the first recorded
 * step launches its own, which then waits behind it. That wait is no idle time of the step.
 *
 *   host   ▒launch▒
 *   gpu    ?????????▄▄▄▄▄     first work of its stream, launched long before it started, nothing recorded before
 */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import type { GpuWork } from '../gpu/gpu-work.js';

/** Starting work on an idle device takes microseconds, with a profiler attached tens of them: this is waiting. */
const WAITED_NS = 200_000;
/** Work before the wait may be this share of the step's at most: a copy on a side stream, not the step itself. */
const LEAST_WORK = 0.05;

/** The moment up to which the device may have been busy with work that was not recorded; -Infinity when it was not. */
export function unrecordedUntil(
  profile: Profile,
  work: GpuWork,
  device: number,
  from: number,
  ownBusyNs: number,
): number {
  const calls = profile.tables.apiCalls;
  if (!calls) return -Infinity;
  const seenStreams = new Set<number>();
  let busyNs = 0;
  let idleSince = from;
  let until = -Infinity;
  for (let i = 0; i < work.length && busyNs <= LEAST_WORK * ownBusyNs; i++) {
    if (work.device[i] !== device) continue;
    const isFirst = !seenStreams.has(work.stream[i]);
    seenStreams.add(work.stream[i]);
    const call = work.launch[i];
    const ready = call === NONE ? Infinity : Math.max(idleSince, calls.end[call]);
    if (isFirst && work.start[i] - ready > WAITED_NS) until = work.start[i];
    busyNs += work.end[i] - work.start[i];
    idleSince = Math.max(idleSince, work.end[i]);
  }
  return until;
}
