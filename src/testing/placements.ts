/** Placements and their worth, for checking those that are planned. */
import { checkMachine, gpuLoads, type Placement, placementOf } from '../moe/placement/placement.js';

/** Experts in order, no replicas: what engines do when nobody plans. */
export function plainPlacement(experts: number, gpus: number): Placement {
  checkMachine(experts, { gpus, nodes: 1, places: experts });
  const inOrder = Int32Array.from({ length: experts }, (_, i) => i);
  return placementOf(inOrder, experts, gpus);
}

/** How much longer the busiest GPU takes than if all had the same: 1 is perfect. */
export function imbalance(placement: Placement, tokens: ArrayLike<number>): number {
  const loads = gpuLoads(placement, tokens);
  const sum = loads.reduce((a, b) => a + b, 0);
  return sum > 0 ? (Math.max(...loads) * loads.length) / sum : 1;
}
