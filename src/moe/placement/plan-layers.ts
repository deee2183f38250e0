/**
 * A placement for every layer by every method, made from the first half of a run and judged on iterations of the second:
 * what a plan gives on the loads it was made from says nothing about tomorrow.
 */
import type { Static } from '../../base/document.js';
import type { ExpertTime } from '../cost/expert-time.js';
import { costOf, type PlacementCost } from '../cost/placement-cost.js';
import { type LoadSample, type LoadSummary, rowOf, totalsBetween } from '../loads/load-summary.js';
import type { planMethod } from '../moe-schema.js';
import { betterPlacement } from './better-placement.js';
import { type EplbShape, eplb } from './eplb.js';
import { checkMachine, type Placement, placementOf } from './placement.js';

type PlanMethod = Static<typeof planMethod>;

export interface Plan {
  readonly method: PlanMethod;
  readonly label: string;
  readonly placements: readonly Placement[];
  readonly cost: PlacementCost;
}

export interface Plans {
  readonly shape: EplbShape;
  /** The judged iterations were not used for planning. */
  readonly heldOut: boolean;
  readonly plans: readonly Plan[];
}

interface PlanOptions {
  readonly methods?: readonly PlanMethod[];
  readonly onProgress?: (done: number) => void;
}

export function planLayers(
  summary: LoadSummary,
  shape: EplbShape,
  time: ExpertTime,
  { methods, onProgress }: PlanOptions = {},
): Plans {
  checkMachine(summary.experts, shape);
  const { train, test, heldOut } = splitLoads(summary);
  const wanted = (methods ?? allMethods).filter(method => isPossible(method, shape));
  const plans = wanted.map((method, m): Plan => {
    const placements = summary.layers.map((_, layer) => {
      onProgress?.((m + layer / summary.layers.length) / wanted.length);
      return placeBy(method, rowOf(train, layer, summary.experts), shape);
    });
    return {
      method,
      label: labels[method],
      placements,
      cost: costOf(test, summary.experts, placements, time),
    };
  });
  return { shape, heldOut, plans };
}

const allMethods: readonly PlanMethod[] = [
  'plain',
  'eplb-hierarchical',
  'eplb-global',
  'stepscope-hierarchical',
  'stepscope',
];

const labels: Readonly<Record<PlanMethod, string>> = {
  plain: 'in order',
  'eplb-hierarchical': 'EPLB, by node',
  'eplb-global': 'EPLB, global',
  'stepscope-hierarchical': 'Stepscope, by node',
  stepscope: 'Stepscope, global',
};

/** Groups can be kept on nodes only where nodes divide them. */
const isPossible = (method: PlanMethod, { nodes, groups = 1 }: EplbShape): boolean =>
  !method.endsWith('-hierarchical') || (nodes > 1 && groups % nodes === 0);

export function placeBy(method: PlanMethod, tokens: Float64Array, shape: EplbShape): Placement {
  const experts = tokens.length;
  switch (method) {
    case 'plain':
      // As engines start: experts in order, then the first ones again.
      return placementOf(
        Int32Array.from({ length: shape.places }, (_, i) => i % experts),
        experts,
        shape.gpus,
      );
    case 'eplb-hierarchical':
      return eplb(tokens, shape);
    case 'eplb-global':
      return eplb(tokens, { ...shape, groups: 1, nodes: 1 });
    case 'stepscope-hierarchical':
      return betterPlacement(tokens, shape);
    case 'stepscope':
      return betterPlacement(tokens, { ...shape, groups: 1, nodes: 1 });
  }
}

/** The first half to plan from, iterations of the second to judge by; all for both where there is only one stretch. */
export function splitLoads(summary: LoadSummary): {
  train: Float64Array;
  test: readonly LoadSample[];
  heldOut: boolean;
} {
  const train = totalsBetween(summary, 0, 0.5);
  const trained = summary.segments.filter(({ from, to }) => (from + to) / 2 / summary.iterations < 0.5);
  const border = trained.reduce((most, { to }) => Math.max(most, to), 0);
  const test = summary.samples.filter(({ position }) => position >= border);
  const heldOut = trained.length > 0 && test.length > 0 && train.some(count => count > 0);
  return heldOut ? { train, test, heldOut } : { train: summary.totals, test: summary.samples, heldOut };
}
