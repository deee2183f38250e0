/**
 * Bytes between GPUs: tokens go to their experts (dispatch) and results come back (combine). Counts do not say which
 * experts were chosen together, so a token's k experts are taken as drawn one by one in proportion to load; with
 * group-limited routing real tokens visit fewer nodes than that.
 *
 *   each copy     a token is sent once per chosen expert
 *   once per node a token crosses between nodes once per node it has experts on, then spreads inside (DeepEP)
 */
import type { Static } from '../../base/document.js';
import type { trafficSchema } from '../place-schema.js';
import { gpuLoads, type Placement } from '../placement/placement.js';

interface TrafficShape {
  readonly nodes: number;
  /** Tokens each GPU brings to a layer. */
  readonly tokensPerGpu: number;
  readonly topK: number;
  /** Groups of experts, and how many of them a token may use: where groups are kept on nodes, it visits no more nodes. */
  readonly groups?: number;
  readonly topGroups?: number;
  readonly hidden: number;
  /** Bytes of one number on the way there and back; FP8 and BF16 by default. */
  readonly dispatchBytes?: number;
  readonly combineBytes?: number;
}

export type Traffic = Static<typeof trafficSchema>;

export function trafficOf(placement: Placement, tokens: ArrayLike<number>, shape: TrafficShape): Traffic {
  const { gpus } = placement;
  const { nodes, tokensPerGpu, topK, hidden, dispatchBytes = 1, combineBytes = 2 } = shape;
  const perNode = gpus / nodes;
  const loads = gpuLoads(placement, tokens);
  const all = loads.reduce((sum, load) => sum + load, 0) || 1;
  const gpuShare = loads.map(load => load / all);
  const nodeShare = Float64Array.from({ length: nodes }, (_, node) =>
    gpuShare.subarray(node * perNode, (node + 1) * perNode).reduce((sum, share) => sum + share, 0),
  );
  // Chance that at least one of k draws lands there.
  const visits = (share: number, draws = topK) => 1 - (1 - Math.min(1, share)) ** draws;
  const nodeDraws = keepsGroups(placement, shape) ? Math.min(topK, shape.topGroups ?? topK) : topK;
  const bytes = tokensPerGpu * hidden * (dispatchBytes + combineBytes);
  const copies = new LinkSum(gpus, nodes);
  const once = new LinkSum(gpus, nodes);
  for (let gpu = 0; gpu < gpus; gpu++) {
    const node = Math.floor(gpu / perNode);
    copies.add(gpu, node, bytes * topK * gpuShare[gpu], perNode, nodes);
    // What comes from another node lands on the GPU of the same number there; the rest is passed on inside.
    const own = bytes * visits(gpuShare[gpu]);
    once.local += own;
    once.intoGpu[gpu] += own * (perNode - 1) + (own * (gpus - perNode) * (perNode - 1)) / perNode;
  }
  for (let node = 0; node < nodes; node++)
    once.intoNode[node] = bytes * visits(nodeShare[node], nodeDraws) * (gpus - perNode);
  const sumOf = (values: Float64Array, draws = topK) =>
    values.reduce((sum, share) => sum + visits(share, draws), 0);
  return {
    eachCopy: copies.finish(),
    oncePerNode: once.finish(),
    nodesPerToken: sumOf(nodeShare, nodeDraws),
    gpusPerToken: sumOf(gpuShare),
  };
}

/** Whether every group of experts lies on one node. */
function keepsGroups({ expertOf, replicas, gpus }: Placement, { groups = 1, nodes }: TrafficShape): boolean {
  if (groups === 1 || replicas.length % groups !== 0) return false;
  const size = replicas.length / groups;
  const perNode = (expertOf.length / gpus) * (gpus / nodes);
  const nodeOf = new Map<number, number>();
  return expertOf.every((expert, place) => {
    const group = Math.floor(expert / size);
    const node = Math.floor(place / perNode);
    if (!nodeOf.has(group)) nodeOf.set(group, node);
    return nodeOf.get(group) === node;
  });
}

class LinkSum {
  local = 0;
  readonly intoGpu: Float64Array;
  readonly intoNode: Float64Array;

  constructor(gpus: number, nodes: number) {
    this.intoGpu = new Float64Array(gpus);
    this.intoNode = new Float64Array(nodes);
  }

  /** `each`: bytes every GPU sends to this one. */
  add(gpu: number, node: number, each: number, perNode: number, nodes: number): void {
    this.local += each;
    this.intoGpu[gpu] += each * (perNode - 1);
    this.intoNode[node] += each * perNode * (nodes - 1);
  }

  finish(): Traffic['eachCopy'] {
    const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
    const most = (values: Float64Array) => values.reduce((a, b) => Math.max(a, b), 0);
    return {
      localBytes: this.local,
      intraBytes: sum(this.intoGpu),
      interBytes: sum(this.intoNode),
      busiestGpuBytes: most(this.intoGpu),
      busiestNodeBytes: most(this.intoNode),
    };
  }
}
