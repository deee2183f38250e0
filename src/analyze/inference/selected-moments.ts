/** Whether a moment of a process lies in a selected step, on the host's clock. */
import { covers, IntervalBuilder, type Intervals } from '../../base/intervals.js';
import type { Derived } from '../analysis.js';
import { selection } from './selection.js';
import { stepsOf } from './steps.js';

interface SelectedMoments {
  holds(process: number, moment: number): boolean;
  /** Periods of the selected steps of a process; undefined: all time. */
  periods(process: number): Intervals | undefined;
  /** Selected steps; at least 1. */
  readonly steps: number;
}

export const selectedMoments: Derived<SelectedMoments> = {
  id: 'selected-moments',
  reads: {},
  uses: [selection, stepsOf],
  compute({ use }) {
    const chosen = use(selection);
    const found = use(stepsOf);
    const steps = Math.max(
      1,
      chosen.steps.reduce((sum, flag) => sum + flag, 0),
    );
    if (!found || chosen.whole) return { holds: () => true, periods: () => undefined, steps };
    const byProcess = new Map<number, IntervalBuilder>();
    found.lanes.forEach((lane, l) => {
      let builder = byProcess.get(lane.process);
      if (!builder) byProcess.set(lane.process, (builder = new IntervalBuilder()));
      lane.runs.forEach((run, r) => {
        if (chosen.steps[found.stepOfRun[l][r]]) builder.add(run.start, run.periodEnd);
      });
    });
    const periods = new Map([...byProcess].map(([process, builder]) => [process, builder.finish()]));
    const none = new IntervalBuilder().finish();
    return {
      holds: (process, moment) => covers(periods.get(process) ?? none, moment),
      periods: process => periods.get(process) ?? none,
      steps,
    };
  },
};
