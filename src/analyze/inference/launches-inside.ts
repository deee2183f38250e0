/** How much of what a thread launches lies inside ranges: whether they can be its steps. */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import type { GpuWork } from '../gpu/gpu-work.js';

/** Of the work launched by the thread: what lies outside is preparation. */
export const LEAST_LAUNCHED = 0.8;
/** Fewer ranges do not repeat. */
export const FEWEST_RANGES = 3;

/** When a thread launched each piece of GPU work, in order. */
export function launchesOf(profile: Profile, work: GpuWork, thread: number): Float64Array {
  const calls = profile.tables.apiCalls;
  const moments: number[] = [];
  for (let i = 0; i < work.length; i++) {
    const call = work.launch[i];
    if (call !== NONE && calls!.thread[call] === thread) moments.push(calls!.start[call]);
  }
  return Float64Array.from(moments).sort();
}

interface Span {
  readonly start: number;
  readonly end: number;
}

export const launchedIn = (launches: Float64Array, { start, end }: Span): number =>
  lowerBound(launches, end) - lowerBound(launches, start);

/** Of ranges that do not overlap. */
export function shareInside(launches: Float64Array, ranges: readonly Span[]): number {
  if (launches.length === 0) return 0;
  return ranges.reduce((sum, range) => sum + launchedIn(launches, range), 0) / launches.length;
}
