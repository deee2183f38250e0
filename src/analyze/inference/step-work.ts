/**
 * Which step each piece of GPU work belongs to: the one whose period holds the API call that launched it. A graph
 * launch brings all its nodes along, and work that runs late still counts for the step that asked for it. Work that was
 * launched before the capture began belongs to none.
 */
import { upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { GRAPH_LAUNCH, WORK_LAUNCH } from '../../catalog/host-activities.js';
import type { Profile, Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { type GpuWork, gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { nameTest } from '../name-test.js';
import { callsNamed } from '../names-used.js';
import { launchedEarlierUntil } from './earlier-work.js';
import type { Lane } from './lane.js';
import { type Steps, stepsOf } from './steps.js';

/** What one run of a step did on one device. */
export interface DeviceRun {
  readonly step: number;
  readonly lane: number;
  readonly run: number;
  readonly device: number;
  gpuStart: number;
  gpuEnd: number;
  kernels: number;
  copies: number;
  graphBlocks: number;
  /** Union of its own work. */
  busyNs: number;
}

export interface StepWork {
  readonly steps: Steps;
  /** Per piece of work: index into `deviceRuns`, or NONE when it was launched outside all steps. */
  readonly runOfWork: Int32Array;
  readonly deviceRuns: readonly DeviceRun[];
  /** Device runs of each device in order of time. */
  readonly byDevice: ReadonlyMap<number, readonly number[]>;
  /** Per step, calls that launched a CUDA graph (of the reference run's lane). */
  readonly graphLaunches: Int32Array;
  /** Per step, the share of its launch calls whose work was recorded; NaN where it made none. */
  readonly workRecorded: Float64Array;
  /** Pieces of work without a known launch, placed by when they ran. */
  readonly placedByTime: number;
  /** Pieces of work launched before the capture began, and per device when the last of it ended. */
  readonly launchedEarlier: number;
  readonly earlierEnd: ReadonlyMap<number, number>;
}

export const stepWork: Derived<StepWork | undefined> = {
  id: 'step-work',
  reads: { apiCalls: [] },
  uses: [gpuWork, stepsOf],
  compute({ profile, use }) {
    const steps = use(stepsOf);
    if (!steps) return undefined;
    const work = use(gpuWork);
    const places = new LanePlaces(profile, steps.lanes);
    const { runOfWork, deviceRuns, ...placed } = attribute(profile, work, steps, places);
    return {
      steps,
      runOfWork,
      deviceRuns,
      byDevice: groupByDevice(steps, deviceRuns),
      graphLaunches: countGraphLaunches(profile, steps, places),
      workRecorded: shareRecorded(profile, work, steps, places),
      ...placed,
    };
  },
};

/** Finds the run a moment on a thread belongs to. */
class LanePlaces {
  private readonly laneOfThread: Int32Array;
  private readonly laneOfProcess: Int32Array;
  private readonly starts: readonly Float64Array[];
  private readonly ends: readonly Float64Array[];
  private readonly lastRun: Int32Array;

  constructor(
    profile: Profile,
    readonly lanes: readonly Lane[],
  ) {
    this.laneOfThread = new Int32Array(profile.threads.length).fill(NONE);
    this.laneOfProcess = new Int32Array(profile.processes.length).fill(NONE);
    for (let index = lanes.length - 1; index >= 0; index--) {
      this.laneOfProcess[lanes[index].process] = index;
    }
    profile.threads.forEach((thread, row) => {
      this.laneOfThread[row] = this.laneOfProcess[thread.process];
    });
    lanes.forEach((lane, index) => {
      this.laneOfThread[lane.thread] = index;
    });
    this.lastRun = new Int32Array(lanes.length);
    this.starts = lanes.map(lane => Float64Array.from(lane.runs, run => run.start));
    this.ends = lanes.map(lane => Float64Array.from(lane.runs, run => run.periodEnd));
  }

  ofThread = (thread: number): number => (thread === NONE ? NONE : this.laneOfThread[thread]);
  ofProcess = (process: number): number => this.laneOfProcess[process];

  /** The run whose period holds the moment, or NONE. */
  runAt(lane: number, moment: number): number {
    const starts = this.starts[lane];
    // Moments are asked for in order, almost: mostly the run is the one of the last question.
    let run = this.lastRun[lane];
    if (!(starts[run] <= moment && !(starts[run + 1] <= moment))) {
      run = upperBound(starts, moment) - 1;
      this.lastRun[lane] = Math.max(0, run);
    }
    return run >= 0 && moment < this.ends[lane][run] ? run : NONE;
  }
}

function attribute(profile: Profile, work: GpuWork, steps: Steps, places: LanePlaces) {
  const calls = profile.tables.apiCalls;
  const processOfStream = Int32Array.from(profile.streams, stream => stream.process);
  const runOfWork = new Int32Array(work.length).fill(NONE);
  const deviceRuns: DeviceRun[] = [];
  // Device runs of lane and run, chained by device: almost always there is one.
  const known = steps.lanes.map(lane => lane.runs.map((): number[] => []));
  const earlierUntil = launchedEarlierUntil(profile, work);
  let placedByTime = 0;
  let launchedEarlier = 0;
  const earlierEnd = new Map<number, number>();
  let lastCall: number = NONE;
  let lastRun: number = NONE;
  for (let i = 0; i < work.length; i++) {
    const call = work.launch[i];
    if (call !== NONE && call === lastCall) {
      // All nodes of a graph launch come with one call.
      if (lastRun !== NONE && deviceRuns[lastRun].device === work.device[i]) {
        runOfWork[i] = lastRun;
        addWork(deviceRuns[lastRun], work, i);
        continue;
      }
    }
    const lane =
      call === NONE
        ? places.ofProcess(processOfStream[work.stream[i]])
        : places.ofThread(calls!.thread[call]);
    if (lane === NONE) continue;
    if (call === NONE && work.start[i] < earlierUntil[work.stream[i]]) {
      launchedEarlier++;
      earlierEnd.set(work.device[i], Math.max(earlierEnd.get(work.device[i]) ?? -Infinity, work.end[i]));
      continue;
    }
    const run = places.runAt(lane, call === NONE ? work.start[i] : calls!.start[call]);
    if (call === NONE) placedByTime++;
    lastCall = call;
    lastRun = NONE;
    if (run === NONE) continue;
    const device = work.device[i];
    const candidates = known[lane][run];
    let index = candidates.length > 0 ? candidates[0] : undefined;
    if (index !== undefined && deviceRuns[index].device !== device)
      index = candidates.find(candidate => deviceRuns[candidate].device === device);
    if (index === undefined) {
      index = deviceRuns.length;
      known[lane][run].push(index);
      deviceRuns.push(emptyRun(steps.stepOfRun[lane][run], lane, run, device));
    }
    lastRun = index;
    runOfWork[i] = index;
    addWork(deviceRuns[index], work, i);
  }
  addEmptyRuns(steps, deviceRuns, known);
  return { runOfWork, deviceRuns, placedByTime, launchedEarlier, earlierEnd };
}

const emptyRun = (step: number, lane: number, run: number, device: number): DeviceRun => ({
  step,
  lane,
  run,
  device,
  gpuStart: Number.NaN,
  gpuEnd: Number.NaN,
  kernels: 0,
  copies: 0,
  graphBlocks: 0,
  busyNs: 0,
});

/** Work comes in order of start, so the union grows at its end only. */
function addWork(run: DeviceRun, work: GpuWork, i: number): void {
  const start = work.start[i];
  const end = work.end[i];
  if (Number.isNaN(run.gpuStart)) {
    run.gpuStart = start;
    run.gpuEnd = start;
  }
  if (end > run.gpuEnd) {
    run.busyNs += end - Math.max(start, run.gpuEnd);
    run.gpuEnd = end;
  }
  const kind = work.kind[i];
  if (kind === WorkKind.kernel) run.kernels++;
  else if (kind === WorkKind.graphBlock) run.graphBlocks++;
  else run.copies++;
}

/** A step without work still passed on the device its lane works on. */
function addEmptyRuns(steps: Steps, deviceRuns: DeviceRun[], known: number[][][]): void {
  const devicesOfLane = steps.lanes.map(() => new Set<number>());
  for (const { lane, device } of deviceRuns) devicesOfLane[lane].add(device);
  known.forEach((runs, lane) => {
    runs.forEach((found, run) => {
      for (const device of devicesOfLane[lane]) {
        if (!found.some(index => deviceRuns[index].device === device))
          deviceRuns.push(emptyRun(steps.stepOfRun[lane][run], lane, run, device));
      }
    });
  });
}

/**
 * Two processes may share a device; its steps are those of the lane that kept it busiest. Lanes of other times (a rank
 * that was recorded twice) add theirs.
 */
function groupByDevice(steps: Steps, deviceRuns: readonly DeviceRun[]): Map<number, number[]> {
  const busy = new Map<number, Float64Array>();
  for (const run of deviceRuns) {
    let lanes = busy.get(run.device);
    if (!lanes) busy.set(run.device, (lanes = new Float64Array(steps.lanes.length).fill(-1)));
    lanes[run.lane] = Math.max(0, lanes[run.lane]) + run.busyNs;
  }
  const startOf = (index: number) => steps.lanes[deviceRuns[index].lane].runs[deviceRuns[index].run].start;
  const byDevice = new Map<number, number[]>();
  for (const device of [...busy.keys()].sort((a, b) => a - b)) {
    const owners = withoutOverlap(steps, busy.get(device)!);
    const indexes = deviceRuns.flatMap((run, i) =>
      run.device === device && owners.has(run.lane) ? [i] : [],
    );
    byDevice.set(
      device,
      indexes.sort((a, b) => startOf(a) - startOf(b)),
    );
  }
  return byDevice;
}

/** The busiest lane, and those that begin after or end before all that were taken. */
function withoutOverlap({ lanes }: Steps, busyNs: Float64Array): Set<number> {
  const order = [...busyNs.keys()].filter(lane => busyNs[lane] >= 0).sort((a, b) => busyNs[b] - busyNs[a]);
  const taken = new Set<number>();
  const spanOf = (lane: number) => {
    const { runs } = lanes[lane];
    return { from: runs[0].start, to: runs[runs.length - 1].periodEnd };
  };
  for (const lane of order) {
    const { from, to } = spanOf(lane);
    if ([...taken].every(other => to <= spanOf(other).from || from >= spanOf(other).to)) taken.add(lane);
  }
  return taken;
}

function countGraphLaunches(profile: Profile, steps: Steps, places: LanePlaces): Int32Array {
  const counts = new Int32Array(steps.steps.length);
  const calls = profile.tables.apiCalls;
  if (!calls) return counts;
  const launches = callsNamed(profile, GRAPH_LAUNCH);
  const openUntil = new Float64Array(profile.threads.length).fill(-Infinity);
  for (let i = 0; i < launches.length; i++) {
    const row = launches[i];
    if (calls.thread[row] === NONE) continue;
    // The driver's record of a launch lies inside the runtime's: one launch.
    if (calls.start[row] < openUntil[calls.thread[row]]) continue;
    openUntil[calls.thread[row]] = calls.end[row];
    const lane = places.ofThread(calls.thread[row]);
    const run = lane === NONE ? NONE : places.runAt(lane, calls.start[row]);
    if (run === NONE) continue;
    const step = steps.stepOfRun[lane][run];
    if (steps.steps[step].runs[0].lane === lane) counts[step]++;
  }
  return counts;
}

/** A trace that was cut off, or buffers that overflowed, hold calls whose work is gone: that is not idle time. */
function shareRecorded(profile: Profile, work: GpuWork, steps: Steps, places: LanePlaces): Float64Array {
  const launched = new Float64Array(steps.steps.length);
  const recorded = new Float64Array(steps.steps.length);
  const calls = profile.tables.apiCalls;
  const hasWork = new Uint8Array(calls?.length ?? 0);
  for (let i = 0; i < work.length; i++) if (work.launch[i] !== NONE) hasWork[work.launch[i]] = 1;
  const isLaunch = nameTest(profile, WORK_LAUNCH);
  if (!calls) return recorded.map((count, step) => count / launched[step]);
  const { name, thread, start } = calls;
  for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++) {
    if (!isLaunch(name[row])) continue;
    const lane = places.ofThread(thread[row]);
    const run = lane === NONE ? NONE : places.runAt(lane, start[row]);
    if (run === NONE) continue;
    const step = steps.stepOfRun[lane][run];
    launched[step]++;
    recorded[step] += hasWork[row];
  }
  return recorded.map((count, step) => count / launched[step]);
}
