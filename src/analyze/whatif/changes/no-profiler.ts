/**
 * The step without the profiler: what recording events costs is taken out of the host time around them, before any
 * other change. GPU work keeps its length. The profiler's own time lies partly inside a recorded call and partly behind
 * it: a call gives up to half its length, the code behind it the rest.
 */
import { NONE } from '../../../base/column.js';
import { GRAPH_LAUNCH } from '../../../catalog/host-activities.js';
import type { EventKind, TracingCost } from '../../../catalog/tracing-cost.js';
import { applied, type Change, cannotTell } from '../change.js';
import { type HostItem, type ReplayModel, resize } from '../replay-model.js';
import type { TracedEvents } from '../traced-events.js';

export const noProfiler: Change = {
  id: 'no-profiler',
  label: 'no profiler',
  apply(models, { tracingCost, tracedEvents, policy }) {
    if (!tracingCost) return cannotTell('what this profiler adds to each event is not known');
    for (const model of models) {
      takeOutRecording(model, tracingCost, tracedEvents);
      // A graph that a later change makes is launched without a profiler too, and still takes time for its nodes.
      model.untracedNodeNs = Math.min(tracedEvents.nodesNs(1, tracingCost), policy.graphLaunchPerNodeNs / 2);
    }
    return applied(`without the cost of recording (${tracingCost.source})`);
  },
};

/** Calls whose cost may still show in the code behind them: a launch comes with a few questions to the driver. */
const MOST_OWED_CALLS = 8;

/** `only`: events of this kind; all of them where none is named. */
export function takeOutRecording(
  model: ReplayModel,
  cost: TracingCost,
  events: TracedEvents,
  only?: EventKind,
): void {
  const nodes = nodesOf(model);
  for (const { thread, items } of model.threads) {
    let owed = 0;
    // Of host time since the last wait: what recording may be of it, and what of that was taken out.
    let room = 0;
    for (const i of items) {
      const item = model.items[i];
      const isGraph = isGraphLaunch(item.name);
      // Behind a wait the host is late because of the GPU, no longer because of what was recorded before.
      if (item.kind === 'wait') owed = room = 0;
      else if (!isGraph) room += cost.mostOfHost * item.ns;
      const { recordedStart: from, recordedEnd: to } = item;
      const frames = only && only !== 'frame' ? 0 : events.costNs(thread, from, to, cost, 'frame');
      // Frames are written down where they are called: what they cost is in that stretch, and never all of it.
      if (frames > 0) resize(item, item.ns - Math.min(frames, cost.mostOfCode * item.ns));
      if (only !== 'frame') owed += events.costNs(thread, from, to, cost, only) - frames;
      if (isGraph) owed += events.nodesNs(nodes.get(i) ?? 0, cost, only);
      const most = mostOf(item, isGraph ? events.leastNs(nodes.get(i) ?? 0, cost) : undefined);
      const paid = Math.min(owed, isGraph ? most : Math.min(most, room));
      if (paid > 0) resize(item, item.ns - paid);
      owed -= paid;
      if (!isGraph) room -= paid;
      // What a tight loop of calls leaves unpaid was never spent: later code does not pay for it.
      if (!isGraph) owed = Math.min(owed, MOST_OWED_CALLS * events.callNs(cost));
    }
  }
}

const knownNames = new Map<string, boolean>();

/** Each name is looked at once: there are thousands of calls and few functions. */
function isGraphLaunch(name: string): boolean {
  let known = knownNames.get(name);
  if (known === undefined) knownNames.set(name, (known = GRAPH_LAUNCH.test(name)));
  return known;
}

/** What of an item may be recording. `leastNs`: what the launch of a graph takes anyway. */
function mostOf({ kind, ns }: HostItem, leastNs: number | undefined): number {
  if (leastNs !== undefined) return Math.max(0, ns - leastNs);
  return kind === 'code' ? ns : ns / 2;
}

/** Of each graph launch, the pieces of work that were recorded one by one. */
function nodesOf({ ops }: ReplayModel): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { launch } of ops) if (launch !== NONE) counts.set(launch, (counts.get(launch) ?? 0) + 1);
  return counts;
}
