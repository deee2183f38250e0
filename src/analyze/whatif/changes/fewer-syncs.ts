/**
 * No wait for the GPU inside a step: only the one that reads the result stays. A waiting copy becomes one that is
 * launched and goes on without the host.
 */
import { NONE } from '../../../base/column.js';
import { formatCount, plural } from '../../../base/units.js';
import { causeIndex } from '../../../catalog/idle-causes.js';
import { WorkKind } from '../../gpu/gpu-work.js';
import { applied, type Change, doesNotApply, stepsIn } from '../change.js';
import type { ReplayModel } from '../replay-model.js';

const COMPUTES: ReadonlySet<number> = new Set([WorkKind.kernel, WorkKind.graphBlock]);
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

/**
 * Waits of the thread that runs the steps, except those that a step needs: the last one behind computing work, which
 * reads the result, and the longest. Later ones often read what was there long before.
 */
function innerWaits({ items, ops, threads, steps }: ReplayModel): number[] {
  const computing = new Set(ops.filter(({ kind }) => COMPUTES.has(kind)).map(({ launch }) => launch));
  const byStep = steps.map(() => ({ waits: [] as number[], reads: NONE as number }));
  let isBehindWork = false;
  for (const i of threads[0].items) {
    if (computing.has(i)) isBehindWork = true;
    const { kind, step } = items[i];
    if (kind !== 'wait' || step === NONE) continue;
    byStep[step].waits.push(i);
    if (isBehindWork) byStep[step].reads = i;
    isBehindWork = false;
  }
  const lengthOf = (i: number) => items[i].recordedEnd - items[i].recordedStart;
  return byStep.flatMap(({ waits, reads }) => {
    const longest = waits.reduce((best, i) => (lengthOf(i) > lengthOf(best) ? i : best), waits[0]);
    const kept = reads === NONE ? waits.at(-1) : reads;
    return waits.filter(i => i !== kept && i !== longest);
  });
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
