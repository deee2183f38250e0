/** Placements of experts for machines: one JSON document, and a row per layer. */
import type { Static } from '../../base/document.js';
import type { TrafficRow } from '../cost/traffic-rows.js';
import type { LoadSummary } from '../loads/load-summary.js';
import type { moePlaceSchema } from '../place-schema.js';
import type { Plans } from '../placement/plan-layers.js';
import type { SweepRow } from '../placement/sweep.js';

interface PlacedExperts {
  readonly summary: LoadSummary;
  readonly plans: Plans;
  readonly traffic: readonly TrafficRow[];
  readonly swept: readonly SweepRow[];
}

export const plansDocument = (
  files: readonly string[],
  { summary, plans, traffic, swept }: PlacedExperts,
): Static<typeof moePlaceSchema> => ({
  schema: 'stepscope-moe-place/1',
  files,
  machine: plans.shape,
  heldOut: plans.heldOut,
  layers: summary.layers,
  placements: plans.plans.map(({ method, label, cost, placements }, i) => ({
    method,
    label,
    gpuImbalance: cost.imbalance,
    lostShare: cost.lostShare,
    layers: cost.layers.map(({ imbalance, worst }, layer) => ({
      layer: summary.layers[layer],
      gpuImbalance: imbalance,
      worst,
    })),
    physicalToLogical: placements.map(({ expertOf }) => [...expertOf]),
    traffic: traffic[i]?.traffic ?? null,
  })),
  sweep: swept,
});

export function plansCsv(summary: LoadSummary, { plans }: Plans): string {
  const lines = summary.layers.map((layer, l) =>
    [layer, ...plans.map(({ cost }) => cost.layers[l].imbalance)].join(','),
  );
  return `${[['layer', ...plans.map(({ method }) => method)].join(','), ...lines].join('\n')}\n`;
}
