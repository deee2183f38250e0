/** One row per engine step, whatever the engine and however it was found. */
import { formatCount } from '../../base/units.js';
import type { Phase } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult, Json } from '../analysis.js';
import { KEEP } from '../block.js';
import { keyField } from '../key-field.js';
import type { Confidence, Method } from './lane.js';
import { profiledRange, requestedIn } from './profiled-range.js';
import { selection } from './selection.js';
import { type StepState, steadyState } from './steady-state.js';
import { stepWindows } from './step-windows.js';
import { type DeviceRun, stepWork } from './step-work.js';
import { type Step, stepsOf } from './steps.js';

export interface IterationRow {
  readonly key: string;
  readonly iteration: number;
  readonly phase: Phase;
  readonly contextRequests: number | null;
  readonly contextTokens: number | null;
  readonly generationRequests: number | null;
  readonly generationTokens: number | null;
  readonly startNs: number;
  readonly endNs: number;
  readonly gpuStartNs: number | null;
  readonly gpuEndNs: number | null;
  readonly wallNs: number;
  readonly gpuBusyNs: number;
  readonly kernels: number | null;
  readonly graphLaunches: number;
  readonly state: StepState;
  readonly selected: boolean;
  readonly foundBy: Method;
  readonly confidence: Confidence;
  readonly ranks: number;
  readonly startSkewNs: number | null;
  readonly endSkewNs: number | null;
  readonly runs: readonly RankRun[];
}

interface RankRun {
  readonly rank: number | null;
  readonly device: number | null;
  readonly startNs: number;
  readonly endNs: number;
  readonly gpuStartNs: number | null;
  readonly gpuEndNs: number | null;
  readonly kernels: number | null;
  readonly gpuBusyNs: number;
}

const orNull = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

export const iterations: Analysis<IterationRow, AnalysisResult<IterationRow>> = {
  id: 'iterations',
  title: 'Iterations',
  question: 'Which steps were captured, in which phase, how long did each take, what did each run?',
  reads: {},
  uses: [stepsOf, steadyState, stepWork, stepWindows, selection],
  fields: {
    key: keyField,
    iteration: {
      header: 'Iteration',
      kind: 'id',
      about: "the engine's number, or the position in the capture",
    },
    phase: { header: 'Phase', kind: 'text', about: 'prefill, mixed, decode, speculative or unknown' },
    contextRequests: {
      header: 'Ctx',
      priority: -1,
      kind: 'count',
      about: 'requests in prefill',
      optional: true,
    },
    contextTokens: {
      header: 'Ctx tok',
      priority: -1,
      kind: 'count',
      about: 'tokens prefilled',
      optional: true,
    },
    generationRequests: { header: 'Gen', kind: 'count', about: 'requests in decode', optional: true },
    generationTokens: {
      header: 'Gen tok',
      priority: -2,
      kind: 'count',
      about: 'tokens decoded or tried',
      optional: true,
    },
    startNs: { header: 'Start', priority: KEEP, kind: 'timestamp', about: "host: the marker's start" },
    endNs: { header: 'End', kind: 'timestamp', about: "host: the marker's end", quiet: true },
    gpuStartNs: {
      header: 'GPU start',
      kind: 'timestamp',
      about: 'first work it launched',
      optional: true,
      quiet: true,
    },
    gpuEndNs: {
      header: 'GPU end',
      kind: 'timestamp',
      about: 'last work it launched',
      optional: true,
      quiet: true,
    },
    wallNs: { header: 'Wall', kind: 'ns', about: "the step's window on its device" },
    gpuBusyNs: { header: 'GPU busy', kind: 'ns', about: 'union of the work it launched, inside its window' },
    kernels: {
      header: 'Kernels',
      kind: 'count',
      about: 'kernels it launched; null when graph blocks hide them',
      optional: true,
    },
    graphLaunches: { header: 'Graphs', kind: 'count', about: 'CUDA graph launches' },
    state: { header: 'State', kind: 'text', about: 'steady, warm-up, ramp, drain or incomplete' },
    selected: { header: 'Selected', kind: 'flag', about: 'counted in the other analyses', quiet: true },
    foundBy: {
      header: 'Found by',
      kind: 'text',
      about: 'marker, graph-launches or kernel-sequence',
      quiet: true,
    },
    confidence: { header: 'Sure', kind: 'text', about: 'certain, likely or guess', quiet: true },
    ranks: { header: 'Ranks', kind: 'count', about: 'ranks that ran it' },
    startSkewNs: {
      header: 'Start skew',
      kind: 'ns',
      about: 'start of GPU work, last rank minus first',
      optional: true,
    },
    endSkewNs: { header: 'End skew', kind: 'ns', about: 'GPU end, last rank minus first', optional: true },
    runs: { header: 'Runs', kind: 'list', about: 'the step on each rank', quiet: true },
  },
  compute({ profile, settings, use, useIfRecorded }) {
    const found = use(stepsOf);
    if (!found) return { rows: [], summary: { count: 0, foundBy: null } };
    const steady = use(steadyState)!;
    const work = useIfRecorded(stepWork);
    const chosen = use(selection);
    // Files whose clock starts with their own session say nothing about each other's times.
    const comparable = profile.clock === 'utc' || profile.capture.files.length === 1;
    const runsOfStep: DeviceRun[][] = found.steps.map(() => []);
    for (const run of work?.deviceRuns ?? []) runsOfStep[run.step].push(run);

    const busyInWindow = new Map(
      (useIfRecorded(stepWindows) ?? []).map(({ deviceRun, busyNs }) => [
        work!.deviceRuns[deviceRun],
        busyNs,
      ]),
    );

    const rankRun = (index: number, { lane, run }: Step['runs'][number]): RankRun => {
      const { process, runs } = found.lanes[lane];
      const own = runsOfStep[index].filter(candidate => candidate.lane === lane && candidate.run === run);
      const busiest = own.sort((a, b) => b.busyNs - a.busyNs)[0] as DeviceRun | undefined;
      return {
        rank: profile.processes[process].rank ?? null,
        device: busiest ? profile.gpus[busiest.device].deviceId : null,
        startNs: runs[run].start,
        endNs: runs[run].end,
        gpuStartNs: orNull(busiest?.gpuStart),
        gpuEndNs: orNull(busiest?.gpuEnd),
        kernels: busiest && busiest.graphBlocks > 0 ? null : (busiest?.kernels ?? (work ? 0 : null)),
        gpuBusyNs: busiest ? (busyInWindow.get(busiest) ?? busiest.busyNs) : 0,
      };
    };
    const rows = found.steps.map((step, i): IterationRow => {
      const runs = step.runs.map(run => rankRun(i, run));
      const [reference] = runs;
      const { facts } = step;
      return {
        key: `iteration:${step.iteration}@${i}`,
        iteration: step.iteration,
        phase: facts.phase,
        contextRequests: orNull(facts.contextRequests),
        contextTokens: orNull(facts.contextTokens),
        generationRequests: orNull(facts.generationRequests),
        generationTokens: orNull(facts.generationTokens),
        startNs: reference.startNs,
        endNs: reference.endNs,
        gpuStartNs: reference.gpuStartNs,
        gpuEndNs: reference.gpuEndNs,
        wallNs: steady.wallNs[i],
        gpuBusyNs: reference.gpuBusyNs,
        kernels: reference.kernels,
        graphLaunches: work?.graphLaunches[i] ?? 0,
        state: steady.state[i],
        selected: chosen.steps[i] === 1,
        foundBy: found.method,
        confidence: found.confidence,
        ranks: runs.length,
        startSkewNs: comparable
          ? spread(runs.flatMap(run => (run.gpuStartNs === null ? [] : [run.gpuStartNs])))
          : null,
        endSkewNs: comparable
          ? spread(runs.flatMap(run => (run.gpuEndNs === null ? [] : [run.gpuEndNs])))
          : null,
        runs,
      };
    });
    const leftOut: Record<string, number> = {};
    for (const row of rows) if (row.state !== 'steady') leftOut[row.state] = (leftOut[row.state] ?? 0) + 1;
    return {
      rows,
      summary: {
        count: rows.length,
        selected: rows.filter(row => row.selected).length,
        first: rows[0].iteration,
        last: rows[rows.length - 1].iteration,
        numbered: found.numbered,
        engine: found.engine || null,
        foundBy: found.method,
        confidence: found.confidence,
        leftOut,
        launchedEarlier: work?.launchedEarlier ?? 0,
        ...(profiledRange(found, settings.requested ?? requestedIn(profile)) as { [name: string]: Json }),
      },
    };
  },
};

function spread(values: readonly number[]): number | null {
  if (values.length < 2) return null;
  return values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
}

/** `12–16`, or one number. */
export function iterationSpan(rows: readonly IterationRow[]): string {
  const first = rows[0].iteration;
  const last = rows[rows.length - 1].iteration;
  return first === last ? formatCount(first) : `${first}–${last}`;
}
