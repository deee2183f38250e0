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
 * The first window begins when the device has done what it was busy with before the capture (see earlier-work.ts).
 */
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { unrecordedUntil } from './earlier-work.js';
import { type DeviceRun, stepWork } from './step-work.js';

interface StepWindow {
  /** Index into StepWork.deviceRuns. */
  readonly deviceRun: number;
  readonly step: number;
  readonly device: number;
  readonly lane: number;
  readonly start: number;
  readonly end: number;
}

export const stepWindows: Derived<readonly StepWindow[] | undefined> = {
  id: 'step-windows',
  reads: { apiCalls: [] },
  uses: [stepWork, gpuWork],
  compute({ profile, use }) {
    const found = use(stepWork);
    if (!found) return undefined;
    const { steps, deviceRuns, byDevice } = found;
    const windows: StepWindow[] = [];
    for (const [device, indexes] of byDevice) {
      const [first] = indexes.map(index => deviceRuns[index]);
      const begun = steps.lanes[first.lane].runs[first.run].start;
      let at = unrecordedUntil(profile, use(gpuWork), device, begun, first.busyNs);
      indexes.forEach((index, i) => {
        const own = deviceRuns[index];
        const run = steps.lanes[own.lane].runs[own.run];
        const next = run.continues ? deviceRuns[indexes[i + 1]] : undefined;
        const start = Math.max(at, run.start);
        const end = Math.max(
          start,
          next ? boundary(own, next, run.periodEnd) : latest(run.periodEnd, own.gpuEnd),
        );
        windows.push({ deviceRun: index, step: own.step, device, lane: own.lane, start, end });
        at = end;
      });
    }
    return windows;
  },
};

/** Between hostStart and gpuStart of the next step: as late as this step's work needs, but no later. */
function boundary(own: DeviceRun, next: DeviceRun, nextHostStart: number): number {
  const ownEnd = Number.isNaN(own.gpuEnd) ? -Infinity : own.gpuEnd;
  const nextStart = Number.isNaN(next.gpuStart) ? Infinity : next.gpuStart;
  return Math.max(nextHostStart, Math.min(ownEnd, nextStart));
}

const latest = (a: number, b: number) => (Number.isNaN(b) ? a : Math.max(a, b));
