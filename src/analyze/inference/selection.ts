/** What the figures are about: the steady state by default, other steps or the whole trace on request. */
import { NONE } from '../../base/column.js';
import type { Intervals } from '../../base/intervals.js';
import { UserError } from '../../base/user-error.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived, Settings } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { type SteadyState, steadyState } from './steady-state.js';
import { stepWindows } from './step-windows.js';
import { type Step, stepsOf } from './steps.js';

/** A stretch of one device's time. */
export interface SelectedWindow {
  readonly device: number;
  readonly start: number;
  readonly end: number;
  /** Index of the step, or NONE: outside all steps. */
  readonly step: number;
  /** Index into StepWork.deviceRuns, or NONE. */
  readonly deviceRun: number;
  readonly lane: number;
}

interface Selection {
  /** No step is left out and the time between steps is in. */
  readonly whole: boolean;
  /** Per step: 1 when selected. Empty when there are no steps. */
  readonly steps: Uint8Array;
  /** In order of device, then time. They do not overlap on a device. */
  readonly windows: readonly SelectedWindow[];
}

export const selection: Derived<Selection> = {
  id: 'selection',
  followsSelection: true,
  reads: {},
  uses: [stepsOf, steadyState, stepWindows, deviceTimelines],
  compute({ settings, use, useIfRecorded }) {
    const found = use(stepsOf);
    // Of no use where all steps are asked for.
    const steady = settings.whole ? undefined : use(steadyState);
    const timelines = useIfRecorded(deviceTimelines) ?? [];
    const windows = useIfRecorded(stepWindows) ?? [];
    if (settings.during) {
      const all = timelines.flatMap(({ device, busy }) => covering(windows, device, busy));
      return {
        whole: true,
        steps: new Uint8Array(found?.steps.length ?? 0),
        windows: clipped(all, settings.during),
      };
    }
    const chosen = chooseSteps(found?.steps ?? [], steady, settings);
    const whole = chosen.length === 0 || settings.whole === true;
    const selected: SelectedWindow[] = windows.filter(window => chosen[window.step] === 1);
    if (!whole) return { whole, steps: chosen, windows: selected };
    const all = timelines.flatMap(({ device, busy }) => covering(selected, device, busy));
    return { whole, steps: chosen, windows: all };
  },
};

/** All time of a device, from its first work or step to the last. */
function covering(
  windows: readonly SelectedWindow[],
  device: number,
  busy: Intervals,
): readonly SelectedWindow[] {
  const own = windows.filter(window => window.device === device);
  const start = Math.min(busy.start[0] ?? Infinity, own[0]?.start ?? Infinity);
  const end = Math.max(busy.end[busy.length - 1] ?? -Infinity, own[own.length - 1]?.end ?? -Infinity);
  return fillBetween(own, device, start, end);
}

const clipped = (
  windows: readonly SelectedWindow[],
  { fromNs, toNs }: NonNullable<Settings['during']>,
): readonly SelectedWindow[] =>
  windows
    .map(window => ({ ...window, start: Math.max(fromNs, window.start), end: Math.min(toNs, window.end) }))
    .filter(({ start, end }) => end > start);

/** Adds the stretches outside steps, so that the windows of a device cover its whole time. */
function fillBetween(
  own: readonly SelectedWindow[],
  device: number,
  start: number,
  end: number,
): SelectedWindow[] {
  const filled: SelectedWindow[] = [];
  const outside = (from: number, to: number) => {
    if (to > from) filled.push({ device, start: from, end: to, step: NONE, deviceRun: NONE, lane: NONE });
  };
  let at = start;
  for (const window of own) {
    outside(at, window.start);
    filled.push(window);
    at = Math.max(at, window.end);
  }
  outside(at, end);
  return filled;
}

function chooseSteps(
  steps: readonly Step[],
  steady: SteadyState | undefined,
  settings: Settings,
): Uint8Array {
  const chosen = new Uint8Array(steps.length);
  const { iterations, phase, whole } = settings;
  steps.forEach((step, i) => {
    const wanted = settings.steps
      ? i >= settings.steps.first && i <= settings.steps.last
      : iterations?.some(({ first, last }) => step.iteration >= first && step.iteration <= last);
    // Naming iterations is choosing them, steady or not.
    const inState = wanted ?? (whole || steady!.state[i] === 'steady');
    if (inState && (!phase || step.facts.phase === phase)) chosen[i] = 1;
  });
  if ((settings.steps || iterations || phase) && !chosen.includes(1)) throw nothingChosen(steps, phase);
  // A capture of nothing but warm-up is still better shown than hidden.
  return chosen.includes(1) ? chosen : chosen.fill(1);
}

function nothingChosen(steps: readonly Step[], phase: Phase | undefined): UserError {
  const [first, last] = [steps[0]?.iteration, steps[steps.length - 1]?.iteration];
  const there =
    steps.length === 0
      ? 'no steps were found in this capture'
      : `the capture has iterations ${first} to ${last} (${[...new Set(steps.map(s => s.facts.phase))].join(', ')})`;
  return new UserError(
    'usage',
    `No ${phase ?? ''} step matches the selection: ${there}.`.replace('No  step', 'No step'),
    'Choose others with --iterations A-B and --phase, or use --whole for the whole trace.',
  );
}
