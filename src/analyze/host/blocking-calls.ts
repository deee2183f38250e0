/**
 * Calls inside steps that make the launching thread wait for the GPU, and the idle time each leaves behind: while the
 * host waits it launches nothing, so the GPU runs dry and stays so until the next launch arrives.
 *
 *   host  launch [── waits ──] launch
 *   gpu      ▄▄▄▄▄▄▄▄▄▄▄▄▄▄.......▄▄▄▄
 *                          └ idle ┘
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { apiFunction } from '../../catalog/api-function.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import { oncePerProfile } from '../../model/once-per-profile.js';
import type { Profile, Row } from '../../model/profile.js';
import { asRows, type Rows } from '../../model/rows.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { stepsOf } from '../inference/steps.js';
import { callsNamed } from '../names-used.js';
import { idleIntervals } from './idle-intervals.js';
import { pageableReads } from './pageable-reads.js';

interface BlockingCalls {
  readonly perStep: number;
  readonly waitNs: number;
  readonly idleNs: number;
  /** Most often first. */
  readonly calls: readonly string[];
  /** Their rows among the API calls. */
  readonly rows: readonly number[];
}

export const blockingCalls: Derived<BlockingCalls | undefined> = {
  id: 'blocking-calls',
  reads: { apiCalls: [], copies: ['sourceMemory', 'targetMemory'] },
  uses: [selectedMoments, stepsOf, idleIntervals],
  needs: [['apiCalls']],
  compute({ profile, use }) {
    const found = use(stepsOf);
    if (!found) return undefined;
    const moments = use(selectedMoments);
    const idleOf = use(idleIntervals);
    const calls = profile.tables.apiCalls!;
    const waiting = waitingCalls(profile);
    const threads = new Set(found.lanes.map(lane => lane.thread));
    const times = new Map<string, number>();
    const gaps = new Set<string>();
    const rows: number[] = [];
    const gapsNs: number[] = [];
    let waitNs = 0;
    const { first, end } = moments.rowsOf(calls);
    for (let i = lowerBound(waiting, first); i < waiting.length && waiting[i] < end; i++) {
      const row = waiting[i];
      const thread = calls.thread[row];
      if (thread === NONE || !threads.has(thread)) continue;
      const { process } = profile.threads[thread];
      if (!moments.holds(process, calls.start[row])) continue;
      const name = apiFunction(profile.strings.text(calls.name[row]));
      times.set(name, (times.get(name) ?? 0) + 1);
      waitNs += calls.end[row] - calls.start[row];
      rows.push(row);
      // The gap in which the call returned, begun while it waited: nothing was queued behind what it waited for.
      const idle = idleOf(process);
      const at = lowerBound(idle.end, calls.end[row]);
      if (at >= idle.length || idle.start[at] > calls.end[row] || idle.start[at] < calls.start[row]) continue;
      if (gaps.has(`${process}/${at}`)) continue;
      gaps.add(`${process}/${at}`);
      gapsNs.push(idle.end[at] - idle.start[at]);
    }
    // The first launch behind a wait comes late by about as much each time; what takes far longer is another matter.
    const mostNs = MOST_OF_GAP * medianOf(Float64Array.from(gapsNs));
    const idleNs = gapsNs.reduce((sum, ns) => sum + Math.min(ns, mostNs), 0);
    const ordered = [...times].sort((a, b) => b[1] - a[1]);
    return {
      perStep: rows.length / moments.steps / Math.max(1, found.lanes.length),
      waitNs,
      idleNs,
      calls: ordered.map(([name]) => name),
      rows,
    };
  },
};

/** Of a gap, no more than so many times the usual one. */
const MOST_OF_GAP = 10;

/** Rows of calls that wait, in order, but for those that return early. */
const waitingCalls = oncePerProfile((profile): Rows<'apiCalls'> => {
  const early = returnedEarly(profile);
  const rows = new Set<number>(callsNamed(profile, SYNC_CALL) as unknown as Int32Array);
  const reads = pageableReads(profile, profile.tables.apiCalls!.length) ?? new Uint8Array(0);
  for (let row = reads.indexOf(1); row >= 0; row = reads.indexOf(1, row + 1)) rows.add(row);
  return asRows(
    Int32Array.from(rows, row => row)
      .filter(row => !early.has(row))
      .sort(),
  );
});

/** Calls of copies that go on after them: pageable inputs are staged, and nobody waits for the GPU. */
function returnedEarly({ tables: { apiCalls, copies } }: Profile): Set<number> {
  const early = new Set<number>();
  for (let row = 0 as Row<'copies'>; row < (copies?.length ?? 0); row++) {
    const launch = copies!.launch[row];
    if (launch !== NONE && apiCalls!.end[launch] < copies!.end[row]) early.add(launch);
  }
  return early;
}
