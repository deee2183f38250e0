/**
 * A profiler that takes a large part of the step, and what recording less would save: each kind of event that can be
 * left out is taken out of the replay alone. One place for the judge of a fresh capture and for the finding.
 */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import { defaultPolicy } from '../../catalog/policy.js';
import { profilers } from '../../catalog/profilers.js';
import { tracingCosts } from '../../catalog/tracing-cost.js';
import { graphMode } from '../../model/graph-mode.js';
import type { Profile } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { totalsByPhase } from '../inference/budget-totals.js';
import { stepBudget } from '../inference/step-budget.js';
import { type EventKind, tracedEvents } from '../whatif/traced-events.js';
import { type RecordedSteps, recordedSteps, sumOfParts } from './replay-without-recording.js';
import { type UndisturbedRow, undisturbedStep } from './undisturbed-step.js';

export interface RecordingSaving {
  readonly id:
    | 'graph-blocks'
    | 'no-stacks'
    | 'nsys-instead'
    | 'no-library-calls'
    | 'fewer-ranges'
    | 'no-os-calls';
  /** What to change, and what it gives up. */
  readonly text: string;
  /** Per step; null where nobody has measured what such an event costs. */
  readonly savedNs: number | null;
}

export interface ProfilerCost {
  readonly row: UndisturbedRow;
  /** What saves most comes first. */
  readonly savings: readonly RecordingSaving[];
}

/** A change that saves less of the step than this is not worth giving something up. */
const LEAST_SAVING = 0.01;

/** Of the phase with most time; undefined where the profiler's part is small or not known. */
export const profilerCost: Derived<ProfilerCost | undefined> = {
  id: 'profiler-cost',
  reads: { osCalls: [] },
  uses: [stepBudget, undisturbedStep, recordedSteps, tracedEvents],
  compute({ profile, settings, use, useIfRecorded }) {
    const totals = totalsByPhase(useIfRecorded(stepBudget)?.rows ?? []).filter(({ phase }) => phase !== null);
    const main = totals.sort((a, b) => b.wallNs - a.wallNs)[0];
    const row = useIfRecorded(undisturbedStep)?.rows.find(({ phase }) => phase === main?.phase);
    const least = (settings.policy ?? defaultPolicy).profilerCost;
    if (!row || row.profilerShare <= least) return undefined;
    const steps = useIfRecorded(recordedSteps)?.get(row.phase);
    return { row, savings: steps ? savingsOf(profile, row, steps, use(tracedEvents).kinds) : [] };
  },
};

function savingsOf(
  profile: Profile,
  row: UndisturbedRow,
  steps: RecordedSteps,
  kinds: readonly EventKind[],
): RecordingSaving[] {
  const found: RecordingSaving[] = [];
  const add = (id: RecordingSaving['id'], text: string, savedNs: number | undefined) => {
    // Taken out alone, a kind of event cannot save more than all of them.
    const saved = Math.min(savedNs ?? 0, row.profilerNs);
    if (saved >= LEAST_SAVING * row.profiledNs) found.push({ id, text, savedNs: saved });
  };
  const saved = (only: EventKind) => savedWithout(profile, steps, only);
  if (profile.capture.profiler === 'nsys') {
    if (graphMode(profile) === 'nodes')
      add(
        'graph-blocks',
        '--graph-trace graph records CUDA graphs as blocks, and hides the kernels inside',
        saved('graphNode'),
      );
    if (kinds.includes('libraryCall'))
      add('no-library-calls', 'record without --cublas', saved('libraryCall'));
    add(
      'fewer-ranges',
      'record fewer NVTX ranges (no --nvtx-debug): step markers are enough',
      saved('range'),
    );
    const osCalls = profile.tables.osCalls?.length ?? 0;
    if (osCalls > 0)
      found.push({
        id: 'no-os-calls',
        text: `record without --osrt (${formatCount(osCalls)} OS calls)`,
        savedNs: null,
      });
  } else if (profile.capture.profiler === 'kineto') {
    if (kinds.includes('frame'))
      add('no-stacks', 'record without --torch-stack (with_stack=False)', saved('frame'));
    add(
      'nsys-instead',
      `record with ${profilers.nsys.label} instead: it records no framework ops`,
      savedByNsys(steps),
    );
  }
  return found.sort((a, b) => (b.savedNs ?? -1) - (a.savedNs ?? -1));
}

/** Per step, without recording events of this kind; undefined where that is not known. */
export function savedWithout(profile: Profile, steps: RecordedSteps, only: EventKind): number | undefined {
  const cost = tracingCosts[profile.capture.profiler];
  const after = cost && steps.without(cost, only);
  return after && Math.max(0, sumOfParts(steps.recorded) - sumOfParts(after));
}

/** What the one adds to a step, less what the other would: it records the same calls and graphs, and no ops. */
function savedByNsys({ without }: RecordedSteps): number | undefined {
  const { kineto, nsys } = tracingCosts;
  const [bare, withoutNsys] = [kineto && without(kineto), nsys && without(nsys)];
  return bare && withoutNsys && sumOfParts(withoutNsys) - sumOfParts(bare);
}

/** `the profiler adds 3.2 ms to a decode step of 9.1 ms (35%; estimated, 2.1 to 4.3 ms)` */
export function profilerCostText({ row }: ProfilerCost): string {
  const { phase, profiledNs, profilerNs, profilerShare, source } = row;
  const step = phase === 'unknown' ? 'step' : `${phase} step`;
  const basis =
    source === 'estimate'
      ? `estimated, ${formatDuration(Math.max(0, profiledNs - row.highNs))} to ${formatDuration(profiledNs - row.lowNs)}`
      : `${row.basis}, ${plural(row.steps ?? 0, source === 'server-log' ? 'line' : 'step')}`;
  return `the profiler adds ${formatDuration(profilerNs)} to a ${step} of ${formatDuration(profiledNs)} (${formatShare(profilerShare)}; ${basis})`;
}

export const savingText = ({ text, savedNs }: RecordingSaving): string =>
  savedNs === null
    ? `${text}; what this saves is not known`
    : `${text}; saves about ${formatDuration(savedNs)} per step (estimated)`;
