/**
 * A profiler that takes a large part of the step, and what recording less would save: each kind of event that can be
 * left out is taken out of the replay alone. One place for the judge of a fresh capture and for the finding.
 */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import { defaultPolicy } from '../../catalog/policy.js';
import { recordingFlags } from '../../catalog/recording-flags.js';
import { type EventKind, tracingCosts } from '../../catalog/tracing-cost.js';
import { graphMode } from '../../model/graph-mode.js';
import type { Profile, ProfilerKind } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { totalsByPhase } from '../inference/budget-totals.js';
import { stepBudget } from '../inference/step-budget.js';
import { type RecordedSteps, recordedSteps, sumOfParts } from './replay-without-recording.js';
import { type UndisturbedRow, undisturbedStep } from './undisturbed-step.js';

interface RecordingSaving {
  /** What to change, and what it gives up. */
  readonly text: string;
  /** Per step; null where nobody has measured what such an event costs. */
  readonly savedNs: number | null;
  /** Bounds of that estimate, with the errors of the cost of recording. */
  readonly lowNs: number;
  readonly highNs: number;
}

interface ProfilerCost {
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
  uses: [stepBudget, undisturbedStep, recordedSteps],
  compute({ profile, settings, useIfRecorded }) {
    const totals = totalsByPhase(useIfRecorded(stepBudget)?.rows ?? []).filter(({ phase }) => phase !== null);
    const main = totals.sort((a, b) => b.wallNs - a.wallNs)[0];
    const row = useIfRecorded(undisturbedStep)?.rows.find(({ phase }) => phase === main?.phase);
    const least = (settings.policy ?? defaultPolicy).profilerCost;
    if (!row || row.profilerShare <= least) return undefined;
    const steps = useIfRecorded(recordedSteps)?.get(row.phase);
    return { row, savings: steps ? savingsOf(profile, row, steps) : [] };
  },
};

function savingsOf(profile: Profile, row: UndisturbedRow, steps: RecordedSteps): RecordingSaving[] {
  const found = (recordingFlags[profile.capture.profiler] ?? []).flatMap((flag): RecordingSaving[] => {
    const { text, leavesOut, instead, table } = flag;
    const rows = (table && profile.tables[table]?.length) ?? 0;
    // A few calls among thousands cost nothing that anybody would notice.
    if (table)
      return rows >= LEAST_SAVING * (profile.tables.apiCalls?.length ?? 0) && rows > 0
        ? [{ text: `${text} (${formatCount(rows)} calls)`, savedNs: null, lowNs: 0, highNs: 0 }]
        : [];
    // Those that are blocks already have no nodes to leave out.
    if (leavesOut === 'graphNode' && graphMode(profile) !== 'nodes') return [];
    // Taken out alone, a kind of event cannot save more than all of them.
    const savedNs = Math.min(
      row.profilerNs,
      (leavesOut && savedWithout(profile, steps, leavesOut)) ??
        (instead && savedBy(profile, steps, instead)) ??
        0,
    );
    if (savedNs < LEAST_SAVING * row.profiledNs) return [];
    const { spread, stepError } = tracingCosts[profile.capture.profiler]!;
    const errorNs = stepError * row.profiledNs;
    const lowNs = Math.max(0, (1 - spread.less) * savedNs - errorNs);
    return [{ text, savedNs, lowNs, highNs: (1 + spread.more) * savedNs + errorNs }];
  });
  return found.sort((a, b) => (b.savedNs ?? -1) - (a.savedNs ?? -1));
}

/** Per step, without recording events of this kind; undefined where that is not known. */
export function savedWithout(profile: Profile, steps: RecordedSteps, only: EventKind): number | undefined {
  const cost = tracingCosts[profile.capture.profiler];
  // Nobody measured what a kind costs that a profiler does not record by itself.
  if (only === 'frame' && cost?.frame === 0) return undefined;
  const after = cost && steps.without(cost, only);
  return after && Math.max(0, sumOfParts(steps.recorded) - sumOfParts(after));
}

/** What this profiler adds to a step, less what another would that records the same calls, ranges and graphs. */
function savedBy({ capture }: Profile, { without }: RecordedSteps, other: ProfilerKind): number | undefined {
  const [now, then] = [tracingCosts[capture.profiler], tracingCosts[other]];
  const [bare, lessOther] = [now && without(now), then && without(then)];
  return bare && lessOther && sumOfParts(lessOther) - sumOfParts(bare);
}

/** `the profiler adds 3.2 ms to a decode step of 9.1 ms (35%; estimated, 2.1 to 4.3 ms)` */
export const profilerCostText = (cost: ProfilerCost): string => {
  const { claim, basis } = profilerCostParts(cost);
  return `${claim} (${formatShare(cost.row.profilerShare)}; ${basis})`;
};

export function profilerCostParts({ row }: ProfilerCost): { readonly claim: string; readonly basis: string } {
  const { phase, profiledNs, profilerNs, source } = row;
  const step = phase === 'unknown' ? 'step' : `${phase} step`;
  return {
    claim: `the profiler adds ${formatDuration(profilerNs)} to a ${step} of ${formatDuration(profiledNs)}`,
    basis:
      source === 'estimate'
        ? `estimated, ${formatDuration(Math.max(0, profiledNs - row.highNs))} to ${formatDuration(profiledNs - row.lowNs)}`
        : `${row.basis}, ${plural(row.steps ?? 0, source === 'server-log' ? 'line' : 'step')}`,
  };
}

export function savingText({ text, savedNs, lowNs, highNs }: RecordingSaving): string {
  if (savedNs === null) return `${text}; what this saves is not known`;
  const bounds =
    lowNs > 0
      ? `${formatDuration(lowNs)} to ${formatDuration(highNs)}`
      : `from nothing to ${formatDuration(highNs)}`;
  return `${text}; saves about ${formatDuration(savedNs)} per step (estimated, ${bounds})`;
}
