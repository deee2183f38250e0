/** Who waits for Python's interpreter lock and who holds it, and the GPU idle time that falls into the waits. */

import { NONE } from '../../base/column.js';
import { IntervalBuilder, intersect, lengthWithin, totalLength } from '../../base/intervals.js';
import { formatDuration, formatShare, plural } from '../../base/units.js';
import { GIL_HOLD, GIL_WAIT } from '../../catalog/host-activities.js';
import { howToRecord } from '../../catalog/how-to-record.js';
import type { Row } from '../../model/profile.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, quiet, type RowOf } from '../field.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { stepsOf } from '../inference/steps.js';
import { perStep } from '../words.js';
import { idleIntervals } from './idle-intervals.js';

interface Tally {
  waits: number;
  longestWaitNs: number;
  holds: number;
  readonly wait: IntervalBuilder;
  readonly hold: IntervalBuilder;
}

const fields = {
  key: keyField,
  thread: field.text('Thread', 'name, or tid'),
  tid: quiet(field.id('Tid', 'thread id')),
  runsSteps: field.flag('Runs steps', 'whether the thread has the step markers'),
  waits: field.count('Waits', 'in the selected steps'),
  waitNs: field.ns('Waiting', 'union of waits'),
  longestWaitNs: field.ns('Longest', 'longest wait'),
  waitPerStepNs: field.nsMean('Wait per step', 'waiting divided by steps'),
  holds: field.count('Holds', 'in the selected steps'),
  holdNs: field.ns('Holding', 'union of holds'),
  gpuIdleNs: field.ns('GPU idle during waits', 'idle time of the process’s GPUs during waits'),
};

type GilRow = RowOf<typeof fields>;

export const gil: Analysis<GilRow, AnalysisResult<GilRow>> = {
  id: 'gil',
  title: 'Python GIL',
  question: 'Which threads wait for the GIL, which hold it, and does the GPU idle meanwhile?',
  reads: { ranges: [] },
  uses: [selectedMoments, idleIntervals, stepsOf],
  fields,
  headline: {
    label: 'GIL',
    text({ rows }, phase) {
      const row = rows.find(candidate => candidate.runsSteps);
      if (!row) return undefined;
      if (row.waits === 0) return 'the step thread never waits for it';
      const waits = `${formatDuration(row.waitPerStepNs)} ${perStep(phase)} (${plural(row.waits, 'wait')})`;
      return `the step thread waits ${waits}; the GPU is idle for ${formatShare(row.gpuIdleNs / row.waitNs)} of it`;
    },
  },
  compute({ profile, use }) {
    const ranges = profile.tables.ranges;
    const waitName = profile.strings.find(GIL_WAIT) as number;
    const holdName = profile.strings.find(GIL_HOLD) as number;
    const moments = use(selectedMoments);
    const idle = use(idleIntervals);
    const lanes = use(stepsOf)?.lanes ?? [];
    const tallies = new Map<number, Tally>();
    let seen = 0;
    for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
      const name = ranges!.name[row];
      if (name === NONE || (name !== waitName && name !== holdName)) continue;
      seen++;
      const thread = ranges!.thread[row];
      if (thread === NONE) continue;
      const start = ranges!.start[row];
      const end = ranges!.end[row];
      const inSteps = insideSteps(profile.threads[thread].process, start, end);
      if (inSteps === 0) continue;
      let tally = tallies.get(thread);
      if (!tally) {
        tally = {
          waits: 0,
          longestWaitNs: 0,
          holds: 0,
          wait: new IntervalBuilder(),
          hold: new IntervalBuilder(),
        };
        tallies.set(thread, tally);
      }
      if (name === waitName) {
        tally.waits++;
        tally.longestWaitNs = Math.max(tally.longestWaitNs, end - start);
        tally.wait.add(start, end);
      } else {
        tally.holds++;
        tally.hold.add(start, end);
      }
    }
    if (seen === 0) {
      throw new NotRecorded('the GIL', `capture with ${howToRecord.gil}`);
    }
    const rows = [...tallies].map(([thread, tally]): GilRow => {
      const { name, tid, process } = profile.threads[thread];
      const periods = moments.periods(process);
      const clip = (list: ReturnType<IntervalBuilder['finish']>) =>
        periods ? intersect(list, periods) : list;
      const wait = clip(tally.wait.finish());
      const waitNs = totalLength(wait);
      return {
        key: `thread:${profile.processes[process].pid}/${tid}`,
        thread: name || String(tid),
        tid,
        runsSteps: lanes.some(lane => lane.thread === thread),
        waits: tally.waits,
        waitNs,
        longestWaitNs: tally.longestWaitNs,
        waitPerStepNs: waitNs / moments.steps,
        holds: tally.holds,
        holdNs: totalLength(clip(tally.hold.finish())),
        gpuIdleNs: totalLength(intersect(wait, idle(process))),
      };
    });
    return { rows: rows.sort((a, b) => b.waitNs - a.waitNs || b.holdNs - a.holdNs) };

    function insideSteps(process: number, start: number, end: number): number {
      if (!(end > start)) return 0;
      const periods = moments.periods(process);
      return periods ? lengthWithin(periods, start, end) : end - start;
    }
  },
};
