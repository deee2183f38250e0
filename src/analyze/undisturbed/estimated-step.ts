/**
 * What a step would take without the profiler, from the profile alone: its launch graph is replayed with the cost of
 * recording taken out of its host time.
 */
import type { Phase } from '../../catalog/phases.js';
import { type TracingCost, tracingCosts } from '../../catalog/tracing-cost.js';
import type { Derived } from '../analysis.js';
import type { Parts } from '../whatif/replayed-parts.js';
import { type RecordedSteps, recordedSteps, sumOfParts } from './replay-without-recording.js';

export interface EstimatedStep {
  /** What the profiler adds to the mean step. */
  readonly addedNs: number;
  readonly lowNs: number;
  readonly highNs: number;
  /** The idle time it adds, by cause. */
  readonly addedByCause: Readonly<Record<string, number>>;
  readonly source: string;
}

/** By phase; none where the cost is not known for the profiler, or the launch graph does not replay. */
export const estimatedSteps: Derived<ReadonlyMap<Phase, EstimatedStep>> = {
  id: 'estimated-steps',
  reads: {},
  uses: [recordedSteps],
  compute({ profile, use }) {
    const found = new Map<Phase, EstimatedStep>();
    const cost = tracingCosts[profile.capture.profiler];
    if (!cost) return found;
    for (const [phase, own] of use(recordedSteps)) {
      const estimate = estimateOf(own, cost);
      if (estimate) found.set(phase, estimate);
    }
    return found;
  },
};

/**
 * In no run that was fitted or that judged was more of the step the profiler's. Libraries that call the driver in tight
 * loops (cuDNN's LSTM: five calls for two kernels) come out far above it, and far above what they really lose.
 */
const MOST_OF_STEP = 0.5;

function estimateOf({ recorded, without }: RecordedSteps, cost: TracingCost): EstimatedStep | undefined {
  const after = without(cost);
  if (!after) return undefined;
  const profiledNs = sumOfParts(recorded);
  const addedNs = Math.max(0, profiledNs - sumOfParts(after));
  if (addedNs > MOST_OF_STEP * profiledNs) return undefined;
  const { spread } = cost;
  const errorNs = cost.stepError * profiledNs;
  return {
    addedNs,
    lowNs: Math.max(0, (1 - spread.less) * addedNs - errorNs),
    highNs: (1 + spread.more) * addedNs + errorNs,
    addedByCause: byCause(recorded, after, addedNs),
    source: cost.source,
  };
}

/** What each cause of idle loses; where one grows as another shrinks, in proportion, so that the sum stays. */
function byCause(before: Parts, after: Parts, addedNs: number): Record<string, number> {
  const lost = [...before].flatMap(([part, ns]): [string, number][] => {
    const less = ns - (after.get(part) ?? 0);
    return part.startsWith('idle:') && less > 0 ? [[part.slice('idle:'.length), less]] : [];
  });
  const all = lost.reduce((sum, [, ns]) => sum + ns, 0);
  return Object.fromEntries(lost.map(([cause, ns]) => [cause, all > 0 ? (ns * addedNs) / all : 0]));
}
