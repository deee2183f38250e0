/** One row per engine step, whatever the engine and however it was found. */
import { formatCount } from '../../base/units.js';
import type { Phase } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult, Derived, Json } from '../analysis.js';
import { KEEP } from '../block.js';
import { commonAxis } from '../comm/common-axis.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import type { Confidence, Method } from './lane.js';
import { profiledRange, requestedIn } from './profiled-range.js';
import { selection } from './selection.js';
import { type StepState, steadyState } from './steady-state.js';
import { stepWindows } from './step-windows.js';
import { type DeviceRun, stepWork } from './step-work.js';
import { type Step, stepsOf } from './steps.js';

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

const fields = {
  key: keyField,
  iteration: field.id('Iteration', "the engine's number, or the position in the capture"),
  phase: field.text<Phase>('Phase', 'prefill, mixed, decode, speculative or unknown'),
  contextRequests: maybe(field.count('Ctx', 'requests in prefill', { priority: -1 })),
  contextTokens: maybe(field.count('Ctx tok', 'tokens prefilled', { priority: -1 })),
  generationRequests: maybe(field.count('Gen', 'requests in decode')),
  generationTokens: maybe(field.count('Gen tok', 'tokens decoded, drafts included', { priority: -2 })),
  startNs: field.timestamp('Start', "host: the marker's start", { priority: KEEP }),
  endNs: quiet(field.timestamp('End', "host: the marker's end")),
  gpuStartNs: quiet(maybe(field.timestamp('GPU start', 'start of the first GPU work it launched'))),
  gpuEndNs: quiet(maybe(field.timestamp('GPU end', 'end of the last GPU work it launched'))),
  wallNs: field.ns('Wall', "length of the step's window on its device"),
  gpuBusyNs: field.ns('GPU busy', 'union of the work it launched, inside its window'),
  kernels: maybe(field.count('Kernels', 'kernels it launched; null when graph blocks hide them')),
  graphLaunches: field.count('Graphs', 'CUDA graph launches'),
  state: field.text<StepState>('State', 'steady, warm-up, ramp, drain or incomplete'),
  selected: quiet(field.flag('Selected', 'whether other analyses include it')),
  foundBy: quiet(field.text<Method>('Found by', 'marker, graph-launches or kernel-sequence')),
  confidence: quiet(field.text<Confidence>('Confidence', 'certain, likely or guess')),
  ranks: field.count('Ranks', 'ranks that ran it'),
  startSkewNs: maybe(field.ns('Start skew', 'start of GPU work, last rank minus first')),
  endSkewNs: maybe(field.ns('End skew', 'end of GPU work, last rank minus first')),
  runs: quiet(field.list<RankRun>('Runs', 'the step on each rank')),
};

export type IterationRow = RowOf<typeof fields>;

/** All steps, whichever are selected: people go from step to step. */
const allIterations: Derived<AnalysisResult<IterationRow>> = {
  id: 'all-iterations',
  reads: {},
  uses: [stepsOf, steadyState, stepWork, stepWindows, commonAxis],
  compute({ profile, settings, use, useIfRecorded }) {
    const found = use(stepsOf);
    if (!found) return { rows: [], summary: { count: 0, foundBy: null } };
    const steady = use(steadyState)!;
    const work = useIfRecorded(stepWork);
    const axis = use(commonAxis);
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
    const skewOf = (
      step: Step,
      runs: readonly RankRun[],
      of: (run: RankRun) => number | null,
    ): number | null => {
      if (!axis.comparable) return null;
      const moments = runs.flatMap((run, r) => {
        const moment = of(run);
        return moment === null ? [] : [axis.at(found.lanes[step.runs[r].lane].process, moment)];
      });
      return spread(moments);
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
        selected: false,
        foundBy: found.method,
        confidence: found.confidence,
        ranks: runs.length,
        startSkewNs: skewOf(step, runs, run => run.gpuStartNs),
        endSkewNs: skewOf(step, runs, run => run.gpuEndNs),
        runs,
      };
    });
    const leftOut: Record<string, number> = {};
    for (const row of rows) if (row.state !== 'steady') leftOut[row.state] = (leftOut[row.state] ?? 0) + 1;
    return {
      rows,
      summary: {
        count: rows.length,
        selected: 0,
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

export const iterations: Analysis<IterationRow, AnalysisResult<IterationRow>> = {
  id: 'iterations',
  title: 'Iterations',
  question: 'Which steps were captured, in which phase, how long did each take, and what did it run?',
  reads: {},
  uses: [allIterations, selection],
  fields,
  compute({ use }) {
    const all = use(allIterations);
    if (all.rows.length === 0) return all;
    const { steps } = use(selection);
    const rows = all.rows.map((row, i) => (steps[i] === 1 ? { ...row, selected: true } : row));
    const selected = rows.reduce((count, row) => count + Number(row.selected), 0);
    return { rows, summary: { ...all.summary, selected } };
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
