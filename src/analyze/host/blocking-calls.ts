/**
 * Calls inside steps that make the launching thread wait for the GPU, and the idle time each leaves behind: while the
 * host waits it launches nothing, so the GPU runs dry and stays so until the next launch arrives.
 *
 *   host  launch [── waits ──] launch
 *   gpu      ▄▄▄▄▄▄▄▄▄▄▄▄▄▄.......▄▄▄▄
 *                          └ idle ┘
 */
import { lowerBound } from '../../base/bisect.js';
import { type Column, NONE } from '../../base/column.js';
import { apiFunction } from '../../catalog/api-function.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import type { Profile, Row } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { stepsOf } from '../inference/steps.js';
import { nameTest } from '../name-test.js';
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
    const isSync = nameTest(profile, SYNC_CALL);
    const reads = pageableReads(profile, calls.length);
    const early = returnedEarly(profile, calls.end);
    const threads = new Set(found.lanes.map(lane => lane.thread));
    const times = new Map<string, number>();
    const gaps = new Set<string>();
    const rows: number[] = [];
    const gapsNs: number[] = [];
    let waitNs = 0;
    const { first, end } = moments.rowsOf(calls);
    for (let row = first as Row<'apiCalls'>; row < end; row++) {
      if (!(isSync(calls.name[row]) || reads?.[row])) continue;
      const thread = calls.thread[row];
      if (thread === NONE || !threads.has(thread) || early[row]) continue;
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

/** Per API call: 1 for a copy that goes on after its call: pageable inputs are staged, and nobody waits for the GPU. */
function returnedEarly(profile: Profile, callEnd: Column<Row<'apiCalls'>, number>): Uint8Array {
  const early = new Uint8Array(callEnd.length);
  const copies = profile.tables.copies;
  for (let row = 0 as Row<'copies'>; row < (copies?.length ?? 0); row++) {
    const launch = copies!.launch[row];
    if (launch !== NONE && callEnd[launch] < copies!.end[row]) early[launch] = 1;
  }
  return early;
}
