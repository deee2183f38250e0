/**
 * What made a typical step as long as it was, from its beginning to its end: GPU work while there is any, since nothing
 * behind it could have started sooner; in the gaps, what the GPU waited for.
 *
 *   host   ▒launch a▒ ▒launch b▒ ▒▒▒▒ sync ▒▒▒▒▒ ▒sample▒
 *   gpu              ▄▄ a ▄▄▄▄▄▄▄▄▄▄ b ▄▄▄▄▄
 *   path   launch a ─▶ a ───────▶ b ────────▶ noticed ─▶ sample
 *
 * A host that runs ahead, or lets another thread wait for the GPU, is on the path only where the GPU ran out of work.
 */

import { NONE } from '../../base/column.js';
import { formatShare } from '../../base/units.js';
import { SYNC_CALL } from '../../catalog/host-activities.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import { families } from '../../catalog/kernels/families.js';
import type { Row, Table } from '../../model/profile.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, type RowOf } from '../field.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { HIDDEN, workFamilies } from '../gpu/work-families.js';
import { pageableReads } from '../host/pageable-reads.js';
import { threadActivity } from '../host/thread-activity.js';
import { nameTest } from '../name-test.js';
import { stepsOf } from './steps.js';
import { typicalStep } from './typical-step.js';

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly where: PathRow['where'];
  /** Piece of GPU work, or thread; NONE for waits. */
  readonly id: number;
  readonly what: string;
}

const fields = {
  key: keyField,
  where: field.text<'gpu' | 'host' | 'wait'>('Where', 'gpu, host, or wait (between the two)'),
  what: field.text('What', 'kernel family, or host activity'),
  segments: field.count('Segments', 'number of path segments'),
  ns: field.ns('Time', 'time on the path; all rows sum to the step'),
  share: field.share('Share (%)', 'of the step'),
};

type PathRow = RowOf<typeof fields>;

export const criticalPath: Analysis<PathRow, AnalysisResult<PathRow>> = {
  id: 'critical-path',
  title: 'Critical path',
  question: 'Which chain of launches, kernels and waits determines the time of a typical step?',
  reads: { apiCalls: [], copies: ['targetMemory'] },
  uses: [gpuWork, workFamilies, threadActivity, typicalStep, stepsOf],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches'], ['apiCalls']],
  fields,
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
      const waits = syncCalls(calls);
      const path: Segment[] = [];
      let at = window.start;
      const go = (to: number, where: Segment['where'], id: number, what: string) => {
        const until = Math.min(to, window.end);
        if (until > at) path.push({ from: at, to: until, where, id, what });
        at = Math.max(at, until);
      };
      const familyLabel = (i: number) => (family[i] === HIDDEN ? 'graph replay' : families[family[i]].label);
      /** What the GPU was idle for until a moment, in which a call of this thread launched more, or the step ended. */
      const explainGap = (to: number, onThread: number, call: Row<'apiCalls'>) => {
        const isQueued = call !== NONE && calls.end[call] <= at;
        if (isQueued) return go(to, 'wait', NONE, 'between kernels');
        // Waiting for what the GPU has just done: the host notices late.
        const released = waits.find(
          wait => calls.thread[wait] === onThread && calls.start[wait] < at && calls.end[wait] > at,
        );
        if (released !== undefined) go(Math.min(to, calls.end[released]), 'wait', NONE, 'host wake-up');
        if (call === NONE) return go(to, 'host', onThread, '');
        go(Math.min(to, calls.end[call]), 'host', onThread, '');
        go(to, 'wait', NONE, 'launch latency');
      };
      // Everything on the device in the window, whoever launched it.
      const own: number[] = [];
      for (let i = 0; i < work.length; i++)
        if (work.device[i] === window.device && work.end[i] > window.start && work.start[i] < window.end)
          own.push(i);
      own.sort((a, b) => work.ownStart[a] - work.ownStart[b] || a - b);
      for (const i of own) {
        const start = Math.min(work.ownStart[i], window.end);
        const call = work.launch[i];
        if (start > at && call === NONE) go(start, 'wait', NONE, 'unrecorded launch');
        else if (start > at) explainGap(start, calls.thread[call], call);
        go(work.end[i], 'gpu', i, familyLabel(i));
      }
      if (at < window.end) explainGap(window.end, thread, NONE as Row<'apiCalls'>);
      return path;
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
  },
};
