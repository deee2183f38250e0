/**
 * Calls inside steps that make the launching thread wait for the GPU, and the idle time each leaves behind: while the
 * host waits it launches nothing, so the GPU runs dry and stays so until the next launch arrives.
 *
 *   host  launch [── waits ──] launch
 *   gpu      ▄▄▄▄▄▄▄▄▄▄▄▄▄▄.......▄▄▄▄
 *                          └ idle ┘
 */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { apiFunction } from '../../catalog/api-function.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import { oncePerProfile } from '../../model/once-per-profile.js';
import type { Profile, Row } from '../../model/profile.js';
import { asRows, type Rows } from '../../model/rows.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { forwardSpans } from '../inference/forward-spans.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { type DeviceRun, stepWork } from '../inference/step-work.js';
import { type Steps, stepsOf } from '../inference/steps.js';
import { callsNamed } from '../names-used.js';
import { idleIntervals } from './idle-intervals.js';
import { STALL_NS } from './launch-stalls.js';
import { pageableReads } from './pageable-reads.js';

interface BlockingCalls {
  /** All of them: rows among the API calls. */
  readonly rows: readonly number[];
  /** Without the one behind the layers of each step that gets its result out. */
  readonly avoidable: AvoidableWaits;
}

interface AvoidableWaits {
  readonly perStep: number;
  readonly waitNs: number;
  readonly idleNs: number;
  /** Most often first. */
  readonly calls: readonly string[];
  readonly rows: readonly number[];
}

export const blockingCalls: Derived<BlockingCalls | undefined> = {
  id: 'blocking-calls',
  reads: { apiCalls: [], copies: ['sourceMemory', 'targetMemory'] },
  uses: [selectedMoments, stepsOf, stepWork, forwardSpans, idleIntervals],
  needs: [['apiCalls']],
  compute({ profile, use, useIfRecorded }) {
    const found = use(stepsOf);
    if (!found) return undefined;
    const readsResult = resultReads(found, useIfRecorded(stepWork)?.deviceRuns, useIfRecorded(forwardSpans));
    const moments = use(selectedMoments);
    const idleOf = use(idleIntervals);
    const calls = profile.tables.apiCalls!;
    const waiting = waitingCalls(profile);
    const threads = new Set(found.lanes.map(lane => lane.thread));
    const times = new Map<string, number>();
    const gaps = new Set<string>();
    const rows: number[] = [];
    const avoidable: number[] = [];
    const gapsNs: number[] = [];
    let waitNs = 0;
    const { first, end } = moments.rowsOf(calls);
    for (let i = lowerBound(waiting, first); i < waiting.length && waiting[i] < end; i++) {
      const row = waiting[i];
      const thread = calls.thread[row];
      if (thread === NONE || !threads.has(thread)) continue;
      const { process } = profile.threads[thread];
      if (!moments.holds(process, calls.start[row])) continue;
      rows.push(row);
      if (readsResult(process, calls.end[row])) continue;
      const name = apiFunction(profile.strings.text(calls.name[row]));
      times.set(name, (times.get(name) ?? 0) + 1);
      waitNs += calls.end[row] - calls.start[row];
      avoidable.push(row);
      // The gap in which the call returned, begun while it waited: nothing was queued behind what it waited for.
      const idle = idleOf(process);
      const at = lowerBound(idle.end, calls.end[row]);
      if (at >= idle.length || idle.start[at] > calls.end[row] || idle.start[at] < calls.start[row]) continue;
      if (gaps.has(`${process}/${at}`)) continue;
      gaps.add(`${process}/${at}`);
      gapsNs.push(idle.end[at] - idle.start[at]);
    }
    // The first launch behind a wait comes late by about as much each time; what takes far longer is another matter: work
    // that the host would do without the wait, too.
    const mostNs = Math.min(MOST_OF_GAP * medianOf(Float64Array.from(gapsNs)), STALL_NS);
    const idleNs = gapsNs.reduce((sum, ns) => sum + Math.min(ns, mostNs), 0);
    const ordered = [...times].sort((a, b) => b[1] - a[1]);
    return {
      rows,
      avoidable: {
        perStep: avoidable.length / moments.steps / Math.max(1, found.lanes.length),
        waitNs,
        idleNs,
        calls: ordered.map(([name]) => name),
        rows: avoidable,
      },
    };
  },
};

/** Whether a wait is the first that returns behind the layers of a step: asked in order of time. */
function resultReads(
  { lanes }: Steps,
  runs: readonly DeviceRun[] = [],
  spans?: { readonly start: Float64Array; readonly end: Float64Array },
): (process: number, moment: number) => boolean {
  const byProcess = new Map<number, { starts: number[]; ends: number[] }>();
  const ordered = runs
    .map(({ lane }, run) => ({
      process: lanes[lane].process,
      start: spans!.start[run],
      end: spans!.end[run],
    }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  for (const { process, start, end } of ordered) {
    const own = byProcess.get(process) ?? { starts: [], ends: [] };
    byProcess.set(process, own);
    own.starts.push(start);
    // Of passes that overlap, the one that goes on longest.
    own.ends.push(Math.max(end, own.ends[own.ends.length - 1] ?? end));
  }
  const read = new Set<string>();
  return (process, moment) => {
    const own = byProcess.get(process);
    const at = own ? upperBound(own.starts, moment) - 1 : -1;
    if (at < 0 || moment < own!.ends[at] || read.has(`${process}/${at}`)) return false;
    read.add(`${process}/${at}`);
    return true;
  };
}

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
