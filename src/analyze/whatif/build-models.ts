/** The launch graphs of the selected steps of a phase: one for each run of consecutive steps on a device. */
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import type { Row } from '../../model/profile.js';
import type { AnalysisInput, Derived } from '../analysis.js';
import { type GpuWork, gpuWork } from '../gpu/gpu-work.js';
import { workFamilies } from '../gpu/work-families.js';
import { threadActivity } from '../host/thread-activity.js';
import { type SelectedWindow, selection } from '../inference/selection.js';
import { type StepWork, stepWork } from '../inference/step-work.js';
import { blockingCopies, findAwaitedWork } from './awaited-work.js';
import { HostLines } from './host-lines.js';
import { placeWork } from './place-work.js';
import type { ReplayModel, ReplayStep } from './replay-model.js';
import { TracedEvents } from './traced-events.js';

/** Per phase, the phase with most time first. */
export const replayModels: Derived<ReadonlyMap<Phase, readonly ReplayModel[]>> = {
  id: 'replay-models',
  reads: {
    apiCalls: [],
    copies: ['sourceMemory', 'targetMemory'],
    syncs: [],
    ranges: [],
    ops: [],
    frames: [],
  },
  uses: [gpuWork, workFamilies, threadActivity, selection, stepWork],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches'], ['apiCalls']],
  compute(input) {
    const found = input.use(stepWork);
    const byPhase = new Map<Phase, ReplayModel[]>();
    if (!found) return byPhase;
    const time = new Map<Phase, number>();
    let left = MOST_WORK;
    const traced = new TracedEvents(input.profile);
    for (const whole of consecutive(input.use(selection).windows, found)) {
      const series = whole.slice(0, enough(whole));
      if (series.length === 0) break;
      const { phase } = found.steps.steps[series[0].step].facts;
      const length = series[series.length - 1].end - series[0].start;
      time.set(phase, (time.get(phase) ?? 0) + length);
      byPhase.set(phase, [...(byPhase.get(phase) ?? []), buildModel(input, found, series, traced)]);
    }
    return new Map([...byPhase].sort((a, b) => time.get(b[0])! - time.get(a[0])!));

    /** How many of these steps still fit; the first ones stand for a long capture. */
    function enough(series: readonly SelectedWindow[]): number {
      let count = 0;
      for (; count < series.length && left > 0; count++) {
        const { kernels, copies, graphBlocks } = found!.deviceRuns[series[count].deviceRun];
        left -= kernels + copies + graphBlocks;
      }
      return count;
    }
  },
};

/** Pieces of work in all models together: what a replay of a long capture may cost. */
const MOST_WORK = 100_000;

/** Windows of one device, lane and phase whose steps follow each other. */
function consecutive(windows: readonly SelectedWindow[], found: StepWork): SelectedWindow[][] {
  const series: SelectedWindow[][] = [];
  for (const window of windows) {
    if (window.step === NONE || window.deviceRun === NONE) continue;
    const last = series.at(-1)?.at(-1);
    if (last && follows(last, window, found)) series.at(-1)!.push(window);
    else series.push([window]);
  }
  return series;
}

function follows(a: SelectedWindow, b: SelectedWindow, { steps, deviceRuns }: StepWork): boolean {
  if (a.device !== b.device || a.lane !== b.lane) return false;
  const [first, second] = [deviceRuns[a.deviceRun].run, deviceRuns[b.deviceRun].run];
  const phaseOf = ({ step }: SelectedWindow) => steps.steps[step].facts.phase;
  return second === first + 1 && steps.lanes[a.lane].runs[first].continues && phaseOf(a) === phaseOf(b);
}

function buildModel(
  input: AnalysisInput,
  found: StepWork,
  series: readonly SelectedWindow[],
  traced: TracedEvents,
): ReplayModel {
  const { profile, use } = input;
  const lane = found.steps.lanes[series[0].lane];
  const runs = series.map(({ deviceRun }) => lane.runs[found.deviceRuns[deviceRun].run]);
  const work = use(gpuWork);
  const beginNs = runs[0].start;
  const endNs = Math.max(runs[runs.length - 1].periodEnd, series[series.length - 1].end);
  const rows = workWithin(work, series[0].device, Math.min(beginNs, series[0].start), endNs);
  const lines = new HostLines(profile, use(threadActivity), traced, { beginNs, endNs, runs });
  // The thread that runs the steps comes first: others follow it.
  lines.addFirst(lane.thread);
  for (const thread of callingThreads(input, lane.process, beginNs, endNs))
    if (thread !== lane.thread) lines.addOther(thread);
  const placed = placeWork({
    work,
    rows,
    family: use(workFamilies).family,
    stepOf: stepPositions(found, series),
    lines,
    blocks: blockingCopies(profile, work),
  });
  findAwaitedWork(profile, lines, placed, work);
  const gpuEnd = series.map(() => -Infinity);
  for (const op of placed.ops)
    if (op.step !== NONE) gpuEnd[op.step] = Math.max(gpuEnd[op.step], work.end[op.work]);
  const steps = series.map(({ step, start, end }, k): ReplayStep => {
    const { item, at } = lines.endMarks[k];
    return {
      step,
      windowStart: start,
      windowEnd: end,
      endMark: item,
      endOffsetNs: end - Math.max(at, gpuEnd[k]),
    };
  });
  const { ops, streams, typical } = placed;
  return {
    device: series[0].device,
    beginNs,
    steps,
    untracedNodeNs: 0,
    items: lines.items,
    threads: lines.threads,
    ops,
    streams,
    typical,
  };
}

/**
 * Everything on the device from when the host begins until the last step ends, and what each stream ran last before:
 * that is what the first work had to wait for.
 */
function workWithin(work: GpuWork, device: number, beginNs: number, endNs: number): number[] {
  const rows: number[] = [];
  const before = new Map<number, number>();
  for (let i = 0; i < work.length && work.start[i] < endNs; i++) {
    if (work.device[i] !== device) continue;
    if (work.end[i] > beginNs) rows.push(i);
    else before.set(work.stream[i], i);
  }
  return [...before.values(), ...rows].sort((x, y) => work.start[x] - work.start[y] || x - y);
}

function stepPositions({ runOfWork }: StepWork, series: readonly SelectedWindow[]) {
  const positions = new Map(series.map(({ deviceRun }, k) => [deviceRun, k]));
  return (work: number): number => positions.get(runOfWork[work]) ?? NONE;
}

function callingThreads({ profile }: AnalysisInput, process: number, from: number, to: number): Set<number> {
  const calls = profile.tables.apiCalls!;
  const threads = new Set<number>();
  for (let row = 0 as Row<'apiCalls'>; row < calls.length && calls.start[row] < to; row++)
    if (calls.end[row] > from && calls.thread[row] !== NONE) threads.add(calls.thread[row]);
  for (const thread of threads) if (profile.threads[thread].process !== process) threads.delete(thread);
  return threads;
}
