/**
 * Whether a moment of a process lies in a selected step, on the host's clock. Without steps it lies in the time that
 * figures are about: from the first GPU work to the last, not in what the program did before and after.
 */
import { lowerBound } from '../../base/bisect.js';
import { covers, IntervalBuilder, type Intervals } from '../../base/intervals.js';
import type { Profile } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { type SelectedWindow, selection } from './selection.js';
import { stepsOf } from './steps.js';

interface SelectedMoments {
  holds(process: number, moment: number): boolean;
  /** Periods of the selected steps of a process; undefined: all time, where no GPU did anything. */
  periods(process: number): Intervals | undefined;
  /** Of a table in order of start: the first row that begins in a selected step of any process, and the one after the last. */
  rowsOf(table: Starts): { readonly first: number; readonly end: number };
  /** Selected steps; at least 1. */
  readonly steps: number;
}

interface Starts {
  readonly length: number;
  readonly start: { readonly [row: number]: number };
}

const rowsBetween =
  (from: number, to: number): SelectedMoments['rowsOf'] =>
  ({ start, length }) => {
    const starts = start as unknown as Float64Array;
    return from === -Infinity && to === Infinity
      ? { first: 0, end: length }
      : { first: lowerBound(starts, from), end: lowerBound(starts, to) };
  };

export const selectedMoments: Derived<SelectedMoments> = {
  id: 'selected-moments',
  reads: {},
  uses: [selection, stepsOf],
  compute({ profile, use }) {
    const chosen = use(selection);
    const found = use(stepsOf);
    const steps = Math.max(
      1,
      chosen.steps.reduce((sum, flag) => sum + flag, 0),
    );
    if (!found || chosen.whole) return { ...wholeTime(profile, chosen.windows), steps };
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
    let [from, to] = [Infinity, -Infinity];
    for (const { length, start, end } of periods.values()) {
      if (length === 0) continue;
      from = Math.min(from, start[0]);
      to = Math.max(to, end[length - 1]);
    }
    return {
      rowsOf: rowsBetween(from, to),
      holds: (process, moment) => covers(periods.get(process) ?? none, moment),
      periods: process => periods.get(process) ?? none,
      steps,
    };
  },
};

/** The windows of the devices a process drives; of all devices where it drives none. */
function wholeTime(
  profile: Profile,
  windows: readonly SelectedWindow[],
): Pick<SelectedMoments, 'holds' | 'periods' | 'rowsOf'> {
  if (windows.length === 0)
    return { holds: () => true, periods: () => undefined, rowsOf: rowsBetween(-Infinity, Infinity) };
  const known = new Map<number, Intervals>();
  const periods = (process: number) => {
    let own = known.get(process);
    if (!own) {
      const devices = new Set(profile.streams.filter(s => s.process === process).map(s => s.gpu as number));
      const builder = new IntervalBuilder();
      for (const { device, start, end } of windows)
        if (devices.size === 0 || devices.has(device)) builder.add(start, end);
      known.set(process, (own = builder.finish()));
    }
    return own;
  };
  let [from, to] = [Infinity, -Infinity];
  for (const { start, end } of windows) {
    from = Math.min(from, start);
    to = Math.max(to, end);
  }
  return {
    holds: (process, moment) => covers(periods(process), moment),
    periods,
    rowsOf: rowsBetween(from, to),
  };
}
