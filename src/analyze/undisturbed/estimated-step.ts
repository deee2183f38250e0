/**
 * What a step would take without the profiler, from the profile alone: the launch graph is replayed with the cost of
 * recording taken out of its host time. A host that runs ahead of the GPU loses nothing, one that the GPU waits for
 * loses all of it: the replay tells them apart.
 */
import type { Phase } from '../../catalog/phases.js';
import { type TracingCost, tracingCosts } from '../../catalog/tracing-cost.js';
import type { Derived } from '../analysis.js';
import { sampledModels } from '../whatif/build-models.js';
import { takeOutRecording } from '../whatif/changes/no-profiler.js';
import { largestError, meanParts, REPLAY_TOLERANCE, type Replayed } from '../whatif/predict.js';
import { replay } from '../whatif/replay.js';
import { copyOf } from '../whatif/replay-model.js';
import type { Parts } from '../whatif/replayed-parts.js';
import { type TracedEvents, tracedEvents } from '../whatif/traced-events.js';

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
  uses: [sampledModels, tracedEvents],
  compute({ profile, use, useIfRecorded }) {
    const found = new Map<Phase, EstimatedStep>();
    const cost = tracingCosts[profile.capture.profiler];
    const models = useIfRecorded(sampledModels);
    if (!cost || !models) return found;
    const events = use(tracedEvents);
    for (const [phase, own] of models) {
      const base = own.flatMap((model): Replayed[] => {
        const times = replay(model);
        return times && largestError(model, times) <= REPLAY_TOLERANCE ? [{ model, times }] : [];
      });
      if (base.length === 0) continue;
      const estimate = estimateOf(base, cost, events);
      if (estimate) found.set(phase, estimate);
    }
    return found;
  },
};

function estimateOf(
  base: readonly Replayed[],
  cost: TracingCost,
  events: TracedEvents,
): EstimatedStep | undefined {
  const all = () => false;
  const replayed = base.flatMap(({ model }): Replayed[] => {
    const edited = copyOf(model);
    takeOutRecording(edited, cost, events);
    const times = replay(edited);
    return times ? [{ model: edited, times }] : [];
  });
  if (replayed.length < base.length) return undefined;
  const [before, after] = [meanParts(base, all), meanParts(replayed, all)];
  const profiledNs = sumOf(before);
  const addedNs = Math.max(0, profiledNs - sumOf(after));
  const half = cost.spread * addedNs + cost.stepError * profiledNs;
  return {
    addedNs,
    lowNs: Math.max(0, addedNs - half),
    highNs: addedNs + half,
    addedByCause: byCause(before, after, addedNs),
    source: cost.source,
  };
}

const sumOf = (parts: Parts): number => [...parts.values()].reduce((sum, ns) => sum + ns, 0);

/** What each cause of idle loses; where one grows as another shrinks, in proportion, so that the sum stays. */
function byCause(before: Parts, after: Parts, addedNs: number): Record<string, number> {
  const lost = [...before].flatMap(([part, ns]): [string, number][] => {
    const less = ns - (after.get(part) ?? 0);
    return part.startsWith('idle:') && less > 0 ? [[part.slice('idle:'.length), less]] : [];
  });
  const all = lost.reduce((sum, [, ns]) => sum + ns, 0);
  return Object.fromEntries(lost.map(([cause, ns]) => [cause, all > 0 ? (ns * addedNs) / all : 0]));
}
