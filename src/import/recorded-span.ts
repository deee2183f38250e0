/** When a profile recorded: from the first to the last of what a profiler notes by itself, in nanoseconds of its clock. */
import type { Profile } from '../model/profile.js';
import { tableNamed } from '../model/rows.js';

interface RecordedSpan {
  readonly startNs: number;
  readonly endNs: number;
}

/** Starts after it ends where nothing was recorded, or nothing of it was read. */
export function recordedSpan(profile: Profile): RecordedSpan {
  let startNs = Number.POSITIVE_INFINITY;
  let endNs = Number.NEGATIVE_INFINITY;
  for (const name of ['kernels', 'graphLaunches', 'apiCalls', 'ops'] as const) {
    const table = tableNamed(profile, name);
    if (!table) continue;
    const [start, end] = [table.start, table.end] as unknown as Float64Array[];
    startNs = Math.min(startNs, start[0]);
    for (let row = 0; row < table.length; row++) endNs = Math.max(endNs, end[row]);
  }
  return { startNs, endNs };
}
