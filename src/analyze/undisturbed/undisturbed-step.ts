/**
 * What a step costs when no profiler records: measured in the same run where that was done, estimated otherwise. The
 * difference is the profiler's part, and which idle time it inflates.
 */
import { formatDuration, formatShare, plural } from '../../base/units.js';
import { type Phase, phases } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { cpuDelays } from '../host/cpu-delays.js';
import { type PhaseBudget, totalsByPhase } from '../inference/budget-totals.js';
import { stepBudget } from '../inference/step-budget.js';
import { type EstimatedStep, estimatedSteps } from './estimated-step.js';
import { type MeasuredStep, measuredSteps } from './measured-step.js';

type UndisturbedSource = MeasuredStep['source'] | 'estimate';

const fields = {
  key: keyField,
  phase: field.text<Phase>('Phase', 'phase of the steps'),
  profiledNs: field.nsMean('Profiled', 'mean step as profiled'),
  undisturbedNs: field.nsMean('Without', 'the step without the profiler'),
  lowNs: field.nsMean('From', 'estimate: lower bound; measured: first quartile'),
  highNs: field.nsMean('To', 'estimate: upper bound; measured: third quartile'),
  profilerNs: field.nsMean('Profiler', 'what the profiler adds to a step; never negative'),
  profilerShare: field.share('Share (%)', 'of the profiled step'),
  source: field.text<UndisturbedSource>(
    'Source',
    'calibration, agent, iteration-log, server-log or estimate',
  ),
  steps: maybe(field.count('Steps', 'measured steps (lines of a log); null: an estimate')),
  basis: quiet(field.text('Basis', 'where the figure comes from')),
  profilerByCause: field.mapNs('By cause', 'idle time per step that the profiler adds; sums to profilerNs'),
};

export type UndisturbedRow = RowOf<typeof fields>;

/** Below this share of a step the profiler's part is not worth a word. */
const NEGLIGIBLE = 0.02;
/** From this share of a step on in which its launching thread has no CPU, nothing is estimated. */
const MOST_CONTENTION = 0.1;

const measuredBy: Readonly<Record<MeasuredStep['source'], string>> = {
  calibration: 'measured by a second run without a profiler',
  agent: 'measured by the agent outside its window',
  'iteration-log': "measured by the engine's iteration log outside the window",
  'server-log': "from the throughput in the server's log",
};

export const undisturbedStep: Analysis<UndisturbedRow, AnalysisResult<UndisturbedRow>> = {
  id: 'undisturbed-step',
  title: 'Undisturbed step',
  question: 'What does a step cost without the profiler?',
  reads: {},
  uses: [stepBudget, measuredSteps, estimatedSteps, cpuDelays],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields,
  headline: {
    label: 'profiler',
    text({ rows }, phase) {
      const row = rows.find(each => each.phase === phase);
      // The answer says what matters.
      return row && !isWorthSaying(row) ? withoutProfiler(row) : undefined;
    },
  },
  compute({ useIfRecorded }) {
    const measured = useIfRecorded(measuredSteps) ?? new Map<Phase, MeasuredStep>();
    const estimated = useIfRecorded(estimatedSteps) ?? new Map<Phase, EstimatedStep>();
    const delays = useIfRecorded(cpuDelays);
    const order = phases.map(({ id }) => id as Phase);
    const totals = totalsByPhase(useIfRecorded(stepBudget)?.rows ?? [])
      .filter((total): total is PhaseBudget & { phase: Phase } => total.phase !== null)
      .sort((a, b) => order.indexOf(a.phase) - order.indexOf(b.phase));
    const rows = totals.flatMap(total => {
      const contentionNs = delays?.byPhase.get(total.phase)?.contentionNs ?? 0;
      // Threads of the profiler compete for the same CPUs: what they take cannot be estimated.
      const isEstimable = contentionNs < MOST_CONTENTION * total.wallNs;
      const estimate = isEstimable ? estimated.get(total.phase) : undefined;
      const row = rowOf(total, measured.get(total.phase), estimate);
      return row ? [row] : [];
    });
    return { rows };
  },
};

function rowOf(
  total: PhaseBudget & { readonly phase: Phase },
  measured: MeasuredStep | undefined,
  estimated: EstimatedStep | undefined,
): UndisturbedRow | undefined {
  if (!measured && !estimated) return undefined;
  const profiledNs = total.wallNs / total.windows;
  // More than the GPU's own idle time cannot go.
  const most = total.idleNs / total.windows;
  const bounded = (ns: number) => Math.min(most, Math.max(0, ns));
  const profilerNs = bounded(measured ? profiledNs - measured.ns : estimated!.addedNs);
  const inflated = shared(total, estimated?.addedByCause ?? {}, profilerNs);
  const common = {
    key: `phase:${total.phase}`,
    phase: total.phase,
    profiledNs,
    profilerNs,
    profilerShare: profiledNs > 0 ? profilerNs / profiledNs : 0,
    profilerByCause: inflated,
  };
  if (measured)
    return {
      ...common,
      undisturbedNs: measured.ns,
      lowNs: measured.lowNs,
      highNs: measured.highNs,
      source: measured.source,
      steps: measured.steps,
      basis: measuredBy[measured.source],
    };
  return {
    ...common,
    undisturbedNs: profiledNs - profilerNs,
    lowNs: profiledNs - bounded(estimated!.highNs),
    highNs: profiledNs - bounded(estimated!.lowNs),
    source: 'estimate',
    steps: null,
    basis: estimated!.source,
  };
}

/** The profiler's part over the causes of idle: as the estimate has it, no cause beyond its idle time. */
function shared(
  { idleByCause, windows }: PhaseBudget,
  weights: Readonly<Record<string, number>>,
  profilerNs: number,
): Record<string, number> {
  const idle = Object.entries(idleByCause).map(([cause, ns]) => ({ cause, room: ns / windows, ns: 0 }));
  const known = idle.some(({ cause }) => (weights[cause] ?? 0) > 0);
  let left = profilerNs;
  // What a full cause cannot take goes to the others, first by the estimate, then by their idle time.
  for (const weightOf of [
    (cause: string) => (known ? (weights[cause] ?? 0) : 0),
    (_: string, room: number) => room,
  ])
    for (let round = 0; round < idle.length && left > 1e-6; round++) {
      const open = idle.filter(each => each.room > each.ns && weightOf(each.cause, each.room) > 0);
      const all = open.reduce((sum, { cause, room }) => sum + weightOf(cause, room), 0);
      if (all <= 0) break;
      const share = left;
      for (const each of open) {
        const taken = Math.min(each.room - each.ns, (share * weightOf(each.cause, each.room)) / all);
        each.ns += taken;
        left -= taken;
      }
    }
  return Object.fromEntries(
    idle.flatMap(({ cause, ns }) => (ns > 0 ? [[cause, ns] as const] : [])).sort((a, b) => b[1] - a[1]),
  );
}

/** A profiler that costs next to nothing is worth no sentence, unless that was measured. */
export const isWorthSaying = (row: UndisturbedRow): boolean => isTelling(row) || row.source !== 'estimate';

/** A part this small is within what steps differ by anyway: no cause of idle is marked with it. */
export const isTelling = ({ profilerShare }: UndisturbedRow): boolean => profilerShare >= NEGLIGIBLE;

/** `6.5 ms without the profiler (estimated 6.1 to 7.0 ms)`; for a part that is too small to matter, that. */
export function withoutProfiler(row: UndisturbedRow): string {
  if (!isWorthSaying(row)) return `the profiler adds less than ${formatShare(NEGLIGIBLE)} (estimated)`;
  const basis =
    row.source === 'estimate'
      ? `estimated ${formatDuration(row.lowNs)} to ${formatDuration(row.highNs)}`
      : `${row.basis}, ${plural(row.steps ?? 0, row.source === 'server-log' ? 'line' : 'step')}`;
  return `${formatDuration(row.undisturbedNs)} without the profiler (${basis})`;
}

/** The budget without the profiler's part: what findings speak of. */
export function undisturbedBudget(total: PhaseBudget, row: UndisturbedRow | undefined): PhaseBudget {
  if (!row || row.profilerNs <= 0) return total;
  const recordingByCause = Object.fromEntries(
    Object.entries(total.idleByCause).map(([cause, ns]) => [
      cause,
      Math.min(ns, (row.profilerByCause[cause] ?? 0) * total.windows),
    ]),
  );
  const idleByCause = Object.fromEntries(
    Object.entries(total.idleByCause)
      .map(([cause, ns]) => [cause, ns - recordingByCause[cause]] as const)
      .sort((a, b) => b[1] - a[1]),
  );
  const idleNs = Object.values(idleByCause).reduce((sum, ns) => sum + ns, 0);
  const wallNs = total.wallNs - (total.idleNs - idleNs);
  return { ...total, wallNs, idleNs, idleByCause, recordingByCause };
}
