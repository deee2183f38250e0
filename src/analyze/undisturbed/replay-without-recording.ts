/**
 * The selected steps of a phase, replayed with what the profiler recorded and without some of it. A host that runs ahead
 * of the GPU gains nothing, one that the GPU waits for gains all of it: the replay tells them apart.
 */
import type { Phase } from '../../catalog/phases.js';
import { type EventKind, type TracingCost, tracingCosts } from '../../catalog/tracing-cost.js';
import type { Derived } from '../analysis.js';
import { sampledModels } from '../whatif/build-models.js';
import { takeOutRecording } from '../whatif/changes/no-profiler.js';
import { largestError, meanParts, REPLAY_TOLERANCE, type Replayed } from '../whatif/predict.js';
import { replay } from '../whatif/replay.js';
import { copyOf } from '../whatif/replay-model.js';
import type { Parts } from '../whatif/replayed-parts.js';
import { tracedEvents } from '../whatif/traced-events.js';

export interface RecordedSteps {
  /** The parts of the mean step, as recorded. */
  readonly recorded: Parts;
  /** The same without recording events of this kind, or of any; undefined where that does not replay. */
  without(cost: TracingCost, only?: EventKind): Parts | undefined;
}

const ALL = () => false;

/** By phase; none whose launch graph does not replay as recorded. */
export const recordedSteps: Derived<ReadonlyMap<Phase, RecordedSteps>> = {
  id: 'recorded-steps',
  reads: {},
  uses: [sampledModels, tracedEvents],
  compute({ profile, use, useIfRecorded }) {
    const found = new Map<Phase, RecordedSteps>();
    // Nobody asks where no cost is known.
    const models = tracingCosts[profile.capture.profiler] && useIfRecorded(sampledModels);
    if (!models) return found;
    const events = use(tracedEvents);
    for (const [phase, own] of models) {
      const base = own.flatMap((model): Replayed[] => {
        const times = replay(model);
        return times && largestError(model, times) <= REPLAY_TOLERANCE ? [{ model, times }] : [];
      });
      if (base.length === 0) continue;
      found.set(phase, {
        recorded: meanParts(base, ALL),
        without(cost, only) {
          const replayed = base.flatMap(({ model }): Replayed[] => {
            const edited = copyOf(model);
            takeOutRecording(edited, cost, events, only);
            const times = replay(edited);
            return times ? [{ model: edited, times }] : [];
          });
          return replayed.length < base.length ? undefined : meanParts(replayed, ALL);
        },
      });
    }
    return found;
  },
};

export const sumOfParts = (parts: Parts): number => [...parts.values()].reduce((sum, ns) => sum + ns, 0);
