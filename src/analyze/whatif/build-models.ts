/** The launch graphs of the selected steps of a phase: one for each run of consecutive steps on a device. */
import { lowerBound } from '../../base/bisect.js';
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

type Models = ReadonlyMap<Phase, readonly ReplayModel[]>;

/** Per phase, the phase with most time first. A model has an object for every call and kernel, so its size has a limit. */
export const replayModels: Derived<Models> = modelsUpTo(100_000, 'replay-models');

/** For a mean, some steps of a long capture are enough. */
export const sampledModels: Derived<Models> = modelsUpTo(1_200, 'sampled-models');

/** `mostWork`: pieces of work in all models of a phase together. */
function modelsUpTo(mostWork: number, id: string): Derived<Models> {
  return {
    id,
    reads: { apiCalls: [], copies: ['sourceMemory', 'targetMemory'], syncs: [] },
    uses: [gpuWork, workFamilies, threadActivity, selection, stepWork],
    needs: [['kernels', 'copies', 'memsets', 'graphLaunches'], ['apiCalls']],
    compute(input) {
      const found = input.use(stepWork);
      const byPhase = new Map<Phase, ReplayModel[]>();
      if (!found) return byPhase;
      const time = new Map<Phase, number>();
      const left = new Map<Phase, number>();
      for (const whole of consecutive(input.use(selection).windows, found)) {
        const { phase } = found.steps.steps[whole[0].step].facts;
        const length = whole[whole.length - 1].end - whole[0].start;
        time.set(phase, (time.get(phase) ?? 0) + length);
        const series = whole.slice(0, enough(whole, phase));
        if (series.length > 0)
          byPhase.set(phase, [...(byPhase.get(phase) ?? []), buildModel(input, found, series)]);
      }
      return new Map([...byPhase].sort((a, b) => time.get(b[0])! - time.get(a[0])!));

      /** How many of these steps still fit; the first ones stand for a long capture. */
      function enough(series: readonly SelectedWindow[], phase: Phase): number {
        let room = left.get(phase) ?? mostWork;
        let count = 0;
        for (; count < series.length && room > 0; count++) {
          const { kernels, copies, graphBlocks } = found!.deviceRuns[series[count].deviceRun];
          room -= kernels + copies + graphBlocks;
        }
        left.set(phase, room);
        return count;
      }
    },
  };
}

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

function buildModel(input: AnalysisInput, found: StepWork, series: readonly SelectedWindow[]): ReplayModel {
  const { profile, use } = input;
  const lane = found.steps.lanes[series[0].lane];
  const runs = series.map(({ deviceRun }) => lane.runs[found.deviceRuns[deviceRun].run]);
  const work = use(gpuWork);
  const beginNs = runs[0].start;
  const endNs = Math.max(runs[runs.length - 1].periodEnd, series[series.length - 1].end);
  const rows = workWithin(work, series[0].device, Math.min(beginNs, series[0].start), endNs);
  const lines = new HostLines(profile, use(threadActivity), { beginNs, endNs, runs });
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
    items: lines.items,
    threads: lines.threads,
    ops,
    streams,
    untracedNodeNs: 0,
    typical,
  };
}

/** Work before the host begins is looked for this far back. */
const LOOK_BACK_NS = 1e9;

/**
 * Everything on the device from when the host begins until the last step ends, and what each stream ran last before:
 * that is what the first work had to wait for.
 */
function workWithin(work: GpuWork, device: number, beginNs: number, endNs: number): number[] {
  const rows: number[] = [];
  const before = new Map<number, number>();
  for (
    let i = lowerBound(work.start, beginNs - LOOK_BACK_NS);
    i < work.length && work.start[i] < endNs;
    i++
  ) {
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
  const first = lowerBound(calls.start as ArrayLike<number>, from) as Row<'apiCalls'>;
  for (let row = first; row < calls.length && calls.start[row] < to; row++)
    if (calls.thread[row] !== NONE) threads.add(calls.thread[row]);
  for (const thread of threads) if (profile.threads[thread].process !== process) threads.delete(thread);
  return threads;
}
