/** No Python garbage collection in steps: its time on every thread goes, also what others waited for it. */
import { formatDuration } from '../../../base/units.js';
import { causeIndex } from '../../../catalog/idle-causes.js';
import { applied, type Change, cannotTell, doesNotApply, stepsIn } from '../change.js';

const collecting = causeIndex('garbage-collection');

export const noGc: Change = {
  id: 'no-gc',
  label: 'no garbage collection',
  apply(models, { gcWatched }) {
    let removed = 0;
    for (const { items } of models)
      for (const item of items) {
        const own = item.causes.reduce((sum, { cause, ns }) => sum + (cause === collecting ? ns : 0), 0);
        if (own === 0) continue;
        item.causes = item.causes.filter(({ cause }) => cause !== collecting);
        item.ns -= own;
        removed += own;
      }
    if (removed > 0)
      return applied(`${formatDuration(removed / stepsIn(models))} of collections per step go`);
    return gcWatched
      ? doesNotApply('no collection was recorded in these steps')
      : cannotTell('garbage collections were not recorded (capture with --gc)');
  },
};
