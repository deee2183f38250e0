/** Placements in words and tables: which is best, what it gives per layer, what it sends between GPUs. */

import type { Block, TableBlock } from '../../analyze/block.js';
import { tableOf } from '../../analyze/table-of.js';
import { formatBytes, formatRelativeChange, formatShare, plural } from '../../base/units.js';
import { gainOf } from '../cost/placement-cost.js';
import type { TrafficRow } from '../cost/traffic-rows.js';
import type { LoadSummary } from '../loads/load-summary.js';
import type { Plan, Plans } from '../placement/plan-layers.js';
import type { SweepRow } from '../placement/sweep.js';
import { ratio } from './moe-words.js';

const SHOWN_LAYERS = 12;

interface DescribedPlans {
  readonly summary: LoadSummary;
  readonly plans: Plans;
  readonly best: Plan;
  readonly traffic: readonly TrafficRow[];
  readonly swept: readonly SweepRow[];
  /** What part of a step experts take, where that is known. */
  readonly expertShare?: number;
  /** How the time of experts was come by. */
  readonly about: string;
}

export function describePlans({
  summary,
  plans,
  best,
  traffic,
  swept,
  expertShare,
  about,
}: DescribedPlans): Block[] {
  const { shape, heldOut } = plans;
  const base = plans.plans[0].cost;
  const saved = 1 - best.cost.ns / base.ns;
  const steps =
    expertShare === undefined
      ? ''
      : `, ${formatRelativeChange(gainOf(expertShare * saved))} steps per second`;
  const lines = [
    `${best.label} is best: the busiest of ${plural(shape.gpus, 'GPU')} gets ${ratio(best.cost.imbalance)} the mean, compared with ${ratio(base.imbalance)} in order; expert time falls by ${formatShare(saved)}${steps}.`,
    heldOut
      ? `Computed from the first half of ${plural(summary.iterations, 'iteration')}, evaluated on ${plural(best.cost.iterations, 'iteration')} of the second. One placement per layer.`
      : 'Computed from and evaluated on the same loads, which flatters every method: record more iterations. One placement per layer.',
    `Time: ${about}.`,
  ];
  return [
    { kind: 'statement', id: 'moe-place-answer', title: '', lines },
    planTable(summary, plans, expertShare),
    layerTable(summary, plans.plans),
    ...(traffic.length > 0 ? [trafficTable(traffic)] : []),
    ...(swept.length > 0 ? [sweepTable(swept)] : []),
  ];
}

function planTable(
  summary: LoadSummary,
  { plans, shape }: Plans,
  expertShare: number | undefined,
): TableBlock {
  const base = plans[0].cost;
  const saved = plans.map(({ cost }) => 1 - cost.ns / base.ns);
  return {
    kind: 'table',
    id: 'moe-place',
    title: `Placements: ${shape.places} slots, ${shape.places - summary.experts} replicas, ${shape.gpus} GPUs, ${plural(shape.nodes, 'node')}`,
    rows: plans.length,
    columns: [
      { header: 'Placement', kind: 'text', values: plans.map(({ label }) => label) },
      { header: 'Max/mean', kind: 'text', values: plans.map(({ cost }) => ratio(cost.imbalance)) },
      {
        header: 'Worst layer',
        kind: 'text',
        values: plans.map(({ cost }) => ratio(Math.max(...cost.layers.map(layer => layer.imbalance)))),
      },
      { header: 'Expert time lost (%)', kind: 'share', values: plans.map(({ cost }) => cost.lostShare) },
      { header: 'Expert time saved (%)', kind: 'share', values: saved },
      ...(expertShare === undefined
        ? []
        : [
            {
              header: 'Steps',
              kind: 'text' as const,
              values: saved.map(share => formatRelativeChange(gainOf(expertShare * share))),
            },
          ]),
    ],
  };
}

/** Busiest by mean GPU of each layer under each placement, those that gain most first. */
function layerTable(summary: LoadSummary, plans: readonly Plan[]): TableBlock {
  const [base] = plans;
  const least = (layer: number) => Math.min(...plans.map(({ cost }) => cost.layers[layer].imbalance));
  const order = summary.layers
    .map((_, layer) => layer)
    .sort(
      (a, b) =>
        base.cost.layers[b].imbalance - least(b) - (base.cost.layers[a].imbalance - least(a)) || a - b,
    )
    .slice(0, SHOWN_LAYERS);
  return {
    kind: 'table',
    id: 'moe-place-layers',
    title:
      order.length < summary.layers.length
        ? `Layers, the ${order.length} of ${summary.layers.length} that gain most`
        : 'Layers',
    rows: order.length,
    columns: [
      { header: 'Layer', kind: 'id', values: order.map(layer => summary.layers[layer]) },
      ...plans.map(({ label, cost }) => ({
        header: label,
        kind: 'text' as const,
        values: order.map(layer => ratio(cost.layers[layer].imbalance)),
      })),
    ],
    advice: 'Load of the busiest GPU divided by the mean. --csv has every layer.',
  };
}

const trafficTable = (rows: readonly TrafficRow[]): TableBlock =>
  tableOf(
    rows,
    {
      id: 'moe-traffic',
      title: 'All-to-all per layer and step, dispatch and combine',
      advice:
        'FP8 dispatch, BF16 combine. Once per node: a token crosses to a node once and is forwarded inside it, as in DeepEP. A token’s experts are assumed independent; group-limited routing visits fewer nodes.',
    },
    [
      ['Placement', 'text', ({ plan }) => plan.label],
      ['Within nodes', 'text', ({ traffic }) => formatBytes(Math.round(traffic.eachCopy.intraBytes))],
      ['Between nodes', 'text', ({ traffic }) => formatBytes(Math.round(traffic.eachCopy.interBytes))],
      ['once per node', 'text', ({ traffic }) => formatBytes(Math.round(traffic.oncePerNode.interBytes))],
      [
        'Busiest node, once',
        'text',
        ({ traffic }) => formatBytes(Math.round(traffic.oncePerNode.busiestNodeBytes)),
      ],
      ['Nodes per token', 'mean', ({ traffic }) => traffic.nodesPerToken],
    ],
  );

const sweepTable = (rows: readonly SweepRow[]): TableBlock =>
  tableOf(
    rows,
    {
      id: 'moe-sweep',
      title: 'Other machines and batches (EPLB, global)',
      advice:
        'Load of the busiest GPU divided by the mean. Batch: relative to the measured batch; smaller batches are sampled from it, larger ones scaled. Expert time: relative to the fewest GPUs at that batch.',
    },
    [
      ['Phase', 'text', ({ phase }) => phase],
      ['GPUs', 'count', ({ gpus }) => gpus],
      ['Replicas', 'count', ({ replicas }) => replicas],
      ['Batch', 'text', ({ batch }) => `${batch}×`],
      ['In order', 'text', ({ plainImbalance }) => ratio(plainImbalance)],
      ['Placed', 'text', ({ placedImbalance }) => ratio(placedImbalance)],
      ['Expert time', 'text', ({ relativeTime }) => ratio(relativeTime)],
    ],
  );
