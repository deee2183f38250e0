/**
 * Copies from pageable memory become copies from pinned memory: the call returns at once instead of staging the bytes,
 * and the copy runs at the speed of the bus. Reads into pageable memory become as fast, and are still waited for.
 */
import { NONE } from '../../../base/column.js';
import { formatCount } from '../../../base/units.js';
import { gainConstants } from '../../../catalog/gain-constants.js';
import { causeIndex } from '../../../catalog/idle-causes.js';
import { medianOf } from '../../../stats/summary.js';
import { WorkKind } from '../../gpu/gpu-work.js';
import { applied, type Change, doesNotApply, stepsIn } from '../change.js';
import { type ReplayModel, resize } from '../replay-model.js';

const launchBound = causeIndex('launch-bound');

export const pinned: Change = {
  id: 'pinned',
  label: 'pinned copies',
  apply(models, { factsOf, limits }) {
    const isPageable = (op: ReplayModel['ops'][number]) =>
      op.kind === WorkKind.copy &&
      op.launch !== NONE &&
      (factsOf(op).fromPageable === true || factsOf(op).toPageable === true);
    const count = models.reduce((sum, { ops }) => sum + ops.filter(isPageable).length, 0);
    if (count === 0) return doesNotApply('no copy from or to pageable memory was recorded in these steps');
    const calls = models.flatMap(({ ops, items }) =>
      ops
        .filter(op => op.kind === WorkKind.copy && op.launch !== NONE && !isPageable(op))
        .map(op => items[op.launch].ns),
    );
    const callNs =
      calls.length > 0 ? medianOf(Float64Array.from(calls)) : gainConstants.pinnedCopyCallNs.value;
    const busBytes = limits.pcieBytesPerSecond?.value;
    for (const { ops, items, typical } of models)
      for (const op of ops.filter(isPageable)) {
        const item = items[op.launch];
        const { bytes, toPageable } = factsOf(op);
        if (busBytes && bytes) op.ns = Math.min(op.ns, typical.gapNs + (bytes / busBytes) * 1e9);
        if (toPageable) continue;
        if (item.kind === 'wait')
          Object.assign(item, {
            kind: 'call',
            awaits: NONE,
            ns: callNs,
            causes: [{ cause: launchBound, ns: callNs }],
          });
        else if (item.ns > callNs) resize(item, callNs);
        op.latencyFrom = 'end';
        op.latencyNs = Math.min(op.latencyNs, typical.latencyNs);
      }
    return applied(
      `${formatCount(Number((count / stepsIn(models)).toFixed(1)))} pageable copies per step no longer hold the host up`,
    );
  },
};
