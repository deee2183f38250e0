/**
 * The step without the profiler: what recording an event costs is taken out of the host time around it, before any
 * other change. The costs come from outside (TracingCost); without them nothing is known.
 */
import { NONE } from '../../../base/column.js';
import { GRAPH_LAUNCH } from '../../../catalog/host-activities.js';
import { applied, type Change, cannotTell } from '../change.js';
import { type ReplayModel, resize } from '../replay-model.js';

export const noProfiler: Change = {
  id: 'no-profiler',
  label: 'no profiler',
  apply(models, { tracingCost }) {
    if (!tracingCost) return cannotTell('what this profiler adds to each event is not known');
    const { apiCallNs, graphNodeNs, rangeNs, opNs, frameNs } = tracingCost;
    for (const model of models) {
      const nodes = nodesOf(model);
      model.untracedNodeNs = graphNodeNs;
      model.items.forEach((item, i) => {
        const { ranges, ops, frames } = item.traced;
        const isCall = item.kind === 'call' || item.kind === 'wait';
        const isGraph = GRAPH_LAUNCH.test(item.name);
        const cost =
          ranges * rangeNs +
          ops * opNs +
          frames * frameNs +
          (isCall ? apiCallNs : 0) +
          (isGraph ? (nodes.get(i) ?? 0) * graphNodeNs : 0);
        resize(item, Math.max(0, item.ns - cost));
      });
    }
    return applied(`without the cost of recording (${tracingCost.source})`);
  },
};

function nodesOf({ ops }: ReplayModel): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { launch } of ops) if (launch !== NONE) counts.set(launch, (counts.get(launch) ?? 0) + 1);
  return counts;
}
