/**
 * Balanced expert routing: the grouped GEMMs of experts shrink by the share of their time that the busiest GPU works
 * longer than the mean one. A profile of one GPU does not show that balance; it comes from counts per expert or from the
 * ranks (`stepscope moe`).
 */
import { NONE } from '../../../base/column.js';
import { formatShare } from '../../../base/units.js';
import { applied, type Change, cannotTell, doesNotApply } from '../change.js';

export const perfectRouting: Change = {
  id: 'perfect-routing',
  label: 'perfect routing',
  apply(models, { routingGain, factsOf }) {
    const experts = models.flatMap(({ ops }) => ops.filter(op => op.step !== NONE && factsOf(op).isExpert));
    if (experts.length === 0)
      return doesNotApply('no expert kernel (grouped GEMM) was recorded in these steps');
    if (!routingGain)
      return cannotTell(
        'one GPU does not show the balance between GPUs; add the counts per expert and --gpus N, or the profiles of all ranks',
      );
    if (routingGain.savedShare <= 0) return doesNotApply('experts are balanced already');
    for (const op of experts) op.ns *= 1 - routingGain.savedShare;
    return applied(`expert kernels take ${formatShare(routingGain.savedShare)} less (${routingGain.source})`);
  },
};
