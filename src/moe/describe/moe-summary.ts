/** The summary of a MoE page: how uneven, what it costs, and the placements that help most. */
import { MOST_ACTIONS, type PageSummary } from '../../analyze/page-summary.js';
import { formatShare, plural } from '../../base/units.js';
import type { MoeAnswer } from '../answer.js';
import { ratio } from './moe-words.js';

/** Below, a placement is no improvement worth a name. */
const WORTH_NAMING = 0.02;

export function moeSummary({
  gpuImbalance,
  lostShare,
  time,
  plans,
  heldOut,
  machine,
}: MoeAnswer): PageSummary {
  const useful = plans
    .filter(({ recovered }) => recovered > WORTH_NAMING)
    .sort((a, b) => b.recovered - a.recovered || a.replicas - b.replicas);
  const [best] = useful;
  return {
    figures: [
      { value: ratio(gpuImbalance), label: `busiest of ${plural(machine.gpus, 'GPU')} divided by the mean` },
      {
        value: formatShare(lostShare),
        label: `of expert time is waiting for the busiest GPU${time.basis === 'assumed' ? ' (assumed, an upper bound)' : ''}`,
      },
      ...(best
        ? [
            {
              value: formatShare(best.recovered),
              label: `of that is recovered by the best placement${heldOut ? '' : ', on the loads it was computed from'}`,
            },
          ]
        : []),
    ],
    bars: [],
    title: 'Placements that help most',
    actions: useful.slice(0, MOST_ACTIONS).map(({ plan, replicas, recovered }) => ({
      text: `${plan.label}${replicas > 0 ? `, ${plural(replicas, 'replica')}` : ''}: busiest GPU ${ratio(plan.cost.imbalance)}`,
      about: `recovers ${formatShare(recovered)} of the loss`,
      section: 'fix',
    })),
  };
}
