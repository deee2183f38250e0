/**
 * Captures begin in the middle of things: work that the profiler did not see may still run when the first recorded
 * step launches its own, which then waits behind it. That wait is no idle time of the step.
 *
 *   host   ▒launch▒
 *   gpu    ?????????▄▄▄▄▄     first work of its stream, launched long before it started, nothing recorded before
 *
 * Or it was seen running, but not being launched: it belongs to a step before the first recorded one.
 *
 *   host          ▒launch▒
 *   gpu    ▄▄▄▄▄▄▄▄▄▄▄▅▅▅▅▅   nothing in the capture launched ▄, and its stream works in order
 */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import type { GpuWork } from '../gpu/gpu-work.js';

/** Where fewer pieces of work have a known launch than this, one without says nothing about when it was launched. */
const LAUNCHES_KNOWN = 0.5;

/**
 * Per stream, the moment before which work without a known launch was launched before the capture: the first work of
 * the stream that was seen being launched, or at least the first launch of the process. -Infinity where launches were
 * not recorded.
 */
export function launchedEarlierUntil(profile: Profile, work: GpuWork): Float64Array {
  const until = new Float64Array(profile.streams.length).fill(-Infinity);
  const calls = profile.tables.apiCalls;
  if (!calls) return until;
  const firstCall = new Float64Array(profile.processes.length).fill(Infinity);
  const firstLaunched = new Float64Array(profile.streams.length).fill(Infinity);
  let known = 0;
  for (let i = 0; i < work.length; i++) {
    const call = work.launch[i];
    if (call === NONE) continue;
    known++;
    const stream = work.stream[i];
    const { process } = profile.streams[stream];
    if (calls.start[call] < firstCall[process]) firstCall[process] = calls.start[call];
    if (work.start[i] < firstLaunched[stream]) firstLaunched[stream] = work.start[i];
  }
  if (known < LAUNCHES_KNOWN * work.length) return until;
  profile.streams.forEach(({ process }, stream) => {
    const first = firstCall[process];
    if (first === Infinity) return;
    until[stream] = firstLaunched[stream] === Infinity ? first : Math.max(first, firstLaunched[stream]);
  });
  return until;
}

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
