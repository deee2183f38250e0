/** Time in the selected windows during which a process's devices did nothing. */
import { upperBound } from '../../base/bisect.js';
import { IntervalBuilder, type Intervals, subtract, unionOf } from '../../base/intervals.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { selection } from '../inference/selection.js';

/** Idle time by process: where it drives several devices, time in which any of them is idle. */
export const idleIntervals: Derived<(process: number) => Intervals> = {
  id: 'idle-intervals',
  reads: {},
  uses: [selection, deviceTimelines],
  compute({ profile, use, useIfRecorded }) {
    const { windows } = use(selection);
    const byDevice = new Map<number, Intervals>();
    for (const { device, busy } of useIfRecorded(deviceTimelines) ?? []) {
      const builder = new IntervalBuilder();
      for (const window of windows) if (window.device === device) builder.add(window.start, window.end);
      const looked = builder.finish();
      byDevice.set(device, subtract(looked, busy, gapsIn(looked, busy)));
    }
    const known = new Map<number, Intervals>();
    return process => {
      let idle = known.get(process);
      if (!idle) {
        const devices = new Set(profile.streams.filter(s => s.process === process).map(s => s.gpu as number));
        idle = unionOf(...[...devices].flatMap(device => byDevice.get(device) ?? []));
        known.set(process, idle);
      }
      return idle;
    };
  },
};

/** The most gaps there can be: one before each stretch of work, and one behind each that is looked at. */
function gapsIn(looked: Intervals, busy: Intervals): number {
  if (looked.length === 0) return 0;
  const last = upperBound(busy.start, looked.end[looked.length - 1]);
  return looked.length + last - upperBound(busy.end, looked.start[0]);
}
