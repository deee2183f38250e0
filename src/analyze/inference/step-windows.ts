/**
 * The stretch of a device's time that belongs to each step. Windows of a series follow each other without gap or
 * overlap, so budgets add up. A step ends on the device when the host has begun the next one and the step's own
 * work is done.
 *
 *   the host waits for the GPU            the host runs ahead
 *   host  [step 1    ][step 2    ]        host  [1][2][3]
 *   gpu      ▄▄▄▄        ▄▄▄▄             gpu     ▄▄▄▄▄▄▄▅▅▅▅▅▅▅▄▄▄▄
 *         |← 1      →|← 2      →|               |← 1   →|← 2  →|← 3
 *
 * Where the work of two steps overlaps, the boundary is where least of it is on the wrong side (step-boundary.ts).
 * The first window begins when the device has done what it was busy with before the capture (see earlier-work.ts).
 */
import { NONE } from '../../base/column.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { unrecordedUntil } from './earlier-work.js';
import { leastMisplaced } from './step-boundary.js';
import { type DeviceRun, type StepWork, stepWork } from './step-work.js';

interface StepWindow {
  /** Index into StepWork.deviceRuns. */
  readonly deviceRun: number;
  readonly step: number;
  readonly device: number;
  readonly lane: number;
  readonly start: number;
  readonly end: number;
  /** Union of the work the step launched, inside its window: never more than the window. */
  readonly busyNs: number;
}

export const stepWindows: Derived<readonly StepWindow[] | undefined> = {
  id: 'step-windows',
  reads: { apiCalls: [] },
  uses: [stepWork, gpuWork],
  compute({ profile, use }) {
    const found = use(stepWork);
    if (!found) return undefined;
    const { steps, deviceRuns, byDevice } = found;
    const work = use(gpuWork);
    const workOf = groupByRun(found);
    const windows: StepWindow[] = [];
    for (const [device, indexes] of byDevice) {
      const [first] = indexes.map(index => deviceRuns[index]);
      const begun = steps.lanes[first.lane].runs[first.run].start;
      let at = Math.max(
        unrecordedUntil(profile, work, device, begun, first.busyNs),
        Math.min(found.earlierEnd.get(device) ?? -Infinity, latest(-Infinity, first.gpuStart)),
      );
      indexes.forEach((index, i) => {
        const own = deviceRuns[index];
        const run = steps.lanes[own.lane].runs[own.run];
        const next = run.continues ? deviceRuns[indexes[i + 1]] : undefined;
        const start = Math.max(at, run.start);
        const end = Math.max(
          start,
          next
            ? Math.max(run.periodEnd, boundary(own, next, workOf(index), workOf(indexes[i + 1])))
            : latest(run.periodEnd, own.gpuEnd),
        );
        const busyNs = unionWithin(workOf(index), start, end);
        windows.push({ deviceRun: index, step: own.step, device, lane: own.lane, start, end, busyNs });
        at = end;
      });
    }
    return windows;

    /** As late as this step's work needs, but for what runs beside the work of the next. */
    function boundary(own: DeviceRun, next: DeviceRun, ownWork: Int32Array, nextWork: Int32Array): number {
      if (Number.isNaN(own.gpuEnd)) return -Infinity;
      if (Number.isNaN(next.gpuStart) || own.gpuEnd <= next.gpuStart) return own.gpuEnd;
      return leastMisplaced(work, ownWork, nextWork, next.gpuStart, own.gpuEnd);
    }

    /** Work comes in order of start. */
    function unionWithin(pieces: Int32Array, from: number, to: number): number {
      let busyNs = 0;
      let until = from;
      for (let at = 0; at < pieces.length; at++) {
        const piece = pieces[at];
        const end = Math.min(to, work.end[piece]);
        if (end <= until) continue;
        busyNs += end - Math.max(until, work.start[piece]);
        until = end;
      }
      return busyNs;
    }
  },
};

/** The work of each device run, in order of start. */
function groupByRun({ runOfWork, deviceRuns }: StepWork): (run: number) => Int32Array {
  const from = new Int32Array(deviceRuns.length + 1);
  for (let piece = 0; piece < runOfWork.length; piece++) {
    const run = runOfWork[piece];
    if (run !== NONE) from[run + 1]++;
  }
  for (let run = 0; run < deviceRuns.length; run++) from[run + 1] += from[run];
  const filled = from.slice();
  const pieces = new Int32Array(from[deviceRuns.length]);
  for (let piece = 0; piece < runOfWork.length; piece++) {
    const run = runOfWork[piece];
    if (run !== NONE) pieces[filled[run]++] = piece;
  }
  return run => pieces.subarray(from[run], from[run + 1]);
}

const latest = (a: number, b: number) => (Number.isNaN(b) ? a : Math.max(a, b));
