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

/** The wait that reads the result is behind a good part of the step's work; others read a number now and then. */
const PART_OF_LARGEST = 0.1;

/** Waits of the thread that runs the steps, but the one that reads the result: the last one behind much work. */
function innerWaits({ items, ops, threads, steps }: ReplayModel): number[] {
  const launchedNs = new Map<number, number>();
  for (const { kind, launch, ns } of ops)
    if (COMPUTES.has(kind)) launchedNs.set(launch, (launchedNs.get(launch) ?? 0) + ns);
  const byStep: { wait: number; behindNs: number }[][] = steps.map(() => []);
  let behindNs = 0;
  for (const i of threads[0].items) {
    behindNs += launchedNs.get(i) ?? 0;
    const { kind, step } = items[i];
    if (kind !== 'wait' || step === NONE) continue;
    byStep[step].push({ wait: i, behindNs });
    behindNs = 0;
  }
  return byStep.flatMap(waits => {
    const most = Math.max(0, ...waits.map(one => one.behindNs));
    const result = waits.findLast(one => one.behindNs >= PART_OF_LARGEST * most);
    return waits.flatMap(one => (one === result ? [] : [one.wait]));
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
