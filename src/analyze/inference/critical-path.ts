/**
 * The chain of work and waits that made a typical step as long as it was, walked backwards from its end: from a
 * kernel to what it waited for (the kernel before it, or its launch), from host code to the wait that released it.
 *
 *   host   ▒launch a▒ ▒launch b▒ ▒▒▒ sync ▒▒▒▒ ▒sample▒
 *   gpu              ▄▄ a ▄▄      ▄▄▄▄ b ▄▄▄▄
 *   path   ─────────────────────▶ launch b ─▶ b ─▶ sync ─▶ sample
 */

import { NONE } from '../../base/column.js';
import { formatShare } from '../../base/units.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import { families } from '../../catalog/kernels/families.js';
import type { Row, Table } from '../../model/profile.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { HIDDEN, workFamilies } from '../gpu/work-families.js';
import { pageableReads } from '../host/pageable-reads.js';
import { threadActivity } from '../host/thread-activity.js';
import { keyField } from '../key-field.js';
import { nameTest } from '../name-test.js';
import { stepsOf } from './steps.js';
import { typicalStep } from './typical-step.js';

interface PathRow {
  readonly key: string;
  readonly where: 'gpu' | 'host' | 'wait';
  readonly what: string;
  readonly segments: number;
  readonly ns: number;
  readonly share: number;
}

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly where: PathRow['where'];
  /** Piece of GPU work, or thread; NONE for waits. */
  readonly id: number;
  readonly what: string;
}

export const criticalPath: Analysis<PathRow, AnalysisResult<PathRow>> = {
  id: 'critical-path',
  title: 'Critical path',
  question: 'Which chain of launches, kernels and waits made a typical step this long?',
  reads: { apiCalls: [], copies: ['targetMemory'] },
  uses: [gpuWork, workFamilies, threadActivity, typicalStep, stepsOf],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches'], ['apiCalls']],
  fields: {
    key: keyField,
    where: { header: 'Where', kind: 'text', about: 'gpu, host, or wait between the two' },
    what: { header: 'What', kind: 'text', about: 'kernel family, or what the host did' },
    segments: { header: 'Segments', kind: 'count', about: 'stretches of the path' },
    ns: { header: 'Time', kind: 'ns', about: 'on the path; all rows sum to the step' },
    share: { header: 'Share (%)', kind: 'share', about: 'of the step' },
  },
  headline: {
    label: 'path',
    text({ rows }) {
      const parts = rows.slice(0, 3).map(({ share, what, where }) => {
        return `${formatShare(share)} ${what}${where === 'gpu' ? '' : ` (${where})`}`;
      });
      return parts.length > 0 ? parts.join(', ') : undefined;
    },
  },
  compute({ profile, use }) {
    const typical = use(typicalStep);
    if (!typical) throw new NotRecorded('engine steps', 'mark them with NVTX, or give --marker REGEX');
    const { window } = typical;
    const thread = use(stepsOf)!.lanes[window.lane].thread;
    const segments = walk();
    const activity = use(threadActivity);
    const tallies = new Map<
      string,
      { where: PathRow['where']; what: string; segments: number; ns: number }
    >();
    const add = (where: PathRow['where'], what: string, ns: number, count: number) => {
      const known = tallies.get(`${where}/${what}`) ?? { where, what, segments: 0, ns: 0 };
      tallies.set(`${where}/${what}`, { ...known, segments: known.segments + count, ns: known.ns + ns });
    };
    for (const { from, to, where, id, what } of segments) {
      if (where !== 'host') add(where, what, to - from, 1);
      else {
        const causes = new Float64Array(idleCauses.length);
        activity.forEach(id, from, to, (cause, begin, end) => {
          causes[cause] += end - begin;
        });
        const largest = causes.indexOf(Math.max(...causes));
        causes.forEach((ns, i) => {
          if (ns > 0) add('host', idleCauses[i].label, ns, Number(i === largest));
        });
      }
    }
    const wallNs = window.end - window.start;
    const rows = [...tallies.values()]
      .sort((a, b) => b.ns - a.ns)
      .map((tally): PathRow => ({ key: `${tally.where}:${tally.what}`, ...tally, share: tally.ns / wallNs }));
    const onGpu = rows.reduce((sum, row) => sum + (row.where === 'gpu' ? row.ns : 0), 0);
    return {
      rows,
      summary: {
        iteration: use(stepsOf)!.steps[window.step].iteration,
        wallNs,
        segments: segments.length,
        gpuNs: onGpu,
        hostNs: rows.reduce((sum, row) => sum + (row.where === 'host' ? row.ns : 0), 0),
      },
    };

    function walk(): Segment[] {
      const work = use(gpuWork);
      const { family } = use(workFamilies);
      const calls = profile.tables.apiCalls!;
      // Everything on the device in the window, whoever launched it, by end.
      const own: number[] = [];
      for (let i = 0; i < work.length; i++)
        if (work.device[i] === window.device && work.end[i] > window.start && work.start[i] < window.end)
          own.push(i);
      const byEnd = Int32Array.from(own).sort((a, b) => work.end[a] - work.end[b]);
      /** The work that ended last at or before the moment, on the given stream where one is given. */
      const endedBefore = (moment: number, stream?: number): number => {
        let low = 0;
        let high = byEnd.length;
        while (low < high) {
          const middle = (low + high) >>> 1;
          if (work.end[byEnd[middle]] <= moment) low = middle + 1;
          else high = middle;
        }
        if (stream === undefined) return low > 0 ? byEnd[low - 1] : NONE;
        for (let k = low - 1; k >= 0; k--) if (work.stream[byEnd[k]] === stream) return byEnd[k];
        return NONE;
      };
      const waits = syncCalls(calls);
      const path: Segment[] = [];
      let at = window.end;
      const go = (to: number, where: Segment['where'], id: number, what: string) => {
        const from = Math.max(window.start, Math.min(to, at));
        if (from < at) path.push({ from, to: at, where, id, what });
        at = from;
      };
      const familyLabel = (i: number) => (family[i] === HIDDEN ? 'graph replay' : families[family[i]].label);
      let current = endedBefore(at);
      let onHost = current === NONE || work.end[current] < at;
      let hostThread = thread;
      // Every turn moves `at` backwards or changes side once, so twice the number of events bounds the walk.
      for (let turns = 0; at > window.start && turns < 2 * (own.length + waits.length) + 10; turns++) {
        if (onHost) {
          const wait = lastWait(waits, calls, hostThread, at);
          const released = wait === NONE ? NONE : endedBefore(calls.end[wait]);
          const waitedFor = released !== NONE && work.end[released] >= calls.start[wait] ? released : NONE;
          if (waitedFor === NONE) {
            go(wait === NONE ? window.start : calls.start[wait], 'host', hostThread, '');
            if (wait === NONE) break;
            continue;
          }
          go(calls.end[wait], 'host', hostThread, '');
          go(work.end[waitedFor], 'wait', NONE, 'until the host noticed');
          current = waitedFor;
          onHost = false;
          continue;
        }
        go(work.start[current], 'gpu', current, familyLabel(current));
        const call = work.launch[current];
        const before = endedBefore(at, work.stream[current]);
        const anyBefore = endedBefore(at);
        const ready = Math.max(
          before === NONE ? -Infinity : work.end[before],
          anyBefore === NONE ? -Infinity : work.end[anyBefore],
        );
        if (call !== NONE && calls.start[call] >= ready) {
          go(calls.end[call], 'wait', NONE, 'from launch to start');
          go(calls.start[call], 'host', calls.thread[call], '');
          hostThread = calls.thread[call];
          onHost = true;
        } else if (ready > -Infinity) {
          // Of the same stream where that ended last, else the other stream that held it up.
          const next = before !== NONE && work.end[before] === ready ? before : anyBefore;
          go(ready, 'wait', NONE, 'between kernels');
          current = next;
        } else {
          go(window.start, 'wait', NONE, 'for earlier work');
        }
      }
      if (at > window.start) go(window.start, 'host', hostThread, '');
      return path.reverse();
    }

    function syncCalls(calls: Table<'apiCalls'>): Row<'apiCalls'>[] {
      const isSync = nameTest(profile, SYNC_CALL);
      const reads = pageableReads(profile, calls.length);
      const found: Row<'apiCalls'>[] = [];
      for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++) {
        if (calls.end[row] <= window.start || calls.start[row] >= window.end) continue;
        if (isSync(calls.name[row]) || reads?.[row]) found.push(row);
      }
      return found;
    }

    function lastWait(
      waits: readonly Row<'apiCalls'>[],
      calls: Table<'apiCalls'>,
      onThread: number,
      moment: number,
    ): Row<'apiCalls'> {
      for (let k = waits.length - 1; k >= 0; k--)
        if (
          calls.thread[waits[k]] === onThread &&
          calls.end[waits[k]] <= moment &&
          calls.start[waits[k]] < moment
        )
          return waits[k];
      return NONE;
    }
  },
};
