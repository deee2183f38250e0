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
    `${best.label} is best: the busiest of ${plural(shape.gpus, 'GPU')} gets ${ratio(best.cost.imbalance)} the mean, in order ${ratio(base.imbalance)}; expert time ${formatShare(saved)} less${steps}.`,
    heldOut
      ? `Made from the first half of ${plural(summary.iterations, 'iteration')}, judged on ${plural(best.cost.iterations, 'iteration')} of the second. One placement per layer.`
      : 'Made from and judged on the same loads, which flatters every method: record more iterations. One placement per layer.',
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
    title: `Placements: ${shape.places} places, ${shape.places - summary.experts} replicas, ${shape.gpus} GPUs, ${plural(shape.nodes, 'node')}`,
    rows: plans.length,
    columns: [
      { header: 'Placement', kind: 'text', values: plans.map(({ label }) => label) },
      { header: 'Busiest by mean', kind: 'text', values: plans.map(({ cost }) => ratio(cost.imbalance)) },
      {
        header: 'Worst layer',
        kind: 'text',
        values: plans.map(({ cost }) => ratio(Math.max(...cost.layers.map(layer => layer.imbalance)))),
      },
      { header: 'Lost of expert time (%)', kind: 'share', values: plans.map(({ cost }) => cost.lostShare) },
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
    advice: 'Busiest by mean GPU. --csv has every layer.',
  };
}

const trafficTable = (rows: readonly TrafficRow[]): TableBlock =>
  tableOf(
    rows,
    {
      id: 'moe-traffic',
      title: 'All-to-all per layer and step, there and back',
      advice:
        'FP8 there, BF16 back. Once per node: a token crosses to a node once and spreads inside it, as DeepEP does. A token’s experts are taken as independent; group-limited routing visits fewer nodes.',
    },
    [
      ['Placement', 'text', ({ plan }) => plan.label],
      ['Inside nodes', 'text', ({ traffic }) => formatBytes(Math.round(traffic.eachCopy.intraBytes))],
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
        'Busiest by mean GPU. Batch: of the measured one; smaller ones are drawn from it, larger ones scaled. Expert time: against the fewest GPUs at that batch.',
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
