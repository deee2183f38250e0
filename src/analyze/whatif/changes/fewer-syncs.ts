/**
 * No wait for the GPU inside a step: only the last one, which reads the result, stays. A waiting copy becomes one that
 * is launched and goes on without the host.
 */
import { NONE } from '../../../base/column.js';
import { formatCount, plural } from '../../../base/units.js';
import { causeIndex } from '../../../catalog/idle-causes.js';
import { applied, type Change, doesNotApply, stepsIn } from '../change.js';
import type { ReplayModel } from '../replay-model.js';

const launchBound = causeIndex('launch-bound');

export const fewerSyncs: Change = {
  id: 'fewer-syncs',
  label: 'fewer synchronizations',
  apply(models) {
    const removable = models.map(innerWaits);
    const count = removable.reduce((sum, list) => sum + list.length, 0);
    if (count === 0) return doesNotApply('the only wait of a step is the one that reads its result');
    for (const [m, model] of models.entries()) for (const i of removable[m]) stopWaiting(model, i);
    const perStep = count / stepsIn(models);
    const shown = perStep < 1 ? formatCount(Number(perStep.toFixed(1))) : plural(Math.round(perStep), 'wait');
    return applied(`${shown}${perStep < 1 ? ' waits' : ''} per step inside the step go`);
  },
};

/** All waits of the thread that runs the steps, but the last of each step. */
function innerWaits({ items, threads, steps }: ReplayModel): number[] {
  const byStep: number[][] = steps.map(() => []);
  for (const i of threads[0].items)
    if (items[i].kind === 'wait' && items[i].step !== NONE) byStep[items[i].step].push(i);
  return byStep.flatMap(list => list.slice(0, -1));
}

function stopWaiting({ items, ops, typical }: ReplayModel, i: number): void {
  const item = items[i];
  const brings = ops.filter(op => op.launch === i);
  item.kind = 'call';
  item.awaits = NONE;
  item.ns = brings.length > 0 ? typical.launchNs : 0;
  item.causes = [{ cause: launchBound, ns: item.ns }];
  for (const op of brings) {
    op.latencyFrom = 'end';
    op.latencyNs = typical.latencyNs;
    op.gapNs = Math.min(op.gapNs, typical.gapNs);
  }
}
